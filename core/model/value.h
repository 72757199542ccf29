/*
 * The tagged value of bodies, headers, properties and variables.
 *
 * A value owns nothing: its bytes, lists and maps live in the arena of the exchange that holds it
 * (or in the program's, for constants, which outlives every exchange). Where bytes lie in a counted
 * blob, `blob` names it, so that another exchange can share them by arena_hold() instead of a copy.
 * Values are passed by struct copy within one exchange; value_share() carries one over to another
 * exchange's arena.
 *
 * Conversions are lazy and follow Camel's type converters (spec/dataformats.md, spec/simple.md
 * section 4).
 */
#ifndef HINNY_MODEL_VALUE_H
#define HINNY_MODEL_VALUE_H

#include "core/base/arena.h"
#include "core/base/blob.h"
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum value_type {
	VALUE_NULL,
	VALUE_BOOL,
	VALUE_INT, /* Java Integer/Long: see value_flag */
	VALUE_DOUBLE,
	VALUE_DECIMAL, /* a number that neither int64 nor double can keep: its text, in u.s */
	VALUE_STRING,  /* UTF-8 */
	VALUE_BYTES,
	VALUE_LIST,
	VALUE_MAP,
	VALUE_JSON,   /* a node of a parsed JSON document: u.json (core/model/json.h) */
	VALUE_XML,    /* markup: text of one or several nodes that an XPath selected; u.s */
	VALUE_STREAM, /* bytes still to come, once only; u.stream (core/model/stream.h) */
	VALUE_TYPES
};

enum value_flag {
	VALUE_LONG = 1,    /* an INT that Java calls Long */
	VALUE_ENTRY = 1,   /* a MAP of "key" and "value" that Java calls Map.Entry: prints "k=v" */
	VALUE_FLOAT = 2,   /* a DOUBLE that Java calls Float */
	VALUE_RECORD = 2,  /* a MAP of "topic", "partition", "offset" that Java calls RecordMetadata:
	                      prints "topic-partition@offset" */
	VALUE_DATE = 4,    /* an INT of milliseconds that Java calls Date */
	VALUE_NODESET = 8, /* XML: from a node-set; n nodes in aux (0: empty list; truthiness and
	                      size follow it) */
	VALUE_ARRAY = 16,  /* a LIST that Java calls an array */
	VALUE_INPUT = 32,  /* STRING/BYTES that came as a re-readable stream cache: prints and
	                      compares as text, but is no number and has no methods of a text */
	VALUE_NODE = 64,   /* JSON, STRING: a node of a JSON tree (jq), which prints as JSON: as text
	                      on several lines, as payload and in a list on one; a string has its
	                      quotes in a list alone */
	VALUE_GROUPED = 128, /* a LIST that a grouping strategy made: prints "List<Exchange>(3
	                        elements)"; a MAP that stands for a message or exchange in it */
};

struct value;
struct stream;
struct json_node;

struct value_list {
	struct value *items;
	size_t n, cap;
};

struct value_entry {
	struct str key;
	struct value *value;
};

/* Insertion-ordered. A map that grew large by value_map_set has an index, so that a document with
 * 100,000 keys costs no quadratic time. */
struct value_map {
	struct value_entry *entries;
	size_t n, cap;
	bool nocase;               /* keys compare without ASCII case */
	uint32_t *index;           /* private to value.c: open addressing, position + 1 */
	size_t index_cap, index_n; /* entries [0, index_n) are in it */
};

struct value {
	uint8_t type;
	uint8_t flags;
	uint16_t reserved;
	uint32_t aux;
	union {
		bool b;
		int64_t i;
		double d;
		struct str s; /* DECIMAL STRING BYTES XML */
		struct value_list *list;
		struct value_map *map;
		const struct json_node *json;
		struct stream *stream;
	} u;
	struct blob *blob; /* where u.s lies, or NULL: arena or constant memory. Not a reference of
	                      its own */
};

static inline struct value
value_null(void)
{
	return (struct value){ .type = VALUE_NULL };
}
static inline struct value
value_bool(bool b)
{
	return (struct value){ .type = VALUE_BOOL, .u.b = b };
}
static inline struct value
value_int(int64_t i)
{
	return (struct value){ .type = VALUE_INT, .u.i = i };
}
static inline struct value
value_double(double d)
{
	return (struct value){ .type = VALUE_DOUBLE, .u.d = d };
}
static inline struct value
value_str(struct str s)
{
	return (struct value){ .type = VALUE_STRING, .u.s = s };
}
static inline struct value
value_bytes(struct str s)
{
	return (struct value){ .type = VALUE_BYTES, .u.s = s };
}
static inline bool
value_is_null(const struct value *v)
{
	return v->type == VALUE_NULL;
}
/* Has it bytes in u.s? */
static inline bool
value_has_text(const struct value *v)
{
	return v->type == VALUE_STRING || v->type == VALUE_BYTES || v->type == VALUE_XML ||
	    v->type == VALUE_DECIMAL;
}

/* New empty containers in the arena. */
struct value value_new_list(struct arena *a, size_t cap);
struct value value_new_map(struct arena *a, size_t cap, bool nocase);
void value_list_add(struct arena *a, struct value_list *l, struct value v);
void value_map_set(struct arena *a, struct value_map *m, struct str key,
    struct value v); /* key is kept, not copied */
struct value *value_map_find(const struct value_map *m, struct str key);
bool value_map_remove(struct value_map *m, struct str key);
void value_map_clear(struct value_map *m);
/* What iterating over the map gives: a list of its entries (VALUE_ENTRY), in order. */
struct value value_map_entries(struct arena *a, const struct value_map *m);

