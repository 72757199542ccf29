/*
 * The methods of texts, as Java has them. Characters are counted in UTF-16 units. A stream
 * (VALUE_INPUT) is no text: of a text's methods it has length() alone.
 */
#include "core/lang/simple_method_priv.h"

#include "core/base/assert.h"
#include "core/lang/text.h"

static enum eval_rc
text_m_length(struct invocation *in, struct value *out)
{
	return out_int(out, (int64_t)text_length(in->text));
}

static enum eval_rc
text_m_trim(struct invocation *in, struct value *out)
{
	return out_text(out, text_trim(in->text));
}

static enum eval_rc
text_m_upper(struct invocation *in, struct value *out)
{
	return out_text(out, text_upper(&in->ex->arena, in->text));
}

static enum eval_rc
text_m_lower(struct invocation *in, struct value *out)
{
	return out_text(out, text_lower(&in->ex->arena, in->text));
}

static enum eval_rc
text_m_is_empty(struct invocation *in, struct value *out)
{
	return out_bool(out, in->text.n == 0);
}

static enum eval_rc
text_m_is_blank(struct invocation *in, struct value *out)
{
	return out_bool(out, str_trim(in->text).n == 0);
}

static enum eval_rc
text_m_contains(struct invocation *in, struct value *out)
{
	return out_bool(out, str_find(in->text, in->step->args[0]) != SIZE_MAX);
}

static enum eval_rc
text_m_equals(struct invocation *in, struct value *out)
{
	return out_bool(out, str_eq(in->text, in->step->args[0]));
}

static enum eval_rc
text_m_equals_nocase(struct invocation *in, struct value *out)
{
	struct arena *a = &in->ex->arena;
	return out_bool(out, str_eq(text_lower(a, in->text), text_lower(a, in->step->args[0])));
}

static enum eval_rc
text_m_starts(struct invocation *in, struct value *out)
{
	struct str prefix = in->step->args[0];
	return out_bool(
	    out, in->text.n >= prefix.n && str_eq((struct str){ in->text.p, prefix.n }, prefix));
}

static enum eval_rc
text_m_ends(struct invocation *in, struct value *out)
{
	struct str suffix = in->step->args[0];
	return out_bool(out,
	    in->text.n >= suffix.n &&
		str_eq((struct str){ in->text.p + in->text.n - suffix.n, suffix.n }, suffix));
}

static enum eval_rc
text_m_index_of(struct invocation *in, struct value *out)
{
	size_t at = str_find(in->text, in->step->args[0]);
	return out_int(
	    out, at == SIZE_MAX ? -1 : (int64_t)text_length((struct str){ in->text.p, at }));
}

static enum eval_rc
text_m_last_index_of(struct invocation *in, struct value *out)
{
	struct str what = in->step->args[0];
	for (size_t i = in->text.n + 1; i-- > 0;)
		if (in->text.n - i >= what.n &&
		    str_eq((struct str){ in->text.p + i, what.n }, what))
			return out_int(out, (int64_t)text_length((struct str){ in->text.p, i }));
	return out_int(out, -1);
}

static enum eval_rc
text_m_substring(struct invocation *in, struct value *out)
{
	int64_t from, to, length = (int64_t)text_length(in->text);
	if (!arg_int(in, 0, &from) || (in->step->args_n > 1 && !arg_int(in, 1, &to)))
		return simple_fail(
		    in->ex, EXCEPTION_METHOD_NOT_FOUND, "method substring needs whole numbers");
	if (in->step->args_n == 1)
		to = length;
	if (from < 0 || to > length || from > to)
		return simple_fail(in->ex, EXCEPTION_STRING_INDEX_OUT_OF_BOUNDS,
		    "begin %lld, end %lld, length %lld", (long long)from, (long long)to,
		    (long long)length);
	return out_text(out, text_slice(in->text, (size_t)from, (size_t)to));
}

static enum eval_rc
text_m_char_at(struct invocation *in, struct value *out)
{
	int64_t at, length = (int64_t)text_length(in->text);
	if (!arg_int(in, 0, &at) || at < 0 || at >= length)
		return simple_fail(in->ex, EXCEPTION_STRING_INDEX_OUT_OF_BOUNDS,
		    "index %.*s, length %lld", STR_FMT(in->step->args[0]), (long long)length);
	return out_text(out, text_slice(in->text, (size_t)at, (size_t)at + 1));
}

