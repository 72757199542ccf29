/* Text forms of values, as Camel's conversion to String prints them: numbers as Java does, lists
 * "[a, b]", maps "{k=v}", never JSON. */
#include "core/model/value.h"

#include "core/base/assert.h"
#include "core/model/json.h"
#include "core/model/value_priv.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INT_TEXT = 24, DATE_TEXT = 64 };

/* ---- numbers ---- */

static size_t
int_text(int64_t i, char out[INT_TEXT])
{
	char back[INT_TEXT];
	uint64_t u = i < 0 ? -(uint64_t)i : (uint64_t)i;
	size_t n = 0, len = 0;

	do {
		back[n++] = (char)('0' + u % 10);
		u /= 10;
	} while (u != 0);
	if (i < 0)
		out[len++] = '-';
	while (n > 0)
		out[len++] = back[--n];
	return len;
}

static bool
reads_back(const char *text, double d, bool single)
{
	return single ? strtof(text, NULL) == (float)d : strtod(text, NULL) == d;
}

/* The next larger "d.ddde±x" of as many digits. */
static void
bump(char text[40])
{
	char *p = strchr(text, 'e');
	int exponent = atoi(p + 1);

	*p-- = '\0';
	for (; p >= text; p--) {
		if (*p == '.')
			continue;
		if (*p != '9') {
			++*p;
			break;
		}
		*p = '0';
	}
	if (p < text) { /* all nines */
		text[0] = '1';
		exponent++;
	}
	size_t n = strlen(text);
	(void)snprintf(text + n, 40 - n, "e%d", exponent); /* at most 6 bytes */
}

/*
 * The shortest "d.ddde±x" that reads back as d. Fifteen digits do for nearly all doubles (six for
 * floats), and printf's zeros at the end are cut later; subnormal numbers hold fewer digits, so
 * these are tried from two upwards, as Java never prints less. A power of two has twice as much
 * room above as below, so there the nearest decimal may fail where the next larger one does.
 */
static void
shortest(double d, bool single, char text[40])
{
	bool subnormal = single ? d < 0x1p-126 : d < 0x1p-1022;
	int digits = subnormal ? 2 : single ? 6 : 15;
	int most = single ? 9 : 17, exponent;
	bool power_of_two = frexp(d, &exponent) == 0.5;

	for (;; digits++) {
		(void)snprintf(text, 40, "%.*e", digits - 1, d); /* at most 24 bytes */
		if (digits == most || reads_back(text, d, single))
			return;
		if (power_of_two) {
			bump(text);
			if (reads_back(text, d, single))
				return;
		}
	}
}

/* Digits without the point and without zeros at the end; returns how many. */
static size_t
take_digits(const char *text, char digits[20], int *exponent)
{
	size_t n = 0;
	const char *p = text;

	for (; *p != 'e'; p++) {
		if (*p != '.')
			digits[n++] = *p;
	}
	*exponent = atoi(p + 1);
	while (n > 1 && digits[n - 1] == '0')
		n--;
	return n;
}

static size_t
put_plain(char *out, const char *digits, size_t n, int exponent)
{
	size_t len = 0;

	if (exponent < 0) { /* 0.00ddd */
		out[len++] = '0';
		out[len++] = '.';
		for (int i = exponent + 1; i < 0; i++)
			out[len++] = '0';
		memcpy(out + len, digits, n);
		return len + n;
	}
	size_t whole = (size_t)exponent + 1;
	for (size_t i = 0; i < whole; i++)
		out[len++] = i < n ? digits[i] : '0';
	out[len++] = '.';
	if (n <= whole)
		out[len++] = '0';
	for (size_t i = whole; i < n; i++)
		out[len++] = digits[i];
	return len;
}

static size_t
put_scientific(char *out, const char *digits, size_t n, int exponent)
{
	size_t len = 0;

	out[len++] = digits[0];
	out[len++] = '.';
	if (n == 1)
		out[len++] = '0';
	for (size_t i = 1; i < n; i++)
		out[len++] = digits[i];
	out[len++] = 'E';
	return len + int_text(exponent, out + len);
}

static size_t
put_word(char *out, const char *word)
{
	size_t n = strlen(word);
	memcpy(out, word, n + 1);
	return n;
}

