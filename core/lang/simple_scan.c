/*
 * Where functions, quotes and arguments end. A quote within ${ } is one only where an argument can
 * begin and when it is closed where an argument can end, so that braces, commas and parentheses in
 * quotes are text and an apostrophe in a name is harmless.
 */
#include "core/lang/simple_priv.h"

#include "core/base/assert.h"

size_t
simple_function_start(struct str s, size_t i)
{
	if (i + 1 >= s.n || s.p[i] != '$')
		return 0;
	if (s.p[i + 1] == '{')
		return 2;
	return s.n - i >= 8 && memcmp(s.p + i, "$simple{", 8) == 0 ? 8 : 0;
}

bool
simple_has_function(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (simple_function_start(s, i) != 0)
			return true;
	return false;
}

size_t
simple_quote_end(struct simple_parser *p, struct str s, size_t i, bool *open)
{
	char quote = s.p[i++];
	*open = false;
	while (i < s.n) {
		size_t start = simple_function_start(s, i);
		if (start != 0) {
			i = simple_function_end(p, s, i + start);
			if (i == SIZE_MAX) {
				*open = true;
				return SIZE_MAX;
			}
			continue;
		}
		if (s.p[i++] == quote)
			return i;
	}
	return SIZE_MAX;
}

static bool
may_open(struct str s, size_t i)
{
	return i == 0 || simple_is_blank(s.p[i - 1]) || strchr("([,{", s.p[i - 1]) != NULL;
}

static bool
may_close(struct str s, size_t i)
{
	return i >= s.n || simple_is_blank(s.p[i]) || strchr(")],}:", s.p[i]) != NULL;
}

/* A quoted text at i: the position behind it; i when there is none. SIZE_MAX: a function in it has
 * no end. */
static size_t
skip_quoted(struct simple_parser *p, struct str s, size_t i)
{
	if ((s.p[i] != '\'' && s.p[i] != '"') || !may_open(s, i) || p->budget == 0)
		return i;
	bool open;
	size_t end = simple_quote_end(p, s, i, &open);
	if (end == SIZE_MAX && open)
		return SIZE_MAX;
	if (end != SIZE_MAX && may_close(s, end))
		return end;
	p->budget--; /* what was read is read again, in nested functions several times */
	return i;
}

size_t
simple_function_end(struct simple_parser *p, struct str s, size_t i)
{
	if (p->depth >= SIMPLE_DEPTH_MAX)
		return SIZE_MAX;
	p->depth++;
	size_t found = SIZE_MAX;
	while (i < s.n) {
		size_t start = simple_function_start(s, i);
		if (start != 0) {
			i = simple_function_end(p, s, i + start);
			if (i == SIZE_MAX)
				break;
			continue;
		}
		size_t end = skip_quoted(p, s, i);
		if (end == SIZE_MAX)
			break;
		if (end != i) {
			i = end;
		} else if (s.p[i] == '}') {
			found = i + 1;
			break;
		} else {
			i += s.p[i] == '\\' && i + 1 < s.n && s.p[i + 1] == '}' ? 2 : 1;
		}
	}
	p->depth--;
	return found;
}

size_t
simple_find_outside(struct simple_parser *p, struct str s, size_t i, const char *what)
{
	size_t length = strlen(what);
	int brackets = 0;
	while (i < s.n) {
		if (brackets == 0 && s.n - i >= length && memcmp(s.p + i, what, length) == 0)
			return i;
		size_t start = simple_function_start(s, i);
		if (start != 0) {
			i = simple_function_end(p, s, i + start);
			if (i == SIZE_MAX)
				return SIZE_MAX;
			continue;
		}
		size_t end = skip_quoted(p, s, i);
		if (end == SIZE_MAX)
			return SIZE_MAX;
		if (end != i) {
			i = end;
			continue;
		}
		char c = s.p[i++];
		if (c == '(' || c == '[')
			brackets++;
		else if ((c == ')' || c == ']') && brackets > 0)
			brackets--;
	}
	return SIZE_MAX;
}

bool
simple_next_arg(struct simple_parser *p, struct str *rest, struct str *item)
{
	if (rest->p == NULL)
		return false;
	size_t i = 0;
	while (i < rest->n && rest->p[i] != ',') {
		size_t start = simple_function_start(*rest, i);
		size_t end = start != 0 ? simple_function_end(p, *rest, i + start)
					: skip_quoted(p, *rest, i);
		i = end == SIZE_MAX || end == i ? i + 1 : end;
	}
	*item = (struct str){ rest->p, i };
	if (i < rest->n)
		*rest = (struct str){ rest->p + i + 1, rest->n - i - 1 };
	else
		*rest = (struct str){ NULL, 0 };
	return true;
}

bool
simple_unquote(struct simple_parser *p, struct str s, struct str *inner)
{
	if (s.n < 2 || (s.p[0] != '\'' && s.p[0] != '"') || s.p[s.n - 1] != s.p[0])
		return false;
	bool open;
	if (simple_quote_end(p, s, 0, &open) != s.n)
		return false;
	*inner = (struct str){ s.p + 1, s.n - 2 };
	return true;
}
