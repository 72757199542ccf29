/*
 * What a hop costs: a home and a callee, two processes, 1 KB bodies, so many calls in flight; CPU time of each side for a call (getrusage).
 *
 *   hop [CALLS] [IN_FLIGHT] [BODY]
 *
 * Built by hand: see the end of bench/README.md.
 */
#include "core/base/mem.h"
#include "core/ipc/ipc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HOME = 1, CALLEE = 2 };

static struct loop lp;
static struct exchange_pool pool;
static struct program program;
static struct step step, *steps[] = { &step };
static struct route route;
static struct ipc *ipc;
static long calls, done, begun, in_flight;
static size_t body_size;
static char *body;

static void
fill(struct exchange *ex)
{
	exchange_set_body(ex, value_str((struct str){ body, body_size }));
	for (int i = 0; i < 6; i++) {
		static const char *const names[] = { "Content-Type", "User-Agent", "Accept", "Host", "X-Request-Id", "CamelHttpMethod" };
		exchange_set_header(ex, str_of(names[i]), value_str(STR_LIT("some value of a header")));
	}
}

static void
call_next(void)
{
	struct exchange *ex = exchange_new(&pool);
	ex->route = ex->from_route = &route;
	fill(ex);
	begun++;
	ipc_call(ipc, ex, &step, 1, false);
}

static void
home_done(void *owner, struct exchange *ex, enum ipc_outcome outcome, const struct step *failed)
{
	(void)owner;
	(void)failed;
	if (outcome != IPC_OK)
		abort();
	exchange_free(&pool, &ex);
	if (++done == calls)
		loop_stop(&lp);
	else if (begun < calls)
		call_next();
}

static struct exchange *
callee_new(void *owner)
{
	(void)owner;
	return exchange_new(&pool);
}

static void
callee_free(void *owner, struct exchange **ex)
{
	(void)owner;
	exchange_free(&pool, ex);
}

static void
callee_call(void *owner, struct ipc_served *sc, struct exchange *ex, const struct step *first, uint32_t n)
{
	(void)owner;
	(void)first;
	(void)n;
	exchange_set_body(ex, ex->body);
	ipc_reply(sc, ex, NULL);
}

static const struct ipc_ops ops = {
	.call_done = home_done, .exchange_new = callee_new, .exchange_free = callee_free, .serve_call = callee_call,
};

static void
open_ipc(const char *dir, const char *kind, uint64_t incarnation)
{
	struct hinny_error err;
	int fd;
	struct ipc_options opt = {
		.lp = &lp, .program = &program, .ops = &ops, .page = page_create(1, &fd), .run_dir = dir, .kind = kind_index(str_of(kind)),
		.incarnation = incarnation, .serve_at_once = incarnation == CALLEE, .call_timeout_ms = 30000, .max_tries = 2, .refuse_ms = 1000,
		.peer_calls = 1000, .peer_bytes = 4 << 20, .max_body = 64 << 20, .spool_memory = 64 << 10,
	};
	if (loop_init(&lp, &err) != HINNY_OK || ipc_open(&opt, &ipc, &err) != HINNY_OK) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
}

static double
cpu_us(int who)
{
	struct rusage ru;
	getrusage(who, &ru);
	return (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1e6 + (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec);
}

static void
callee_main(const char *dir, int go)
{
	open_ipc(dir, "xform", CALLEE);
	char c = 'r';
	if (write(go, &c, 1) != 1)
		exit(1);
	for (;;) {
		loop_turn(&lp, 100);
		if (getppid() == 1)
			exit(0);
	}
}

int
main(int argc, char **argv)
{
	step = (struct step){ .owner = "xform", .call_run = 1, .route = &route, .reads = { .flags = ACCESS_ALL } };
	program = (struct program){ .steps = steps, .steps_n = 1 };
	exchange_pool_init(&pool, 1000);
	if (argc == 4 && strcmp(argv[1], "callee") == 0)
		callee_main(argv[2], atoi(argv[3]));
	calls = argc > 1 ? atol(argv[1]) : 200000;
	in_flight = argc > 2 ? atol(argv[2]) : 64;
	body_size = argc > 3 ? (size_t)atol(argv[3]) : 1024;
	body = malloc(body_size + 1);
	memset(body, 'x', body_size);
	char dir[] = "/tmp/hop-XXXXXX", fd[16];
	int pipefd[2];
	if (mkdtemp(dir) == NULL || pipe(pipefd) == -1)
		return 1;
	snprintf(fd, sizeof fd, "%d", pipefd[1]);
	pid_t child = fork();
	if (child == 0) {
		execl("/proc/self/exe", argv[0], "callee", dir, fd, (char *)NULL);
		_exit(1);
	}
	char c;
	if (read(pipefd[0], &c, 1) != 1)
		return 1;
	open_ipc(dir, "http", HOME);
	ipc_peer_up(ipc, kind_index(STR_LIT("xform")), 0, CALLEE);
	double self = cpu_us(RUSAGE_SELF);
	struct monotime begin = monotime_now();
	for (long i = 0; i < in_flight && i < calls; i++)
		call_next();
	loop_run(&lp);
	double seconds = (double)(monotime_now().ns - begin.ns) / 1e9;
	self = cpu_us(RUSAGE_SELF) - self;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	double other = cpu_us(RUSAGE_CHILDREN);
	printf("{\"calls\": %ld, \"in_flight\": %ld, \"body\": %zu, \"calls_per_second\": %.0f, \"home_us\": %.2f, \"callee_us\": %.2f, \"latency_us\": %.1f}\n",
	    calls, in_flight, body_size, (double)calls / seconds, self / (double)calls, other / (double)calls, seconds * 1e6 * (double)in_flight / (double)calls);
	char command[64];
	snprintf(command, sizeof command, "rm -rf %s", dir);
	return system(command);
}
