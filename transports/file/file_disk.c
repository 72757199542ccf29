/* What is done to disks. */
#include "transports/file/file_disk.h"

#include "core/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int64_t
milliseconds(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

bool
disk_look(const char *path, int64_t *size, int64_t *modified_ms)
{
	struct stat st;

	if (stat(path, &st) == -1 || !S_ISREG(st.st_mode))
		return false;
	*size = st.st_size;
	*modified_ms = milliseconds(st.st_mtim);
	return true;
}

/* ---- folders ---- */

static int
make_one(const char *path, unsigned mode)
{
	if (mkdir(path, 0777) == -1)
		return errno == EEXIST ? 0 : errno;
	return mode != 0 && chmod(path, mode) == -1 ? errno : 0;
}

int
disk_make_folder(const char *path, unsigned mode)
{
	struct stat st;
	int errnum = 0;

	if (path[0] == '\0' || (stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
		return 0;
	char *copy = mem_strdup(path);
	for (char *slash = strchr(copy + 1, '/'); slash != NULL && errnum == 0;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		errnum = make_one(copy, mode);
		*slash = '/';
	}
	if (errnum == 0)
		errnum = make_one(copy, mode);
	free(copy);
	if (errnum == 0 && (stat(path, &st) == -1 || !S_ISDIR(st.st_mode)))
		errnum = ENOTDIR;
	return errnum;
}

int
disk_make_parent(const char *path, unsigned mode)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL || slash == path)
		return 0;
	char *parent = mem_strndup(path, (size_t)(slash - path));
	int errnum = disk_make_folder(parent, mode);
	free(parent);
	return errnum;
}

/* ---- bytes ---- */

static int
write_all(int fd, struct str a, struct str b)
{
	struct iovec parts[2] = { { (void *)a.p, a.n }, { (void *)b.p, b.n } };
	int at = 0;

	while (at < 2) {
		if (parts[at].iov_len == 0) {
			at++;
			continue;
		}
		ssize_t n = writev(fd, parts + at, 2 - at);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return errno;
		for (size_t left = (size_t)n; left > 0 && at < 2;) {
			size_t cut = left < parts[at].iov_len ? left : parts[at].iov_len;
			parts[at].iov_base = (char *)parts[at].iov_base + cut;
			parts[at].iov_len -= cut;
			left -= cut;
			at += parts[at].iov_len == 0;
		}
	}
	return 0;
}

/* Over the edge of a file system. */
static int
copy_and_delete(const char *from, const char *to)
{
	char *bytes = mem_alloc(1 << 16);
	int errnum = 0, in = open(from, O_RDONLY | O_CLOEXEC), out = -1;
	ssize_t n = 0;

	if (in == -1 || (out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) == -1)
		errnum = errno;
	while (errnum == 0 && (n = read(in, bytes, 1 << 16)) != 0) {
		if (n == -1 && errno == EINTR)
			continue;
		errnum = n == -1 ? errno
				 : write_all(out, (struct str){ bytes, (size_t)n }, (struct str){ "", 0 });
	}
	if (out != -1 && close(out) == -1 && errnum == 0)
		errnum = errno;
	if (in != -1)
		(void)close(in); /* read only */
	free(bytes);
	if (errnum == 0 && unlink(from) == -1)
		errnum = errno;
	return errnum;
}

static int
move_file(const char *from, const char *to, bool folders, unsigned dir_mode)
{
	int errnum = folders ? disk_make_parent(to, dir_mode) : 0;

	if (errnum != 0)
		return errnum;
	if (rename(from, to) == 0)
		return 0;
	return errno == EXDEV ? copy_and_delete(from, to) : errno;
}

/* ---- writing ---- */

static void
write_failed(struct disk_write *w, int errnum, const char *at)
{
	w->outcome = DISK_FAILED;
	w->errnum = errnum;
	w->at = at;
}

/* What becomes of a file that is there. False: that was all. */
static bool
write_prepare(struct disk_write *w)
{
	int errnum = w->make_folders ? disk_make_parent(w->path, w->dir_mode) : 0;
	struct stat st;

	if (errnum == 0 && w->make_folders && w->temp != NULL)
		errnum = disk_make_parent(w->temp, w->dir_mode);
	if (errnum != 0) {
		write_failed(w, errnum, "cannot make the folder of");
		return false;
	}
	bool there = lstat(w->path, &st) == 0;
	if (there && w->exist == FILE_EXIST_IGNORE)
		w->outcome = DISK_IGNORED;
	else if (there && w->exist == FILE_EXIST_FAIL)
		w->outcome = DISK_EXISTS;
	else if (there && w->exist == FILE_EXIST_MOVE &&
	    (errnum = move_file(w->path, w->existing, true, w->dir_mode)) != 0)
		write_failed(w, errnum, "cannot move away");
	return w->outcome == DISK_OK;
}

static int
open_flags(const struct disk_write *w)
{
	if (w->temp != NULL)
		return O_TRUNC;
	if (w->exist == FILE_EXIST_APPEND)
		return O_APPEND;
	return w->exist == FILE_EXIST_FAIL || w->exist == FILE_EXIST_IGNORE ? O_EXCL : O_TRUNC;
}

static int
set_attributes(const struct disk_write *w, int fd)
{
	if (w->mode != 0 && fchmod(fd, w->mode) == -1)
		return errno;
	if (w->modified_ms < 0)
		return 0;
	struct timespec t = { .tv_sec = w->modified_ms / 1000,
		.tv_nsec = w->modified_ms % 1000 * 1000000 };
	return futimens(fd, (struct timespec[2]){ t, t }) == -1 ? errno : 0;
}

static void
write_bytes(struct disk_write *w)
{
	const char *path = w->temp != NULL ? w->temp : w->path;
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | open_flags(w), 0666), errnum;

	if (fd == -1 && errno == EEXIST) { /* it came just now */
		w->outcome = w->exist == FILE_EXIST_FAIL ? DISK_EXISTS : DISK_IGNORED;
		return;
	}
	if (fd == -1) {
		write_failed(w, errno, "cannot open");
		return;
	}
	if ((errnum = write_all(fd, w->body, w->tail)) == 0)
		errnum = set_attributes(w, fd);
	if (close(fd) == -1 && errnum == 0)
		errnum = errno;
	if (errnum != 0)
		write_failed(w, errnum, "cannot write");
}

