/* poll() for librdkafka's threads. */
#include "transports/kafka/kafka_poll.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { VAIN_MAX = 2, WAIT_MS = 1 };

static _Thread_local struct kafka_poll_thread {
	struct list node; /* of kafka_poll.threads, under its lock; linked when fd is open */
	bool is_broker;
	bool nudged;      /* fd is an eventfd */
	int fd;
	unsigned in_vain; /* polls without waiting, one after another, that found nothing */
} me;

static int
wait_for(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	struct timespec ts = { timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000 };
	return ppoll(fds, n, timeout_ms < 0 ? NULL : &ts, NULL);
}

/* fds: connection and librdkafka's own pipe for waking the thread. A nudge looks like a byte in the
 * pipe, which it reads until nothing is there. */
static int
wait_for_nudge(struct pollfd *fds, int timeout_ms)
{
	struct pollfd all[3] = { fds[0], fds[1], { .fd = me.fd, .events = POLLIN } };
	uint64_t count;
	int rc = wait_for(all, 3, timeout_ms);
	fds[0].revents = all[0].revents;
	fds[1].revents = all[1].revents;
	if (rc <= 0 || all[2].revents == 0)
		return rc;
	(void)!read(me.fd, &count, sizeof count); /* cannot fail: it is readable, and nobody else reads */
	fds[1].revents |= POLLIN;
	return all[1].revents != 0 ? rc - 1 : rc;
}

static int
poll_patiently(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	if (me.is_broker && timeout_ms == 0 && me.in_vain >= VAIN_MAX)
		timeout_ms = WAIT_MS;
	else if (timeout_ms != 0)
		me.in_vain = 0;
	bool nudged = me.nudged && n == 2 && fds[1].events == POLLIN && timeout_ms != 0;
	int rc = nudged ? wait_for_nudge(fds, timeout_ms) : wait_for(fds, n, timeout_ms);
	me.in_vain = rc == 0 ? me.in_vain + 1 : 0;
	return rc;
}

int
poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	return poll_patiently(fds, n, timeout_ms);
}

/* What the compiler makes of poll() where it knows the size of the array. */
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t size);
int
__poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t size)
{
	(void)size;
	return poll_patiently(fds, n, timeout_ms);
}

/* ---- which threads are meant ---- */

static rd_kafka_resp_err_t
thread_started(rd_kafka_t *rk, rd_kafka_thread_type_t type, const char *name, void *opaque)
{
	struct kafka_poll *p = opaque;
	(void)rk;
	(void)name;
	me.is_broker = type == RD_KAFKA_THREAD_BROKER;
	if (p == NULL || !me.is_broker)
		return RD_KAFKA_RESP_ERR_NO_ERROR;
	me.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (me.fd == -1) /* it then sleeps as librdkafka wants it to */
		return RD_KAFKA_RESP_ERR_NO_ERROR;
	me.nudged = true;
	pthread_mutex_lock(&p->lock);
	list_append(&p->threads, &me.node);
	pthread_mutex_unlock(&p->lock);
	return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t
thread_ended(rd_kafka_t *rk, rd_kafka_thread_type_t type, const char *name, void *opaque)
{
	struct kafka_poll *p = opaque;
	(void)rk;
	(void)type;
	(void)name;
	if (!me.nudged)
		return RD_KAFKA_RESP_ERR_NO_ERROR;
	pthread_mutex_lock(&p->lock);
	list_remove(&me.node);
	pthread_mutex_unlock(&p->lock);
	me.nudged = false;
	close(me.fd);
	return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t
client_new(rd_kafka_t *rk, const rd_kafka_conf_t *conf, void *opaque, char *text, size_t size)
{
	(void)conf;
	(void)text;
	(void)size;
	rd_kafka_resp_err_t rc =
	    rd_kafka_interceptor_add_on_thread_start(rk, "hinny", thread_started, opaque);
	if (rc != RD_KAFKA_RESP_ERR_NO_ERROR)
		return rc;
	return rd_kafka_interceptor_add_on_thread_exit(rk, "hinny", thread_ended, opaque);
}

void
kafka_poll_watch(rd_kafka_conf_t *conf, struct kafka_poll *p)
{
	/* fails for a name that is there already alone */
	(void)rd_kafka_conf_interceptor_add_on_new(conf, "hinny", client_new, p);
}

/* ---- nudges ---- */

void
kafka_poll_init(struct kafka_poll *p)
{
	pthread_mutex_init(&p->lock, NULL);
	list_init(&p->threads);
}

void
kafka_poll_nudge(struct kafka_poll *p)
{
	static const uint64_t one = 1;
	pthread_mutex_lock(&p->lock);
	LIST_FOREACH (&p->threads, node, next) {
		const struct kafka_poll_thread *t = LIST_ENTRY(node, struct kafka_poll_thread, node);
		(void)!write(t->fd, &one, sizeof one); /* fails when it has been nudged often: it is awake */
	}
	pthread_mutex_unlock(&p->lock);
}
