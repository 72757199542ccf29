/* Functions of Simple on text. A null source gives null. */
#include "core/lang/simple_fn.h"

#include "core/base/digest.h"
#include "core/base/assert.h"
#include "core/lang/text.h"

enum { PAD_MAX = 1000000 };

static enum eval_rc
give_text(struct value *out, struct str s)
{
	*out = value_str(s);
	return EVAL_OK;
}

/* Two texts one after the other, with `between`. */
static struct str
joined(struct arena *a, struct str l, struct str between, struct str r)
{
	char *text = arena_alloc(a, l.n + between.n + r.n + 1), *p = text;
	const struct str parts[] = { l, between, r };
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		if (parts[i].n > 0)
			memcpy(p, parts[i].p, parts[i].n);
		p += parts[i].n;
	}
	return (struct str){ text, (size_t)(p - text) };
}

/* The source (argument i) as text: false when the function is over, with *rc. */
static bool
source_text(struct simple_call *call, size_t i, struct str *s, enum eval_rc *rc)
{
	bool null;
	*rc = simple_arg_text(call, i, s, &null);
	return *rc == EVAL_OK && !null;
}

/* The source (argument 0) as bytes: numbers, Booleans and collections have none and give null. */
static bool
byte_source(struct simple_call *call, struct str *s, enum eval_rc *rc)
{
	struct value v, bytes;
	*rc = simple_arg(call, 0, &v);
	if (*rc != EVAL_OK || value_is_null(&v) ||
	    value_convert(simple_arena(call), &v, CLASS_BYTES, &bytes, NULL) != HINNY_OK)
		return false;
	*s = bytes.u.s;
	return true;
}

enum eval_rc
simple_fn_uppercase(struct simple_call *call, struct value *out)
{
	struct str s;
	enum eval_rc rc;
	return source_text(call, 0, &s, &rc) ? give_text(out, text_upper(simple_arena(call), s))
					     : rc;
}

enum eval_rc
simple_fn_lowercase(struct simple_call *call, struct value *out)
{
	struct str s;
	enum eval_rc rc;
	return source_text(call, 0, &s, &rc) ? give_text(out, text_lower(simple_arena(call), s))
					     : rc;
}

enum eval_rc
simple_fn_trim(struct simple_call *call, struct value *out)
{
	struct str s;
	enum eval_rc rc;
	return source_text(call, 0, &s, &rc) ? give_text(out, text_trim(s)) : rc;
}

enum eval_rc
simple_fn_capitalize(struct simple_call *call, struct value *out)
{
	struct str s;
	enum eval_rc rc;
	if (!source_text(call, 0, &s, &rc))
		return rc;
	struct arena *a = simple_arena(call);
	char *text = arena_alloc(a, s.n * 2 + 1);
	size_t n = 0, length;
	for (size_t i = 0; i < s.n; i += length) {
		(void)text_char(s, i, &length);
		struct str c = { s.p + i, length };
		if (i == 0 || (i > 1 && s.p[i - 1] == ' '))
			c = text_upper(a, c);
		memcpy(text + n, c.p, c.n);
		n += c.n;
	}
	return give_text(out, (struct str){ text, n });
}

enum eval_rc
simple_fn_normalize_whitespace(struct simple_call *call, struct value *out)
{
	struct str s;
	enum eval_rc rc;
	if (!source_text(call, 0, &s, &rc))
		return rc;
	s = text_trim(s);
	char *text = arena_alloc(simple_arena(call), s.n + 1);
	size_t n = 0;
	for (size_t i = 0; i < s.n;) {
		size_t run = i;
		while (run < s.n && simple_is_blank(s.p[run]))
			run++;
		if (run == i) {
			text[n++] = s.p[i++];
		} else if (str_find((struct str){ s.p + i, run - i }, STR_LIT("  ")) != SIZE_MAX) {
			text[n++] = ' '; /* as Camel: only where two blanks stand side by side */
			i = run;
		} else {
			memcpy(text + n, s.p + i, run - i);
			n += run - i;
			i = run;
		}
	}
	return give_text(out, (struct str){ text, n });
}

enum eval_rc
simple_fn_length(struct simple_call *call, struct value *out)
{
	struct value v;
	enum eval_rc rc = simple_arg(call, 0, &v);
	if (rc == EVAL_OK && !value_is_null(&v))
		*out = value_int((int64_t)value_payload(simple_arena(call), &v).n);
	return rc;
}

