/*
 * The life of a worker: inherited descriptors, bundle, program, runtimes, READY, loop, end. Nothing of a transport is known here.
 */
#include "workers/worker_priv.h"

#include "core/base/log.h"
#include "core/base/mem.h"
#include "workers/fds.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool
argument_number(const char *text, uint64_t max, uint64_t *out)
{
	int64_t i;
	if (!str_to_int64(str_of(text), &i) || i < 0 || (uint64_t)i > max)
		return false;
	*out = (uint64_t)i;
	return true;
}

static bool
arguments_parse(struct worker_arguments *args, int argc, char **argv)
{
	static const struct option options[] = {
		{ "index", required_argument, NULL, 'i' },
		{ "incarnation", required_argument, NULL, 'n' },
		{ "generation", required_argument, NULL, 'g' },
		{ "listeners", required_argument, NULL, 'l' },
		{ "check", no_argument, NULL, 'c' },
		{ "evaluate", no_argument, NULL, 'e' },
		{ 0 },
	};
	uint64_t index = 0, listeners = 0;
	bool ok = true;
	int opt;
	opterr = 0;
	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'i':
			ok = ok && argument_number(optarg, 1023, &index);
			break;
		case 'n':
			ok = ok && argument_number(optarg, (1u << 24) - 1, &args->incarnation);
			break;
		case 'g':
			ok = ok && argument_number(optarg, INT64_MAX, &args->generation);
			break;
		case 'l':
			ok = ok && argument_number(optarg, 1024, &listeners);
			break;
		case 'c':
			args->check = true;
			break;
		case 'e':
			args->check = args->evaluate = true;
			break;
		default:
			ok = false;
		}
	}
	args->index = (unsigned)index;
	args->listeners = (unsigned)listeners;
	return ok && optind == argc && fcntl(WORKER_FD_CONTROL, F_GETFD) != -1;
}

static void
inherited_close_on_exec(const struct worker_arguments *args)
{
	for (int fd = WORKER_FD_CONTROL; fd < WORKER_FD_LISTEN + (int)args->listeners; fd++)
		(void)fcntl(fd, F_SETFD, FD_CLOEXEC); /* one that was not given stays none */
}

static enum hinny_rc
open_run_dir(struct worker *wk, struct hinny_error *err)
{
	char link[64];
	snprintf(link, sizeof link, "/proc/self/fd/%d", WORKER_FD_RUN);
	ssize_t n = readlink(link, wk->run_dir, sizeof wk->run_dir - 1);
	if (n == -1)
		return hinny_error_errno(err, errno, "cannot find the run folder");
	wk->run_dir[n] = '\0';
	return HINNY_OK;
}

/* hinny check has said already what is wrong with the files: this process looks at what is its own of the rest. */
static struct program *
compile_for_check(struct bundle *b)
{
	struct diagnostics said;
	diagnostics_init(&said);
	struct program *p = program_compile(b, &said);
	if (p == NULL)
		p = program_compile_partial(b, &said);
	diagnostics_fini(&said);
	return p;
}

/*
 * Shows that this process lives, to others and for exactly as long: a lock that the kernel takes back before it closes the connections, as their descriptors come later.
 * hinnyd's own lock on the file is of another sort (flock) and does not see these.
 */
static void
show_life(struct worker *wk)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = (off_t)wk->args.incarnation, .l_len = 1 };
	wk->lives = openat(WORKER_FD_RUN, "lock", O_RDONLY | O_CLOEXEC);
	if (wk->lives == -1 || fcntl(wk->lives, F_SETLK, &lock) == -1)
		log_warning("cannot lock a byte of the run folder's lock file: %s", strerror(errno));
}

bool
worker_lives(const struct worker *wk, uint64_t incarnation)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)incarnation, .l_len = 1 };
	return wk->lives == -1 || fcntl(wk->lives, F_GETLK, &lock) == -1 || lock.l_type != F_UNLCK;
}

