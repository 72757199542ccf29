/*
 * Calls of methods in a dotted path of Simple, as Java has them; those of numbers, Booleans and
 * dates are here.
 */
#include "core/lang/simple_method_priv.h"

#include "core/base/assert.h"
#include "core/lang/document.h"

#include <ctype.h>

static enum eval_rc
any_m_to_string(struct invocation *in, struct value *out)
{
	return out_text(out, value_text(&in->ex->arena, &in->self));
}

enum eval_rc
simple_method_convert(struct invocation *in, enum value_class_id class, struct value *out)
{
	struct hinny_error err;
	if (value_convert(&in->ex->arena, &in->self, class, out, &err) != HINNY_OK)
		return simple_fail(in->ex, EXCEPTION_ARITHMETIC, "%s", err.text);
	return EVAL_OK;
}

static enum eval_rc
number_m_int(struct invocation *in, struct value *out)
{
	return simple_method_convert(in, CLASS_INTEGER, out);
}

static enum eval_rc
number_m_long(struct invocation *in, struct value *out)
{
	return simple_method_convert(in, CLASS_LONG, out);
}

static enum eval_rc
number_m_double(struct invocation *in, struct value *out)
{
	return simple_method_convert(in, CLASS_DOUBLE, out);
}

static enum eval_rc
number_m_float(struct invocation *in, struct value *out)
{
	return simple_method_convert(in, CLASS_FLOAT, out);
}

static enum eval_rc
number_m_compare(struct invocation *in, struct value *out)
{
	struct value other = value_str(in->step->args[0]);
	int order;
	if (!value_compare(&in->ex->arena, &in->self, &other, &order))
		return simple_fail(
		    in->ex, EXCEPTION_METHOD_NOT_FOUND, "method compareTo needs a number");
	return out_int(out, order);
}

static enum eval_rc
number_m_equals(struct invocation *in, struct value *out)
{
	struct value other = value_str(in->step->args[0]);
	return out_bool(out, value_equal(&in->ex->arena, &in->self, &other, false));
}

static enum eval_rc
bool_m_value(struct invocation *in, struct value *out)
{
	*out = in->self;
	return EVAL_OK;
}

static enum eval_rc
date_m_time(struct invocation *in, struct value *out)
{
	*out = value_int(in->self.u.i);
	out->flags = VALUE_LONG;
	return EVAL_OK;
}

static const struct method methods[] = {
	{ "compareTo", ON_NUMBER, 1, 1, true, number_m_compare },
	{ "doubleValue", ON_NUMBER, 0, 0, false, number_m_double },
	{ "equals", ON_NUMBER, 1, 1, true, number_m_equals },
	{ "floatValue", ON_NUMBER, 0, 0, false, number_m_float },
	{ "intValue", ON_NUMBER, 0, 0, false, number_m_int },
	{ "longValue", ON_NUMBER, 0, 0, false, number_m_long },
	{ "booleanValue", ON_BOOL, 0, 0, false, bool_m_value },
	{ "getTime", ON_DATE, 0, 0, false, date_m_time },
	{ "time", ON_DATE, 0, 0, false, date_m_time },
	{ "toString", ON_ANY, 0, 0, false, any_m_to_string },
};

static const struct method_table own = { methods, ARRAY_LEN(methods) };
static const struct method_table *const tables[] = { &simple_methods_text,
	&simple_methods_container, &own };

/* ---- calling ---- */

static enum receiver
receiver_of(const struct value *v)
{
	enum document_kind kind = document_kind(v);
	if (v->type == VALUE_MAP && (v->flags & VALUE_ENTRY) && v->u.map->n == 2)
		return ON_ENTRY;
	if (kind != DOCUMENT_SCALAR)
		return kind == DOCUMENT_ARRAY ? ON_LIST : ON_MAP;
	if (v->type == VALUE_BOOL)
		return ON_BOOL;
	if (v->type == VALUE_INT && (v->flags & VALUE_DATE))
		return ON_DATE;
	if (!value_has_text(v) || v->type == VALUE_DECIMAL)
		return ON_NUMBER;
	return v->type != VALUE_XML && (v->flags & VALUE_INPUT) ? ON_STREAM : ON_TEXT;
}