enum eval_rc
simple_fn_substring(struct simple_call *call, struct value *out)
{
	struct str s;
	int64_t head, tail = 0;
	enum eval_rc rc = simple_arg_int(call, 0, &head);
	if (rc == EVAL_OK && simple_arg_given(call, 1))
		rc = simple_arg_int(call, 1, &tail);
	if (rc != EVAL_OK || !source_text(call, 2, &s, &rc))
		return rc;
	size_t length = text_length(s);
	uint64_t begin = head < 0 ? -(uint64_t)head : (uint64_t)head,
		 cut = tail < 0 ? -(uint64_t)tail : (uint64_t)tail;
	if (head < 0 && !simple_arg_given(call, 1)) {
		cut = begin;
		begin = 0;
	}
	if (begin > length || cut > length - begin)
		return give_text(out, (struct str){ "", 0 });
	return give_text(out, text_slice(s, begin, length - cut));
}

/* The source (argument 0) and the position of the text of argument 1 in it, SIZE_MAX when it is not
 * there. */
static bool
find_in_source(
    struct simple_call *call, struct str *s, struct str *what, size_t *at, enum eval_rc *rc)
{
	bool null;
	if (!source_text(call, 0, s, rc))
		return false;
	*rc = simple_arg_text(call, 1, what, &null);
	if (*rc == EVAL_OK && null)
		*rc = simple_fail(call->ex, EXCEPTION_NULL_POINTER,
		    "function %s: the text to look for is null", call->node->u.fn->name);
	if (*rc == EVAL_OK)
		*at = str_find(*s, *what);
	return *rc == EVAL_OK && *at != SIZE_MAX;
}

enum eval_rc
simple_fn_substring_before(struct simple_call *call, struct value *out)
{
	struct str s, what;
	size_t at;
	enum eval_rc rc;
	return find_in_source(call, &s, &what, &at, &rc) ? give_text(out, (struct str){ s.p, at })
							 : rc;
}

enum eval_rc
simple_fn_substring_after(struct simple_call *call, struct value *out)
{
	struct str s, what;
	size_t at;
	enum eval_rc rc;
	if (!find_in_source(call, &s, &what, &at, &rc))
		return rc;
	return give_text(out, (struct str){ s.p + at + what.n, s.n - at - what.n });
}

enum eval_rc
simple_fn_substring_between(struct simple_call *call, struct value *out)
{
	struct str s, what, end;
	size_t at;
	bool null;
	enum eval_rc rc;
	if (!find_in_source(call, &s, &what, &at, &rc))
		return rc;
	s = (struct str){ s.p + at + what.n, s.n - at - what.n };
	rc = simple_arg_text(call, 2, &end, &null);
	if (rc != EVAL_OK)
		return rc;
	at = str_find(s, end);
	return at != SIZE_MAX ? give_text(out, (struct str){ s.p, at }) : EVAL_OK;
}

/* The words that stand for characters which are hard to write in an argument. */
static struct str
unescape_words(struct arena *a, struct str s)
{
	static const struct {
		struct str word, text;
	} words[] = {
		{ { "&quot;", 6 }, { "\"", 1 } },
		{ { "&apos;", 6 }, { "'", 1 } },
		{ { "&empty;", 7 }, { "", 0 } },
	};
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		s = text_replace(a, s, words[i].word, words[i].text);
	return s;
}

enum eval_rc
simple_fn_replace(struct simple_call *call, struct value *out)
{
	struct str from, to, s;
	bool null;
	enum eval_rc rc = simple_arg_text(call, 0, &from, &null);
	if (rc == EVAL_OK)
		rc = simple_arg_text(call, 1, &to, &null);
	if (rc != EVAL_OK || !source_text(call, 2, &s, &rc))
		return rc;
	struct arena *a = simple_arena(call);
	from = unescape_words(a, from);
	return give_text(out, from.n > 0 ? text_replace(a, s, from, unescape_words(a, to)) : s);
}

enum eval_rc
simple_fn_concat(struct simple_call *call, struct value *out)
{
	struct str l, r, between;
	bool null, l_null, r_null = true;
	enum eval_rc rc = simple_arg_text(call, 0, &l, &l_null);
	if (rc == EVAL_OK)
		rc = simple_arg_text(call, 1, &r, &r_null);
	if (rc == EVAL_OK)
		rc = simple_arg_text(call, 2, &between, &null);
	if (rc == EVAL_OK && l_null && r_null)
		return EVAL_OK;
	if (l_null || r_null)
		between = (struct str){ "", 0 };
	return rc == EVAL_OK ? give_text(out, joined(simple_arena(call), l, between, r)) : rc;
}

