/* Nodes of Simple to values, by a table of functions, one a node type. */
#include "core/lang/simple_priv.h"

#include "core/base/assert.h"
#include "core/eip/variables.h"
#include "core/lang/document.h"
#include "core/lang/jsonpath.h"

#include <stdio.h>

typedef enum eval_rc node_fn(
    const struct simple_node *node, struct exchange *ex, struct value *out);

enum eval_rc
simple_fail(struct exchange *ex, enum exception_id id, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	const char *text = arena_vprintf(&ex->arena, fmt, ap);
	va_end(ap);
	exchange_fail(ex, id, "%s", text);
	return EVAL_ERROR;
}

/* ---- access ---- */

struct value *
simple_lookup(struct exchange *ex, enum simple_scope scope, struct str name, uint32_t hash)
{
	if (scope == SIMPLE_IN_HEADERS) {
		struct header *h = headers_find_hashed(&ex->headers, name, hash);
		return h != NULL ? &h->value : NULL;
	}
	return scope == SIMPLE_IN_PROPERTIES ? exchange_property(ex, name)
					     : exchange_variable(ex, name);
}

static enum eval_rc
give(const struct value *found, struct value *out)
{
	*out = found != NULL ? *found : value_null();
	return EVAL_OK;
}

static enum eval_rc
eval_const(const struct simple_node *node, struct exchange *ex, struct value *out)
{
	(void)ex;
	*out = node->u.value;
	return EVAL_OK;
}

static enum eval_rc
eval_body(const struct simple_node *node, struct exchange *ex, struct value *out)
{
	(void)node;
	*out = ex->body;
	return EVAL_OK;
}

static enum eval_rc
eval_header(const struct simple_node *node, struct exchange *ex, struct value *out)
{
	return give(
	    simple_lookup(ex, SIMPLE_IN_HEADERS, node->u.key.full, node->u.key.full_hash), out);
}

static enum eval_rc
eval_property(const struct simple_node *node, struct exchange *ex, struct value *out)
{
	return give(exchange_property(ex, node->u.key.full), out);
}

static enum eval_rc
eval_variable(const struct simple_node *node, struct exchange *ex, struct value *out)
{
	struct str name = node->u.key.full;
	return variables_is_shared(name) ? variables_get(ex, name, out)
					 : give(exchange_variable(ex, name), out);
}

/* One that all exchanges share. */
static enum eval_rc
eval_shared(const struct simple_key *key, struct exchange *ex, struct value *out)
{
	enum eval_rc rc = variables_get(ex, key->full, out);
	if (rc != EVAL_OK || !value_is_null(out) || key->path == NULL)
		return rc;
	struct value v;
	rc = variables_get(ex, key->name, &v);
	return rc != EVAL_OK || value_is_null(&v) ? rc : simple_path_apply(key->path, ex, v, out);
}

static enum eval_rc
eval_key(const struct simple_key *key, struct exchange *ex, struct value *out)
{
	if (key->scope == SIMPLE_IN_VARIABLES && variables_is_shared(key->full))
		return eval_shared(key, ex, out);
	struct value *found = simple_lookup(ex, key->scope, key->full, key->full_hash);
	if (found != NULL || key->path == NULL)
		return give(found, out);
	found = simple_lookup(ex, key->scope, key->name, key->name_hash);
	return found != NULL ? simple_path_apply(key->path, ex, *found, out) : give(NULL, out);
}

static enum eval_rc
eval_keyed(const struct simple_node *node, struct exchange *ex, struct value *out)
{
	return eval_key(&node->u.key, ex, out);
}

static enum eval_rc
eval_keyed_dynamic(const struct simple_node *node, struct exchange *ex, struct value *out)
{
	struct str text;
	bool null;
	enum eval_rc rc = simple_eval_text(node->kids[0], ex, &text, &null);
	if (rc != EVAL_OK || text.n == 0) {
		*out = value_null();
		return rc;
	}
	struct simple_key key = { .scope = node->u.key.scope };
	simple_key_split(&ex->arena, text, &key);
	return eval_key(&key, ex, out);
}

static enum eval_rc
eval_path(const struct simple_node *node, struct exchange *ex, struct value *out)
{
	struct value v;
	enum eval_rc rc = simple_eval(node->kids[0], ex, &v);
	return rc == EVAL_OK ? simple_path_apply(node->u.path, ex, v, out) : rc;
}

