/* Looks through the text of an expression for prefixes that nobody declared and functions that
 * nobody has: errors of the route, to be told at load. */
#include "transformers/xml/functions.h"
#include "transformers/xpath/xpath_priv.h"

#include <ctype.h>

static const struct {
	const char *uri, *name;
} camel_functions[] = {
	{ xpath_ns_in, "body" },
	{ xpath_ns_in, "header" },
	{ xpath_ns_out, "body" },
	{ xpath_ns_out, "header" },
	{ xpath_ns_function, "properties" },
	{ xpath_ns_function, "simple" },
};

static bool
is_name_char(unsigned char c)
{
	return isalnum(c) || c == '_' || c == '-' || c == '.' || c >= 0x80;
}

static struct str
name_at(const char *p)
{
	const char *start = p;

	while (is_name_char((unsigned char)*p))
		p++;
	return (struct str){ start, (size_t)(p - start) };
}

static const char *
uri_of(struct str prefix, xmlNsPtr const *ns, int n)
{
	for (int i = 0; i < n; i++)
		if (str_eq(prefix, str_of((const char *)ns[i]->prefix)))
			return (const char *)ns[i]->href;
	return str_eq(prefix, STR_LIT("xml")) ? "http://www.w3.org/XML/1998/namespace" : NULL;
}

static const char *
skip_blanks(const char *p)
{
	return p + strspn(p, " \t\r\n");
}

/* p: at the "(" of its call */
static enum hinny_rc
check_function(struct str name, const char *uri, const char *p, struct hinny_error *err)
{
	const struct xml_function *f = uri ? NULL : xml_function_find(name, false);

	if (f && !xml_function_takes(f, p))
		return hinny_error_set(err, HINNY_EINVAL,
		    "wrong number of arguments of function: %.*s", STR_FMT(name));
	if (f)
		return HINNY_OK;
	for (size_t i = 0; uri && i < sizeof camel_functions / sizeof camel_functions[0]; i++) {
		if (strcmp(uri, camel_functions[i].uri) == 0 &&
		    str_eq(name, str_of(camel_functions[i].name)))
			return HINNY_OK;
	}
	const char *near = uri ? NULL : xml_function_nearest(name);
	return hinny_error_set(err, HINNY_EINVAL, "Could not find function: %.*s%s%s%s",
	    STR_FMT(name), near ? ", did you mean \"" : "", near ? near : "", near ? "\"" : "");
}

/* One name, perhaps with a prefix: *p is behind it afterwards. */
static enum hinny_rc
check_name(const char **p, xmlNsPtr const *ns, int ns_n, struct hinny_error *err)
{
	struct str name = name_at(*p);
	const char *uri = NULL;

	*p += name.n;
	if ((*p)[0] == ':' && (*p)[1] != ':') {
		uri = uri_of(name, ns, ns_n);
		if (!uri)
			return hinny_error_set(err, HINNY_EINVAL,
			    "Prefix must resolve to a namespace: %.*s", STR_FMT(name));
		name = name_at(*p + 1);
		*p += 1 + name.n;
		if (name.n == 0)
			return HINNY_OK; /* p:* */
	}
	const char *next = skip_blanks(*p);
	return *next == '(' ? check_function(name, uri, next, err) : HINNY_OK;
}

/* Is the name at p an operator (and, or, div, mod)? Only behind an operand, which ends so. */
static bool
is_operator(const char *start, const char *p)
{
	static const char *const operators[] = { "and", "or", "div", "mod" };
	struct str name = name_at(p);

	while (p > start && strchr(" \t\r\n", p[-1]))
		p--;
	if (p == start || !(is_name_char((unsigned char)p[-1]) || strchr(")]*'\"", p[-1])))
		return false;
	for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
		if (str_eq(name, str_of(operators[i])))
			return true;
	return false;
}

enum hinny_rc
xpath_check_names(const char *text, xmlNsPtr const *ns, int ns_n, struct hinny_error *err)
{
	const char *p = text;

	while (*p) {
		unsigned char c = (unsigned char)*p;

		if (c == '"' || c == '\'') {
			const char *end = strchr(p + 1, c);

			if (!end)
				return HINNY_OK; /* the compiler says so better */
			p = end + 1;
		} else if (isdigit(c) || (c == '.' && isdigit((unsigned char)p[1]))) {
			p += strspn(p, "0123456789.");
		} else if (isalpha(c) || c == '_' || c >= 0x80) {
			if (is_operator(text, p)) {
				p += name_at(p).n;
			} else {
				enum hinny_rc rc = check_name(&p, ns, ns_n, err);

				if (rc != HINNY_OK)
					return rc;
			}
		} else if (c == '|' && xml_union_is_open(p)) {
			return hinny_error_set(err, HINNY_EINVAL,
			    "an operand is missing behind | at character %zu",
			    (size_t)(p - text) + 1);
		} else {
			p++;
		}
	}
	return HINNY_OK;
}
