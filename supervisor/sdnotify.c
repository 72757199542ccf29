/* The notify protocol: datagrams of VARIABLE=value lines to the socket that NOTIFY_SOCKET names. */
#include "supervisor/sdnotify.h"

#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/base/str.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { TEXT_SIZE = 512 };

static int
open_socket(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t n = strlen(path);

	if ((path[0] != '/' && path[0] != '@') || n >= sizeof to.sun_path) {
		log_warning("cannot use NOTIFY_SOCKET \"%s\"", path);
		return -1;
	}
	memcpy(to.sun_path, path, n);
	if (path[0] == '@')
		to.sun_path[0] = '\0'; /* in the abstract name space */
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd != -1 &&
	    connect(fd, (struct sockaddr *)&to,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) == 0)
		return fd;
	log_warning("cannot connect to NOTIFY_SOCKET \"%s\": %m", path);
	if (fd != -1)
		(void)close(fd);
	return -1;
}

static int64_t
watchdog_interval(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	int64_t us, who;

	if (usec == NULL || !str_to_int64(str_of(usec), &us) || us <= 0)
		return 0;
	if (pid != NULL && (!str_to_int64(str_of(pid), &who) || who != getpid()))
		return 0;
	int64_t ms = us / 2000; /* half the time */
	return ms > 0 ? ms : 1;
}

void
sdnotify_init(struct sdnotify *sd)
{
	const char *path = getenv("NOTIFY_SOCKET");

	*sd = (struct sdnotify){ .fd = -1 };
	if (path != NULL && path[0] != '\0')
		sd->fd = open_socket(path);
	sd->watchdog_ms = watchdog_interval();
	(void)unsetenv("NOTIFY_SOCKET"); /* the names are valid: these cannot fail */
	(void)unsetenv("WATCHDOG_USEC");
	(void)unsetenv("WATCHDOG_PID");
}

static void
send_text(struct sdnotify *sd, const char *text)
{
	if (sd->fd == -1)
		return;
	if (send(sd->fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT) == -1)
		log_warning("cannot notify the service manager: %m");
}

static void
on_watchdog(struct loop_timer *t)
{
	send_text(CONTAINER_OF(t, struct sdnotify, watchdog), "WATCHDOG=1");
}

void
sdnotify_watch(struct sdnotify *sd, struct loop *lp)
{
	if (sd->fd == -1 || sd->watchdog_ms == 0)
		return;
	loop_timer_init(lp, &sd->watchdog, on_watchdog);
	loop_timer_start(&sd->watchdog, sd->watchdog_ms, sd->watchdog_ms);
}

void
sdnotify_fini(struct sdnotify *sd)
{
	loop_timer_close(&sd->watchdog, NULL);
	if (sd->fd != -1)
		(void)close(sd->fd);
	sd->fd = -1;
}

void
sdnotify_ready(struct sdnotify *sd, const char *status)
{
	char text[TEXT_SIZE];

	(void)snprintf(text, sizeof text, "READY=1\nSTATUS=%s", status); /* a long status is cut */
	send_text(sd, text);
}

void
sdnotify_reloading(struct sdnotify *sd)
{
	char text[TEXT_SIZE];

	(void)snprintf(text, sizeof text,
	    "RELOADING=1\nMONOTONIC_USEC=%" PRId64 "\nSTATUS=reloading",
	    monotime_now().ns / 1000); /* fits */
	send_text(sd, text);
}

void
sdnotify_stopping(struct sdnotify *sd)
{
	send_text(sd, "STOPPING=1\nSTATUS=draining");
}

void
sdnotify_status(struct sdnotify *sd, const char *fmt, ...)
{
	char status[TEXT_SIZE - 16], text[TEXT_SIZE];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(status, sizeof status, fmt, ap); /* a long status is cut */
	va_end(ap);
	(void)snprintf(text, sizeof text, "STATUS=%s", status);
	send_text(sd, text);
}