size_t
value_double_text(double d, bool single, char out[VALUE_DOUBLE_TEXT])
{
	char text[40], digits[20];
	int exponent;
	size_t len = 0;

	if (isnan(d))
		return put_word(out, "NaN");
	if (isinf(d))
		return put_word(out, d < 0 ? "-Infinity" : "Infinity");
	if (signbit(d))
		out[len++] = '-';
	d = fabs(d);
	if (d == 0) {
		len += put_word(out + len, "0.0");
		return len;
	}
	if (d < 1e7 && d == floor(d)) {
		len += int_text((int64_t)d, out + len);
		len += put_word(out + len, ".0");
		return len;
	}
	shortest(d, single, text);
	size_t n = take_digits(text, digits, &exponent);
	if (exponent >= -3 && exponent < 7)
		len += put_plain(out + len, digits, n, exponent);
	else
		len += put_scientific(out + len, digits, n, exponent);
	out[len] = '\0';
	return len;
}

/* ---- dates ---- */

static size_t
date_text(int64_t ms, char out[DATE_TEXT])
{
	static const char days[] = "SunMonTueWedThuFriSat",
			  months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	int64_t seconds = ms / 1000 - (ms % 1000 < 0);
	time_t t = (time_t)seconds;
	struct tm tm;

	if (localtime_r(&t, &tm) == NULL) /* beyond the years that it knows */
		return int_text(ms, out);
	int n = snprintf(out, DATE_TEXT, "%.3s %.3s %02d %02d:%02d:%02d %.16s %04d",
	    days + 3 * tm.tm_wday, months + 3 * tm.tm_mon, tm.tm_mday, tm.tm_hour, tm.tm_min,
	    tm.tm_sec, tm.tm_zone != NULL ? tm.tm_zone : "UTC", tm.tm_year + 1900);
	return (size_t)n;
}

static size_t
scalar_text(const struct value *v, char out[DATE_TEXT])
{
	switch ((enum value_type)v->type) {
	case VALUE_BOOL:
		return put_word(out, v->u.b ? "true" : "false");
	case VALUE_INT:
		return v->flags & VALUE_DATE ? date_text(v->u.i, out) : int_text(v->u.i, out);
	case VALUE_DOUBLE:
		return value_double_text(v->u.d, (v->flags & VALUE_FLOAT) != 0, out);
	default:
		return 0;
	}
}

/* ---- printing ---- */

struct printer {
	struct buf *b;
	struct arena scratch; /* decoded JSON strings, member lists */
	enum hinny_rc rc;     /* the first failure */
};

static void
put(struct printer *pr, const char *p, size_t n)
{
	if (pr->rc == HINNY_OK)
		pr->rc = buf_add(pr->b, p, n);
}

static void
put_str(struct printer *pr, struct str s)
{
	put(pr, s.p, s.n);
}

static void print(struct printer *pr, const struct value *v, unsigned depth);

/* Java prints a null element as the word. */
static void
print_element(struct printer *pr, const struct value *v, unsigned depth)
{
	if (v->type == VALUE_NULL)
		put_str(pr, STR_LIT("null"));
	else if (v->type == VALUE_STRING && (v->flags & VALUE_NODE) && pr->rc == HINNY_OK)
		pr->rc = json_print_string(pr->b, v->u.s);
	else
		print(pr, v, depth);
}

static void
print_separator(struct printer *pr, size_t i)
{
	if (i > 0)
		put(pr, ", ", 2);
}

static void
print_json_array(struct printer *pr, const struct value *v, unsigned depth)
{
	const struct json_node *n = v->u.json, *item = json_first(n);

	put(pr, "[", 1);
	for (uint32_t i = 0; i < n->children && pr->rc == HINNY_OK; i++, item = json_next(item)) {
		struct value part = value_from_json(&pr->scratch, item, NULL);
		print_separator(pr, i);
		print_element(pr, &part, depth);
	}
	put(pr, "]", 1);
}

static void
print_json_object(struct printer *pr, const struct value *v, unsigned depth)
{
	const struct json_node **keys, **values;
	size_t n = json_members(&pr->scratch, v->u.json, &keys, &values);

	put(pr, "{", 1);
	for (size_t i = 0; i < n && pr->rc == HINNY_OK; i++) {
		struct value part = value_from_json(&pr->scratch, values[i], NULL);
		print_separator(pr, i);
		put_str(pr, json_text(&pr->scratch, keys[i]));
		put(pr, "=", 1);
		print_element(pr, &part, depth);
	}
	put(pr, "}", 1);
}

static void
print_list(struct printer *pr, const struct value_list *l, unsigned depth)
{
	put(pr, "[", 1);
	for (size_t i = 0; i < l->n && pr->rc == HINNY_OK; i++) {
		print_separator(pr, i);
		print_element(pr, &l->items[i], depth);
	}
	put(pr, "]", 1);
}

static void
print_grouped(struct printer *pr, const struct value_list *l)
{
	char text[64];
	int n = snprintf(text, sizeof text, "List<Exchange>(%zu elements)", l->n);

	put(pr, text, (size_t)n);
}

