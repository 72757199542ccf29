/* Java's regular expressions over PCRE2. No JIT: workers may not have memory that is writable and
 * executable. */
#include "core/lang/regex.h"

#include "core/base/assert.h"
#include "core/base/buf.h"
#include "core/lang/regex_priv.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum { MATCH_LIMIT = 2000000, HEAP_LIMIT_KIB = 20000, PATTERN_MAX = 65536 };

struct regex {
	pcre2_code *code;
	pcre2_match_data *data; /* kept between matches: the second one allocates nothing */
	pcre2_match_context *context;
};

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
	bool ucp;
	enum hinny_rc rc = regex_translate(pattern, &text, &ucp, err);
	if (rc != HINNY_OK) {
		buf_fini(&text);
		return rc;
	}
	int code;
	PCRE2_SIZE at;
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	pcre2_set_newline(context, PCRE2_NEWLINE_ANY);
	pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)(text.n > 0 ? text.p : ""), text.n,
	    compile_options(flags) | (ucp ? PCRE2_UCP : 0), &code, &at, context);
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

/* Where group `name` ($1, ${name}) of the last match lies; false: there is no such group. */
static bool
group_of(const struct regex *re, struct str name, PCRE2_SIZE *begin, PCRE2_SIZE *end)
{
	const PCRE2_SIZE *v = pcre2_get_ovector_pointer(re->data);
	uint32_t n = pcre2_get_ovector_count(re->data), k = 0;
	char text[64];
	if (name.n == 0 || name.n >= sizeof text)
		return false;
	memcpy(text, name.p, name.n);
	text[name.n] = '\0';
	if (name.p[0] >= '0' && name.p[0] <= '9') {
		for (size_t i = 0; i < name.n; i++)
			k = 10 * k + (uint32_t)(name.p[i] - '0');
	} else {
		int found = pcre2_substring_number_from_name(re->code, (PCRE2_SPTR)text);
		if (found < 0)
			return false;
		k = (uint32_t)found;
	}
	if (k >= n)
		return false;
	*begin = v[2 * k];
	*end = v[2 * k + 1];
	return true;
}

/* "$1", "${name}", "\\x" of Java's replacements. HINNY_EINVAL: a group that is not there. */
static enum hinny_rc
put_replacement(const struct regex *re, struct str text, struct str by, struct buf *to,
    struct hinny_error *err)
{
	for (size_t i = 0; i < by.n; i++) {
		PCRE2_SIZE begin, end;
		struct str name = { by.p + i + 1, 0 };
		if (by.p[i] == '\\' && i + 1 < by.n) {
			(void)buf_add_char(to, by.p[++i]); /* its bound is told by the caller's */
			continue;
		}
		if (by.p[i] != '$') {
			(void)buf_add_char(to, by.p[i]);
			continue;
		}
		if (i + 1 < by.n && by.p[i + 1] == '{') {
			const char *close = memchr(by.p + i, '}', by.n - i);
			name = (struct str){ by.p + i + 2,
				close != NULL ? (size_t)(close - by.p) - i - 2 : 0 };
			i += name.n + 2;
		} else if (i + 1 < by.n && by.p[i + 1] >= '0' && by.p[i + 1] <= '9') {
			/* as many digits as name a group that is there */
			name.n = 1;
			while (i + 1 + name.n < by.n && by.p[i + 1 + name.n] >= '0' &&
			    by.p[i + 1 + name.n] <= '9' && name.n < 9 &&
			    group_of(re, (struct str){ name.p, name.n + 1 }, &begin, &end))
				name.n++;
			i += name.n;
		}
		if (name.n == 0 || !group_of(re, name, &begin, &end))
			return hinny_error_set(err, HINNY_EINVAL, "replacement: no group %.*s",
			    STR_FMT(name));
		if (begin != PCRE2_UNSET)
			(void)buf_add(to, text.p + begin, end - begin);
	}
	return HINNY_OK;
}

enum hinny_rc
regex_replace(const struct regex *re, struct str text, struct str by, bool all, struct buf *to,
    struct hinny_error *err)
{
	size_t at = 0, copied = 0, begin, end;
	bool found = true;
	while (at <= text.n) {
		enum hinny_rc rc = regex_find(re, text, at, &found, &begin, &end, err);
		if (rc != HINNY_OK || !found) {
			if (rc != HINNY_OK)
				return rc;
			break;
		}
		if (buf_add(to, text.p + copied, begin - copied) != HINNY_OK)
			return hinny_error_set(err, HINNY_ELIMIT, "the text becomes too long");
		if ((rc = put_replacement(re, text, by, to, err)) != HINNY_OK)
			return rc;
		copied = end;
		at = end > begin ? end : end + 1;
		while (at < text.n && ((unsigned char)text.p[at] & 0xc0) == 0x80)
			at++; /* not within a character */
		if (!all)
			break;
	}
	if (buf_add(to, text.p + copied, text.n - copied) != HINNY_OK)
		return hinny_error_set(err, HINNY_ELIMIT, "the text becomes too long");
	return HINNY_OK;
}