enum eval_rc
simple_fn_pad(struct simple_call *call, struct value *out)
{
	struct str s, fill = STR_LIT(" ");
	int64_t width;
	bool null;
	enum eval_rc rc = simple_arg_int(call, 1, &width);
	if (rc == EVAL_OK && simple_arg_given(call, 2))
		rc = simple_arg_text(call, 2, &fill, &null);
	if (rc != EVAL_OK || !source_text(call, 0, &s, &rc))
		return rc;
	uint64_t want = width < 0 ? -(uint64_t)width : (uint64_t)width, have = text_length(s),
		 step = text_length(fill);
	if (want > PAD_MAX)
		return simple_fail(call->ex, EXCEPTION_ILLEGAL_ARGUMENT,
		    "function pad: a width beyond %d", PAD_MAX);
	if (want <= have || step == 0)
		return give_text(out, s);
	size_t times = (want - have + step - 1) / step;
	char *filled = arena_alloc(simple_arena(call), times * fill.n + 1);
	for (size_t i = 0; i < times; i++)
		memcpy(filled + i * fill.n, fill.p, fill.n);
	struct str all = text_slice((struct str){ filled, times * fill.n }, 0, want - have),
		   none = { "", 0 };
	return give_text(out,
	    width < 0 ? joined(simple_arena(call), all, none, s)
		      : joined(simple_arena(call), s, none, all));
}

enum eval_rc
simple_fn_quote(struct simple_call *call, struct value *out)
{
	struct str s;
	enum eval_rc rc;
	return source_text(call, 0, &s, &rc)
	    ? give_text(out, joined(simple_arena(call), STR_LIT("\""), s, STR_LIT("\"")))
	    : rc;
}

enum eval_rc
simple_fn_safe_quote(struct simple_call *call, struct value *out)
{
	struct value v;
	enum eval_rc rc = simple_arg(call, 0, &v);
	if (rc != EVAL_OK)
		return rc;
	if (value_is_null(&v) || v.type == VALUE_BOOL || v.type == VALUE_INT ||
	    v.type == VALUE_DOUBLE || v.type == VALUE_DECIMAL) {
		*out = v;
		return EVAL_OK;
	}
	return simple_fn_quote(call, out);
}

enum eval_rc
simple_fn_unquote(struct simple_call *call, struct value *out)
{
	struct str s;
	enum eval_rc rc;
	if (!source_text(call, 0, &s, &rc))
		return rc;
	if (s.n >= 2 && (s.p[0] == '"' || s.p[0] == '\'') && s.p[s.n - 1] == s.p[0])
		s = (struct str){ s.p + 1, s.n - 2 };
	return give_text(out, s);
}

enum eval_rc
simple_fn_contains(struct simple_call *call, struct value *out)
{
	struct str s, what;
	bool null;
	enum eval_rc rc;
	*out = value_bool(false);
	if (!source_text(call, 0, &s, &rc))
		return rc;
	rc = simple_arg_text(call, 1, &what, &null);
	struct arena *a = simple_arena(call);
	if (rc == EVAL_OK)
		*out = value_bool(
		    !null && str_find(text_lower(a, s), text_lower(a, what)) != SIZE_MAX);
	return rc;
}

static bool
is_digit(uint32_t c)
{
	return c >= '0' && c <= '9';
}

static bool
is_letter(uint32_t c)
{
	if (c < 0x80)
		return (c | 32) >= 'a' && (c | 32) <= 'z';
	return c == 0xaa || c == 0xb5 || c == 0xba ||
	    (c >= 0xc0 && c != 0xd7 && c != 0xf7 && (c < 0x2000 || c > 0x303f) && c < 0xe000) ||
	    (c >= 0xf900 && c < 0xfe00) || (c >= 0xff21 && c <= 0xff5a) ||
	    (c >= 0x20000 && c < 0x30000);
}

static bool
is_letter_or_digit(uint32_t c)
{
	return is_letter(c) || is_digit(c);
}

static enum eval_rc
all_of(struct simple_call *call, bool (*is)(uint32_t), struct value *out)
{
	struct str s;
	enum eval_rc rc;
	*out = value_bool(false);
	if (!source_text(call, 0, &s, &rc))
		return rc;
	bool yes = s.n > 0;
	size_t length;
	for (size_t i = 0; yes && i < s.n; i += length)
		yes = is(text_char(s, i, &length));
	*out = value_bool(yes);
	return EVAL_OK;
}

