/*
 * claimCheck: puts copies of the message aside, by key or on a stack, and takes them back. What is
 * put aside belongs to the exchange, as in Camel; copies that are made of it afterwards (items,
 * branches, taps) share it.
 *
 * What is put aside is kept by reference: the last exchange that knows of it frees it.
 */
#include "core/eip/claims.h"

#include "core/base/assert.h"
#include "core/base/mem.h"
#include "core/config/compile.h"
#include "core/eip/aggregation.h"
#include "core/eip/steps.h"

#include <stddef.h>
#include <stdlib.h>

#define AT(m) offsetof(struct claim_check_conf, m)

enum operation { GET, GET_AND_REMOVE, SET, PUSH, POP };
enum rule_mode { RULE_INCLUDE, RULE_EXCLUDE, RULE_REMOVE };
enum rule_part { PART_BODY, PART_HEADERS, PART_HEADER, PART_ATTACHMENTS };

/* One piece of a filter. */
struct claim_rule {
	enum rule_mode mode;
	enum rule_part part;
	struct pattern *pattern; /* PART_HEADER */
};

/* ---- what is put aside ---- */

struct claim {
	struct list node;
	char *key; /* NULL: of the stack */
	size_t key_n;
	struct exchange *message;
};

struct claims {
	uint32_t refs, n;
	struct list keyed, stack; /* newest first */
};

static void
claim_free(struct claims *claims, struct claim *claim, struct exchange **message)
{
	claims->n--;
	list_remove(&claim->node);
	*message = claim->message;
	free(claim->key);
	free(claim);
}

static void
drop(struct claims *claims, struct list *list)
{
	while (!list_empty(list)) {
		struct exchange *message;
		claim_free(claims, LIST_FIRST(list, struct claim, node), &message);
		engine_child_free(&message);
	}
}

static void
put(void *arg)
{
	struct claims *claims = arg;
	if (--claims->refs > 0)
		return;
	drop(claims, &claims->keyed);
	drop(claims, &claims->stack);
	free(claims);
}

static void
know(struct exchange *ex, struct claims *claims)
{
	claims->refs++;
	ex->claims = claims;
	arena_on_reset(&ex->arena, put, claims);
}

void
claims_share(struct exchange *to, const struct exchange *from)
{
	if (from->claims && to->claims == NULL)
		know(to, from->claims);
}

static struct claims *
claims_of(struct exchange *ex)
{
	if (ex->claims == NULL) {
		struct claims *claims = MEM_NEW(struct claims);
		list_init(&claims->keyed);
		list_init(&claims->stack);
		know(ex, claims);
	}
	return ex->claims;
}

static struct claim *
find(struct exchange *ex, struct str key)
{
	LIST_FOREACH (&claims_of(ex)->keyed, it, next) {
		struct claim *claim = LIST_ENTRY(it, struct claim, node);
		if (str_eq((struct str){ claim->key, claim->key_n }, key))
			return claim;
	}
	return NULL;
}

/* A copy that knows of no claims, or they would keep themselves. */
static struct exchange *
copy_message(struct exchange *ex)
{
	struct claims *claims = ex->claims;
	ex->claims = NULL;
	struct exchange *copy = engine_child_new(ex, true);
	ex->claims = claims;
	return copy;
}

/* key.p NULL: onto the stack. */
static enum step_rc
put_aside(struct exchange *ex, struct str key)
{
	struct claims *claims = claims_of(ex);
	struct claim *claim = key.p ? find(ex, key) : NULL;
	if (claim) {
		engine_child_free(&claim->message);
	} else if (claims->n >= CLAIMS_MAX) {
		exchange_fail(ex, EXCEPTION_ILLEGAL_STATE,
		    "claimCheck: more than %d messages are put aside", CLAIMS_MAX);
		return STEP_FAILED;
	} else {
		claim = MEM_NEW(struct claim);
		claim->key = key.p ? mem_strndup(key.p, key.n) : NULL;
		claim->key_n = key.n;
		list_prepend(key.p ? &claims->keyed : &claims->stack, &claim->node);
		claims->n++;
	}
	claim->message = copy_message(ex);
	return STEP_DONE;
}

/* ---- taking it back ---- */

/* Is there a rule of this kind, and (name given) does it mean the header? */
static bool
has_rule(const struct claim_check_conf *conf, enum rule_mode mode, enum rule_part part,
    const struct str *name)
{
	for (size_t i = 0; i < conf->rules_n; i++) {
		const struct claim_rule *rule = &conf->rules[i];
		if (rule->mode == mode && rule->part == part &&
		    (name == NULL || part != PART_HEADER || pattern_match(rule->pattern, *name)))
			return true;
	}
	return false;
}