/* The temporary file takes its place. */
static void
write_rename(struct disk_write *w)
{
	if (w->outcome == DISK_OK && w->exist == FILE_EXIST_FAIL) {
		if (link(w->temp, w->path) == 0) {
			(void)unlink(w->temp); /* it has its name */
			return;
		}
		if (errno == EEXIST)
			w->outcome = DISK_EXISTS;
	}
	if (w->outcome == DISK_OK && rename(w->temp, w->path) == -1)
		write_failed(w, errno, "cannot rename the temporary file of");
	if (w->outcome != DISK_OK)
		(void)unlink(w->temp); /* the first failure counts */
}

void
disk_write(struct disk_write *w)
{
	w->outcome = DISK_OK;
	if (!write_prepare(w))
		return;
	write_bytes(w);
	if (w->temp != NULL)
		write_rename(w);
	if (w->outcome != DISK_OK || w->done == NULL)
		return;
	int fd = open(w->done, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd == -1 || close(fd) == -1)
		write_failed(w, errno, "cannot write the done file of");
}

/* ---- taking ---- */

static const char marker_text[] = "hinny\n";

/* A marker of a process of ours that has died has no lock. */
static bool
marker_is_orphan(int fd)
{
	char text[sizeof marker_text];

	if (flock(fd, LOCK_EX | LOCK_NB) == -1)
		return false;
	ssize_t n = pread(fd, text, sizeof text, 0);
	return n == (ssize_t)strlen(marker_text) && memcmp(text, marker_text, (size_t)n) == 0;
}

