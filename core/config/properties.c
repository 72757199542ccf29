/* The set of properties, and the reader of Java's .properties files (java.util.Properties, method
 * load). */
#include "core/config/placeholder.h"

#include "core/base/buf.h"
#include "core/base/mem.h"

#include <stdint.h>
#include <stdlib.h>

enum { PROPERTIES_MAX = 1 << 20 };

void
properties_init(struct properties *ps, struct arena *a, const char *cwd)
{
	*ps = (struct properties){ .arena = a, .cwd = cwd };
	hash_init(&ps->by_key, false);
}

void
properties_fini(struct properties *ps)
{
	free(ps->items);
	hash_fini(&ps->by_key);
	*ps = (struct properties){ 0 };
}

static struct property *
find(const struct properties *ps, struct str key)
{
	uintptr_t place = (uintptr_t)hash_find(&ps->by_key, key);

	return place == 0 ? NULL : &ps->items[place - 1];
}

const struct property *
properties_find(const struct properties *ps, struct str key)
{
	return find(ps, key);
}

void
properties_set(struct properties *ps, struct str key, struct str value, bool system, bool replace)
{
	struct property *old = find(ps, key);

	if (old != NULL) {
		if (replace) {
			old->value = arena_strndup(ps->arena, value.p, value.n);
			old->system = old->system || system;
		}
		return;
	}
	if (ps->n == ps->cap) {
		ps->cap = ps->cap ? 2 * ps->cap : 16;
		ps->items = mem_realloc(ps->items, ps->cap * sizeof(struct property));
	}
	struct property *p = &ps->items[ps->n++];
	*p = (struct property){ .key = arena_strndup(ps->arena, key.p, key.n),
		.value = arena_strndup(ps->arena, value.p, value.n),
		.system = system };
	(void)hash_put(&ps->by_key, (struct str){ p->key, key.n }, (void *)(uintptr_t)ps->n);
}

void
properties_set_written(struct properties *ps, struct str key, struct str written)
{
	struct property *p = find(ps, key);

	if (p != NULL)
		p->written = arena_strndup(ps->arena, written.p, written.n);
}

/* Where the reader is: a logical line is read character by character, escapes and continuations
 * undone. */
struct scan {
	const char *p, *end;
	unsigned line;
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\f';
}

static bool
is_line_end(char c)
{
	return c == '\n' || c == '\r';
}

/* Behind one line end: "\n", "\r" or "\r\n". */
static void
skip_line_end(struct scan *s)
{
	bool cr = *s->p == '\r';

	s->p++;
	if (cr && s->p < s->end && *s->p == '\n')
		s->p++;
	s->line++;
}

static void
skip_blanks(struct scan *s)
{
	while (s->p < s->end && is_blank(*s->p))
		s->p++;
}

static int
hex4(struct scan *s)
{
	int code = 0;

	if (s->end - s->p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char c = s->p[i];
		int digit = c >= '0' && c <= '9'             ? c - '0'
		    : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
							     : -1;
		if (digit < 0)
			return -1;
		code = code * 16 + digit;
	}
	s->p += 4;
	return code;
}

static void
add_utf8(struct buf *b, unsigned code)
{
	if (code < 0x80) {
		(void)buf_add_char(b, (char)code);
	} else if (code < 0x800) {
		(void)buf_add_char(b, (char)(0xc0 | code >> 6));
		(void)buf_add_char(b, (char)(0x80 | (code & 0x3f)));
	} else if (code < 0x10000) {
		(void)buf_add_char(b, (char)(0xe0 | code >> 12));
		(void)buf_add_char(b, (char)(0x80 | (code >> 6 & 0x3f)));
		(void)buf_add_char(b, (char)(0x80 | (code & 0x3f)));
	} else {
		(void)buf_add_char(b, (char)(0xf0 | code >> 18));
		(void)buf_add_char(b, (char)(0x80 | (code >> 12 & 0x3f)));
		(void)buf_add_char(b, (char)(0x80 | (code >> 6 & 0x3f)));
		(void)buf_add_char(b, (char)(0x80 | (code & 0x3f)));
	}
}