/* Only what is not wanted was named. */
static bool
takes_the_rest(const struct claim_check_conf *conf)
{
	for (size_t i = 0; i < conf->rules_n; i++)
		if (conf->rules[i].mode == RULE_INCLUDE)
			return false;
	return true;
}

static bool
takes_header(const struct claim_check_conf *conf, const struct str *name)
{
	if (has_rule(conf, RULE_EXCLUDE, PART_HEADERS, NULL) ||
	    has_rule(conf, RULE_EXCLUDE, PART_HEADER, name))
		return false;
	return takes_the_rest(conf) || has_rule(conf, RULE_INCLUDE, PART_HEADERS, NULL) ||
	    has_rule(conf, RULE_INCLUDE, PART_HEADER, name) ||
	    has_rule(conf, RULE_EXCLUDE, PART_HEADER, NULL);
}

static void
remove_parts(struct exchange *ex, const struct claim_check_conf *conf)
{
	if (has_rule(conf, RULE_REMOVE, PART_BODY, NULL))
		exchange_set_body(ex, value_null());
	if (has_rule(conf, RULE_REMOVE, PART_HEADERS, NULL))
		headers_clear(&ex->headers);
	for (size_t i = 0; i < conf->rules_n; i++)
		if (conf->rules[i].mode == RULE_REMOVE && conf->rules[i].part == PART_HEADER)
			(void)headers_remove_matching(
			    &ex->headers, conf->rules[i].pattern, NULL, 0);
	ex->dirty |= DIRTY_HEADERS;
}

/* By the filter; what is not in it stays as it is. */
static void
merge(struct exchange *ex, const struct exchange *from, const struct claim_check_conf *conf)
{
	bool body = takes_the_rest(conf) || has_rule(conf, RULE_INCLUDE, PART_BODY, NULL);
	if (body && !has_rule(conf, RULE_EXCLUDE, PART_BODY, NULL))
		exchange_set_body(ex, value_share(&ex->arena, &from->body));
	HEADERS_FOREACH (&from->headers, h)
		if (takes_header(conf, &h->name))
			exchange_set_header(ex, arena_str(&ex->arena, h->name),
			    value_share(&ex->arena, &h->value));
	remove_parts(ex, conf);
}

/* The message, and the one that was put aside, by a strategy. Takes both. */
static bool
combine(struct exchange *ex, struct exchange **stored, const struct bean *strategy)
{
	struct aggregation ag;
	struct exchange *now = copy_message(ex);
	aggregation_init(&ag, ex, strategy, AGGREGATION_LATEST);
	bool ok = aggregation_add(&ag, &now) && aggregation_add(&ag, stored);
	if (ok)
		aggregation_finish(&ag);
	else
		aggregation_fini(&ag);
	engine_child_free(&now);
	return ok;
}

static enum step_rc
take_back(struct exchange *ex, const struct claim_check_conf *conf, struct claim *claim, bool keeps)
{
	struct exchange *message;
	bool ok = true;
	if (claim == NULL)
		return STEP_DONE;
	if (keeps && conf->strategy == NULL) {
		merge(ex, claim->message, conf);
		return STEP_DONE;
	}
	if (keeps)
		message = engine_child_new(claim->message, true);
	else
		claim_free(ex->claims, claim, &message);
	if (conf->strategy)
		ok = combine(ex, &message, conf->strategy);
	else
		merge(ex, message, conf);
	engine_child_free(&message);
	return ok ? STEP_DONE : STEP_FAILED;
}

static enum step_rc
claim_check_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	const struct claim_check_conf *conf = st->conf;
	struct str key = { NULL, 0 };
	if (ex->body.type == VALUE_STREAM)
		return engine_need_body(ex);
	enum eval_rc rc = conf->key ? expression_text(conf->key, ex, &key, NULL) : EVAL_OK;
	if (rc != EVAL_OK)
		return rc == EVAL_NEED ? STEP_NEED : STEP_FAILED;
	switch ((enum operation)conf->operation) {
	case SET:
		return put_aside(ex, key);
	case PUSH:
		return put_aside(ex, (struct str){ NULL, 0 });
	case GET:
	case GET_AND_REMOVE:
		return take_back(ex, conf, find(ex, key), conf->operation == GET);
	case POP:
		return take_back(ex, conf,
		    list_empty(&claims_of(ex)->stack)
			? NULL
			: LIST_FIRST(&ex->claims->stack, struct claim, node),
		    false);
	}
	UNREACHABLE();
}

/* ---- options ---- */

