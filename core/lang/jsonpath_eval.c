/*
 * A path over a document, with Jayway's rules for what is missing: where the path so far is
 * definite, a property or index that is not there is PathNotFoundException; behind a wildcard,
 * filter, slice or scan it is passed over.
 */
#include "core/lang/jsonpath_priv.h"

#include "core/base/assert.h"

enum { SCAN_DEPTH_MAX = 1000 };

struct walk {
	struct jsonpath_run *run;
	const struct jsonpath_code *code;
	size_t end; /* tokens that count: without the function of an inverted path */
	size_t found;
	struct value last;
	struct value_list *list; /* NULL: only the last one is kept */
	unsigned depth;
	struct trail *trail; /* the way to where the walk is; NULL: nobody wants to know */
	size_t trail_n;
};

/* A step of it: a member, or (key.p NULL) an item. */
struct trail {
	struct str key;
	size_t index;
};
enum { TRAIL_MAX = SCAN_DEPTH_MAX + JSONPATH_TOKENS_MAX + 1 };

/* What is missing or wrong ends the walk: false. */
static bool
fail(struct walk *w, enum exception_id id, const char *why)
{
	w->run->id = id;
	w->run->why = why;
	return false;
}

static const char *
shown(const struct walk *w)
{
	return w->code->shown;
}

static bool visit(struct walk *w, size_t at, const struct value *model, bool definite);

static bool
visit_child(struct walk *w, size_t at, struct str key, size_t index, const struct value *v,
    bool definite)
{
	if (w->trail != NULL) {
		ASSERT(w->trail_n < TRAIL_MAX);
		w->trail[w->trail_n++] = (struct trail){ key, index };
	}
	bool ok = visit(w, at, v, definite);
	w->trail_n -= w->trail != NULL;
	return ok;
}

/* $['a'][0] */
static struct value
trail_text(struct walk *w)
{
	struct buf b;
	buf_init(&b, 0);
	(void)buf_add_char(&b, '$'); /* no bound */
	for (size_t i = 0; i < w->trail_n; i++) {
		if (w->trail[i].key.p != NULL)
			(void)buf_printf(&b, "['%.*s']", STR_FMT(w->trail[i].key));
		else
			(void)buf_printf(&b, "[%zu]", w->trail[i].index);
	}
	struct value v = value_str(arena_str(w->run->arena, (struct str){ b.p, b.n }));
	buf_fini(&b);
	return v;
}

static bool
emit(struct walk *w, const struct value *v)
{
	struct value path;
	w->found++;
	if (w->trail != NULL) {
		path = trail_text(w);
		v = &path;
	}
	w->last = *v;
	if (w->list != NULL)
		value_list_add(w->run->arena, w->list, *v);
	return true;
}

/* ---- properties ---- */

static bool
missing_property(struct walk *w, size_t at, bool definite)
{
	bool leaf = at + 1 == w->end;
	struct value null = value_null();
	if (leaf && (w->run->options & JSONPATH_LEAF_TO_NULL))
		return emit(w, &null);
	if (!(w->run->options & JSONPATH_REQUIRE_PROPERTIES) && (leaf || !definite))
		return true;
	return fail(w, EXCEPTION_PATH_NOT_FOUND,
	    arena_printf(w->run->arena,
		leaf ? "No results for path: %s" : "Missing property in path %s", shown(w)));
}

/* Several properties at the end are one object, of those that are there. */
static bool
visit_merged(struct walk *w, const struct jsonpath_token *t, const struct value *model)
{
	struct arena *a = w->run->arena;
	struct value merged = value_new_map(a, t->u.property.n, false), v;
	for (size_t i = 0; i < t->u.property.n; i++) {
		struct str name = t->u.property.names[i];
		if (document_member(a, model, name, &v))
			value_map_set(a, merged.u.map, name, v);
		else if (w->run->options & JSONPATH_LEAF_TO_NULL)
			value_map_set(a, merged.u.map, name, value_null());
		else if (w->run->options & JSONPATH_REQUIRE_PROPERTIES)
			return fail(w, EXCEPTION_PATH_NOT_FOUND,
			    arena_printf(a, "Missing property in path %s", shown(w)));
	}
	return emit(w, &merged);
}

