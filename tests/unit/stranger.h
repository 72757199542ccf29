/* A stranger at an inbox: a plain socket that says what it likes. */
#ifndef HINNY_TESTS_UNIT_STRANGER_H
#define HINNY_TESTS_UNIT_STRANGER_H

#include "tests/lib/unit.h"

#include "core/base/clock.h"
#include "core/loop/loop.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { STRANGER_MS = 20000 };

static inline int
stranger_open(const char *dir, const char *inbox)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	assert_in_range(snprintf(sa.sun_path, sizeof sa.sun_path, "%s/%s", dir, inbox), 1, sizeof sa.sun_path - 1);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_not_equal(fd, -1);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof sa), 0);
	return fd;
}

/* False: the inbox has closed the connection. The receiver may be this thread, so it does not wait. */
static inline bool
stranger_send(struct loop *lp, int fd, const char *p, size_t n)
{
	struct monotime begin = monotime_now();
	while (n > 0) {
		ssize_t k = send(fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (k == -1 && (errno == EPIPE || errno == ECONNRESET))
			return false;
		if (k == -1 && errno != EAGAIN)
			fail_msg("send: %s", strerror(errno));
		if (k == -1)
			loop_turn(lp, 1);
		if (monotime_ms_between(begin, monotime_now()) > STRANGER_MS)
			fail_msg("the inbox is not drained");
		p += k > 0 ? k : 0;
		n -= k > 0 ? (size_t)k : 0;
	}
	return true;
}

/* Waits until the inbox has closed it. */
static inline void
stranger_is_cut_off(struct loop *lp, int fd)
{
	struct monotime begin = monotime_now();
	char c;
	while (recv(fd, &c, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN) {
		loop_turn(lp, 1);
		if (monotime_ms_between(begin, monotime_now()) > STRANGER_MS)
			fail_msg("the connection is still there");
	}
}

#endif
