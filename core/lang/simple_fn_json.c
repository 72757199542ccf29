/* Functions of Simple that write JSON, and make JSON and XML pretty. */
#include "core/lang/simple_fn.h"

#include "core/lang/document.h"
#include "core/lang/json_write.h"
#include "core/lang/xml_pretty.h"

static enum eval_rc
give_json(struct simple_call *call, const struct value *v, bool pretty, struct value *out)
{
	struct str text;
	if (json_write_text(simple_arena(call), v, pretty, &text) != HINNY_OK)
		return simple_fail(call->ex, EXCEPTION_JSON_PROCESSING,
		    "function %s: too large or too deep", call->node->u.fn->name);
	*out = value_str(
	    pretty ? str_of(arena_printf(simple_arena(call), "%.*s\n", STR_FMT(text))) : text);
	return EVAL_OK;
}

enum eval_rc
simple_fn_to_json(struct simple_call *call, struct value *out)
{
	struct value v;
	enum eval_rc rc = simple_arg(call, 0, &v);
	if (rc != EVAL_OK || value_is_null(&v))
		return rc;
	if (value_has_text(&v)) {
		*out = value_str(value_text(simple_arena(call), &v));
		return EVAL_OK;
	}
	return give_json(call, &v, false, out);
}

/* XML with line breaks; what is none stays as it is. */
static enum eval_rc
pretty_xml(struct simple_call *call, struct str text, struct value *out)
{
	struct buf b;
	buf_init(&b, SIMPLE_TEXT_MAX);
	enum hinny_rc rc = xml_pretty(&b, text);
	if (rc == HINNY_OK)
		*out = value_str(arena_str(simple_arena(call), (struct str){ b.p, b.n }));
	buf_fini(&b);
	return rc != HINNY_ELIMIT
	    ? EVAL_OK
	    : simple_fail(call->ex, EXCEPTION_EXPRESSION_EVALUATION,
		  "function %s: too large or too deep", call->node->u.fn->name);
}

/* Text that is JSON or XML, with line breaks; other text as it is. */
static enum eval_rc
pretty_text(struct simple_call *call, const struct value *v, struct value *out)
{
	struct str text = value_text(simple_arena(call), v), trimmed = str_trim(text);
	const struct json_node *root;
	char first = trimmed.n > 0 ? trimmed.p[0] : '\0';
	*out = value_str(text);
	if (first == '<')
		return pretty_xml(call, trimmed, out);
	if ((first != '{' && first != '[') ||
	    exchange_json(call->ex, text, &root, NULL) != HINNY_OK)
		return EVAL_OK;
	struct value json = value_from_json(simple_arena(call), root, v->blob);
	return give_json(call, &json, true, out);
}

enum eval_rc
simple_fn_to_pretty_json(struct simple_call *call, struct value *out)
{
	struct value v;
	enum eval_rc rc = simple_arg(call, 0, &v);
	if (rc != EVAL_OK || value_is_null(&v))
		return rc;
	return value_has_text(&v) ? pretty_text(call, &v, out) : give_json(call, &v, true, out);
}

enum eval_rc
simple_fn_pretty(struct simple_call *call, struct value *out)
{
	return simple_fn_to_pretty_json(call, out);
}