static bool
visit_property(struct walk *w, size_t at, const struct jsonpath_token *t, const struct value *model,
    bool definite)
{
	struct value v;
	if (document_kind(model) != DOCUMENT_OBJECT) {
		if (!definite)
			return true;
		return fail(w, EXCEPTION_PATH_NOT_FOUND,
		    arena_printf(w->run->arena,
			"Expected to find an object with property ['%.*s'] in path %s",
			STR_FMT(t->u.property.names[0]), shown(w)));
	}
	if (t->u.property.n > 1 && at + 1 == w->end)
		return visit_merged(w, t, model);
	for (size_t i = 0; i < t->u.property.n; i++) {
		bool single = definite && t->u.property.n == 1;
		if (!document_member(w->run->arena, model, t->u.property.names[i], &v)) {
			if (!missing_property(w, at, single))
				return false;
		} else if (!visit_child(w, at + 1, t->u.property.names[i], 0, &v, single)) {
			return false;
		}
	}
	return true;
}

/* ---- arrays ---- */

static bool
needs_array(struct walk *w, const struct value *model, bool definite, bool *stop)
{
	*stop = document_kind(model) != DOCUMENT_ARRAY;
	if (!*stop || !definite)
		return true;
	return fail(w, EXCEPTION_PATH_NOT_FOUND,
	    arena_printf(w->run->arena,
		"Filter: an index can only be applied to arrays, in path %s", shown(w)));
}

static bool
visit_index(struct walk *w, size_t at, const struct jsonpath_token *t, const struct value *model,
    bool definite)
{
	bool stop;
	if (!needs_array(w, model, definite, &stop))
		return false;
	for (size_t i = 0; !stop && i < t->u.index.n; i++) {
		int64_t size = (int64_t)document_size(model), index = t->u.index.items[i];
		struct value v;
		index += index < 0 ? size : 0;
		if (index < 0 || index >= size ||
		    !document_item(w->run->arena, model, (size_t)index, &v))
			continue;
		if (!visit_child(w, at + 1, (struct str){ NULL, 0 }, (size_t)index, &v,
			definite && t->u.index.n == 1))
			return false;
	}
	return true;
}

/* With a negative step: from the end to the beginning. */
static bool
visit_slice_back(struct walk *w, size_t at, const struct jsonpath_token *t,
    const struct value *model, int64_t size)
{
	int64_t from = t->u.slice.has_from ? t->u.slice.from : size - 1,
		to = t->u.slice.has_to ? t->u.slice.to : -1;
	from += t->u.slice.has_from && from < 0 ? size : 0;
	to += t->u.slice.has_to && to < 0 ? size : 0;
	from = from >= size ? size - 1 : from;
	to = to < -1 ? -1 : to;
	struct value *items = arena_alloc(w->run->arena, (size_t)size * sizeof *items + 1), v;
	struct document_iter it;
	struct str key;
	document_iter_init(&it, w->run->arena, model);
	for (int64_t i = 0; i < size && document_iter_next(&it, &key, &items[i]);)
		i++;
	for (int64_t i = from; i > to; i += t->u.slice.step) {
		v = items[i];
		if (!visit_child(w, at + 1, (struct str){ NULL, 0 }, (size_t)i, &v, false))
			return false;
	}
	return true;
}

static bool
visit_slice(struct walk *w, size_t at, const struct jsonpath_token *t, const struct value *model,
    bool definite)
{
	struct document_iter it;
	struct str key;
	struct value v;
	bool stop;
	if (!needs_array(w, model, definite, &stop))
		return false;
	if (stop)
		return true;
	int64_t size = (int64_t)document_size(model), step = t->u.slice.step;
	int64_t from = t->u.slice.has_from ? t->u.slice.from : 0,
		to = t->u.slice.has_to ? t->u.slice.to : size;
	if (step < 0)
		return visit_slice_back(w, at, t, model, size);
	from += from < 0 ? size : 0;
	to += to < 0 ? size : 0;
	from = from < 0 ? 0 : from;
	document_iter_init(&it, w->run->arena, model);
	for (int64_t i = 0; step > 0 && i < to && document_iter_next(&it, &key, &v); i++)
		if (i >= from && (i - from) % step == 0 &&
		    !visit_child(w, at + 1, key, (size_t)i, &v, false))
			return false;
	return true;
}

static bool
visit_wildcard(struct walk *w, size_t at, const struct jsonpath_token *t, const struct value *model,
    bool definite)
{
	struct document_iter it;
	struct str key;
	struct value v;
	(void)t;
	(void)definite;
	document_iter_init(&it, w->run->arena, model);
	for (size_t i = 0; document_iter_next(&it, &key, &v); i++)
		if (!visit_child(w, at + 1, key, i, &v, false))
			return false;
	return true;
}