enum eval_rc
simple_fn_is_alpha(struct simple_call *call, struct value *out)
{
	return all_of(call, is_letter, out);
}

enum eval_rc
simple_fn_is_numeric(struct simple_call *call, struct value *out)
{
	return all_of(call, is_digit, out);
}

enum eval_rc
simple_fn_is_alpha_numeric(struct simple_call *call, struct value *out)
{
	return all_of(call, is_letter_or_digit, out);
}

enum eval_rc
simple_fn_body_one_line(struct simple_call *call, struct value *out)
{
	struct str s;
	enum eval_rc rc;
	if (!source_text(call, 0, &s, &rc))
		return rc;
	return give_text(out, text_replace(simple_arena(call), s, STR_LIT("\n"), STR_LIT("")));
}

/* ---- Base64 ---- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

enum eval_rc
simple_fn_base64_encode(struct simple_call *call, struct value *out)
{
	struct str s;
	enum eval_rc rc;
	if (!byte_source(call, &s, &rc))
		return rc;
	size_t chars = (s.n + 2) / 3 * 4, column = 0, n = 0;
	char *text = arena_alloc(simple_arena(call), chars + (chars / 76 + 1) * 2 + 1);
	for (size_t i = 0; i < s.n; i += 3) {
		size_t left = s.n - i;
		uint32_t bits = (uint32_t)(unsigned char)s.p[i] << 16;
		bits |= left > 1 ? (uint32_t)(unsigned char)s.p[i + 1] << 8 : 0;
		bits |= left > 2 ? (unsigned char)s.p[i + 2] : 0;
		text[n++] = digits[bits >> 18];
		text[n++] = digits[bits >> 12 & 63];
		text[n++] = left > 1 ? digits[bits >> 6 & 63] : '=';
		text[n++] = left > 2 ? digits[bits & 63] : '=';
		column += 4;
		if (column == 76 || left <= 3) {
			text[n++] = '\r';
			text[n++] = '\n';
			column = 0;
		}
	}
	return give_text(out, (struct str){ text, n });
}

enum eval_rc
simple_fn_base64_decode(struct simple_call *call, struct value *out)
{
	struct str s;
	enum eval_rc rc;
	if (!source_text(call, 0, &s, &rc))
		return rc;
	char *bytes = arena_alloc(simple_arena(call), s.n / 4 * 3 + 4);
	size_t n = 0;
	uint32_t bits = 0, have = 0;
	for (size_t i = 0; i < s.n && s.p[i] != '='; i++) {
		char c = s.p[i] == '-' ? '+' : s.p[i] == '_' ? '/' : s.p[i];
		const char *digit = c != '\0' ? strchr(digits, c) : NULL;
		if (digit == NULL)
			continue;
		bits = bits << 6 | (uint32_t)(digit - digits);
		have += 6;
		if (have >= 8) {
			have -= 8;
			bytes[n++] = (char)(bits >> have);
		}
	}
	*out = value_bytes((struct str){ bytes, n });
	return EVAL_OK;
}

/* ---- digests ---- */

enum eval_rc
simple_fn_hash(struct simple_call *call, struct value *out)
{
	static const char hex_digits[] = "0123456789abcdef";
	struct str text, name = STR_LIT("SHA-256");
	enum digest kind;
	uint8_t bytes[DIGEST_MAX];
	bool null;
	enum eval_rc rc = EVAL_OK;

	if (simple_arg_given(call, 1))
		rc = simple_arg_text(call, 1, &name, &null);
	if (rc != EVAL_OK || !byte_source(call, &text, &rc))
		return rc;
	if (!digest_find(str_trim(name), &kind))
		return simple_fail(call->ex, EXCEPTION_NO_SUCH_ALGORITHM,
		    "%.*s MessageDigest not available", STR_FMT(name));
	size_t n = digest_compute(kind, text, bytes);
	char *hex = arena_alloc(simple_arena(call), 2 * n);
	for (size_t i = 0; i < n; i++) {
		hex[2 * i] = hex_digits[bytes[i] >> 4];
		hex[2 * i + 1] = hex_digits[bytes[i] & 15];
	}
	*out = value_str((struct str){ hex, 2 * n });
	return EVAL_OK;
}
