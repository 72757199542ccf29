/* poll() for librdkafka's threads. */
#include "transports/kafka/kafka_poll.h"

#include <poll.h>
#include <stdbool.h>
#include <time.h>

enum { VAIN_MAX = 2, WAIT_MS = 1 };

static _Thread_local bool is_broker_thread;
static _Thread_local unsigned in_vain; /* polls without waiting, one after another, that found nothing */

static int
poll_patiently(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	if (is_broker_thread && timeout_ms == 0 && in_vain >= VAIN_MAX)
		timeout_ms = WAIT_MS;
	else if (timeout_ms != 0)
		in_vain = 0;
	struct timespec ts = { timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000 };
	int rc = ppoll(fds, n, timeout_ms < 0 ? NULL : &ts, NULL);
	in_vain = rc == 0 ? in_vain + 1 : 0;
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

static rd_kafka_resp_err_t
thread_started(rd_kafka_t *rk, rd_kafka_thread_type_t type, const char *name, void *opaque)
{
	(void)rk;
	(void)name;
	(void)opaque;

	is_broker_thread = type == RD_KAFKA_THREAD_BROKER;
	return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t
kafka_poll_watch(rd_kafka_t *rk, const rd_kafka_conf_t *conf, void *opaque, char *text, size_t size)
{
	(void)conf;
	(void)opaque;
	(void)text;
	(void)size;

	return rd_kafka_interceptor_add_on_thread_start(rk, "hinny", thread_started, NULL);
}
