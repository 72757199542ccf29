/* Java's regular expressions over PCRE2. No JIT: workers may not have memory that is writable and
 * executable. */
#include "core/lang/regex.h"

#include "core/base/assert.h"
#include "core/base/buf.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum { MATCH_LIMIT = 2000000, HEAP_LIMIT_KIB = 20000, PATTERN_MAX = 65536 };

struct regex {
	pcre2_code *code;
	pcre2_match_data *data; /* kept between matches: the second one allocates nothing */
	pcre2_match_context *context;
};

/* Java's POSIX classes \p{Lower}, which PCRE2 writes [:lower:]. */
static const struct posix_class {
	const char *java, *posix;
} posix_classes[] = {
	{ "ASCII", "ascii" },
	{ "Alnum", "alnum" },
	{ "Alpha", "alpha" },
	{ "Blank", "blank" },
	{ "Cntrl", "cntrl" },
	{ "Digit", "digit" },
	{ "Graph", "graph" },
	{ "Lower", "lower" },
	{ "Print", "print" },
	{ "Punct", "punct" },
	{ "Space", "space" },
	{ "Upper", "upper" },
	{ "XDigit", "xdigit" },
};

/* Translates \p{Alpha} at p (behind "\p" or "\P"); returns the bytes taken, 0 when it is not one of
 * Java's own. */
static size_t
translate_class(struct buf *to, struct str rest, bool negated, bool in_class)
{
	if (rest.n < 3 || rest.p[0] != '{')
		return 0;
	const char *end = memchr(rest.p, '}', rest.n);
	if (end == NULL)
		return 0;
	struct str name = { rest.p + 1, (size_t)(end - rest.p) - 1 };
	for (size_t i = 0; i < ARRAY_LEN(posix_classes); i++) {
		if (!str_eq(name, str_of(posix_classes[i].java)))
			continue;
		(void)buf_printf(to, "%s[:%s%s:]%s", in_class ? "" : "[", negated ? "^" : "",
		    posix_classes[i].posix, in_class ? "" : "]");
		return name.n + 2;
	}
	return 0;
}

static enum hinny_rc
check_flags(struct str rest, struct hinny_error *err)
{
	for (size_t i = 0; i < rest.n; i++) {
		char c = rest.p[i];
		if (c == 'd' || c == 'u' || c == 'U')
			return hinny_error_set(err, HINNY_EINVAL,
			    "regular expression: the flag (?%c) is not supported", c);
		if (strchr("imsx-", c) == NULL)
			break;
	}
	return HINNY_OK;
}

/* Copies the pattern with what differs translated; refuses what has no translation. */
static enum hinny_rc
translate(struct str java, struct buf *to, struct hinny_error *err)
{
	size_t in_class = 0; /* position behind the "[" (and "^"), 0: outside */
	bool quoted = false; /* between \Q and \E */
	for (size_t i = 0; i < java.n; i++) {
		char c = java.p[i];
		struct str rest = { java.p + i + 1, java.n - i - 1 };
		if (c == '\\' && rest.n > 0) {
			char next = rest.p[0];
			if (next == 'Q' || next == 'E')
				quoted = next == 'Q';
			if (!quoted && (next == 'p' || next == 'P')) {
				size_t taken =
				    translate_class(to, (struct str){ rest.p + 1, rest.n - 1 },
					next == 'P', in_class != 0);
				if (taken != 0) {
					i += 1 + taken;
					continue;
				}
			}
			(void)buf_add(to, java.p + i, 2);
			i++;
			continue;
		}
		if (!quoted && in_class == 0 && c == '(' && rest.n > 1 && rest.p[0] == '?') {
			enum hinny_rc rc = check_flags((struct str){ rest.p + 1, rest.n - 1 }, err);
			if (rc != HINNY_OK)
				return rc;
		}
		if (!quoted && in_class != 0 &&
		    (c == '[' || (c == '&' && rest.n > 0 && rest.p[0] == '&')))
			return hinny_error_set(err, HINNY_EINVAL,
			    "regular expression: %s within a character class are not supported "
			    "(column %zu)",
			    c == '[' ? "classes" : "intersections (&&)", i + 1);
		if (!quoted && in_class == 0 && c == '[')
			in_class = i + (rest.n > 0 && rest.p[0] == '^' ? 2 : 1);
		else if (!quoted && in_class != 0 && c == ']' && i >= in_class + 1)
			in_class = 0;
		(void)buf_add_char(to, c);
	}
	return HINNY_OK;
}

