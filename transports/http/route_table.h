/*
 * Which route serves a request: by path, then method, then media types. Built before READY,
 * read-only afterwards.
 *
 * Exact paths and templates ("/users/{id}") compete by their order in the route files, as in Camel;
 * a path with matchOnUriPrefix is looked at only when none of them matches, longest first. A slash
 * at the end of a request path is not looked at. Matching sees the path decoded and without dot
 * segments, so neither %2e%2e nor /../ leads around a route.
 */
#ifndef HINNY_HTTP_ROUTE_TABLE_H
#define HINNY_HTTP_ROUTE_TABLE_H

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { ROUTE_PARAMS_MAX = 16, ROUTE_PATH_MAX = 1024 };

struct route_entry;

struct route_spec {
	const char *path;
	const char *methods, *consumes, *produces; /* comma-separated, NULL: all */
	bool prefix;
	void *data;
};

struct route_table {
	struct arena arena;
	struct hash exact;            /* normalised path -> first entry of that path */
	struct route_entry *patterns; /* templates in file order */
	struct route_entry *prefixes; /* longest first */
	uint32_t n;
};

struct route_request {
	struct str method, path; /* path as it came */
	struct str content_type; /* n 0: none */
	struct str accept;       /* n 0: none */
};

struct route_match {
	int status; /* 0: data is the route's; else 404, 405, 406 or 415 */
	void *data;
	struct str allow; /* for 405; in the arena given to find */
	struct {
		struct str name, value;
	} params[ROUTE_PARAMS_MAX]; /* decoded */
	unsigned params_n;
	struct str rest; /* prefix: what follows it */
	struct str path; /* without dot segments; the request's own bytes where it had none */
};

void route_table_init(struct route_table *rt);
void route_table_fini(struct route_table *rt);
/* Returns the data of an earlier route that takes every request this one could get, or NULL. Texts
 * in spec are borrowed. HINNY_ELIMIT: too many parameters. */
enum hinny_rc route_table_add(struct route_table *rt, const struct route_spec *spec,
    void **shadowed_by, struct hinny_error *err);
/* Slices of the result lie in the request's path or in `a`. */
void route_table_find(const struct route_table *rt, struct arena *a, const struct route_request *rq,
    struct route_match *m);

/* Does an Accept list take one of the media types in `types` (comma-separated)? */
bool media_accepts(struct str accept, struct str types);
/* Is a Content-Type one of `types`? Parameters are not looked at. */
bool media_is_one_of(struct str content_type, struct str types);

#endif
