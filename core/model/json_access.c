/* Use of parsed JSON: decoding strings, members, printing, copies. */
#include "core/model/json.h"

#include "core/base/assert.h"
#include "core/model/value.h"

#include <stdlib.h>
#include <string.h>

/* ---- strings ---- */

static uint32_t
hex4(const char *p)
{
	uint32_t c = 0;

	for (int i = 0; i < 4; i++) {
		char d = p[i];
		c = c << 4 | (uint32_t)(d <= '9' ? d - '0' : (d | 0x20) - 'a' + 10);
	}
	return c;
}

static char *
put_utf8(char *out, uint32_t c)
{
	if (c < 0x80) {
		*out++ = (char)c;
		return out;
	}
	if (c < 0x800) {
		*out++ = (char)(0xC0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*out++ = (char)(0xE0 | c >> 12);
		} else {
			*out++ = (char)(0xF0 | c >> 18);
			*out++ = (char)(0x80 | (c >> 12 & 0x3F));
		}
		*out++ = (char)(0x80 | (c >> 6 & 0x3F));
	}
	*out++ = (char)(0x80 | (c & 0x3F));
	return out;
}

static bool
is_low_surrogate(const char *p, const char *end)
{
	return end - p >= 6 && p[0] == '\\' && p[1] == 'u' && hex4(p + 2) >= 0xDC00 &&
	    hex4(p + 2) < 0xE000;
}

/* At "uXXXX" of an escape that the parser has checked; *pp moves behind it, and behind the second
 * half of a pair. */
static uint32_t
take_unicode(const char **pp, const char *end)
{
	const char *p = *pp;
	uint32_t c = hex4(p + 1);

	p += 5;
	if (c >= 0xD800 && c < 0xE000) {
		if (c < 0xDC00 && is_low_surrogate(p, end)) {
			c = 0x10000 + ((c - 0xD800) << 10) + (hex4(p + 2) - 0xDC00);
			p += 6;
		} else {
			c = 0xFFFD;
		}
	}
	*pp = p;
	return c;
}

struct str
json_text(struct arena *a, const struct json_node *n)
{
	static const char escapes[] = "\"\"\\\\//b\bf\fn\nr\rt\t"; /* pairs: letter, character */

	if (!n->escaped)
		return (struct str){ n->text, n->length };
	char *start = arena_alloc(a, n->length), *out = start; /* never longer than its escapes */
	const char *p = n->text, *end = p + n->length;
	while (p < end) {
		if (*p != '\\') {
			*out++ = *p++;
		} else if (p[1] == 'u') {
			p++;
			out = put_utf8(out, take_unicode(&p, end));
		} else {
			for (const char *e = escapes; *e != '\0'; e += 2) {
				if (*e == p[1])
					*out++ = e[1];
			}
			p += 2;
		}
	}
	return (struct str){ start, (size_t)(out - start) };
}

/* ---- members ---- */

static bool
key_equals(const struct json_node *key, struct str name)
{
	struct arena scratch;

	if (!key->escaped)
		return str_eq((struct str){ key->text, key->length }, name);
	if (key->length < name.n)
		return false;
	arena_init(&scratch);
	bool equal = str_eq(json_text(&scratch, key), name);
	arena_fini(&scratch);
	return equal;
}

const struct json_node *
json_member(const struct json_node *object, struct str name)
{
	const struct json_node *found = NULL;

	if (object->type != JSON_IS_OBJECT)
		return NULL;
	const struct json_node *key = json_first(object);
	for (uint32_t i = 0; i < object->children; i++) {
		const struct json_node *value = json_next(key);
		if (key_equals(key, name))
			found = value;
		key = json_next(value);
	}
	return found;
}

/* Few members are compared with one another; many go through a map (which is seeded, so that keys
 * cannot be chosen to collide). */
size_t
json_members(struct arena *a, const struct json_node *object, const struct json_node ***keys,
    const struct json_node ***values)
{
	uint32_t all = object->children;
	size_t n = 0;
	struct value seen = value_new_map(a, 0, false);

	ASSERT(object->type == JSON_IS_OBJECT);
	*keys = arena_alloc(a, all * sizeof **keys);
	*values = arena_alloc(a, all * sizeof **values);
	const struct json_node *key = json_first(object);
	for (uint32_t i = 0; i < all; i++) {
		const struct json_node *value = json_next(key);
		struct str name = json_text(a, key);
		const struct value *at = value_map_find(seen.u.map, name);
		if (at != NULL) {
			(*values)[at->u.i] = value;
		} else {
			(*keys)[n] = key;
			(*values)[n] = value;
			value_map_set(a, seen.u.map, name, value_int((int64_t)n++));
		}
		key = json_next(value);
	}
	return n;
}

/* ---- printing ---- */

static enum hinny_rc
print_escaped(struct buf *b, unsigned char c)
{
	static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs: character, letter */

	for (const char *e = named; *e != '\0'; e += 2) {
		if ((unsigned char)e[0] == c) {
			char out[2] = { '\\', e[1] };
			return buf_add(b, out, 2);
		}
	}
	return buf_printf(b, "\\u%04X", c);
}

