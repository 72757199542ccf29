/*
 * Simple: a template in expression mode, a grammar in predicate mode. A text is compiled once, at
 * load, to nodes (simple_priv.h); what is wrong with it is reported there with its column. An
 * expression whose resultType is Boolean is a predicate.
 */
#include "core/lang/simple.h"

#include "core/base/assert.h"
#include "core/config/compile.h"
#include "core/lang/document.h"
#include "core/lang/json_write.h"
#include "core/lang/simple_priv.h"
#include "core/lang/text.h"

static const struct option_desc simple_options[] = {
	{ .name = "trimResult",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .help = "takes the blanks off both ends of the result",
	    .offset = offsetof(struct simple_conf, trim_result) },
	{ .name = "pretty",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .help = "writes a list or map as JSON with line breaks",
	    .offset = offsetof(struct simple_conf, pretty) },
	{ .name = "nested",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .help = "true is not supported: the result is never evaluated again",
	    .offset = offsetof(struct simple_conf, nested) },
	OPTIONS_END,
};

struct simple_node *
simple_compile_text(
    struct compile *c, struct expression *e, struct str s, bool predicate, bool *effects)
{
	struct simple_parser p = {
		.c = c,
		.e = e,
		.arena = compile_arena(c),
		.base = e->text,
		.length = strlen(e->text),
		.budget = SIMPLE_QUOTE_TRIES,
	};
	struct str rest;
	bool has_init;
	struct simple_node *init = simple_parse_init(&p, s, &rest, &has_init), *root = NULL;
	if (init != NULL || !has_init)
		root = predicate
		    ? simple_parse_predicate(&p, rest)
		    : simple_parse_template(&p, rest, SIMPLE_OPERATORS | SIMPLE_ESCAPES);
	if (root != NULL && init != NULL) {
		init->kids[init->n - 1] = root;
		root = init;
	}
	*effects = p.effects;
	if (root == NULL && !p.failed)
		return simple_error(&p, s.p, "the expression is wrong");
	return p.failed ? NULL : root;
}

/* Is it a function and nothing else? */
static bool
is_one_function(struct compile *c, struct expression *e, struct str s)
{
	struct simple_parser p = { .c = c,
		.e = e,
		.arena = compile_arena(c),
		.base = e->text,
		.length = s.n,
		.budget = SIMPLE_QUOTE_TRIES };
	size_t start = simple_function_start(s, 0);
	return start != 0 && simple_function_end(&p, s, start) == s.n;
}

static int
simple_compile(struct compile *c, struct expression *e)
{
	const struct simple_conf *conf = e->conf;
	if (conf != NULL && conf->nested)
		return compile_error(
		    c, e->at, "option \"nested\" of language simple is not supported");
	struct simple_program *program = ARENA_NEW(compile_arena(c), struct simple_program);
	struct str text = str_of(e->text);
	bool predicate = e->predicate || e->result_type == CLASS_BOOLEAN;
	if (predicate && !e->predicate && is_one_function(c, e, text)) {
		predicate = false; /* Camel gives its value as it is */
		e->result_type = CLASS_NONE;
	}
	program->root = simple_compile_text(c, e, text, predicate, &program->effects);
	e->code = program;
	return program->root != NULL ? 0 : -1;
}

/* Before anything is changed: are all remote values there? */
static enum eval_rc
need_parts(const struct expression *e, struct exchange *ex)
{
	for (uint32_t i = 0; i < e->parts_n; i++) {
		const struct expression *part = e->parts[i];
		const struct eval_slot *slot = expression_slot(ex, part);
		if (part->owner != NULL && part->ops == NULL && (slot == NULL || !slot->filled)) {
			ex->need = part;
			return EVAL_NEED;
		}
	}
	return EVAL_OK;
}

/* The options that change a result. */
static enum eval_rc
finish(const struct simple_conf *conf, struct exchange *ex, struct value *out)
{
	struct value plain = document_plain(&ex->arena, *out);
	if (conf->pretty && document_kind(&plain) != DOCUMENT_SCALAR) {
		struct str text;
		if (json_write_text(&ex->arena, &plain, true, &text) != HINNY_OK)
			return simple_fail(
			    ex, EXCEPTION_JSON_PROCESSING, "the result is too large or too deep");
		*out = value_str(text);
	}
	if (conf->trim_result && out->type == VALUE_STRING)
		out->u.s = text_trim(out->u.s);
	return EVAL_OK;
}

static enum eval_rc
simple_run(const struct expression *e, struct exchange *ex, struct value *out)
{
	const struct simple_program *program = e->code;
	const struct simple_conf *conf = e->conf;
	if (program->effects && e->parts_n > 0) {
		enum eval_rc rc = need_parts(e, ex);
		if (rc != EVAL_OK)
			return rc;
	}
	enum eval_rc rc = simple_eval(program->root, ex, out);
	if (rc == EVAL_OK && conf != NULL && (conf->trim_result || conf->pretty))
		rc = finish(conf, ex, out);
	return rc;
}

static const char *const aliases[] = { "csimple", NULL };

const struct language_desc simple_language = {
	.name = "simple",
	.aliases = aliases,
	.options = simple_options,
	.conf_size = sizeof(struct simple_conf),
	.compile = simple_compile,
	.eval = simple_run,
	.help = "text with ${functions}; as predicate, comparisons joined by && and ||",
};