/* The bundle, the program and the page. A program that hinnyd could compile and this process cannot is a bug of one of them. */
static enum hinny_rc
load_program(struct worker *wk, struct diagnostics *ds, struct hinny_error *err)
{
	enum hinny_rc rc = bundle_load(WORKER_FD_BUNDLE, &wk->bundle, err);
	if (rc != HINNY_OK)
		return rc;
	wk->program = wk->args.check ? compile_for_check(wk->bundle) : program_compile(wk->bundle, ds);
	if (wk->program == NULL)
		return hinny_error_set(err, HINNY_EINVAL, "the program does not compile");
	const struct settings *set = wk->program->settings;
	char who[64];
	snprintf(who, sizeof who, "%s.%u", wk->kind->kind, wk->args.index);
	log_setup(who, set->log.level, set->log.format);
	if (wk->args.check)
		wk->page = page_create(wk->program->routes_n, &(int){ -1 });
	else
		wk->page = page_open(WORKER_FD_PAGE);
	if (wk->page == NULL)
		return hinny_error_errno(err, errno, "cannot map the shared page");
	return HINNY_OK;
}

/* The state of steps that all workers of the generation share: a file in its folder that they map, zero at first. In check mode memory of this process. */
static enum hinny_rc
map_shared(struct worker *wk, struct hinny_error *err)
{
	size_t size = wk->program->shared_size;
	int fd = -1, flags = MAP_SHARED;
	if (size == 0 || (kind_find(str_of(wk->kind->kind))->flags & KIND_STATELESS) != 0) /* which runs no such step */
		return HINNY_OK;
	if (wk->args.check)
		flags = MAP_PRIVATE | MAP_ANONYMOUS;
	else if ((fd = openat(WORKER_FD_GENERATION, "shared", O_RDWR | O_CREAT | O_CLOEXEC, 0600)) == -1)
		return hinny_error_errno(err, errno, "cannot open the shared state of the generation");
	if (fd != -1 && ftruncate(fd, (off_t)size) == -1) {
		enum hinny_rc rc = hinny_error_errno(err, errno, "cannot make the shared state of the generation");
		close(fd);
		return rc;
	}
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (fd != -1)
		close(fd);
	if (p == MAP_FAILED)
		return hinny_error_errno(err, errno, "cannot map the shared state of the generation");
	wk->engine.shared = p;
	return HINNY_OK;
}

/* Are there other workers in this generation that it may call? */
static bool
needs_calls(const struct worker *wk)
{
	const struct program *p = wk->program;
	int kind = kind_index(str_of(wk->kind->kind));
	return (p->kinds & (p->kinds - 1)) != 0 || (p->states_n > 0 && p->settings->workers[kind].instances > 1);
}

static enum hinny_rc
prepare(struct worker *wk, struct diagnostics *ds, struct hinny_error *err)
{
	enum hinny_rc rc = load_program(wk, ds, err);
	if (rc != HINNY_OK)
		return rc;
	engine_init(&wk->engine, &worker_engine_ops, wk, wk->program);
	if ((rc = map_shared(wk, err)) != HINNY_OK)
		return rc;
	if (wk->kind->init != NULL && (rc = wk->kind->init(wk, err)) != HINNY_OK)
		return rc;
	if ((rc = bind_program(wk, ds)) != HINNY_OK)
		return hinny_error_set(err, rc, "some endpoints or expressions are wrong");
	wk->engine.incarnation = wk->args.incarnation;
	states_open(wk);
	if (wk->args.check)
		return HINNY_OK;
	if ((rc = open_run_dir(wk, err)) != HINNY_OK)
		return rc;
	if (wk->program->states_n > 0)
		show_life(wk);
	if (needs_calls(wk) && (rc = worker_ipc_open(wk, err)) != HINNY_OK)
		return rc;
	return wk->kind->jail != NULL ? wk->kind->jail(wk, err) : HINNY_OK;
}

static void
refuse(struct worker *wk, struct diagnostics *ds, const struct hinny_error *err)
{
	if (ds->errors == 0)
		diagnostics_add(ds, (struct position){ 0 }, false, "%s", err->text);
	char *text = diagnostics_text(ds, &ds->arena);
	control_say_refused(wk, text, ds->errors);
}

