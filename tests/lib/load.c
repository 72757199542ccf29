/*
 * A load of HTTP requests whose every answer is checked byte for byte: kept-alive connections on one thread, bounded in time and count. A connection that the server
 * closes after an answer with `Connection: close`, or before it has read anything of a request on an idle connection, is opened again; all else is counted as what it is.
 *
 *   load [--host 127.0.0.1] --port N --path P [--body FILE] [--expect FILE]... [--status 200]... [--allow 500]... [--connections 8] [--seconds S] [--requests N]
 *        [--header 'K: v']... [--timeout S]
 *
 * An answer with a status of --allow is counted as allowed, whatever its body. `retried` counts requests that were sent again on a new connection (see above).
 * Prints one JSON object: requests, ok, allowed, wrong_status, wrong_body, reset, timeout, refused, reconnects, retried, us_max, us_p50, us_p99. Exit status 1 when
 * anything but ok was counted.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LIST_MAX = 16, EVENTS = 512, SAMPLES = 1 << 20 };

struct blob {
	char *p;
	size_t n;
};

static struct {
	const char *host, *path;
	int port, connections, timeout;
	double seconds;
	long requests;
	struct blob request, expect[LIST_MAX];
	int status[LIST_MAX], allow[LIST_MAX];
	size_t expect_n, status_n, allow_n;
	char headers[4096];
	const char *body_file;
} opt = { .host = "127.0.0.1", .path = "/", .connections = 8, .timeout = 30, .seconds = 0, .requests = 0 };

static struct {
	long requests, ok, allowed, wrong_status, wrong_body, reset, timeout, refused, reconnects, retried;
	int shown;
} count;

enum state { CONNECTING, SENDING, READING };

struct conn {
	int fd;
	enum state state;
	size_t sent;
	char *in;
	size_t n, cap;
	long served; /* on this connection */
	double began;
};

static unsigned *samples;
static size_t samples_n;
static int ep;
static long begun;
static double deadline;

static double
now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static _Noreturn void
die(const char *what)
{
	fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
	exit(2);
}

static struct blob
read_file(const char *path)
{
	struct blob b = { 0 };
	FILE *f = fopen(path, "rb");
	if (f == NULL)
		die(path);
	fseek(f, 0, SEEK_END);
	b.n = (size_t)ftell(f);
	rewind(f);
	b.p = malloc(b.n + 1);
	if (b.p == NULL || fread(b.p, 1, b.n, f) != b.n)
		die(path);
	fclose(f);
	return b;
}

static bool
more_to_do(void)
{
	return (opt.requests == 0 || begun < opt.requests) && (deadline == 0 || now() < deadline);
}

static void
show(const char *what, struct conn *c)
{
	if (count.shown++ < 5)
		fprintf(stderr, "load: %s: %.*s\n", what, (int)(c->n < 400 ? c->n : 400), c->in != NULL ? c->in : "");
}

static void conn_open(struct conn *c);

static void
conn_close(struct conn *c)
{
	if (c->fd != -1)
		close(c->fd);
	c->fd = -1;
}

static void
conn_next(struct conn *c)
{
	if (!more_to_do()) {
		conn_close(c);
		return;
	}
	begun++;
	c->state = SENDING;
	c->sent = 0;
	c->n = 0;
	c->began = now();
	struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT, .data.ptr = c };
	epoll_ctl(ep, EPOLL_CTL_MOD, c->fd, &ev);
}

static void
conn_reopen(struct conn *c)
{
	conn_close(c);
	count.reconnects++;
	if (more_to_do())
		conn_open(c);
}

static void
conn_open(struct conn *c)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((unsigned short)opt.port) };
	inet_pton(AF_INET, opt.host, &at.sin_addr);
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	int one = 1;
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	c->state = CONNECTING;
	c->served = 0;
	c->n = 0;
	c->began = now();
	if (connect(c->fd, (struct sockaddr *)&at, sizeof at) == -1 && errno != EINPROGRESS) {
		count.refused++;
		conn_close(c);
		return;
	}
	struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT, .data.ptr = c };
	if (epoll_ctl(ep, EPOLL_CTL_ADD, c->fd, &ev) == -1)
		die("epoll_ctl");
}

static const char *
header(const char *head, const char *end, const char *name)
{
	size_t n = strlen(name);
	for (const char *p = head + 1; p + n < end; p++)
		if (p[-1] == '\n' && strncasecmp(p, name, n) == 0 && p[n] == ':')
			return p + n + 1 + strspn(p + n + 1, " ");
	return NULL;
}

/* Decodes a chunked body in place. Its length, -1: not whole yet. */
static long
unchunk(char *body, size_t n)
{
	size_t in = 0, out = 0;
	for (;;) {
		char *nl = memmem(body + in, n - in, "\r\n", 2);
		if (nl == NULL)
			return -1;
		size_t size = strtoul(body + in, NULL, 16), at = (size_t)(nl + 2 - body);
		if (at + size + 2 > n)
			return -1;
		if (size == 0)
			return (long)out;
		memmove(body + out, body + at, size);
		out += size;
		in = at + size + 2;
	}
}

