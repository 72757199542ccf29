/* Evaluates expressions, wherever they run. */
#include "core/lang/expression.h"

#include "core/base/assert.h"

struct eval_slot *
expression_slot(const struct exchange *ex, const struct expression *e)
{
	for (uint32_t i = 0; i < ex->slots_n; i++)
		if (ex->slots[i].e == e)
			return &ex->slots[i];
	return NULL;
}

/* The value that the owner's process has sent, or the wish for it. */
static enum eval_rc
remote_value(const struct expression *e, struct exchange *ex, struct value *out)
{
	const struct eval_slot *slot = expression_slot(ex, e);
	if (slot == NULL || !slot->filled) {
		ex->need = e;
		return EVAL_NEED;
	}
	if (slot->exception != NULL) {
		ex->exception = slot->exception;
		return EVAL_ERROR;
	}
	*out = slot->value;
	return EVAL_OK;
}

static enum eval_rc
raw_value(const struct expression *e, struct exchange *ex, struct value *out)
{
	if (e->ops != NULL)
		return e->ops->eval(e, ex, out);
	if (e->owner != NULL)
		return remote_value(e, ex, out);
	ASSERT(e->language->eval != NULL);
	return e->language->eval(e, ex, out);
}

enum eval_rc
expression_eval(const struct expression *e, struct exchange *ex, struct value *out)
{
	struct value v = value_null();
	struct hinny_error err;
	enum eval_rc rc = raw_value(e, ex, &v);
	if (rc != EVAL_OK)
		return rc;
	if (e->predicate || e->result_type == CLASS_NONE || value_is_null(&v)) {
		*out = e->predicate ? value_bool(value_truth(&v)) : v;
		return EVAL_OK;
	}
	enum hinny_rc converted = value_convert(&ex->arena, &v, e->result_type, out, &err);
	if (converted == HINNY_OK)
		return EVAL_OK;
	*out = value_null();
	if (converted == HINNY_ENOENT) /* as Camel, which asks for the type and takes null */
		return EVAL_OK;
	exchange_fail(ex, EXCEPTION_TYPE_CONVERSION, "%s", err.text);
	return EVAL_ERROR;
}

enum eval_rc
expression_test(const struct expression *e, struct exchange *ex, bool *out)
{
	struct value v;
	enum eval_rc rc = expression_eval(e, ex, &v);
	*out = rc == EVAL_OK && value_truth(&v);
	return rc;
}

enum eval_rc
expression_text(const struct expression *e, struct exchange *ex, struct str *out, bool *null)
{
	struct value v;
	enum eval_rc rc = expression_eval(e, ex, &v);
	if (rc != EVAL_OK)
		return rc;
	bool none = value_is_null(&v);
	*out = none ? (struct str){ "", 0 } : value_text(&ex->arena, &v);
	if (null != NULL)
		*null = none;
	return EVAL_OK;
}