static enum eval_rc
eval_path_dynamic(const struct simple_node *node, struct exchange *ex, struct value *out)
{
	struct value v;
	struct str text;
	bool null;
	const char *why;
	struct simple_path *path;
	enum eval_rc rc = simple_eval(node->kids[0], ex, &v);
	if (rc == EVAL_OK)
		rc = simple_eval_text(node->kids[1], ex, &text, &null);
	if (rc != EVAL_OK)
		return rc;
	if (!simple_path_parse(&ex->arena, text, &path, &why))
		return simple_fail(ex, EXCEPTION_BEAN_EXPRESSION, "%s: %.*s", why, STR_FMT(text));
	return simple_path_apply(path, ex, v, out);
}

/* ---- text ---- */

enum { PARTS_ON_STACK = 16 };

static enum eval_rc
eval_concat(const struct simple_node *node, struct exchange *ex, struct value *out)
{
	struct str few[PARTS_ON_STACK];
	struct str *parts =
	    node->n <= PARTS_ON_STACK ? few : arena_alloc(&ex->arena, node->n * sizeof *parts);
	size_t total = 0;
	for (uint32_t i = 0; i < node->n; i++) {
		bool null;
		enum eval_rc rc = simple_eval_text(node->kids[i], ex, &parts[i], &null);
		if (rc != EVAL_OK)
			return rc;
		if (parts[i].n > SIMPLE_TEXT_MAX - total)
			return simple_fail(ex, EXCEPTION_EXPRESSION_EVALUATION,
			    "text would be longer than %d bytes", SIMPLE_TEXT_MAX);
		total += parts[i].n;
	}
	char *text = arena_alloc(&ex->arena, total + 1), *p = text;
	for (uint32_t i = 0; i < node->n; i++) {
		if (parts[i].n > 0)
			memcpy(p, parts[i].p, parts[i].n);
		p += parts[i].n;
	}
	*p = '\0';
	*out = value_str((struct str){ text, total });
	return EVAL_OK;
}

enum eval_rc
simple_eval_text(const struct simple_node *node, struct exchange *ex, struct str *out, bool *null)
{
	struct value v;
	enum eval_rc rc = simple_eval(node, ex, &v);
	if (rc != EVAL_OK)
		return rc;
	*null = value_is_null(&v);
	*out = *null ? (struct str){ "", 0 } : value_text(&ex->arena, &v);
	return EVAL_OK;
}

/* ---- functions ---- */

static enum eval_rc
eval_call(const struct simple_node *node, struct exchange *ex, struct value *out)
{
	struct simple_call call = { .node = node, .ex = ex };
	*out = value_null();
	return node->u.fn->eval(&call, out);
}

enum eval_rc
simple_arg(struct simple_call *call, size_t i, struct value *out)
{
	if (!simple_arg_given(call, i)) {
		*out = value_null();
		return EVAL_OK;
	}
	enum eval_rc rc = simple_eval(call->node->kids[i], call->ex, out);
	if (rc == EVAL_OK)
		*out = document_plain(&call->ex->arena, *out);
	return rc;
}

bool
simple_arg_given(const struct simple_call *call, size_t i)
{
	return i < call->node->n && call->node->kids[i] != NULL;
}

enum eval_rc
simple_arg_text(struct simple_call *call, size_t i, struct str *out, bool *null)
{
	struct value v;
	enum eval_rc rc = simple_arg(call, i, &v);
	if (rc != EVAL_OK)
		return rc;
	*null = value_is_null(&v);
	*out = *null ? (struct str){ "", 0 } : value_text(&call->ex->arena, &v);
	return EVAL_OK;
}

enum eval_rc
simple_arg_int(struct simple_call *call, size_t i, int64_t *out)
{
	struct value v, n;
	struct hinny_error err;
	enum eval_rc rc = simple_arg(call, i, &v);
	if (rc != EVAL_OK)
		return rc;
	if (value_convert(&call->ex->arena, &v, CLASS_LONG, &n, &err) != HINNY_OK)
		return simple_fail(call->ex, EXCEPTION_TYPE_CONVERSION, "function %s: %s",
		    call->node->u.fn->name, err.text);
	if (n.type != VALUE_INT)
		return simple_fail(call->ex, EXCEPTION_ILLEGAL_ARGUMENT,
		    "function %s needs a whole number", call->node->u.fn->name);
	*out = n.u.i;
	return EVAL_OK;
}

