/*
 * The headers of a message: insertion-ordered, names compared without ASCII case, the spelling of
 * the first setter kept. Names and values live in the exchange's arena, a held blob, or constant
 * memory. A message has few headers, so a look-up is a scan over hashes. Several values of one name
 * are one header with a VALUE_LIST.
 */
#ifndef HINNY_MODEL_HEADERS_H
#define HINNY_MODEL_HEADERS_H

#include "core/model/value.h"

/* Names so common that the wire has a number for them, with their hash (header_ids.def). */
enum header_id {
	HEADER_NONE,
#define HEADER_ID(id, number, name, hash) HEADER_##id = number,
#include "core/model/header_ids.def"
#undef HEADER_ID
	HEADER_ID_MAX = 255
};
/* The id of a name, without case; HEADER_NONE. casehash: header_hash(name). */
enum header_id header_id_find(struct str name, uint32_t hash);
struct str header_id_name(enum header_id id); /* empty when there is no such id */
uint32_t header_id_hash(enum header_id id);
/* str_casehash, but never 0. */
uint32_t header_hash(struct str name);

struct header {
	struct str name;
	uint32_t hash;  /* str_casehash(name); 0: removed, to be skipped */
	uint16_t id;    /* enum header_id of wire/HTTP-known names, or 0 */
	uint16_t dirty; /* set since headers_clean(): a callee's reply carries these only */
	struct value value;
};

struct headers {
	struct header *items;
	uint32_t n, cap;
	uint32_t live; /* without the removed */
	bool removed;  /* something was removed since headers_clean(): removed items keep their
	                  names, for the wire, until then */
};

void headers_init(struct headers *hs);
/* Everything that does not change is borrowed: name must live as long as the arena. Replaces a
 * value of the same name, keeping its place. */
void headers_set(struct headers *hs, struct arena *a, struct str name, struct value v);
/* As set, but a name that is there already gets a list of its values (network input, query
 * parameters). */
void headers_add(struct headers *hs, struct arena *a, struct str name, struct value v);
struct header *headers_find(const struct headers *hs, struct str name); /* NULL: absent */
/* With the hash known beforehand (compiled routes). */
void headers_set_hashed(
    struct headers *hs, struct arena *a, struct str name, uint32_t casehash, struct value v);
/* A well-known name in the table's spelling; the quickest way. */
void headers_set_id(struct headers *hs, struct arena *a, enum header_id id, struct value v);
struct header *headers_find_hashed(const struct headers *hs, struct str name, uint32_t casehash);
bool headers_remove(struct headers *hs, struct str name);
/* Removes the matching; `keep` (may be empty) is a pattern of names that stay. Patterns: exact,
 * trailing "*", else a regular expression matching the whole name; no case (Camel PatternHelper).
 * Compiled by pattern_compile at load. */
struct pattern;
size_t headers_remove_matching(struct headers *hs, const struct pattern *remove,
    const struct pattern *const *keep, size_t keep_n);
void headers_clear(struct headers *hs);
void headers_clean(struct headers *hs); /* forgets dirty and removed marks */
void headers_copy(
    struct headers *to, struct arena *a, const struct headers *from); /* values by value_share */

#define HEADERS_FOREACH(hs, h)                                                                     \
	for (struct header *h = (hs)->items; h < (hs)->items + (hs)->n; h++)                       \
		if (h->hash == 0) { /* removed */                                                  \
		} else

/* A name pattern. Exact and "prefix*" need no regular expression; one that is none of these and no
 * regular expression either is HINNY_EINVAL. Lives as long as the arena; one thread. A match that
 * needs absurdly much backtracking counts as none. */
enum hinny_rc pattern_compile(
    struct arena *a, struct str text, bool nocase, struct pattern **out, struct hinny_error *err);
bool pattern_match(const struct pattern *p, struct str name);

#endif
