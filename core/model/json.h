/*
 * JSON read in place: a flat array of nodes over the text, made once and kept with the body, so
 * that two jsonpath steps parse once. Strings are slices of the text; those with escapes are
 * decoded on demand. Numbers keep their text (12345678901234567890 keeps all its digits). Depth is
 * bounded (JSON_DEPTH_MAX). Names keep clear of those of jansson, which some executables link: no
 * json_string, no JSON_IS_OBJECT. RFC 8259; duplicate keys are kept (the last one is found); input
 * must be UTF-8 (a BOM at the start is skipped).
 */
#ifndef HINNY_MODEL_JSON_H
#define HINNY_MODEL_JSON_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { JSON_DEPTH_MAX = 256 };

enum json_type {
	JSON_IS_NULL,
	JSON_IS_FALSE,
	JSON_IS_TRUE,
	JSON_IS_INT,
	JSON_IS_FRACTION,
	JSON_IS_STRING,
	JSON_IS_ARRAY,
	JSON_IS_OBJECT
};

/* Nodes lie in document order: a container is followed by its children (an object's: key, value,
 * key, value …); `skip` leads behind its last descendant. */
struct json_node {
	uint8_t type;
	uint8_t escaped; /* a string with backslashes */
	uint16_t reserved;
	uint32_t skip;     /* nodes of this subtree, itself included */
	uint32_t children; /* elements or members */
	uint32_t length;   /* bytes of text (strings: without quotes) */
	const char *text;  /* containers: from the opening to the closing bracket; strings: behind
	                      the quote */
};

/* Parses the whole text; nodes in the arena. On error the text says line and column. *root is the
 * first node. */
enum hinny_rc json_parse(
    struct arena *a, struct str text, const struct json_node **root, struct hinny_error *err);
/* Parses the first value only; *end (may be NULL) is where the text goes on behind it. */
enum hinny_rc json_parse_first(struct arena *a, struct str text, const struct json_node **root,
    size_t *end, struct hinny_error *err);
static inline const struct json_node *
json_first(const struct json_node *n)
{
	return n + 1; /* when n->children > 0 */
}
static inline const struct json_node *
json_next(const struct json_node *n)
{
	return n + n->skip;
}
const struct json_node *json_member(
    const struct json_node *object, struct str key); /* NULL when absent */
struct str json_text(
    struct arena *a, const struct json_node *n); /* decoded; half a surrogate pair gives U+FFFD */
/* Compact JSON as Jackson writes what it has read: strings without needless escapes, fractions as
 * Java prints them (1e3 is 1000.0), of equal keys the last. */
enum hinny_rc json_print(struct buf *b, const struct json_node *n);
/* The same on several lines, as Jackson's pretty printer: an object's members one a line, indented by
 * two blanks, arrays on one line. */
enum hinny_rc json_print_pretty(struct buf *b, const struct json_node *n);
/* A string in quotes, escaped where JSON asks for it. */
enum hinny_rc json_print_string(struct buf *b, struct str s);
/* The members that count: one key node each (its value is json_next of it), of equal keys the last
 * value in the place of the first. Array in the arena; returns how many. */
size_t json_members(struct arena *a, const struct json_node *object, const struct json_node ***keys,
    const struct json_node ***values);
/* A copy for another arena: nodes and text (from `text` on, when not NULL the same text is used: it
 * lies in a blob that is held). */
const struct json_node *json_node_copy(struct arena *a, const struct json_node *n, bool share_text);

#endif
