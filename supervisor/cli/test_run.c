/* The broker of a test: starting, asking and ending it. */
#include "supervisor/cli/test_run.h"

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "supervisor/supervisor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READY_MS = 20000, STOP_MS = 10000, ANSWER_S = 60, LOG_MAX = 64 << 20, READ_SIZE = 65536 };

static char *
copy_error(const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) == -1)
		abort();
	va_end(ap);
	return text;
}

/* ---- starting ---- */

/* One that is free now. */
static int64_t
free_port(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof at;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int64_t port = 0;

	if (fd != -1 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 &&
	    getsockname(fd, (struct sockaddr *)&at, &size) == 0)
		port = ntohs(at.sin_port);
	if (fd != -1)
		(void)close(fd);
	return port;
}

struct bundle_options
test_bundle_options(struct test_file *tf)
{
	const char **set = arena_alloc(&tf->arena, (tf->set.n + 2) * sizeof(char *));

	for (size_t i = 0; i < tf->set.n; i++)
		set[i] = tf->set.items[i];
	set[tf->set.n] = "log.format=json";
	set[tf->set.n + 1] = NULL;
	return (struct bundle_options){
		.config_file = tf->config,
		.route_files = tf->routes.items,
		.set = set,
		.properties = tf->properties.items,
		.properties_file = "application.properties",
		.cwd = tf->folder,
		.run_mode = true,
		.port = free_port(),
		.edit = test_edit,
		.edit_arg = tf,
	};
}

/* In the child: never returns. */
static void
serve(struct test_broker *tb, struct test_file *tf)
{
	struct supervisor_options opt = {
		.bundle = test_bundle_options(tf), .run_dir = tb->dir, .foreground = true
	};

	(void)prctl(PR_SET_PDEATHSIG, SIGTERM); /* nobody is left who would end it */
	(void)setpgid(0, 0);                     /* a terminal signals hinny test alone */
	if (chdir(tf->folder) == -1 || dup2(tb->log, STDOUT_FILENO) == -1 ||
	    dup2(tb->log, STDERR_FILENO) == -1)
		_exit(CLI_FAILED);
	int status = supervisor_main(&opt);
	(void)fflush(stdout); /* nobody to tell when that fails */
	_exit(status);
}

/* Has it said that it serves? It says so in a line of its own. */
static bool
says_ready(struct test_broker *tb)
{
	size_t n;
	char *log = test_broker_log(tb, &n);
	const char *at = strstr(log, "hinny: ready in ");
	bool yes = at != NULL && (at == log || at[-1] == '\n');

	free(log);
	return yes;
}

static bool
wait_ready(struct test_broker *tb)
{
	const struct timespec tick = { .tv_nsec = 2000000 };

	for (struct monotime began = monotime_now();
	     monotime_ms_between(began, monotime_now()) < READY_MS;) {
		if (says_ready(tb))
			return true;
		if (waitpid(tb->pid, NULL, WNOHANG) == tb->pid) {
			tb->pid = -1;
			return false;
		}
		(void)nanosleep(&tick, NULL);
	}
	return false;
}

/* Its last words: lines that are JSON are shown as their message. */
static char *
last_words(struct test_broker *tb)
{
	json_error_t err;
	size_t n;
	char *log = test_broker_log(tb, &n), *out = NULL;
	size_t out_n;
	FILE *to = open_memstream(&out, &out_n);
	struct str rest = { log, n }, line;

	if (to == NULL)
		abort();
	while (str_split(&rest, '\n', &line)) {
		json_t *o = json_loadb(line.p, line.n, 0, &err);
		const char *msg = json_string_value(json_object_get(o, "msg"));
		if (line.n > 0)
			(void)fprintf(to, "%.*s\n", msg != NULL ? (int)strlen(msg) : (int)line.n,
			    msg != NULL ? msg : line.p); /* into memory */
		json_decref(o);
	}
	(void)fclose(to);
	free(log);
	return out;
}

bool
test_broker_start(struct test_broker *tb, struct test_file *tf, char **why)
{
	*tb = (struct test_broker){ .pid = -1, .log = -1 };
	(void)snprintf(tb->dir, sizeof tb->dir, "/tmp/hinnytest-XXXXXX"); /* fits */
	tb->log = memfd_create("hinny-test-log", MFD_CLOEXEC);
	/* every writer of the log appends */
	if (mkdtemp(tb->dir) == NULL || tb->log == -1 || fcntl(tb->log, F_SETFL, O_APPEND) == -1) {
		*why = copy_error("cannot make a run folder: %s", strerror(errno));
		return false;
	}
	(void)fflush(stdout); /* nothing is to be printed twice */
	(void)fflush(stderr);
	tb->args = (struct cli_args){ .dir = tb->dir };
	tb->pid = fork();
	if (tb->pid == 0)
		serve(tb, tf);
	if (tb->pid == -1)
		*why = copy_error("cannot fork: %s", strerror(errno));
	else if (wait_ready(tb))
		return true;
	else
		*why = last_words(tb);
	return false;
}

/* ---- ending ---- */

