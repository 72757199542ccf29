/* Inside of the file worker. */
#ifndef HINNY_FILE_FILE_PRIV_H
#define HINNY_FILE_FILE_PRIV_H

#include "core/base/hash.h"
#include "transports/file/file_conf.h"
#include "workers/worker.h"

#include <limits.h>

/* The worker's own state. */
struct file_state {
	struct worker *wk;
	char cwd[PATH_MAX]; /* where relative folders start */
	struct hash writing; /* path -> struct write_op: one at a time writes a file */
	bool ended;         /* the process ends: nothing is told to exchanges any more */
};

/* A file that was found. */
struct file_found {
	const char *rel; /* below the endpoint's folder */
	int64_t size, modified_ms;
};

static inline struct file_state *
file_state_of(struct worker *wk)
{
	return worker_data(wk);
}

/* ---- file_name.c ---- */

/* The headers of a file, as they are before anything is done with it. */
void file_headers(
    struct exchange *ex, const struct file_conf *conf, const struct file_found *f, const char *cwd);
/* The text of an option; false with the exception set. */
bool file_text(const struct expression *e, struct exchange *ex, struct str *out);
/* folder/rel */
const char *file_path(struct arena *a, const struct file_conf *conf, const char *rel);
/* Where a file goes that is at `path` now: an absolute name, one that begins with the endpoint's
 * folder, one below it, or one beside the file. NULL with the exception set. */
const char *file_target(
    struct exchange *ex, const struct file_conf *conf, const struct expression *e, const char *path);
/* The done file of a file at `path`. NULL with the exception set. */
const char *file_done_path(
    struct exchange *ex, const struct file_conf *conf, const char *path);
/* The absolute form. */
const char *file_absolute(struct arena *a, const char *cwd, const char *path);

/* ---- file_scan.c ---- */

enum { FILE_SCAN_MAX = 200000, FILE_DEPTH_MAX = 64 };

/* Lists a folder; run on a thread of the pool, with an arena that nobody else uses meanwhile. */
struct file_scan {
	const struct file_conf *conf;
	const char *dir;
	struct arena *arena;
	struct file_found *items;
	size_t n, cap;
	struct hash present; /* rel -> rel of all files, when there are done files */
	bool missing, cut;
	int errnum;
};
void file_scan(struct file_scan *s);

/* ---- file_sort.c ---- */

/* By the keys of sortBy, else by name; keys are evaluated with the headers of each file. */
void file_sort(struct file_state *fs, const struct route *route, const struct file_conf *conf,
    struct arena *a, struct file_found *items, size_t n);
void file_shuffle(struct file_found *items, size_t n);

/* ---- file_producer.c, file_consumer.c ---- */

enum step_rc file_send(
    struct worker *wk, struct exchange *ex, const struct step *st, struct endpoint *ep);
enum hinny_rc file_start(struct worker *wk, struct endpoint *ep, const struct route *route,
    struct hinny_error *err);
void file_stop(struct worker *wk, struct endpoint *ep);

/* ---- file_receive.c: endpoints that only steps receive from ---- */

enum step_rc file_receive(
    struct worker *wk, struct exchange *ex, struct endpoint *ep, int64_t timeout_ms);
void file_receive_release(struct endpoint *ep);

#endif