static enum eval_rc
text_m_replace(struct invocation *in, struct value *out)
{
	if (in->step->args[0].n == 0)
		return out_text(out, in->text);
	return out_text(
	    out, text_replace(&in->ex->arena, in->text, in->step->args[0], in->step->args[1]));
}

/* Compiles the method's first argument as a regular expression. */
static enum eval_rc
method_regex(struct invocation *in, struct regex **re)
{
	struct hinny_error err;
	if (regex_compile(&in->ex->arena, in->step->args[0], 0, re, &err) != HINNY_OK)
		return simple_fail(in->ex, EXCEPTION_PATTERN_SYNTAX, "%s", err.text);
	return EVAL_OK;
}

static enum eval_rc
text_m_matches(struct invocation *in, struct value *out)
{
	struct regex *re;
	struct hinny_error err;
	bool yes;
	enum eval_rc rc = method_regex(in, &re);
	if (rc != EVAL_OK)
		return rc;
	if (regex_matches(re, in->text, &yes, &err) != HINNY_OK)
		return simple_fail(in->ex, EXCEPTION_RUNTIME, "%s", err.text);
	return out_bool(out, yes);
}

static enum eval_rc
replace_by_pattern(struct invocation *in, bool all, struct value *out)
{
	struct regex *re;
	struct hinny_error err;
	struct buf b;
	enum eval_rc rc = method_regex(in, &re);
	if (rc != EVAL_OK)
		return rc;
	buf_init(&b, SIMPLE_TEXT_MAX);
	if (regex_replace(re, in->text, in->step->args[1], all, &b, &err) == HINNY_OK)
		rc = out_text(out, arena_str(&in->ex->arena, (struct str){ b.p, b.n }));
	else
		rc = simple_fail(in->ex, EXCEPTION_ILLEGAL_ARGUMENT, "%s", err.text);
	buf_fini(&b);
	return rc;
}

static enum eval_rc
text_m_replace_all(struct invocation *in, struct value *out)
{
	return replace_by_pattern(in, true, out);
}

static enum eval_rc
text_m_replace_first(struct invocation *in, struct value *out)
{
	return replace_by_pattern(in, false, out);
}

/* The position of the next character. */
static size_t
behind(struct str s, size_t i)
{
	size_t length = 1;
	if (i < s.n)
		(void)text_char(s, i, &length);
	return i + length;
}

/* Java's split: pieces between matches, trailing empty ones dropped, an empty first one only by a
 * match that is not empty. */
static enum eval_rc
text_m_split(struct invocation *in, struct value *out)
{
	struct regex *re;
	struct hinny_error err;
	enum eval_rc rc = method_regex(in, &re);
	if (rc != EVAL_OK)
		return rc;
	struct value list = value_new_list(&in->ex->arena, 4);
	list.flags |= VALUE_ARRAY;
	size_t at = 0, keep = 0, from = 0, begin = 0, end = 0;
	for (;;) {
		bool found = false;
		if (from <= in->text.n &&
		    regex_find(re, in->text, from, &found, &begin, &end, &err) != HINNY_OK)
			return simple_fail(in->ex, EXCEPTION_RUNTIME, "%s", err.text);
		if (found && end == begin && (begin == 0 || begin >= in->text.n)) {
			from = behind(in->text, begin);
			continue;
		}
		struct str piece = { in->text.p + at, (found ? begin : in->text.n) - at };
		value_list_add(&in->ex->arena, list.u.list, value_str(piece));
		if (piece.n > 0)
			keep = list.u.list->n;
		if (!found)
			break;
		at = end;
		from = end > begin ? end : behind(in->text, end);
	}
	list.u.list->n = keep > 0 ? keep : list.u.list->n > 0 && in->text.n == 0 ? 1 : 0;
	*out = list;
	return EVAL_OK;
}