static bool
has_ended(pid_t pid, int64_t ms)
{
	const struct timespec tick = { .tv_nsec = 2000000 };

	for (struct monotime began = monotime_now();
	     monotime_ms_between(began, monotime_now()) < ms;) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return true;
		(void)nanosleep(&tick, NULL);
	}
	return false;
}

void
test_broker_stop(struct test_broker *tb)
{
	char path[sizeof tb->dir + 16];

	if (tb->pid > 0) {
		(void)kill(tb->pid, SIGTERM); /* it may have ended */
		if (!has_ended(tb->pid, STOP_MS)) {
			(void)kill(tb->pid, SIGKILL); /* its workers notice */
			(void)waitpid(tb->pid, NULL, 0);
		}
	}
	if (tb->log != -1)
		(void)close(tb->log);
	(void)snprintf(path, sizeof path, "%s/lock", tb->dir); /* fits */
	(void)unlink(path);
	(void)rmdir(tb->dir); /* the broker has taken the rest away */
	tb->pid = tb->log = -1;
}

/* ---- asking ---- */

static bool
write_all(int fd, struct str data)
{
	while (data.n > 0) {
		ssize_t n = send(fd, data.p, data.n, MSG_NOSIGNAL);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return errno == EPIPE; /* it has answered already */
		data = str_skip(data, (size_t)n);
	}
	return true;
}

static void
read_body(struct cli_client *cl, struct test_answer *a)
{
	size_t cap = cl->in_n + READ_SIZE;

	a->body = mem_alloc(cap);
	if (cl->in_n > 0)
		memcpy(a->body, cl->in, cl->in_n);
	a->body_n = cl->in_n;
	for (;;) {
		if (cap - a->body_n < READ_SIZE) {
			cap *= 2;
			a->body = mem_realloc(a->body, cap);
		}
		ssize_t n = recv(cl->fd, a->body + a->body_n, cap - a->body_n, 0);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		a->body_n += (size_t)n;
	}
}

static struct test_answer *
read_answer(struct cli_client *cl, char **why)
{
	json_error_t err;
	char *line = cli_read_line(cl);
	json_t *head = line != NULL ? json_loads(line, 0, &err) : NULL;

	free(line);
	if (!json_is_object(head)) {
		*why = copy_error("the worker ended, or %d s passed, without an answer", ANSWER_S);
		json_decref(head);
		return NULL;
	}
	struct test_answer *a = MEM_NEW(struct test_answer);
	a->head = head;
	a->ok = json_is_true(json_object_get(head, "ok"));
	read_body(cl, a);
	return a;
}

struct test_answer *
test_broker_send(struct test_broker *tb, const struct test_send *s, char **why)
{
	const struct timeval limit = { .tv_sec = ANSWER_S };
	struct test_answer *a = NULL;
	struct cli_client cl;

	if (!cli_connect(&tb->args, &cl)) {
		*why = copy_error("the broker has ended");
		return NULL;
	}
	(void)setsockopt(cl.fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	json_t *answer = cli_ask(&cl, json_pack("{s:s, s:s, s:O}", "command", "send", "endpoint",
					  s->endpoint, "headers", s->headers));
	const char *error = json_string_value(json_object_get(answer, "error"));
	if (!json_is_true(json_object_get(answer, "ok")))
		*why = copy_error("%s", error != NULL ? error : "the broker did not answer");
	else if (!write_all(cl.fd, s->body) || shutdown(cl.fd, SHUT_WR) == -1)
		*why = copy_error("cannot send the body: %s", strerror(errno));
	else
		a = read_answer(&cl, why);
	json_decref(answer);
	cli_disconnect(&cl);
	return a;
}

void
test_answer_free(struct test_answer *a)
{
	if (a == NULL)
		return;
	json_decref(a->head);
	free(a->body);
	free(a);
}

json_t *
test_broker_mocks(struct test_broker *tb)
{
	return cli_ask_worker(
	    &tb->args, json_pack("{s:s, s:s}", "command", "mocks", "name", "*"));
}

bool
test_broker_is_quiet(struct test_broker *tb)
{
	json_t *result =
	    cli_ask_worker(&tb->args, json_pack("{s:s}", "command", "workers"));
	json_int_t n = result == NULL;
	size_t i;
	json_t *w;

	json_array_foreach(json_object_get(result, "workers"), i, w)
	{
		n += json_integer_value(json_object_get(w, "exchanges"));
		n += json_integer_value(json_object_get(w, "calls_out"));
	}
	json_decref(result);
	return n == 0;
}

char *
test_broker_log(struct test_broker *tb, size_t *n)
{
	off_t size = lseek(tb->log, 0, SEEK_END);
	size_t want = size < 0 ? 0 : size > LOG_MAX ? LOG_MAX : (size_t)size;
	char *text = mem_alloc(want + 1);
	ssize_t got = pread(tb->log, text, want, size > LOG_MAX ? size - LOG_MAX : 0);

	*n = got > 0 ? (size_t)got : 0;
	text[*n] = '\0';
	return text;
}
