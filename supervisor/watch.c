/* inotify on folders; events are matched by name. */
#include "supervisor/watch.h"

#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/str.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	WATCH_MASK =
	    IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE | IN_ONLYDIR
};

struct watched {
	int wd;     /* of the folder */
	char *name; /* file in it; NULL: every *.yaml */
};

struct watch {
	struct loop *lp;
	struct loop_fd fd;
	struct loop_timer quiet;
	watch_changed_fn *fn;
	void *arg;
	struct watched *items;
	size_t n;
};

static bool
matches(const struct watch *w, const struct inotify_event *ev)
{
	struct str name = str_of(ev->len > 0 ? ev->name : "");

	for (size_t i = 0; i < w->n; i++) {
		if (w->items[i].wd != ev->wd)
			continue;
		if (w->items[i].name == NULL ? str_ends(name, ".yaml") || str_ends(name, ".yml")
					     : str_eq(name, str_of(w->items[i].name)))
			return true;
	}
	return false;
}

static void
on_events(struct loop_fd *fd, unsigned events)
{
	struct watch *w = CONTAINER_OF(fd, struct watch, fd);
	_Alignas(struct inotify_event) char buf[4096];
	bool changed = false;
	ssize_t n;

	(void)events;
	while ((n = read(fd->fd, buf, sizeof buf)) > 0) {
		for (char *p = buf; p < buf + n;) {
			const struct inotify_event *ev = (const struct inotify_event *)(void *)p;
			/* A new file is of interest when it has been written. */
			changed |= matches(w, ev) && (ev->mask & IN_CREATE) == 0;
			changed |= (ev->mask & IN_Q_OVERFLOW) != 0;
			p += sizeof *ev + ev->len;
		}
	}
	if (changed)
		loop_timer_start(&w->quiet, WATCH_QUIET_MS, 0);
}

static void
on_quiet(struct loop_timer *t)
{
	struct watch *w = CONTAINER_OF(t, struct watch, quiet);

	w->fn(w->arg);
}

struct watch *
watch_new(struct loop *lp, watch_changed_fn *fn, void *arg)
{
	struct hinny_error err;
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (fd == -1) {
		log_warning("cannot watch files: %m");
		return NULL;
	}
	struct watch *w = MEM_NEW(struct watch);
	w->lp = lp;
	w->fn = fn;
	w->arg = arg;
	if (loop_fd_init(lp, &w->fd, fd, on_events, &err) != HINNY_OK) {
		log_warning("cannot watch files: %s", err.text);
		(void)close(fd);
		free(w);
		return NULL;
	}
	loop_timer_init(lp, &w->quiet, on_quiet);
	loop_fd_watch(&w->fd, LOOP_READ);
	return w;
}

static void
forget(struct watch *w)
{
	for (size_t i = 0; i < w->n; i++) {
		(void)inotify_rm_watch(w->fd.fd, w->items[i].wd); /* several files may share one */
		free(w->items[i].name);
	}
	free(w->items);
	w->items = NULL;
	w->n = 0;
}

static void
add(struct watch *w, const char *path)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		(void)snprintf(
		    folder, sizeof folder, "%s", path); /* too long a path is not there */
		name = NULL;
	} else {
		(void)snprintf(folder, sizeof folder, "%.*s",
		    slash == NULL       ? 1
			: slash == path ? 1
					: (int)(slash - path),
		    slash == NULL ? "." : path);
	}
	int wd = inotify_add_watch(w->fd.fd, folder, WATCH_MASK);
	if (wd == -1) {
		log_warning("cannot watch \"%s\": %m", folder);
		return;
	}
	w->items = mem_realloc(w->items, (w->n + 1) * sizeof *w->items);
	w->items[w->n++] =
	    (struct watched){ .wd = wd, .name = name != NULL ? mem_strdup(name) : NULL };
}

void
watch_set(struct watch *w, const char *const *paths)
{
	forget(w);
	for (size_t i = 0; paths[i] != NULL; i++)
		add(w, paths[i]);
}

static uint64_t
mix(uint64_t h, uint64_t v)
{
	return (h ^ v) * 0x100000001b3ull;
}

uint64_t
watch_signature(const char *const *paths)
{
	uint64_t h = 0xcbf29ce484222325ull;
	struct stat st;

	for (size_t i = 0; paths[i] != NULL; i++) {
		if (stat(paths[i], &st) == -1)
			st = (struct stat){ 0 };
		h = mix(h, (uint64_t)st.st_ino);
		h = mix(h, (uint64_t)st.st_size);
		h = mix(h, (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec);
		h = mix(h, (uint64_t)st.st_ctim.tv_sec * 1000000000 + (uint64_t)st.st_ctim.tv_nsec);
	}
	return h;
}

static void
on_closed(struct loop_fd *fd)
{
	struct watch *w = CONTAINER_OF(fd, struct watch, fd);

	loop_free_later(w->lp, w);
}

void
watch_free(struct watch *w)
{
	if (w == NULL)
		return;
	forget(w);
	int fd = w->fd.fd;
	loop_timer_close(&w->quiet, NULL);
	loop_fd_close(&w->fd, on_closed);
	(void)close(fd);
}