static bool
visit_filter(struct walk *w, size_t at, const struct jsonpath_token *t, const struct value *model,
    bool definite)
{
	struct document_iter it;
	struct str key;
	struct value v;
	if (document_kind(model) == DOCUMENT_OBJECT && !t->u.filter.strict)
		return !jsonpath_accepts(w->run, t->u.filter.condition, model) ||
		    visit(w, at + 1, model, false);
	if (document_kind(model) == DOCUMENT_SCALAR)
		return !definite || t->u.filter.strict ||
		    fail(w, EXCEPTION_INVALID_PATH,
			arena_printf(w->run->arena,
			    "Filter: [?] can not be applied to primitives, in path %s", shown(w)));
	document_iter_init(&it, w->run->arena, model);
	for (size_t i = 0; document_iter_next(&it, &key, &v); i++)
		if (jsonpath_accepts(w->run, t->u.filter.condition, &v) &&
		    !visit_child(w, at + 1, key, i, &v, false))
			return false;
	return true;
}

/* ---- everywhere below ---- */

/* Does the token behind ".." take this object or array? */
static bool
scan_fits(struct walk *w, const struct jsonpath_token *t, const struct value *model)
{
	struct value v;
	enum document_kind kind = document_kind(model);
	switch (t->type) {
	case JSONPATH_PROPERTY:
		if (kind != DOCUMENT_OBJECT)
			return false;
		for (size_t i = 0; t->u.property.n == 1 && i < 1; i++)
			if (!document_member(w->run->arena, model, t->u.property.names[i], &v))
				return false;
		return true;
	case JSONPATH_INDEX:
	case JSONPATH_SLICE:
		return kind == DOCUMENT_ARRAY;
	case JSONPATH_FILTER:
		return t->u.filter.strict ||
		    (kind == DOCUMENT_OBJECT &&
			jsonpath_accepts(w->run, t->u.filter.condition, model));
	default:
		return true;
	}
}

static bool
scan(struct walk *w, size_t at, const struct value *model)
{
	struct document_iter it;
	struct str key;
	struct value v;
	if (document_kind(model) == DOCUMENT_SCALAR)
		return true;
	if (w->depth >= SCAN_DEPTH_MAX)
		return fail(w, EXCEPTION_JSON_PATH, "the document is too deep");
	if (scan_fits(w, &w->code->tokens[at], model) && !visit(w, at, model, false))
		return false;
	w->depth++;
	document_iter_init(&it, w->run->arena, model);
	for (size_t i = 0; document_iter_next(&it, &key, &v); i++) {
		if (w->trail != NULL)
			w->trail[w->trail_n++] = (struct trail){ key, i };
		if (!scan(w, at, &v))
			return false;
		w->trail_n -= w->trail != NULL;
	}
	w->depth--;
	return true;
}

static bool
visit_scan(struct walk *w, size_t at, const struct jsonpath_token *t, const struct value *model,
    bool definite)
{
	(void)t;
	(void)definite;
	return at + 1 < w->end ? scan(w, at + 1, model) : true;
}

/* ---- functions ---- */

static bool
apply_function(
    struct walk *w, const struct jsonpath_token *t, const struct value *model, struct value *out)
{
	struct value args[16];
	const char *why = NULL;
	size_t n = 0;
	for (size_t i = 0; i < t->u.function.n && n < ARRAY_LEN(args); i++)
		if (jsonpath_operand_value(w->run, &t->u.function.params[i], model, &args[n]))
			n++;
	if (t->u.function.fn->apply(w->run->arena, model, args, n, out, &why))
		return true;
	return fail(w, EXCEPTION_JSON_PATH, why);
}

static bool
visit_function(struct walk *w, size_t at, const struct jsonpath_token *t, const struct value *model,
    bool definite)
{
	struct value v;
	return apply_function(w, t, model, &v) && visit(w, at + 1, &v, definite);
}

typedef bool visit_fn(struct walk *w, size_t at, const struct jsonpath_token *t,
    const struct value *model, bool definite);

static visit_fn visit_union;

static visit_fn *const visitors[JSONPATH_TOKEN_TYPES] = {
	[JSONPATH_PROPERTY] = visit_property,
	[JSONPATH_WILDCARD] = visit_wildcard,
	[JSONPATH_INDEX] = visit_index,
	[JSONPATH_SLICE] = visit_slice,
	[JSONPATH_FILTER] = visit_filter,
	[JSONPATH_SCAN] = visit_scan,
	[JSONPATH_FUNCTION] = visit_function,
	[JSONPATH_UNION] = visit_union,
};

/* One selector after the other, each for itself. */
static bool
visit_union(struct walk *w, size_t at, const struct jsonpath_token *t, const struct value *model,
    bool definite)
{
	(void)definite;
	for (size_t i = 0; i < t->u.several.n; i++) {
		const struct jsonpath_token *one = &t->u.several.items[i];
		if (!visitors[one->type](w, at, one, model, false))
			return false;
	}
	return true;
}