enum eval_rc
simple_arg_truth(struct simple_call *call, size_t i, bool *out)
{
	*out = false;
	return simple_arg_given(call, i) ? simple_eval_truth(call->node->kids[i], call->ex, out)
					 : EVAL_OK;
}

static enum eval_rc
eval_convert(const struct simple_node *node, struct exchange *ex, struct value *out)
{
	struct value v;
	struct hinny_error err;
	enum eval_rc rc = simple_eval(node->kids[0], ex, &v);
	if (rc != EVAL_OK)
		return rc;
	if (value_is_null(&v) && node->u.convert.mandatory)
		return simple_fail(ex, EXCEPTION_INVALID_PAYLOAD, "No body available of type: %s",
		    value_class_name(node->u.convert.to));
	enum hinny_rc converted = value_convert(&ex->arena, &v, node->u.convert.to, out, &err);
	if (converted == HINNY_OK)
		return EVAL_OK;
	*out = value_null();
	if (converted == HINNY_ENOENT && !node->u.convert.mandatory)
		return EVAL_OK;
	return simple_fail(ex, EXCEPTION_TYPE_CONVERSION, "%s", err.text);
}

/* ---- truth ---- */

static enum eval_rc
eval_compare(const struct simple_node *node, struct exchange *ex, struct value *out)
{
	struct value l, r;
	bool truth = false;
	enum eval_rc rc = simple_eval(node->kids[0], ex, &l);
	if (rc == EVAL_OK)
		rc = simple_eval(node->kids[1], ex, &r);
	if (rc == EVAL_OK)
		rc = simple_compare(node, ex, &l, &r, &truth);
	*out = value_bool(truth);
	return rc;
}

static enum eval_rc
eval_logic(const struct simple_node *node, struct exchange *ex, struct value *out)
{
	bool truth;
	enum eval_rc rc = simple_eval_truth(node->kids[0], ex, &truth);
	if (rc == EVAL_OK && truth == (node->type == SIMPLE_AND))
		rc = simple_eval_truth(node->kids[1], ex, &truth);
	*out = value_bool(rc == EVAL_OK && truth);
	return rc;
}

static enum eval_rc
eval_truth(const struct simple_node *node, struct exchange *ex, struct value *out)
{
	bool truth;
	enum eval_rc rc = simple_eval_truth(node->kids[0], ex, &truth);
	*out = value_bool(rc == EVAL_OK && truth);
	return rc;
}

enum eval_rc
simple_eval_truth(const struct simple_node *node, struct exchange *ex, bool *out)
{
	struct value v;
	enum eval_rc rc = simple_eval(node, ex, &v);
	*out = rc == EVAL_OK && value_truth(&v);
	return rc;
}

/* ---- operators ---- */

static enum eval_rc
eval_ternary(const struct simple_node *node, struct exchange *ex, struct value *out)
{
	bool truth;
	enum eval_rc rc = simple_eval_truth(node->kids[0], ex, &truth);
	return rc == EVAL_OK ? simple_eval(node->kids[truth ? 1 : 2], ex, out) : rc;
}

static enum eval_rc
eval_elvis(const struct simple_node *node, struct exchange *ex, struct value *out)
{
	enum eval_rc rc = simple_eval(node->kids[0], ex, out);
	return rc == EVAL_OK && !value_truth(out) ? simple_eval(node->kids[1], ex, out) : rc;
}

/* The right side sees the value of the left one as body; the message keeps its own. */
static enum eval_rc
eval_chain(const struct simple_node *node, struct exchange *ex, struct value *out)
{
	struct value left, body = ex->body;
	enum eval_rc rc = simple_eval(node->kids[0], ex, &left);
	if (rc != EVAL_OK)
		return rc;
	if (node->null_safe && value_is_null(&left)) {
		*out = value_null();
		return EVAL_OK;
	}
	ex->body = left;
	rc = simple_eval(node->kids[1], ex, out);
	ex->body = body;
	return rc;
}