static void
finish(struct worker *wk)
{
	trace_fini(wk);
	if (wk->kind->fini != NULL)
		wk->kind->fini(wk);
	endpoints_release(wk);
	ipc_close(wk->ipc);
	wk->ipc = NULL;
	states_close(wk);
	tod_fini(wk);
	for (const struct component_ops *const *c = wk->kind->components; c != NULL && *c != NULL; c++)
		if ((*c)->fini != NULL)
			(*c)->fini(wk);
	channel_free(wk->control); /* for hinnyd that is the end of this process, which it sees to: what is to be said has been */
	wk->control = NULL;
	loop_fini(&wk->lp);
	if (wk->engine.shared != NULL)
		(void)munmap(wk->engine.shared, wk->program->shared_size);
	engine_fini(&wk->engine);
	exchange_pool_fini(&wk->pool);
	if (wk->program != NULL)
		program_free(wk->program);
	if (wk->bundle != NULL)
		bundle_free(wk->bundle);
	if (wk->page != NULL)
		page_close(wk->page);
	if (wk->lives != -1)
		close(wk->lives);
}

static void
ignore_signals(void)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
	for (size_t i = 0; i < ARRAY_LEN(ignored); i++)
		signal(ignored[i], SIG_IGN); /* cannot fail for these */
}

/*
 * One heap for all threads: those of libraries only hand blocks to ours, and an arena each would
 * keep a few hundred KiB that no other thread can use. And what a burst took goes back afterwards.
 */
static void
limit_heap(void)
{
#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 1024 * 1024);
	mallopt(M_TRIM_THRESHOLD, 512 * 1024);
#endif
}

int
worker_main(const struct worker_kind *kind, int argc, char **argv)
{
	static struct worker worker;
	struct worker *wk = &worker;
	struct hinny_error err;
	wk->kind = kind;
	wk->lives = -1;
	limit_heap();
	log_setup(kind->kind, LOG_LEVEL_INFO, LOG_FORMAT_LOGFMT);
	if (!arguments_parse(&wk->args, argc, argv)) {
		fprintf(stderr, "hinny-%s is started by hinnyd, not by hand (see hinnyd(8))\n", kind->kind);
		return WORKER_EXIT_NO_RESTART;
	}
	ignore_signals();
	inherited_close_on_exec(&wk->args);
	exchange_pool_init(&wk->pool, 256);
	tod_init(wk);
	if (loop_init(&wk->lp, &err) != HINNY_OK || control_open(wk, &err) != HINNY_OK)
		fatal("%s", err.text);
	struct diagnostics ds;
	diagnostics_init(&ds);
	int status = 0;
	if (prepare(wk, &ds, &err) != HINNY_OK) {
		refuse(wk, &ds, &err);
		status = WORKER_EXIT_NO_RESTART;
	} else {
		wk->state = WORKER_READY;
		control_say_ready(wk);
		if (!wk->args.check || wk->args.evaluate)
			loop_run(&wk->lp);
	}
	diagnostics_fini(&ds);
	finish(wk);
	return status;
}

/* ---- what a transport may ask ---- */

struct loop *
worker_loop(struct worker *wk)
{
	return &wk->lp;
}

const struct settings *
worker_settings(struct worker *wk)
{
	return wk->program->settings;
}

const struct program *
worker_program(struct worker *wk)
{
	return wk->program;
}

struct engine *
worker_engine(struct worker *wk)
{
	return &wk->engine;
}

struct page *
worker_page(struct worker *wk)
{
	return wk->page;
}

struct worker *
worker_of(struct engine *en)
{
	return en->owner;
}

unsigned
worker_index(struct worker *wk)
{
	return wk->args.index;
}

bool
worker_draining(struct worker *wk)
{
	return wk->state == WORKER_DRAINING;
}

bool
worker_drain_final(struct worker *wk)
{
	return wk->drain_final;
}

void
worker_set_data(struct worker *wk, void *data)
{
	wk->data = data;
}

void *
worker_data(struct worker *wk)
{
	return wk->data;
}

void **
worker_slot(struct worker *wk, enum worker_slot slot)
{
	return &wk->slots[slot];
}

uint64_t
worker_generation(struct worker *wk)
{
	return wk->args.generation;
}

int
worker_generation_dir(struct worker *wk)
{
	(void)wk;
	return WORKER_FD_GENERATION;
}

int
worker_run_dir(struct worker *wk)
{
	(void)wk;
	return WORKER_FD_RUN;
}

int
worker_listener(struct worker *wk, unsigned i, bool *shared)
{
	if (i >= wk->args.listeners)
		return -1;
	const struct settings_http *http = &wk->program->settings->http;
	*shared = i < http->listen_n && (http->listen[i].unix_path != NULL || http->listen[i].fd_name != NULL);
	return WORKER_FD_LISTEN + (int)i;
}
