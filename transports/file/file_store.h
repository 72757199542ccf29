/*
 * Keys of files that were read, in a file of the run folder, so that the worker of the next
 * generation, or one in the place of one that died, knows them. It goes with the supervisor.
 */
#ifndef HINNY_FILE_FILE_STORE_H
#define HINNY_FILE_FILE_STORE_H

#include "core/base/buf.h"

#include <stdbool.h>
#include <sys/types.h>

struct store {
	int fd; /* -1: there is none */
	off_t at; /* read up to here */
	struct buf news; /* what store_read has found */
};

enum { STORE_MAX = 16 * 1024 * 1024 }; /* a larger one begins anew */

/* Opens that of an endpoint (its key) below the open folder; false: errno says why not, and the
 * others work as if it were empty. */
bool store_open(struct store *s, int dir, const char *key);
void store_close(struct store *s);
/* Reads what was added since. Any thread, one at a time. */
void store_read(struct store *s);
/* The next key that was read; false: that was the last. The key lies in `news`. */
bool store_next(struct store *s, size_t *position, struct str *key);
void store_add(struct store *s, struct str key);

#endif