enum hinny_rc
json_print_string(struct buf *b, struct str s)
{
	enum hinny_rc rc = buf_add_char(b, '"');
	const char *p = s.p, *end = p + s.n;

	while (rc == HINNY_OK && p < end) {
		const char *from = p;
		while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20)
			p++;
		rc = buf_add(b, from, (size_t)(p - from));
		if (rc == HINNY_OK && p < end)
			rc = print_escaped(b, (unsigned char)*p++);
	}
	return rc == HINNY_OK ? buf_add_char(b, '"') : rc;
}

struct printer {
	struct buf *b;
	struct arena scratch;
	enum hinny_rc rc;
	bool pretty;
	unsigned indent; /* objects around */
};

static void
put(struct printer *pr, const char *p, size_t n)
{
	if (pr->rc == HINNY_OK)
		pr->rc = buf_add(pr->b, p, n);
}

static void
print_string(struct printer *pr, const struct json_node *n)
{
	if (n->escaped) {
		if (pr->rc == HINNY_OK)
			pr->rc = json_print_string(pr->b, json_text(&pr->scratch, n));
		return;
	}
	put(pr, n->text - 1, n->length + 2u);
}

static void
print_fraction(struct printer *pr, const struct json_node *n)
{
	char text[VALUE_DOUBLE_TEXT];
	double d;

	if (str_to_double((struct str){ n->text, n->length }, &d))
		put(pr, text, value_double_text(d, false, text));
	else
		put(pr, n->text, n->length);
}

static void print_node(struct printer *pr, const struct json_node *n);

static void
print_array(struct printer *pr, const struct json_node *n)
{
	const struct json_node *item = json_first(n);

	put(pr, "[", 1);
	for (uint32_t i = 0; i < n->children && pr->rc == HINNY_OK; i++, item = json_next(item)) {
		if (i > 0)
			put(pr, ",", 1);
		if (pr->pretty)
			put(pr, " ", 1);
		print_node(pr, item);
	}
	put(pr, " ]" + !pr->pretty, 1 + (size_t)pr->pretty);
}

static void
print_line(struct printer *pr)
{
	put(pr, "\n", 1);
	for (unsigned i = 0; i < pr->indent; i++)
		put(pr, "  ", 2);
}

static void
print_object(struct printer *pr, const struct json_node *n)
{
	const struct json_node **keys, **values;
	size_t members = json_members(&pr->scratch, n, &keys, &values);

	put(pr, "{", 1);
	pr->indent++;
	for (size_t i = 0; i < members && pr->rc == HINNY_OK; i++) {
		if (i > 0)
			put(pr, ",", 1);
		if (pr->pretty)
			print_line(pr);
		print_string(pr, keys[i]);
		put(pr, pr->pretty ? " : " : ":", pr->pretty ? 3 : 1);
		print_node(pr, values[i]);
	}
	pr->indent--;
	if (pr->pretty && members > 0)
		print_line(pr);
	else if (pr->pretty)
		put(pr, " ", 1);
	put(pr, "}", 1);
}

/* Recursion is bounded by JSON_DEPTH_MAX, which the parser holds. */
static void
print_node(struct printer *pr, const struct json_node *n)
{
	switch ((enum json_type)n->type) {
	case JSON_IS_ARRAY:
		print_array(pr, n);
		break;
	case JSON_IS_OBJECT:
		print_object(pr, n);
		break;
	case JSON_IS_STRING:
		print_string(pr, n);
		break;
	case JSON_IS_FRACTION:
		print_fraction(pr, n);
		break;
	case JSON_IS_NULL:
	case JSON_IS_FALSE:
	case JSON_IS_TRUE:
	case JSON_IS_INT:
		put(pr, n->text, n->length);
		break;
	}
}

static enum hinny_rc
print_whole(struct buf *b, const struct json_node *n, bool pretty)
{
	struct printer pr = { .b = b, .pretty = pretty };
	size_t start = b->n;

	arena_init(&pr.scratch);
	print_node(&pr, n);
	arena_fini(&pr.scratch);
	if (pr.rc != HINNY_OK)
		b->n = start;
	return pr.rc;
}

enum hinny_rc
json_print(struct buf *b, const struct json_node *n)
{
	return print_whole(b, n, false);
}

enum hinny_rc
json_print_pretty(struct buf *b, const struct json_node *n)
{
	return print_whole(b, n, true);
}

/* ---- copies ---- */

const struct json_node *
json_node_copy(struct arena *a, const struct json_node *n, bool share_text)
{
	struct json_node *copy = arena_alloc(a, n->skip * sizeof *copy);

	memcpy(copy, n, n->skip * sizeof *copy);
	if (share_text)
		return copy;
	/* a string's quotes come along: json_print shows them */
	size_t quote = n->type == JSON_IS_STRING;
	const char *from = n->text - quote;
	const char *text = arena_strndup(a, from, n->length + 2 * quote);
	for (uint32_t i = 0; i < n->skip; i++)
		copy[i].text = text + (copy[i].text - from);
	return copy;
}