/* ++ and --: a whole number stays one, a text stays text, a double loses its fraction first. */
static enum eval_rc
eval_step(const struct simple_node *node, struct exchange *ex, struct value *out)
{
	struct value v, n;
	struct hinny_error err;
	int64_t result;
	enum eval_rc rc = simple_eval(node->kids[0], ex, &v);
	if (rc != EVAL_OK)
		return rc;
	v = document_plain(&ex->arena, v);
	if (value_convert(&ex->arena, &v, CLASS_LONG, &n, &err) != HINNY_OK || n.type != VALUE_INT)
		return simple_fail(ex, EXCEPTION_ILLEGAL_ARGUMENT, "operator %s needs a number",
		    node->u.step > 0 ? "++" : "--");
	if (__builtin_add_overflow(n.u.i, node->u.step, &result))
		return simple_fail(ex, EXCEPTION_ARITHMETIC, "operator %s: the number is too large",
		    node->u.step > 0 ? "++" : "--");
	n.u.i = result;
	if (v.type == VALUE_INT)
		n.flags = v.flags;
	if (v.type == VALUE_DOUBLE)
		*out = value_double((double)result);
	else if (value_has_text(&v))
		*out = value_str(value_text(&ex->arena, &n));
	else
		*out = n;
	return EVAL_OK;
}

/* ---- parts ---- */

static enum eval_rc
eval_part(const struct simple_node *node, struct exchange *ex, struct value *out)
{
	return expression_eval(node->u.part, ex, out);
}

/* A path that the message makes. */
static enum eval_rc
computed_path(const struct simple_node *node, struct exchange *ex, struct jsonpath_code **code)
{
	struct str text;
	struct hinny_error err;
	bool null;
	size_t at;
	enum eval_rc rc = simple_eval_text(node->kids[0], ex, &text, &null);
	if (rc != EVAL_OK || jsonpath_parse(&ex->arena, text, code, &at, &err) == HINNY_OK)
		return rc;
	return simple_fail(ex, EXCEPTION_INVALID_PATH, "jsonpath: %s at character %zu of \"%.*s\"",
	    err.text, at + 1, STR_FMT(text));
}

static enum eval_rc
eval_jsonpath(const struct simple_node *node, struct exchange *ex, struct value *out)
{
	struct value *from = &ex->body;
	const struct simple_key *key = &node->u.jsonpath.from;
	const struct jsonpath_code *code = node->u.jsonpath.code;
	if (code == NULL) {
		struct jsonpath_code *made;
		enum eval_rc rc = computed_path(node, ex, &made);
		if (rc != EVAL_OK)
			return rc;
		code = made;
	}
	if (key->full.n > 0)
		from = simple_lookup(ex, key->scope, key->full, key->full_hash);
	return jsonpath_read(code, ex, from, node->u.jsonpath.options, out);
}

static enum eval_rc
eval_date(const struct simple_node *node, struct exchange *ex, struct value *out)
{
	return simple_date_eval(node->u.date, ex, out);
}

static enum eval_rc
eval_init(const struct simple_node *node, struct exchange *ex, struct value *out)
{
	for (uint32_t i = 0; i + 1 < node->n; i++) {
		struct value v;
		enum eval_rc rc = simple_eval(node->kids[i], ex, &v);
		if (rc != EVAL_OK)
			return rc;
		exchange_set_variable(ex, node->u.names[i], v);
	}
	return simple_eval(node->kids[node->n - 1], ex, out);
}

static node_fn *const evaluators[SIMPLE_TYPES] = {
	[SIMPLE_CONST] = eval_const,
	[SIMPLE_CONCAT] = eval_concat,
	[SIMPLE_BODY] = eval_body,
	[SIMPLE_HEADER] = eval_header,
	[SIMPLE_PROPERTY] = eval_property,
	[SIMPLE_VARIABLE] = eval_variable,
	[SIMPLE_KEYED] = eval_keyed,
	[SIMPLE_KEYED_DYNAMIC] = eval_keyed_dynamic,
	[SIMPLE_PATH] = eval_path,
	[SIMPLE_PATH_DYNAMIC] = eval_path_dynamic,
	[SIMPLE_CALL] = eval_call,
	[SIMPLE_CONVERT] = eval_convert,
	[SIMPLE_COMPARE] = eval_compare,
	[SIMPLE_AND] = eval_logic,
	[SIMPLE_OR] = eval_logic,
	[SIMPLE_TRUTH] = eval_truth,
	[SIMPLE_TERNARY] = eval_ternary,
	[SIMPLE_ELVIS] = eval_elvis,
	[SIMPLE_CHAIN] = eval_chain,
	[SIMPLE_STEP] = eval_step,
	[SIMPLE_PART] = eval_part,
	[SIMPLE_JSONPATH] = eval_jsonpath,
	[SIMPLE_DATE] = eval_date,
	[SIMPLE_INIT] = eval_init,
};

enum eval_rc
simple_eval(const struct simple_node *node, struct exchange *ex, struct value *out)
{
	return evaluators[node->type](node, ex, out);
}