static enum eval_rc
text_m_concat(struct invocation *in, struct value *out)
{
	struct str more = in->step->args[0];
	char *text = arena_alloc(&in->ex->arena, in->text.n + more.n + 1);
	memcpy(text, in->text.p, in->text.n);
	memcpy(text + in->text.n, more.p, more.n);
	return out_text(out, (struct str){ text, in->text.n + more.n });
}

static enum eval_rc
text_m_repeat(struct invocation *in, struct value *out)
{
	int64_t n;
	if (!arg_int(in, 0, &n) || n < 0 || (uint64_t)n * (in->text.n + 1) > SIMPLE_TEXT_MAX)
		return simple_fail(
		    in->ex, EXCEPTION_ILLEGAL_ARGUMENT, "method repeat needs a count that fits");
	char *text = arena_alloc(&in->ex->arena, (size_t)n * in->text.n + 1);
	for (size_t i = 0; i < (size_t)n; i++)
		memcpy(text + i * in->text.n, in->text.p, in->text.n);
	return out_text(out, (struct str){ text, (size_t)n * in->text.n });
}

/* The difference of the first characters that differ, else of the lengths, in UTF-16 units. */
static int64_t
compare(struct str l, struct str r)
{
	size_t i = 0, k = 0, n, m;
	while (i < l.n && k < r.n) {
		uint32_t x = text_char(l, i, &n), y = text_char(r, k, &m);
		if (x != y)
			return (int64_t)x - (int64_t)y;
		i += n;
		k += m;
	}
	return (int64_t)text_length(l) - (int64_t)text_length(r);
}

static enum eval_rc
text_m_compare(struct invocation *in, struct value *out)
{
	return out_int(out, compare(in->text, in->step->args[0]));
}

static enum eval_rc
text_m_compare_nocase(struct invocation *in, struct value *out)
{
	struct arena *a = &in->ex->arena;
	return out_int(out, compare(text_lower(a, in->text), text_lower(a, in->step->args[0])));
}

static const struct method methods[] = {
	{ "charAt", ON_TEXT, 1, 1, true, text_m_char_at },
	{ "compareTo", ON_TEXT, 1, 1, true, text_m_compare },
	{ "compareToIgnoreCase", ON_TEXT, 1, 1, true, text_m_compare_nocase },
	{ "concat", ON_TEXT, 1, 1, true, text_m_concat },
	{ "contains", ON_TEXT, 1, 1, true, text_m_contains },
	{ "endsWith", ON_TEXT, 1, 1, true, text_m_ends },
	{ "equals", ON_TEXT, 1, 1, true, text_m_equals },
	{ "equalsIgnoreCase", ON_TEXT, 1, 1, true, text_m_equals_nocase },
	{ "indexOf", ON_TEXT, 1, 1, true, text_m_index_of },
	{ "isBlank", ON_TEXT, 0, 0, false, text_m_is_blank },
	{ "isEmpty", ON_TEXT, 0, 0, false, text_m_is_empty },
	{ "empty", ON_TEXT, 0, 0, false, text_m_is_empty },
	{ "lastIndexOf", ON_TEXT, 1, 1, true, text_m_last_index_of },
	{ "length", ON_TEXT, 0, 0, false, text_m_length },
	{ "matches", ON_TEXT, 1, 1, true, text_m_matches },
	{ "repeat", ON_TEXT, 1, 1, true, text_m_repeat },
	{ "replace", ON_TEXT, 2, 2, true, text_m_replace },
	{ "replaceAll", ON_TEXT, 2, 2, true, text_m_replace_all },
	{ "replaceFirst", ON_TEXT, 2, 2, true, text_m_replace_first },
	{ "split", ON_TEXT, 1, 1, true, text_m_split },
	{ "startsWith", ON_TEXT, 1, 1, true, text_m_starts },
	{ "strip", ON_TEXT, 0, 0, false, text_m_trim },
	{ "substring", ON_TEXT, 1, 2, true, text_m_substring },
	{ "toLowerCase", ON_TEXT, 0, 0, true, text_m_lower },
	{ "toUpperCase", ON_TEXT, 0, 0, true, text_m_upper },
	{ "trim", ON_TEXT, 0, 0, false, text_m_trim },
	{ "length", ON_STREAM, 0, 0, false, text_m_length },
};

const struct method_table simple_methods_text = { methods, ARRAY_LEN(methods) };
