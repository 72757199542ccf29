/*
 * The shared state of a generation. It is copied when its workers are about to start: what the old
 * ones count meanwhile, for the milliseconds until the hand-over, is theirs. A lock that is held in
 * that moment is taken from whoever has it after a while, as from one that is dead.
 */
#include "supervisor/shared.h"

#include "core/base/str.h"
#include "supervisor/supervisor_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char name[] = "shared";

static bool
is_same(const struct step *a, const struct step *b)
{
	return a->eip == b->eip && a->shared_size == b->shared_size && a->id != NULL && b->id != NULL &&
	    strcmp(a->id, b->id) == 0 && a->route != NULL && b->route != NULL &&
	    strcmp(a->route->id, b->route->id) == 0;
}

static void
carry(const struct program *to, char *state, const struct program *from, const char *old)
{
	for (uint32_t i = 0; i < to->steps_n; i++) {
		const struct step *st = to->steps[i];
		for (uint32_t k = 0; st->shared_size > 0 && k < from->steps_n; k++) {
			const struct step *was = from->steps[k];
			if (was->shared_size == 0 || !is_same(st, was))
				continue;
			memcpy(state + st->shared_at, old + was->shared_at, st->shared_size);
			break;
		}
	}
}

/* Workers may run as another user: they have the group of the run folder. */
static enum hinny_rc
make_file(const struct generation *gen, int *fd, struct hinny_error *err)
{
	struct stat run;

	*fd = openat(gen->dir_fd, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0660);
	if (*fd != -1 && ftruncate(*fd, (off_t)gen->program->shared_size) == 0 &&
	    fstat(gen->sv->run.fd, &run) == 0 &&
	    (geteuid() != 0 || fchown(*fd, (uid_t)-1, run.st_gid) == 0) && fchmod(*fd, 0660) == 0)
		return HINNY_OK;
	(void)hinny_error_errno(err, errno, "cannot make the shared state of the generation");
	if (*fd != -1)
		(void)close(*fd); /* it was not made */
	return err->rc;
}

/* NULL: there is none, or it cannot be had, and all begins anew. */
static char *
map_file(int fd, size_t size, int protection)
{
	struct stat st;

	if (fd == -1 || fstat(fd, &st) == -1 || (size_t)st.st_size < size)
		return NULL;
	void *p = mmap(NULL, size, protection, MAP_SHARED, fd, 0);
	return p != MAP_FAILED ? p : NULL;
}

enum hinny_rc
shared_make(const struct generation *gen, const struct generation *old, struct hinny_error *err)
{
	const struct program *p = gen->program, *was = old != NULL ? old->program : NULL;
	int fd;

	if (p->shared_size == 0)
		return HINNY_OK;
	if (make_file(gen, &fd, err) != HINNY_OK)
		return err->rc;
	if (was != NULL && was->shared_size > 0) {
		int from = openat(old->dir_fd, name, O_RDONLY | O_CLOEXEC);
		char *state = map_file(fd, p->shared_size, PROT_READ | PROT_WRITE),
		     *before = map_file(from, was->shared_size, PROT_READ);
		if (state != NULL && before != NULL)
			carry(p, state, was, before);
		if (state != NULL)
			(void)munmap(state, p->shared_size); /* mapped just now */
		if (before != NULL)
			(void)munmap(before, was->shared_size);
		if (from != -1)
			(void)close(from); /* read only */
	}
	(void)close(fd); /* memory of the run folder */
	return HINNY_OK;
}