/* Behind "\u". Two surrogates are one character; a lone one becomes U+FFFD. */
static bool
read_unicode(struct scan *s, struct buf *b)
{
	int code = hex4(s);

	if (code < 0)
		return false;
	if (code >= 0xd800 && code < 0xdc00 && s->end - s->p >= 6 && s->p[0] == '\\' &&
	    s->p[1] == 'u') {
		struct scan ahead = { s->p + 2, s->end, s->line };
		int low = hex4(&ahead);
		if (low >= 0xdc00 && low < 0xe000) {
			s->p = ahead.p;
			add_utf8(b,
			    0x10000 + (((unsigned)code - 0xd800) << 10) + ((unsigned)low - 0xdc00));
			return true;
		}
	}
	add_utf8(b, code >= 0xd800 && code < 0xe000 ? 0xfffd : (unsigned)code);
	return true;
}

/* Behind a backslash. */
static bool
read_escape(struct scan *s, struct buf *b)
{
	if (s->p == s->end)
		return true;
	char c = *s->p;
	if (is_line_end(c)) {
		skip_line_end(s);
		skip_blanks(s);
		return true;
	}
	s->p++;
	if (c == 'u')
		return read_unicode(s, b);
	(void)buf_add_char(b,
	    c == 't'       ? '\t'
		: c == 'n' ? '\n'
		: c == 'r' ? '\r'
		: c == 'f' ? '\f'
			   : c);
	return true;
}

/* Up to the end of the key or (in a value) of the line. */
static bool
read_part(struct scan *s, struct buf *b, bool key)
{
	buf_clear(b);
	while (s->p < s->end && !is_line_end(*s->p)) {
		char c = *s->p;
		if (key && (c == '=' || c == ':' || is_blank(c)))
			return true;
		s->p++;
		if (c != '\\')
			(void)buf_add_char(b, c);
		else if (!read_escape(s, b))
			return false;
	}
	return true;
}

static void
skip_separator(struct scan *s)
{
	skip_blanks(s);
	if (s->p < s->end && (*s->p == '=' || *s->p == ':'))
		s->p++;
	skip_blanks(s);
}

enum hinny_rc
properties_parse(struct properties *ps, struct str text, bool replace, struct hinny_error *err)
{
	struct scan s = { text.p, text.p + text.n, 1 };
	struct buf key, value;
	enum hinny_rc rc = HINNY_OK;

	if (text.n > PROPERTIES_MAX)
		return hinny_error_set(
		    err, HINNY_ELIMIT, "the file is larger than %d bytes", PROPERTIES_MAX);
	buf_init(&key, 0);
	buf_init(&value, 0);
	if (str_starts(text, "\xef\xbb\xbf"))
		s.p += 3;
	while (s.p < s.end) {
		skip_blanks(&s);
		if (s.p < s.end && (*s.p == '#' || *s.p == '!'))
			while (s.p < s.end && !is_line_end(*s.p))
				s.p++;
		if (s.p == s.end)
			break;
		if (is_line_end(*s.p)) {
			skip_line_end(&s);
			continue;
		}
		unsigned line = s.line;
		bool ok = read_part(&s, &key, true);
		skip_separator(&s);
		if (!ok || !read_part(&s, &value, false)) {
			rc = hinny_error_set(err, HINNY_EINVAL,
			    "line %u: expected four hexadecimal digits behind \"\\u\"", line);
			break;
		}
		properties_set(ps, (struct str){ key.p ? key.p : "", key.n },
		    (struct str){ value.p ? value.p : "", value.n }, false, replace);
	}
	buf_fini(&key);
	buf_fini(&value);
	return rc;
}