static int
parse_rule(struct compile *c, struct step *st, struct str text, struct claim_rule *rule)
{
	static const char names[] =
	    "body, headers, attachments or header:PATTERN, with +, - or -- in front";
	struct hinny_error err;
	struct str word = text;
	*rule = (struct claim_rule){ .mode = RULE_INCLUDE };
	if (str_starts(word, "--"))
		rule->mode = RULE_REMOVE;
	else if (str_starts(word, "-"))
		rule->mode = RULE_EXCLUDE;
	size_t skip = rule->mode == RULE_REMOVE              ? 2
	    : rule->mode == RULE_EXCLUDE || str_starts(word, "+") ? 1
								  : 0;
	word = (struct str){ word.p + skip, word.n - skip };
	if (str_eq(word, STR_LIT("body"))) {
		rule->part = PART_BODY;
	} else if (str_eq(word, STR_LIT("headers"))) {
		rule->part = PART_HEADERS;
	} else if (str_eq(word, STR_LIT("attachments"))) {
		rule->part = PART_ATTACHMENTS;
	} else if (str_starts(word, "header:") && word.n > 7) {
		rule->part = PART_HEADER;
		struct str pattern = { word.p + 7, word.n - 7 };
		if (pattern_compile(compile_arena(c), pattern, true, &rule->pattern, &err) !=
		    HINNY_OK)
			return compile_error(c, st->at, "filter: %s", err.text);
	} else {
		return compile_error(
		    c, st->at, "filter: expected %s, got \"%.*s\"", names, STR_FMT(text));
	}
	return 0;
}

/* The next piece up to a comma that does not stand within parentheses. */
static bool
next_piece(struct str *rest, struct str *out)
{
	size_t n = 0;
	int depth = 0;
	if (rest->n == 0)
		return false;
	while (n < rest->n && (rest->p[n] != ',' || depth > 0)) {
		depth += (rest->p[n] == '(') - (rest->p[n] == ')');
		n++;
	}
	*out = str_trim((struct str){ rest->p, n });
	n += n < rest->n;
	*rest = (struct str){ rest->p + n, rest->n - n };
	return true;
}

static int
parse_filter(struct compile *c, struct step *st, struct claim_check_conf *conf)
{
	struct str rest = str_of(conf->filter), piece;
	size_t n = 1;
	for (size_t i = 0; i < rest.n; i++)
		n += rest.p[i] == ',';
	conf->rules = arena_alloc(compile_arena(c), n * sizeof(conf->rules[0]));
	while (next_piece(&rest, &piece)) {
		if (piece.n == 0 || str_eq(piece, STR_LIT("*")))
			continue;
		if (parse_rule(c, st, piece, &conf->rules[conf->rules_n]) != 0)
			return -1;
		conf->rules_n++;
	}
	if (has_rule(conf, RULE_INCLUDE, PART_HEADER, NULL) &&
	    has_rule(conf, RULE_EXCLUDE, PART_HEADER, NULL))
		return compile_error(c, st->at,
		    "filter: header:… and -header:… cannot be given both, got \"%s\"",
		    conf->filter);
	return 0;
}

static int
claim_check_check(struct compile *c, struct step *st)
{
	struct claim_check_conf *conf = st->conf;
	bool keyed = conf->operation != PUSH && conf->operation != POP;
	st->reads.flags |= ACCESS_ALL;
	st->writes.flags |= ACCESS_ALL;
	if (keyed && conf->key == NULL)
		return compile_error(
		    c, st->at, "key: Set, Get and GetAndRemove need one");
	if (conf->filter && conf->strategy)
		return compile_error(
		    c, st->at, "only one of filter and aggregationStrategy can be given");
	return conf->filter ? parse_filter(c, st, conf) : 0;
}

static const struct option_desc options[] = {
	{ .name = "operation",
	    .type = OPTION_ENUM,
	    .flags = OPTION_REQUIRED,
	    .values = "Get|GetAndRemove|Set|Push|Pop",
	    .offset = AT(operation),
	    .help = "put a copy of the message aside, or take it back; Push and Pop by a stack" },
	{ .name = "key",
	    .type = OPTION_STRING,
	    .flags = OPTION_TEMPLATE,
	    .offset = AT(key),
	    .help = "name of the copy; may be a Simple text" },
	{ .name = "filter",
	    .type = OPTION_STRING,
	    .offset = AT(filter),
	    .help = "what is taken back: body, headers, header:PATTERN, with commas; in front of "
		    "each \"-\" takes all but that, \"--\" removes it from the message" },
	{ .name = "aggregationStrategy",
	    .type = OPTION_BEAN,
	    .values = "AggregationStrategy",
	    .offset = AT(strategy),
	    .help = "what the message and the copy become; in place of filter" },
	OPTIONS_END,
};

const struct eip_desc claimCheck_eip = {
	.name = "claimCheck",
	.options = options,
	.conf_size = sizeof(struct claim_check_conf),
	.check = claim_check_check,
	.run = claim_check_run,
	.help = "puts copies of the message aside, and takes them back",
};
