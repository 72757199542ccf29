/*
 * hinny-jq: programs are compiled first, then the jail closes and the memory that they may take is
 * bounded. A program that takes more ends the process, as one does that runs too long; the
 * supervisor replaces it, and what it cost two is refused (docs/xform.md).
 */
#include "transformers/jq/jq_kind.h"

#include "transformers/jail/jail.h"
#include "transformers/jq/jq_impl.h"
#include "workers/worker.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static enum hinny_rc
jq_init_worker(struct worker *wk, struct hinny_error *err)
{
	const struct settings *s = worker_settings(wk);

	(void)err;
	tzset(); /* while its file can be read */
	worker_set_data(wk, jq_runtime_new(s->jq.max_output));
	return HINNY_OK;
}

#ifdef __SANITIZE_ADDRESS__

/* The sanitizer's own memory would count. */
static enum hinny_rc
bound_memory(uint64_t most, struct hinny_error *err)
{
	(void)most;
	(void)err;
	return HINNY_OK;
}

#else

/* Bytes of data and stacks that the process has now. */
static bool
data_now(uint64_t *out)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f == NULL)
		return false;
	bool ok = fscanf(f, "%*u %*u %*u %*u %*u %lu", &pages) == 1;
	(void)fclose(f); /* read only */
	*out = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
	return ok;
}

/* What the process has already counts as data, too. */
static enum hinny_rc
bound_memory(uint64_t most, struct hinny_error *err)
{
	struct rlimit limit;
	uint64_t now;

	if (most == 0)
		return HINNY_OK;
	if (!data_now(&now) || getrlimit(RLIMIT_DATA, &limit) == -1)
		return hinny_error_errno(err, errno, "cannot read the limit of memory");
	if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < now + most)
		return HINNY_OK; /* it is bounded more narrowly */
	limit.rlim_cur = limit.rlim_max = now + most;
	if (setrlimit(RLIMIT_DATA, &limit) == -1)
		return hinny_error_errno(err, errno, "cannot set the limit of memory");
	return HINNY_OK;
}

#endif

static enum hinny_rc
jq_jail(struct worker *wk, struct hinny_error *err)
{
	enum hinny_rc rc = bound_memory(worker_settings(wk)->jq.max_memory, err);

	return rc == HINNY_OK ? jail_close(err) : rc;
}

static void
jq_fini(struct worker *wk)
{
	if (worker_data(wk) != NULL)
		jq_runtime_free(worker_data(wk));
	worker_set_data(wk, NULL);
}

static const struct language_impl *const languages[] = { &jq_impl, NULL };

const struct worker_kind jq_kind = {
	.kind = "jq",
	.languages = languages,
	.init = jq_init_worker,
	.jail = jq_jail,
	.fini = jq_fini,
	.calls_at_once = 1,
};
