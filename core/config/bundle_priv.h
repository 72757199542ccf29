/*
 * A bundle: one immutable snapshot of the configuration. bundle_read.c makes it from files,
 * bundle_save.c and bundle_load.c carry it to the workers, and compile.c makes the program of it.
 */
#ifndef HINNY_CONFIG_BUNDLE_PRIV_H
#define HINNY_CONFIG_BUNDLE_PRIV_H

#include "core/config/config.h"
#include "core/config/node.h"
#include "core/config/placeholder.h"
#include "core/config/settings_priv.h"

/*
 * A file that a route names, as the compilation in hinnyd found it. A worker compiles from these
 * and never looks at the disk, so that it finds what its siblings found.
 */
struct bundle_file {
	const char *name; /* as the route names it */
	const char *from; /* the route file that names it, unless it is a "file:" name, else "" */
	const char *path; /* absolute */
	const char *copy; /* below the generation's folder; NULL: only its text is used */
	const char *text; /* NULL: not asked for */
	size_t text_n;
	struct position at; /* where it is named first */
};

struct bundle {
	struct arena arena;
	struct settings_values values;
	struct settings *settings;  /* made of values at the first compilation */
	struct document *documents; /* route files */
	size_t documents_n, documents_cap;
	struct pairs properties;  /* resolved */
	struct pairs replaced;    /* hinny test: pattern of endpoints, uri that stands for them */
	struct properties lookup; /* what they were made of; empty in a loaded bundle */
	const char *cwd;
	const char **sources; /* NULL-ended */
	size_t sources_n, sources_cap;
	struct bundle_file *files;
	size_t files_n, files_cap;
	bool decided; /* preconditions.c has been there */
	bool loaded; /* from a memory file */
	bool flawed; /* loaded, and what has NODE_BAD in it was reported before it was saved */
	void *map;   /* the memory file, else NULL */
	size_t map_n;
};

struct bundle *bundle_new(void);
/* A file whose change should reload; `path` must live as long as the bundle. */
void bundle_add_source(struct bundle *b, const char *path);
/* A document behind the others; valid until the next one is added. */
struct document *bundle_add_document(struct bundle *b);
/* The record of a name, NULL when there is none. */
struct bundle_file *bundle_file_find(const struct bundle *b, const char *name, const char *from);
struct bundle_file *bundle_file_add(struct bundle *b, struct bundle_file f);

/* The bytes of a saved bundle, apart from the memory file: for tests and fuzzing too. */
enum hinny_rc bundle_encode(const struct bundle *b, struct buf *out);
/* Decodes in place: `data` must live as long as the bundle. */
enum hinny_rc bundle_decode(struct str data, struct bundle **out, struct hinny_error *err);

enum {
	BUNDLE_MAX = 256 << 20,    /* bytes of a saved bundle */
	BUNDLE_TEXT_MAX = 1 << 20, /* bytes of a resource: file */
};

#endif
