/* Keys of files that were read: the latest ones, up to a limit. */
#ifndef HINNY_FILE_FILE_SEEN_H
#define HINNY_FILE_FILE_SEEN_H

#include "core/base/hash.h"
#include "core/base/list.h"

struct seen {
	struct hash keys;
	struct list used; /* latest first */
	size_t limit;
};

void seen_init(struct seen *s, size_t limit);
void seen_fini(struct seen *s);
/* Is it there? Then it is the latest. */
bool seen_has(struct seen *s, struct str key);
void seen_add(struct seen *s, struct str key);
void seen_remove(struct seen *s, struct str key);

#endif