static void
regex_release(void *arg)
{
	struct regex *re = arg;
	pcre2_match_context_free(re->context);
	pcre2_match_data_free(re->data);
	pcre2_code_free(re->code);
}

static uint32_t
compile_options(unsigned flags)
{
	uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C;
	if (flags & REGEX_NOCASE)
		options |= PCRE2_CASELESS;
	if (flags & REGEX_DOTALL)
		options |= PCRE2_DOTALL;
	if (flags & REGEX_MULTILINE)
		options |= PCRE2_MULTILINE;
	return options;
}

enum hinny_rc
regex_compile(struct arena *a, struct str pattern, unsigned flags, struct regex **out,
    struct hinny_error *err)
{
	if (pattern.n > PATTERN_MAX)
		return hinny_error_set(
		    err, HINNY_ELIMIT, "regular expression is longer than %d bytes", PATTERN_MAX);
	struct buf text;
	buf_init(&text, 0);
	enum hinny_rc rc = translate(pattern, &text, err);
	if (rc != HINNY_OK) {
		buf_fini(&text);
		return rc;
	}
	int code;
	PCRE2_SIZE at;
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	pcre2_set_newline(context, PCRE2_NEWLINE_ANY);
	pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)(text.n > 0 ? text.p : ""), text.n,
	    compile_options(flags), &code, &at, context);
	pcre2_compile_context_free(context);
	buf_fini(&text);
	if (compiled == NULL) {
		char why[160];
		pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why);
		return hinny_error_set(
		    err, HINNY_EINVAL, "regular expression: %s (column %zu)", why, (size_t)at + 1);
	}
	struct regex *re = ARENA_NEW(a, struct regex);
	re->code = compiled;
	re->data = pcre2_match_data_create_from_pattern(compiled, NULL);
	re->context = pcre2_match_context_create(NULL);
	ASSERT(re->data != NULL && re->context != NULL);
	pcre2_set_match_limit(re->context, MATCH_LIMIT);
	pcre2_set_heap_limit(re->context, HEAP_LIMIT_KIB);
	arena_on_reset(a, regex_release, re);
	*out = re;
	return HINNY_OK;
}

static enum hinny_rc
match(const struct regex *re, struct str text, size_t from, uint32_t options, bool *found,
    struct hinny_error *err)
{
	int rc = pcre2_match(re->code, (PCRE2_SPTR)(text.n > 0 ? text.p : ""), text.n, from,
	    options, re->data, re->context);
	*found = rc >= 0;
	if (rc >= 0 || rc == PCRE2_ERROR_NOMATCH)
		return HINNY_OK;
	char why[160];
	pcre2_get_error_message(rc, (PCRE2_UCHAR *)why, sizeof why);
	return hinny_error_set(err, HINNY_ELIMIT, "regular expression gave up: %s", why);
}

enum hinny_rc
regex_matches(const struct regex *re, struct str text, bool *yes, struct hinny_error *err)
{
	return match(re, text, 0, PCRE2_ANCHORED | PCRE2_ENDANCHORED, yes, err);
}

enum hinny_rc
regex_find(const struct regex *re, struct str text, size_t from, bool *found, size_t *begin,
    size_t *end, struct hinny_error *err)
{
	enum hinny_rc rc = match(re, text, from, 0, found, err);
	if (rc == HINNY_OK && *found) {
		const PCRE2_SIZE *v = pcre2_get_ovector_pointer(re->data);
		*begin = v[0];
		*end = v[1] < v[0] ? v[0] : v[1];
	}
	return rc;
}