static bool
make_marker(struct disk_take *t)
{
	int fd = open(t->marker, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	if (fd == -1 && errno == EEXIST) {
		fd = open(t->marker, O_RDWR | O_CLOEXEC);
		if (fd != -1 && !marker_is_orphan(fd)) {
			(void)close(fd); /* somebody else's */
			fd = -1;
			errno = EEXIST;
		}
	} else if (fd != -1) {
		(void)flock(fd, LOCK_EX | LOCK_NB); /* without it another may take it for an orphan */
		if (write(fd, marker_text, strlen(marker_text)) == -1) {
			int errnum = errno;
			(void)close(fd);
			(void)unlink(t->marker); /* what cannot be written is not left */
			fd = -1;
			errno = errnum;
		}
	}
	t->marker_fd = fd;
	return fd != -1;
}

/* Opens and locks it; false: busy, gone, or failed. */
static bool
open_locked(struct disk_take *t)
{
	struct stat st, now;

	t->fd = open(t->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (t->fd == -1 && errno == ENOENT)
		t->outcome = DISK_BUSY;
	if (t->fd == -1)
		return false;
	if (flock(t->fd, LOCK_EX | LOCK_NB) == -1 && errno == EWOULDBLOCK) {
		t->outcome = DISK_BUSY;
		return false;
	}
	/* Another worker may have moved it between open and lock. */
	if (fstat(t->fd, &st) == -1)
		return false;
	if (stat(t->path, &now) == -1 || now.st_ino != st.st_ino || now.st_dev != st.st_dev ||
	    !S_ISREG(st.st_mode)) {
		t->outcome = DISK_BUSY;
		return false;
	}
	if ((uint64_t)st.st_size > t->max) {
		t->outcome = DISK_LARGE;
		return true;
	}
	t->blob = blob_new((size_t)st.st_size + 1);
	return true;
}

static int
read_bytes(struct disk_take *t)
{
	struct blob *b = t->blob;

	while (b->size < b->cap) { /* what is added meanwhile is not read */
		ssize_t n = read(t->fd, b->data + b->size, b->cap - 1 - b->size);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return errno;
		if (n == 0)
			break;
		b->size += (size_t)n;
	}
	return 0;
}

void
disk_take(struct disk_take *t)
{
	int errnum = 0;

	t->outcome = DISK_FAILED;
	t->fd = t->marker_fd = -1;
	t->blob = NULL;
	t->at = "cannot open";
	if (t->marker != NULL && !make_marker(t)) {
		t->errnum = errno;
		if (errno == EEXIST)
			t->outcome = DISK_BUSY;
		t->marker = NULL;
		return;
	}
	if (!open_locked(t)) {
		t->errnum = errno;
		return;
	}
	if (t->move_to != NULL && (errnum = move_file(t->path, t->move_to, true, 0)) != 0)
		t->at = "cannot move before it is read";
	else if (t->move_to != NULL)
		t->path = t->move_to;
	if (errnum == 0 && t->blob != NULL && (errnum = read_bytes(t)) != 0)
		t->at = "cannot read";
	t->errnum = errnum;
	if (errnum == 0 && t->outcome == DISK_FAILED)
		t->outcome = DISK_OK;
	else if (errnum != 0)
		t->outcome = DISK_FAILED;
}

/* ---- letting go ---- */

void
disk_finish(struct disk_finish *f)
{
	int errnum = 0;

	f->outcome = DISK_OK;
	f->at = "";
	if (f->delete) {
		f->at = "cannot delete";
		errnum = unlink(f->path) == -1 ? errno : 0;
	} else if (f->move_to != NULL) {
		f->at = "cannot move";
		errnum = move_file(f->path, f->move_to, true, 0);
	}
	if (errnum != 0) {
		f->outcome = DISK_FAILED;
		f->errnum = errnum;
	}
	if (f->done != NULL && errnum == 0)
		(void)unlink(f->done); /* its file is done, which is what counts */
	if (f->marker != NULL)
		(void)unlink(f->marker); /* somebody may have */
	if (f->marker_fd != -1)
		(void)close(f->marker_fd);
	if (f->fd != -1)
		(void)close(f->fd); /* read only */
}