/* The tokens from `at` on over model; definite: no token before gave more than one. */
static bool
visit(struct walk *w, size_t at, const struct value *model, bool definite)
{
	if (at == w->end)
		return emit(w, model);
	const struct jsonpath_token *t = &w->code->tokens[at];
	return visitors[t->type](w, at, t, model, definite);
}

/* ---- all ---- */

enum jsonpath_outcome
jsonpath_evaluate(struct jsonpath_run *run, const struct jsonpath_code *code,
    const struct value *current, struct value *out)
{
	struct walk w = { .run = run, .code = code, .end = code->n - code->inverted };
	struct value list = value_null();
	bool paths = (run->options & JSONPATH_AS_PATHS) != 0 && !code->inverted;
	if (paths)
		w.trail = arena_alloc(run->arena, TRAIL_MAX * sizeof *w.trail);
	if (!code->definite || code->inverted || paths) {
		list = value_new_list(run->arena, 8);
		w.list = list.u.list;
	}
	if (!visit(&w, 0, code->current ? current : run->root, true))
		return run->id == EXCEPTION_PATH_NOT_FOUND ? JSONPATH_MISSING : JSONPATH_FAILED;
	if (code->inverted)
		return apply_function(&w, &code->tokens[code->n - 1], &list, out) ? JSONPATH_FOUND
										  : JSONPATH_FAILED;
	if (!code->definite || (paths && w.found > 0)) {
		*out = list;
		return JSONPATH_FOUND;
	}
	if (w.found == 0) {
		(void)fail(&w, EXCEPTION_PATH_NOT_FOUND,
		    arena_printf(run->arena, "No results for path: %s", code->shown));
		return JSONPATH_MISSING;
	}
	*out = w.last;
	return JSONPATH_FOUND;
}

/* The document that a value is or holds. The exception is set when it is none. */
static enum eval_rc
read_root(struct exchange *ex, const struct value *from, struct value *root)
{
	const struct json_node *node;
	struct hinny_error err;
	if (from == NULL || value_is_null(from)) {
		exchange_fail(
		    ex, EXCEPTION_CAMEL_EXCHANGE, "Cannot read body as supported JSON value");
		return EVAL_ERROR;
	}
	*root = document_plain(&ex->arena, *from);
	if (document_kind(root) != DOCUMENT_SCALAR)
		return EVAL_OK;
	struct str text =
	    value_has_text(from) ? value_text(&ex->arena, from) : (struct str){ NULL, 0 };
	if (str_trim(text).n == 0) {
		exchange_fail(ex, EXCEPTION_CAMEL_EXCHANGE,
		    "Cannot read body as supported JSON value: %s",
		    value_has_text(from) ? "it is empty" : value_class(from));
		return EVAL_ERROR;
	}
	/* what stands behind the first value does not count */
	if (exchange_json(ex, text, &node, &err) != HINNY_OK &&
	    json_parse_first(&ex->arena, text, &node, NULL, &err) != HINNY_OK) {
		exchange_fail(ex, EXCEPTION_INVALID_JSON, "%s", err.text);
		return EVAL_ERROR;
	}
	if (node->type == JSON_IS_NULL) {
		exchange_fail(ex, EXCEPTION_ILLEGAL_ARGUMENT, "json object can not be null");
		return EVAL_ERROR;
	}
	*root = value_from_json(&ex->arena, node, from->blob);
	return EVAL_OK;
}

enum eval_rc
jsonpath_read(const struct jsonpath_code *code, struct exchange *ex, const struct value *from,
    unsigned options, struct value *out)
{
	struct value root;
	enum eval_rc rc = read_root(ex, from, &root);
	if (rc != EVAL_OK)
		return rc;
	struct jsonpath_run run = { .arena = &ex->arena, .root = &root, .options = options };
	if (jsonpath_evaluate(&run, code, &root, out) != JSONPATH_FOUND) {
		if (!(options & JSONPATH_SUPPRESS)) {
			exchange_fail(ex, run.id, "%s", run.why);
			return EVAL_ERROR;
		}
		*out = code->definite && !(options & JSONPATH_AS_PATHS)
		    ? value_null()
		    : value_new_list(&ex->arena, 0);
	}
	if ((options & JSONPATH_ALWAYS_LIST) && code->definite && !(options & JSONPATH_AS_PATHS)) {
		struct value list = value_new_list(&ex->arena, 1);
		value_list_add(&ex->arena, list.u.list, *out);
		*out = list;
	}
	return EVAL_OK;
}