static bool
is_listed(const int *list, size_t n, int status)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == status)
			return true;
	return false;
}

static bool
body_expected(const char *p, size_t n)
{
	if (opt.expect_n == 0)
		return true;
	for (size_t i = 0; i < opt.expect_n; i++)
		if (opt.expect[i].n == n && memcmp(opt.expect[i].p, p, n) == 0)
			return true;
	return false;
}

static bool
chunks_whole(const char *body, size_t n)
{
	return n >= 5 && memcmp(body + n - 5, "0\r\n\r\n", 5) == 0;
}

/* True when the answer was whole and has been judged. */
static bool
judge(struct conn *c)
{
	char *end = memmem(c->in, c->n, "\r\n\r\n", 4);
	if (end == NULL)
		return false;
	char *body = end + 4;
	size_t have = c->n - (size_t)(body - c->in);
	const char *length = header(c->in, end, "content-length"), *te = header(c->in, end, "transfer-encoding");
	long n = 0;
	int status = atoi(c->in + 9);
	if (te != NULL) {
		if (!chunks_whole(body, have) || (n = unchunk(body, have)) == -1)
			return false;
	} else if (length != NULL) {
		n = atol(length);
		if (have < (size_t)n)
			return false;
	} else if (status != 204 && status != 304) {
		show("an answer without framing", c);
	}
	count.requests++;
	if (is_listed(opt.allow, opt.allow_n, status)) {
		count.allowed++;
	} else if (!is_listed(opt.status, opt.status_n, status)) {
		count.wrong_status++;
		show("unexpected status", c);
	} else if (!body_expected(body, (size_t)n)) {
		count.wrong_body++;
		show("unexpected body", c);
	} else {
		count.ok++;
	}
	if (samples_n < SAMPLES)
		samples[samples_n++] = (unsigned)((now() - c->began) * 1e6);
	const char *connection = header(c->in, end, "connection");
	c->served++;
	if (connection != NULL && strncasecmp(connection, "close", 5) == 0)
		conn_reopen(c);
	else
		conn_next(c);
	return true;
}

static void
conn_lost(struct conn *c)
{
	/* A server may close an idle connection; a request that met the close and of which nothing came back is sent again, as RFC 9112 9.3.1 has it. */
	if (c->n == 0 && c->state != CONNECTING) {
		if (c->served > 0)
			begun--;
		count.retried++;
		conn_reopen(c);
		return;
	}
	if (c->state == CONNECTING) {
		count.refused++;
		begun++;        /* so that a port on which nobody listens ends the run */
		usleep(1000);
	} else
		count.reset++, count.requests++;
	show(c->state == CONNECTING ? "refused" : "connection lost within an answer", c);
	if (c->state == CONNECTING)
		begun++; /* so that a server that is not there is not knocked at for ever */
	conn_reopen(c);
}

static void
conn_send(struct conn *c)
{
	while (c->sent < opt.request.n) {
		ssize_t n = send(c->fd, opt.request.p + c->sent, opt.request.n - c->sent, MSG_NOSIGNAL);
		if (n == -1 && errno == EAGAIN)
			return;
		if (n == -1) {
			conn_lost(c);
			return;
		}
		c->sent += (size_t)n;
	}
	c->state = READING;
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };
	epoll_ctl(ep, EPOLL_CTL_MOD, c->fd, &ev);
}

static void
conn_read(struct conn *c)
{
	for (;;) {
		if (c->cap - c->n < 65536) {
			c->cap = c->cap * 2 + 131072;
			c->in = realloc(c->in, c->cap);
			if (c->in == NULL)
				die("memory");
		}
		ssize_t n = recv(c->fd, c->in + c->n, c->cap - c->n, 0);
		if (n == -1 && errno == EAGAIN)
			return;
		if (n <= 0) {
			conn_lost(c);
			return;
		}
		c->n += (size_t)n;
		if (judge(c))
			return;
	}
}

static void
on_event(struct conn *c, unsigned events)
{
	if (c->fd == -1)
		return;
	if (c->state == CONNECTING) {
		int err = 0;
		socklen_t len = sizeof err;
		getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &err, &len);
		if (err != 0) {
			conn_lost(c);
			return;
		}
		conn_next(c);
		if (c->fd == -1)
			return;
	}
	if (c->state == SENDING && (events & EPOLLOUT))
		conn_send(c);
	if (c->fd != -1 && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) && c->state != CONNECTING)
		conn_read(c);
}

static void
check_timeouts(struct conn *conns)
{
	for (int i = 0; i < opt.connections; i++) {
		struct conn *c = &conns[i];
		if (c->fd == -1 || now() - c->began < opt.timeout)
			continue;
		count.timeout++;
		count.requests++;
		show("no answer in time", c);
		conn_reopen(c);
	}
}

static void
add_header(const char *h)
{
	size_t n = strlen(opt.headers);
	snprintf(opt.headers + n, sizeof opt.headers - n, "%s\r\n", h);
}