static void
print_entry(struct printer *pr, const struct value_map *m, unsigned depth)
{
	print_element(pr, m->entries[0].value, depth);
	put(pr, "=", 1);
	print_element(pr, m->entries[1].value, depth);
}

static void
print_record(struct printer *pr, const struct value_map *m, unsigned depth)
{
	print_element(pr, m->entries[0].value, depth);
	put(pr, "-", 1);
	print_element(pr, m->entries[1].value, depth);
	put(pr, "@", 1);
	print_element(pr, m->entries[2].value, depth);
}

static void
print_map(struct printer *pr, const struct value_map *m, unsigned depth)
{
	put(pr, "{", 1);
	for (size_t i = 0; i < m->n && pr->rc == HINNY_OK; i++) {
		print_separator(pr, i);
		put_str(pr, m->entries[i].key);
		put(pr, "=", 1);
		print_element(pr, m->entries[i].value, depth);
	}
	put(pr, "}", 1);
}

static void
print(struct printer *pr, const struct value *v, unsigned depth)
{
	char text[DATE_TEXT];

	ASSERT(v->type != VALUE_STREAM);
	if (value_has_text(v)) {
		put_str(pr, v->u.s);
	} else if (v->type != VALUE_LIST && v->type != VALUE_MAP && v->type != VALUE_JSON) {
		put(pr, text, scalar_text(v, text));
	} else if (depth == VALUE_DEPTH_MAX) {
		put(pr, "...", 3);
	} else if (v->type == VALUE_LIST && (v->flags & VALUE_GROUPED)) {
		print_grouped(pr, v->u.list);
	} else if (v->type == VALUE_LIST) {
		print_list(pr, v->u.list, depth + 1);
	} else if (v->type == VALUE_MAP && (v->flags & VALUE_ENTRY) && v->u.map->n == 2) {
		print_entry(pr, v->u.map, depth + 1);
	} else if (v->type == VALUE_MAP && (v->flags & VALUE_RECORD) && v->u.map->n >= 3) {
		print_record(pr, v->u.map, depth + 1);
	} else if (v->type == VALUE_MAP) {
		print_map(pr, v->u.map, depth + 1);
	} else if ((v->flags & VALUE_NODE) && v->u.json->type >= JSON_IS_ARRAY) {
		if (pr->rc == HINNY_OK)
			pr->rc = depth == 0 ? json_print_pretty(pr->b, v->u.json)
					    : json_print(pr->b, v->u.json);
	} else if (v->u.json->type == JSON_IS_ARRAY) {
		print_json_array(pr, v, depth + 1);
	} else if (v->u.json->type == JSON_IS_OBJECT) {
		print_json_object(pr, v, depth + 1);
	} else {
		struct value scalar = value_from_json(&pr->scratch, v->u.json, NULL);
		print(pr, &scalar, depth);
	}
}

enum hinny_rc
value_print(struct buf *b, const struct value *v)
{
	if (value_has_text(v))
		return buf_add_str(b, v->u.s);

	struct printer pr = { .b = b };
	size_t start = b->n;

	arena_init(&pr.scratch);
	print(&pr, v, 0);
	arena_fini(&pr.scratch);
	if (pr.rc != HINNY_OK)
		b->n = start;
	return pr.rc;
}

struct str
value_text(struct arena *a, const struct value *v)
{
	char text[DATE_TEXT];
	struct buf b;

	if (value_has_text(v))
		return v->u.s;
	if (v->type == VALUE_NULL)
		return (struct str){ "", 0 };
	if (v->type == VALUE_BOOL)
		return v->u.b ? STR_LIT("true") : STR_LIT("false");
	if (v->type == VALUE_INT || v->type == VALUE_DOUBLE)
		return arena_str(a, (struct str){ text, scalar_text(v, text) });
	if (v->type == VALUE_JSON && v->u.json->type < JSON_IS_ARRAY) {
		struct value scalar = value_json_child(a, v, v->u.json);
		return value_text(a, &scalar);
	}
	buf_init(&b, 0);
	/* Without a bound printing fails only when memory is out. */
	ASSERT(value_print(&b, v) == HINNY_OK);
	struct str out = arena_str(a, (struct str){ b.p, b.n });
	buf_fini(&b);
	return out;
}

struct str
value_payload(struct arena *a, const struct value *v)
{
	struct buf b;

	if (v->type != VALUE_JSON || !(v->flags & VALUE_NODE))
		return value_text(a, v);
	buf_init(&b, 0);
	ASSERT(json_print(&b, v->u.json) == HINNY_OK); /* no bound */
	struct str out = arena_str(a, (struct str){ b.p, b.n });
	buf_fini(&b);
	return out;
}
