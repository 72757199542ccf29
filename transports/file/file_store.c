/* Keys of files that were read, on the disk: each as "LENGTH:KEY\n", added by one write. */
#include "transports/file/file_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Those of supervisors that are gone. */
static void
remove_others(int dir, const char *prefix)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd != -1 ? fdopendir(fd) : NULL;
	struct dirent *e;

	if (d == NULL && fd != -1)
		(void)close(fd); /* read only */
	while (d != NULL && (e = readdir(d)) != NULL) {
		if (strncmp(e->d_name, "file-seen.", 10) == 0 &&
		    strncmp(e->d_name, prefix, strlen(prefix)) != 0)
			(void)unlinkat(dir, e->d_name, 0); /* another worker may have */
	}
	if (d != NULL)
		(void)closedir(d); /* read only */
}

bool
store_open(struct store *s, int dir, const char *key)
{
	char prefix[64], name[96];
	uint64_t hash = 14695981039346656037u;

	for (const char *p = key; *p != '\0'; p++)
		hash = (hash ^ (unsigned char)*p) * 1099511628211u;
	(void)snprintf(prefix, sizeof prefix, "file-seen.%ld.", (long)getppid());
	(void)snprintf(name, sizeof name, "%s%016llx", prefix, (unsigned long long)hash);
	remove_others(dir, prefix);
	s->at = 0;
	buf_init(&s->news, 0);
	s->fd = openat(dir, name, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	return s->fd != -1;
}

void
store_close(struct store *s)
{
	if (s->fd != -1)
		(void)close(s->fd); /* every key was written at once */
	s->fd = -1;
	buf_fini(&s->news);
}

void
store_read(struct store *s)
{
	struct stat st;

	buf_clear(&s->news);
	if (s->fd == -1 || fstat(s->fd, &st) == -1)
		return;
	if (st.st_size < s->at)
		s->at = 0; /* it began anew */
	while (s->at < st.st_size) {
		(void)buf_reserve(&s->news, 65536); /* buffers without a bound do not fail */
		ssize_t n = pread(s->fd, s->news.p + s->news.n, 65536, s->at);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		s->news.n += (size_t)n;
		s->at += n;
	}
}

bool
store_next(struct store *s, size_t *position, struct str *key)
{
	const struct buf *b = &s->news;
	size_t i = *position, length = 0;

	while (i < b->n && b->p[i] >= '0' && b->p[i] <= '9' && length <= STORE_MAX)
		length = length * 10 + (size_t)(b->p[i++] - '0');
	if (i >= b->n || b->p[i] != ':' || length >= b->n - i - 1)
		return false; /* the end, or what is none of ours */
	*key = (struct str){ b->p + i + 1, length };
	*position = i + 1 + length + 1;
	return true;
}

void
store_add(struct store *s, struct str key)
{
	struct stat st;
	struct buf b;

	if (s->fd == -1)
		return;
	buf_init(&b, 0);
	(void)buf_printf(&b, "%zu:%.*s\n", key.n, STR_FMT(key));
	/* The keys in memory are the latest; a key that is not kept is read twice at worst. */
	bool kept = (fstat(s->fd, &st) == -1 || st.st_size <= STORE_MAX || ftruncate(s->fd, 0) == 0) &&
	    write(s->fd, b.p, b.n) == (ssize_t)b.n;
	(void)kept;
	buf_fini(&b);
}