static void
parse(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		const char *k = argv[i], *v = argv[i + 1];
		if (strcmp(k, "--host") == 0) opt.host = v;
		else if (strcmp(k, "--port") == 0) opt.port = atoi(v);
		else if (strcmp(k, "--path") == 0) opt.path = v;
		else if (strcmp(k, "--body") == 0) opt.body_file = v;
		else if (strcmp(k, "--expect") == 0 && opt.expect_n < LIST_MAX) opt.expect[opt.expect_n++] = read_file(v);
		else if (strcmp(k, "--status") == 0 && opt.status_n < LIST_MAX) opt.status[opt.status_n++] = atoi(v);
		else if (strcmp(k, "--allow") == 0 && opt.allow_n < LIST_MAX) opt.allow[opt.allow_n++] = atoi(v);
		else if (strcmp(k, "--connections") == 0) opt.connections = atoi(v);
		else if (strcmp(k, "--seconds") == 0) opt.seconds = atof(v);
		else if (strcmp(k, "--requests") == 0) opt.requests = atol(v);
		else if (strcmp(k, "--timeout") == 0) opt.timeout = atoi(v);
		else if (strcmp(k, "--header") == 0) add_header(v);
		else {
			fprintf(stderr, "load: unknown option %s\n", k);
			exit(2);
		}
	}
	if (opt.port == 0 || (opt.seconds == 0 && opt.requests == 0)) {
		fprintf(stderr, "load: --port and one of --seconds, --requests are needed\n");
		exit(2);
	}
	if (opt.status_n == 0)
		opt.status[opt.status_n++] = 200;
}

static void
make_request(void)
{
	struct blob body = { 0 };
	char head[8192];
	if (opt.body_file != NULL)
		body = read_file(opt.body_file);
	int n = opt.body_file == NULL
	    ? snprintf(head, sizeof head, "GET %s HTTP/1.1\r\nHost: %s:%d\r\n%s\r\n", opt.path, opt.host, opt.port, opt.headers)
	    : snprintf(head, sizeof head, "POST %s HTTP/1.1\r\nHost: %s:%d\r\nContent-Type: text/xml\r\nContent-Length: %zu\r\n%s\r\n",
		  opt.path, opt.host, opt.port, body.n, opt.headers);
	opt.request.n = (size_t)n + body.n;
	opt.request.p = malloc(opt.request.n);
	if (opt.request.p == NULL)
		die("memory");
	memcpy(opt.request.p, head, (size_t)n);
	if (body.n > 0)
		memcpy(opt.request.p + n, body.p, body.n);
	free(body.p);
}

static int
by_value(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
	return x < y ? -1 : x > y;
}

static bool
any_open(const struct conn *conns)
{
	for (int i = 0; i < opt.connections; i++)
		if (conns[i].fd != -1)
			return true;
	return false;
}

static int
report(void)
{
	qsort(samples, samples_n, sizeof *samples, by_value);
	printf("{\"requests\": %ld, \"ok\": %ld, \"allowed\": %ld, \"wrong_status\": %ld, \"wrong_body\": %ld, \"reset\": %ld, \"timeout\": %ld, \"refused\": %ld, "
	       "\"reconnects\": %ld, \"retried\": %ld, \"us_p50\": %u, \"us_p99\": %u, \"us_max\": %u}\n",
	    count.requests, count.ok, count.allowed, count.wrong_status, count.wrong_body, count.reset, count.timeout, count.refused, count.reconnects, count.retried,
	    samples_n ? samples[samples_n / 2] : 0, samples_n ? samples[samples_n * 99 / 100] : 0, samples_n ? samples[samples_n - 1] : 0);
	return count.ok == count.requests && count.refused == 0 && count.ok > 0 ? 0 : 1;
}

int
main(int argc, char **argv)
{
	parse(argc, argv);
	make_request();
	signal(SIGPIPE, SIG_IGN);
	samples = malloc(SAMPLES * sizeof *samples);
	struct conn *conns = calloc((size_t)opt.connections, sizeof *conns);
	if (samples == NULL || conns == NULL || (ep = epoll_create1(0)) == -1)
		die("start");
	if (opt.seconds > 0)
		deadline = now() + opt.seconds;
	for (int i = 0; i < opt.connections; i++)
		conn_open(&conns[i]);
	struct epoll_event events[EVENTS];
	double checked = now();
	while (any_open(conns)) {
		int n = epoll_wait(ep, events, EVENTS, 100);
		for (int i = 0; i < n; i++)
			on_event(events[i].data.ptr, events[i].events);
		if (now() - checked > 0.5) {
			check_timeouts(conns);
			checked = now();
		}
	}
	int status = report();
	for (int i = 0; i < opt.connections; i++)
		free(conns[i].in);
	free(conns);
	free(samples);
	free(opt.request.p);
	for (size_t i = 0; i < opt.expect_n; i++)
		free(opt.expect[i].p);
	return status;
}
