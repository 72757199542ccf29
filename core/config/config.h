/*
 * From files to a bundle to a program.
 *
 *   bundle_read()       hinnyd and hinny only: reads hinny.yaml, application.properties and all
 * route files once, resolves placeholders bundle_save/load()  the bundle as one sealed memory file
 * that workers inherit: the resolved node trees with their positions program_compile()   the same
 * in every process
 *
 * Errors are gathered in struct diagnostics: all of all files, `file:line:column: path.to.key: what
 * is wrong, what is expected[, did you mean "x"]`.
 */
#ifndef HINNY_CONFIG_CONFIG_H
#define HINNY_CONFIG_CONFIG_H

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/config/node.h"
#include "core/config/settings.h"
#include "core/model/program.h"

#include <stdbool.h>
#include <stdio.h>

struct diagnostic {
	struct position at;
	bool warning;
	const char *text; /* with the path in front */
};
struct diagnostics {
	struct arena arena;
	struct diagnostic *items;
	size_t n, cap;
	size_t errors;
};
void diagnostics_init(struct diagnostics *ds);
void diagnostics_fini(struct diagnostics *ds);
void diagnostics_add(struct diagnostics *ds, struct position at, bool warning, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* One line each, in order of file and line; the only way in which they are shown: at start, by
 * check and in a refused reload. */
void diagnostics_print(const struct diagnostics *ds, FILE *to);
char *diagnostics_text(struct diagnostics *ds, struct arena *a); /* the same lines as one text */

struct bundle;

/* What is read, before it is compiled: for hinny test. Trees and texts that are put in lie in
 * `arena`, or live as long as the bundle otherwise. */
struct bundle_edit {
	struct arena *arena;
	struct document *documents; /* the route files, with placeholders resolved; may be changed */
	size_t documents_n;
	struct document added;  /* one more, when it gets a root; its placeholders are resolved */
	struct pairs *replaced; /* pattern of endpoints that are sent to, uri that stands for them */
	struct diagnostics *ds;
};
typedef void bundle_edit_fn(void *arg, struct bundle_edit *edit);

struct bundle_options {
	const char *config_file;        /* hinny.yaml, NULL: none (hinny run without -c) */
	const char *const *route_files; /* NULL-ended: instead of, or with, settings.routes; folders
	                                   are searched for *.yaml */
	const char *const *set; /* NULL-ended "key=value" of --set, in order; wins over the file */
	const char *const *properties; /* NULL-ended "k=v" of --property */
	const char *const *kamelets;   /* NULL-ended folders of --kamelets */
	const char *const *properties_files; /* NULL-ended files of --properties: then no other is read */
	const char *properties_file;   /* application.properties, read when it exists; NULL: none */
	const char *cwd;               /* relative names start here */
	bool run_mode; /* hinny run / check: binds 127.0.0.1 unless http.listen is given */
	int64_t port;  /* --port, 0: none */
	bundle_edit_fn *edit; /* NULL: none */
	void *edit_arg;
};

/* NULL when a file was unreadable or wrong so that no bundle could be made (see ds). */
struct bundle *bundle_read(const struct bundle_options *opt, struct diagnostics *ds);
void bundle_free(struct bundle *b);
/* Files whose change should reload (--no-watch not given): hinny.yaml, properties, routes, folders
 * of routes; after program_compile the files that routes name, after bundle_copy_files what these
 * include. NULL-ended. Valid until the next of these calls. */
const char *const *bundle_sources(const struct bundle *b);

/* Of a position in a route that was made of a template (its `file`, by address): "of kamelet "x",
 * used at a.yaml:5:7"; else NULL. */
const char *bundle_origin(const struct bundle *b, const char *file);

/* Compiles. NULL when ds got errors. The program borrows from the bundle. What hinnyd finds on the
 * disk (files that routes name) is kept in the bundle: save it afterwards. */
struct program *program_compile(struct bundle *b, struct diagnostics *ds);
/* The same of a bundle with errors, to find those that only the owners of endpoints and expressions
 * can: what is right of these, and no more, is in the program. It can be checked, not be run. */
struct program *program_compile_partial(struct bundle *b, struct diagnostics *ds);
void program_free(struct program *p);
/* Prints the program as text that shows everything the compiler worked out (tests/config). */
void program_dump(const struct program *p, FILE *to);

/* As a memory file (sealed memfd), for the workers. */
enum hinny_rc bundle_save(const struct bundle *b, int *fd, struct hinny_error *err);
enum hinny_rc bundle_load(int fd, struct bundle **out, struct hinny_error *err);
/* Copies the files that the program names, and what these include, into dir (an open folder). Only
 * the supervisor calls it. */
enum hinny_rc bundle_copy_files(const struct program *p, int dirfd, struct diagnostics *ds);

#endif