/* A JSON node as a value: scalars become plain values (whole numbers INT, LONG beyond 32 bits,
 * DECIMAL beyond 64; with a fraction DOUBLE), arrays and objects VALUE_JSON. `blob` is where the
 * document's text lies, or NULL. */
struct value value_from_json(struct arena *a, const struct json_node *n, struct blob *blob);
/* The same for a child of v, a VALUE_JSON: it is a VALUE_NODE when v is one. */
struct value value_json_child(struct arena *a, const struct value *v, const struct json_node *n);
/* What goes out where v is the whole of a message's body: the text form, but JSON on one line for a
 * VALUE_NODE. */
struct str value_payload(struct arena *a, const struct value *v);
/* Elements of a LIST or a JSON array: false when v is neither or i is beyond its end. */
bool value_item(struct arena *a, const struct value *v, size_t i, struct value *out);
/* The member of a MAP or a JSON object: false when v is neither or has none of that name. */
bool value_member(struct arena *a, const struct value *v, struct str key, struct value *out);
/* A JSON array or object as LIST or MAP, deep (the last of equal keys stays, in the place of the
 * first); anything else as it is. For steps that change it. */
struct value value_plain(struct arena *a, const struct value *v);

/*
 * The text form, as Camel's conversion to String gives it: null gives an empty slice (check for
 * null first where it matters), numbers as Java prints them (1.0E10, 3.5), lists "[a, b]", maps
 * "{k=v}", JSON nodes as Java's Map/List would print ("{x=1}"), bytes as UTF-8, dates "Wed May 01
 * 10:00:00 UTC 2024". The result may be the value's own bytes, bytes that are not well-formed UTF-8
 * too (value_convert to String replaces those by U+FFFD, as Java does): a body that is only passed
 * on stays what it was. A VALUE_STREAM must not come here (the engine has collected it before).
 * Lists and maps deeper than VALUE_DEPTH_MAX print "..." there.
 */
enum { VALUE_DEPTH_MAX = 256 };
struct str value_text(struct arena *a, const struct value *v);
/* Appends the text form to a buffer (same rules). */
enum hinny_rc value_print(struct buf *b, const struct value *v);
/* A double (or, single, a float) as Java prints it: shortest digits that read back the same,
 * "1.0E10" outside 10^-3 .. 10^7. At most VALUE_DOUBLE_TEXT bytes with NUL; returns the length. */
enum { VALUE_DOUBLE_TEXT = 32 };
size_t value_double_text(double d, bool single, char out[VALUE_DOUBLE_TEXT]);
/* Number of elements (list, map, node-set), 0 for null, 1 otherwise. */
size_t value_size(const struct value *v);
/* Truth of a lone value as a predicate (spec/simple.md section 3). */
bool value_truth(const struct value *v);
/* "java.lang.String" … the class name that a Java programmer would see; for bodyType and `is`.
 * Bytes are "byte[]", null gives NULL. */
const char *value_class(const struct value *v);

/* ==, with Camel's coercions (simple.md section 4, equality; digits of any length compare exactly,
 * cases B04). */
bool value_equal(struct arena *a, const struct value *l, const struct value *r, bool ignore_case);
/* Java's equals: no coercion but between lists and JSON arrays, maps and JSON objects. */
bool value_same(struct arena *a, const struct value *l, const struct value *r);
/* Ordering with coercions: *out <0, 0, >0; false when either side is null or not a number (every
 * ordering test is then false). */
bool value_compare(struct arena *a, const struct value *l, const struct value *r, int *out);

/* The Java types a route can name in resultType, convertBodyTo, bodyAs. */
enum value_class_id {
	CLASS_NONE,
	CLASS_STRING,
	CLASS_INTEGER,
	CLASS_LONG,
	CLASS_SHORT,
	CLASS_BYTE,
	CLASS_DOUBLE,
	CLASS_FLOAT,
	CLASS_BOOLEAN,
	CLASS_BYTES,
	CLASS_BIG_INTEGER,
	CLASS_BIG_DECIMAL,
	CLASS_LIST,
	CLASS_MAP,
	CLASS_SET,
	CLASS_INPUT_STREAM,
	CLASS_READER,
	CLASS_DOCUMENT,
	CLASS_NODE,
	CLASS_NODE_LIST,
	CLASS_DATE,
	CLASS_OBJECT,
	CLASS_CHARACTER,
	CLASS_ITERATOR
};
/* "int", "Integer", "java.lang.Integer", "String", "byte[]" …; CLASS_NONE when it is no name that
 * is known. */
enum value_class_id value_class_find(struct str name);
const char *value_class_name(enum value_class_id id); /* "java.lang.Integer", "byte[]" */
/* Converts; null stays null. HINNY_ENOENT: there is no converter between these types (Camel: null,
 * where it need not be); HINNY_EINVAL: the value does not fit. err has Camel's kind of text.
 * Document and node classes give VALUE_XML with the text unchecked: the parser of the owner finds
 * what is wrong. A whole number that does not fit is an error, a fraction is cut. */
enum hinny_rc value_convert(struct arena *a, const struct value *v, enum value_class_id to,
    struct value *out, struct hinny_error *err);

/* The same for the number that a step or a client asks for: a stream counts as its text, blanks
 * around a text do not count. */
enum hinny_rc value_convert_number(struct arena *a, const struct value *v, enum value_class_id to,
    struct value *out, struct hinny_error *err);

/* The same value for an exchange with arena `to`: blobs are held, all else is copied deep. Streams
 * cannot be shared (assert). */
struct value value_share(struct arena *to, const struct value *v);
/* The same for what is kept for long (groups of an aggregate): a text that is small beside the blob
 * it lies in is copied, so that one line of a file does not keep the file in memory. The sizes of
 * the blobs that are held are added to *held. A stream gives null. */
struct value value_keep(struct arena *to, const struct value *v, uint64_t *held);

#endif
