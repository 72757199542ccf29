/*
 * What is decided at load: `precondition` of routes and routeConfigurations, and choices with
 * `precondition: true`. The trees are changed by it, in hinnyd alone and before they are compiled:
 * workers get the bundle as it was decided.
 */
#include "core/config/compile_priv.h"

#include "core/model/exchange.h"

/* ---- a predicate without a message ---- */

struct trial {
	struct exchange_pool pool;
	struct exchange *ex;
	struct route route;
};

static void
trial_begin(struct trial *t)
{
	exchange_pool_init(&t->pool, 1);
	t->route = (struct route){ .id = "" };
	t->ex = exchange_new(&t->pool);
	t->ex->route = t->ex->from_route = &t->route;
}

static void
trial_end(struct trial *t)
{
	exchange_free(&t->pool, &t->ex);
	exchange_pool_fini(&t->pool);
}

enum verdict { VERDICT_FALSE, VERDICT_TRUE, VERDICT_NONE };

/* NONE: it cannot be told, which was reported. */
static enum verdict
evaluate(struct compile *c, const struct expression *e)
{
	enum verdict verdict = VERDICT_NONE;
	struct trial t;
	struct value v;

	trial_begin(&t);
	enum eval_rc rc = e->language->eval != NULL && e->parts_n == 0
	    ? e->language->eval(e, t.ex, &v)
	    : EVAL_NEED;
	if (rc == EVAL_OK)
		verdict = value_truth(&v) ? VERDICT_TRUE : VERDICT_FALSE;
	else if (rc == EVAL_ERROR)
		compile_error(c, e->at, "the precondition cannot be evaluated: %.*s",
		    STR_FMT(t.ex->exception->message));
	else
		compile_error(c, e->at,
		    "a precondition is evaluated at load: expected a predicate that needs no other "
		    "process, got language %s",
		    e->language->name);
	trial_end(&t);
	return verdict;
}

static enum verdict
evaluate_text(struct compile *c, const struct node *n)
{
	struct str text = str_trim(n->text);

	if (str_caseeq(text, STR_LIT("true")))
		return VERDICT_TRUE;
	if (str_caseeq(text, STR_LIT("false")) || text.n == 0)
		return VERDICT_FALSE;
	const struct expression *e = compile_expression(c, "simple",
	    text.p[text.n] ? arena_strndup(c->arena, text.p, text.n) : text.p, true,
	    node_at(c->file, n));
	return e != NULL ? evaluate(c, e) : VERDICT_NONE;
}

/* ---- routes and configurations ---- */

static void
decide_root(struct compile *c, const struct node *key, struct node *value)
{
	const struct node *n = node_find(value, "precondition");

	if (n == NULL || n->kind != NODE_SCALAR || (n->flags & NODE_BAD))
		return; /* a list or map is reported where the options are read */
	PATH_KEY(c, key->text.p);
	struct path inner = { c->path, "precondition", 0 };
	c->path = &inner;
	if ((n->flags & NODE_ABSENT) || evaluate_text(c, n) == VERDICT_FALSE)
		value->flags |= NODE_ABSENT;
	PATH_END(c);
}

/* ---- choices ---- */

/* The predicate of a `when`; VERDICT_NONE when it is wrong: then the choice stays as it is, and
 * what is wrong is said where it is compiled. */
static enum verdict
decide_when(struct compile *c, const struct node *when)
{
	const struct expression *e = NULL;

	for (uint32_t i = 0; when->kind == NODE_MAP && i < when->n; i++) {
		const struct node *key = node_key(when, i), *value = node_value(when, i);
		if (str_eq(key->text, STR_LIT("expression")))
			e = expression_parse_map(c, value, true);
		else if (expression_is_language(c, key->text))
			e = expression_parse(c, key, value, true);
		else
			continue;
		return e != NULL ? evaluate(c, e) : VERDICT_NONE;
	}
	return VERDICT_NONE;
}

/* {otherwise: {steps: …}} of the branch that is taken. */
static void
take_branch(struct compile *c, struct node *choice, const struct node *when)
{
	const struct node *steps = node_find(when, "steps"), *id = node_find(when, "id");
	struct arena *a = &c->bundle->arena;
	struct node map = node_new(a, NODE_MAP, when, 2);

	if (id != NULL)
		node_put(&map, node_text(id, "id"), *id);
	if (steps != NULL)
		node_put(&map, node_text(steps, "steps"), *steps);
	node_remove(choice, "when");
	node_remove(choice, "otherwise");
	node_put(choice, node_text(when, "otherwise"), map); /* in the place of `when` */
}

static void
decide_choice(struct compile *c, struct node *choice)
{
	const struct node *whens = node_find(choice, "when");
	struct diagnostics *before = c->ds, said;
	const struct node *taken = NULL;
	enum verdict verdict = VERDICT_FALSE;
	size_t errors = c->errors;

	if (whens == NULL || whens->kind != NODE_LIST)
		return;
	diagnostics_init(&said);
	c->ds = &said;
	for (uint32_t i = 0; taken == NULL && verdict == VERDICT_FALSE && i < whens->n; i++) {
		if (node_is_true(node_find(&whens->items[i], "disabled")))
			continue;
		verdict = decide_when(c, &whens->items[i]);
		if (verdict == VERDICT_TRUE)
			taken = &whens->items[i];
	}
	c->ds = before;
	c->errors = errors;
	diagnostics_fini(&said);
	if (taken != NULL)
		take_branch(c, choice, taken);
	else if (verdict == VERDICT_FALSE)
		node_remove(choice, "when");
}

static void
decide_choices(struct compile *c, struct node *n)
{
	for (uint32_t i = 0; n->kind == NODE_LIST && i < n->n; i++)
		decide_choices(c, &n->items[i]);
	for (uint32_t i = 0; n->kind == NODE_MAP && i < n->n; i++) {
		struct node *value = node_value(n, i);
		if (str_eq(node_key(n, i)->text, STR_LIT("choice")) &&
		    node_is_true(node_find(value, "precondition")))
			decide_choice(c, value);
		decide_choices(c, value);
	}
}

void
preconditions_decide(struct compile *c, const struct document *doc)
{
	struct node *root = doc->root;

	if (root == NULL || root->kind != NODE_LIST)
		return;
	c->file = doc->file;
	for (uint32_t i = 0; i < root->n; i++) {
		struct node *item = &root->items[i];
		if (item->kind != NODE_MAP || item->n != 1)
			continue;
		const struct node *key = node_key(item, 0);
		struct node *value = node_value(item, 0);
		if (str_eq(key->text, STR_LIT("route")) ||
		    str_eq(key->text, STR_LIT("routeConfiguration")))
			decide_root(c, key, value);
		if (!(value->flags & NODE_ABSENT))
			decide_choices(c, value);
	}
	c->file = NULL;
	c->program->remotes_n = 0; /* slots of what was tried: no worker would have them */
}
