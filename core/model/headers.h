/*
 * The headers of a message: insertion-ordered, names compared without ASCII case, the spelling of the first setter kept. Names and values live in the
 * exchange's arena, a held blob, or constant memory. A message has few headers, so a look-up is a scan over hashes.
 * Several values of one name are one header with a VALUE_LIST.
 */
#ifndef HINNY_MODEL_HEADERS_H
#define HINNY_MODEL_HEADERS_H

#include "core/model/value.h"

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
	bool removed;  /* something was removed since headers_clean() */
};

void headers_init(struct headers *hs);
/* Everything that does not change is borrowed: name must live as long as the arena. Replaces a value of the same name, keeping its place. */
void headers_set(struct headers *hs, struct arena *a, struct str name, struct value v);
/* As set, but a name that is there already gets a list of its values (network input, query parameters). */
void headers_add(struct headers *hs, struct arena *a, struct str name, struct value v);
struct header *headers_find(const struct headers *hs, struct str name); /* NULL: absent */
/* With the hash known beforehand (compiled routes). */
struct header *headers_find_hashed(const struct headers *hs, struct str name, uint32_t casehash);
bool headers_remove(struct headers *hs, struct str name);
/* Removes the matching; `keep` (may be empty) is a pattern of names that stay. Patterns: exact, trailing "*", else a regular expression matching the whole
 * name; no case (Camel PatternHelper). Compiled by pattern_compile at load. */
struct pattern;
size_t headers_remove_matching(struct headers *hs, const struct pattern *remove, const struct pattern *const *keep, size_t keep_n);
void headers_clear(struct headers *hs);
void headers_clean(struct headers *hs); /* forgets dirty and removed marks */
void headers_copy(struct headers *to, struct arena *a, const struct headers *from); /* values by value_share */

#define HEADERS_FOREACH(hs, h) for (struct header *h = (hs)->items; h < (hs)->items + (hs)->n; h++) if (h->hash != 0)

/* A name pattern. */
enum hinny_rc pattern_compile(struct arena *a, struct str text, bool nocase, struct pattern **out, struct hinny_error *err);
bool pattern_match(const struct pattern *p, struct str name);

#endif