/*
 * A message or an exchange that a grouping strategy has put into a list: a map here, whose members
 * are read as in Java: ${body[0].body}, ${body[0].getMessage().getHeader('k')}. So is what Kafka's
 * client tells of a record: ${header.CamelKafkaRecordMeta[0].offset}.
 */
static bool
read_grouped(
    const struct access_step *step, struct exchange *ex, const struct value *v, struct value *out)
{
	struct str name = step->name;
	char *text = arena_strndup(&ex->arena, name.p, name.n);
	if (name.n > 3 && str_starts(name, "get")) {
		text += 3;
		name.n -= 3;
		text[0] = (char)tolower((unsigned char)text[0]);
	}
	name.p = text;
	bool header = str_eq(name, STR_LIT("header")), property = str_eq(name, STR_LIT("property"));
	if (str_eq(name, STR_LIT("allProperties")))
		name = STR_LIT("properties");
	if ((!header && !property) || step->args_n != 1)
		return document_member(&ex->arena, v, name, out);
	struct value all;
	if (!document_member(
		&ex->arena, v, header ? STR_LIT("headers") : STR_LIT("properties"), &all))
		return false;
	if (!document_member(&ex->arena, &all, step->args[0], out))
		*out = value_null();
	return true;
}

/* The first of that name; NULL: there is none. */
static const struct method *
find_method(enum receiver on, struct str name)
{
	for (size_t t = 0; t < ARRAY_LEN(tables); t++) {
		for (size_t i = 0; i < tables[t]->n; i++) {
			const struct method *row = &tables[t]->rows[i];
			if ((row->on == on || row->on == ON_ANY) && str_eq(name, str_of(row->name)))
				return row;
		}
	}
	return NULL;
}

enum eval_rc
simple_method_call(
    const struct access_step *step, struct exchange *ex, const struct value *v, struct value *out)
{
	enum receiver on = receiver_of(v);
	if (v->type == VALUE_MAP && (v->flags & (VALUE_GROUPED | VALUE_RECORD)) &&
	    read_grouped(step, ex, v, out))
		return EVAL_OK;
	const struct method *method = find_method(on, step->name);
	if (method != NULL && step->args_n >= method->min && step->args_n <= method->max &&
	    (step->parens || !method->parens)) {
		struct invocation in = { .ex = ex, .self = *v, .step = step };
		if (on == ON_TEXT || on == ON_STREAM)
			in.text = value_text(&ex->arena, v);
		return method->fn(&in, out);
	}
	const char *type = value_class(v);
	return simple_fail(ex, EXCEPTION_METHOD_NOT_FOUND,
	    "Method with name: %.*s not found on bean of type: %s%s", STR_FMT(step->name),
	    type != NULL ? type : "null",
	    on == ON_STREAM ? ": convert the body to String first" : "");
}

/* ---- classes ---- */

static bool
is_named(const struct access_step *step, const char *property, const char *getter)
{
	return step->is_method && step->args_n == 0 &&
	    (str_eq(step->name, str_of(property)) || str_eq(step->name, str_of(getter)));
}

size_t
simple_method_class(const struct access_step *step, size_t left, struct exchange *ex,
    const struct value *v, struct value *out)
{
	const char *class = value_class(v);
	if (class == NULL || !is_named(step, "class", "getClass"))
		return 0;
	if (left > 1 && is_named(step + 1, "name", "getName")) {
		*out = value_str(str_of(class));
		return 2;
	}
	if (left > 1 && is_named(step + 1, "simpleName", "getSimpleName")) {
		const char *dot = strrchr(class, '.');
		*out = value_str(str_of(dot != NULL ? dot + 1 : class));
		return 2;
	}
	*out = value_str(str_of(arena_printf(&ex->arena, "class %s", class)));
	return 1;
}
