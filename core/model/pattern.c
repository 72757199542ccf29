/*
 * Name patterns as Camel's PatternHelper has them: the exact name, or a prefix with "*" behind it,
 * or a regular expression that matches the whole name. Only what is neither a plain name nor a
 * plain prefix is compiled by PCRE2.
 */
#include "core/model/headers.h"

#include "core/base/log.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct pattern {
	struct str text;
	struct str prefix; /* p NULL: no trailing "*" */
	bool nocase;
	pcre2_code *code; /* NULL: no regular expression */
	pcre2_match_data *match;
	pcre2_match_context *limits;
};

enum { MATCH_LIMIT = 100000 };

static bool
is_plain(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (memchr(".[]{}()*+?^$|\\", s.p[i], sizeof ".[]{}()*+?^$|\\" - 1) != NULL)
			return false;
	}
	return true;
}

static void
free_regex(void *arg)
{
	struct pattern *p = arg;

	pcre2_match_context_free(p->limits);
	pcre2_match_data_free(p->match);
	pcre2_code_free(p->code);
}

static enum hinny_rc
compile_regex(struct arena *a, struct pattern *p, struct hinny_error *err)
{
	uint32_t options =
	    PCRE2_UTF | PCRE2_ANCHORED | PCRE2_ENDANCHORED | (p->nocase ? PCRE2_CASELESS : 0);
	int code;
	PCRE2_SIZE at;

	p->code = pcre2_compile((PCRE2_SPTR)p->text.p, p->text.n, options, &code, &at, NULL);
	if (p->code == NULL) {
		PCRE2_UCHAR why[120];
		if (pcre2_get_error_message(code, why, sizeof why) < 0)
			why[0] = '\0';
		return hinny_error_set(err, HINNY_EINVAL,
		    "pattern \"%.*s\" is no regular expression: %s at character %zu",
		    STR_FMT(p->text), (const char *)why, (size_t)at + 1);
	}
	p->match = pcre2_match_data_create(1, NULL);
	p->limits = pcre2_match_context_create(NULL);
	if (p->match == NULL || p->limits == NULL)
		fatal("out of memory: a regular expression");
	(void)pcre2_set_match_limit(p->limits, MATCH_LIMIT); /* always 0 */
	arena_on_reset(a, free_regex, p);
	return HINNY_OK;
}

enum hinny_rc
pattern_compile(
    struct arena *a, struct str text, bool nocase, struct pattern **out, struct hinny_error *err)
{
	struct pattern *p = ARENA_NEW(a, struct pattern);

	p->text = arena_str(a, text);
	p->nocase = nocase;
	*out = p;
	struct str head = p->text;
	if (head.n > 0 && head.p[head.n - 1] == '*') {
		head.n--;
		p->prefix = head;
	}
	if (is_plain(head))
		return HINNY_OK;
	enum hinny_rc rc = compile_regex(a, p, err);
	return rc != HINNY_OK && p->prefix.p == NULL ? rc : HINNY_OK;
}

static bool
equal(const struct pattern *p, struct str l, struct str r)
{
	return p->nocase ? str_caseeq(l, r) : str_eq(l, r);
}

bool
pattern_match(const struct pattern *p, struct str name)
{
	if (equal(p, p->text, name))
		return true;
	if (p->prefix.p != NULL && name.n >= p->prefix.n &&
	    equal(p, p->prefix, (struct str){ name.p, p->prefix.n }))
		return true;
	return p->code != NULL &&
	    pcre2_match(p->code, (PCRE2_SPTR)name.p, name.n, 0, 0, p->match, p->limits) >= 0;
}
