/*
 * The back end of bench/proxy: answers each HTTP request with its body, on one thread, with as little of its own cost as can be. It understands what the benchmark sends (Content-Length,
 * and chunked bodies by copying them through) and nothing else; it is no server for anything else.
 *
 *   echo_server PORT
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BUFFER = 256 << 10, EVENTS = 256 };

struct conn {
	int fd;
	size_t n;
	char in[BUFFER];
};

static _Noreturn void
die(const char *what)
{
	perror(what);
	exit(1);
}

static const char *
find_header(const char *head, const char *end, const char *name)
{
	size_t n = strlen(name);
	for (const char *p = head; p + n < end; p++)
		if (p[-1] == '\n' && strncasecmp(p, name, n) == 0 && p[n] == ':')
			return p + n + 1;
	return NULL;
}

/* Bytes of a chunked body that is whole, 0 when it is not. Ends at "0\r\n\r\n". */
static size_t
chunked_length(const char *body, size_t n)
{
	size_t at = 0;
	for (;;) {
		const char *nl = memmem(body + at, n - at, "\r\n", 2);
		if (nl == NULL)
			return 0;
		size_t size = strtoul(body + at, NULL, 16);
		at = (size_t)(nl + 2 - body) + size + 2;
		if (at > n)
			return 0;
		if (size == 0)
			return at;
	}
}

static int
write_all(int fd, struct iovec *iov, int n)
{
	while (n > 0) {
		ssize_t w = writev(fd, iov, n);
		if (w == -1 && (errno == EAGAIN || errno == EINTR))
			continue; /* the benchmark's answers fit the socket's buffer */
		if (w == -1)
			return -1;
		for (; n > 0 && (size_t)w >= iov->iov_len; iov++, n--)
			w -= (ssize_t)iov->iov_len;
		if (n > 0) {
			iov->iov_base = (char *)iov->iov_base + w;
			iov->iov_len -= (size_t)w;
		}
	}
	return 0;
}

/* Serves the first request in the buffer. Bytes used, 0: not whole yet, -1: close. */
static ssize_t
serve(struct conn *c)
{
	char *end = memmem(c->in, c->n, "\r\n\r\n", 4);
	if (end == NULL)
		return c->n == BUFFER ? -1 : 0;
	size_t head = (size_t)(end + 4 - c->in), body, wire;
	const char *length = find_header(c->in + 1, end, "content-length");
	const char *chunked = find_header(c->in + 1, end, "transfer-encoding");
	char answer[256];
	if (chunked != NULL) {
		body = wire = chunked_length(c->in + head, c->n - head);
		if (wire == 0)
			return c->n == BUFFER ? -1 : 0;
	} else {
		body = wire = length != NULL ? strtoul(length, NULL, 10) : 0;
		if (c->n < head + wire)
			return head + wire > BUFFER ? -1 : 0;
	}
	int n = chunked != NULL
	    ? snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nTransfer-Encoding: chunked\r\n\r\n")
	    : snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: %zu\r\n\r\n", body);
	struct iovec iov[2] = { { answer, (size_t)n }, { c->in + head, body } };
	return write_all(c->fd, iov, 2) == -1 ? -1 : (ssize_t)(head + wire);
}

static int
on_readable(struct conn *c)
{
	ssize_t n = read(c->fd, c->in + c->n, BUFFER - c->n);
	if (n == -1)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	if (n == 0)
		return -1;
	c->n += (size_t)n;
	ssize_t used;
	while ((used = serve(c)) > 0) {
		memmove(c->in, c->in + used, c->n - (size_t)used);
		c->n -= (size_t)used;
	}
	return used < 0 ? -1 : 0;
}

static int
listen_on(int port)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (fd == -1 || bind(fd, (struct sockaddr *)&at, sizeof at) == -1 || listen(fd, 1024) == -1)
		die("cannot listen");
	return fd;
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		return fprintf(stderr, "usage: echo_server PORT\n"), 2;
	signal(SIGPIPE, SIG_IGN);
	int listener = listen_on(atoi(argv[1])), ep = epoll_create1(0);
	struct epoll_event ev = { .events = EPOLLIN }, events[EVENTS];
	if (ep == -1 || epoll_ctl(ep, EPOLL_CTL_ADD, listener, &ev) == -1)
		die("epoll");
	for (;;) {
		int n = epoll_wait(ep, events, EVENTS, -1);
		for (int i = 0; i < n; i++) {
			struct conn *c = events[i].data.ptr;
			if (c == NULL) {
				int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK), one = 1;
				if (fd == -1 || (c = malloc(sizeof *c)) == NULL)
					continue;
				setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
				c->fd = fd;
				c->n = 0;
				ev.data.ptr = c;
				if (epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev) == -1)
					die("epoll_ctl");
				continue;
			}
			if (on_readable(c) == -1) {
				close(c->fd);
				free(c);
			}
		}
	}
}
