/*
 * Does the inbox still accept? In nng 1.5.2 a peer that dies between its connect and our header (the write fails with EPIPE, which nng takes for NNG_ECLOSED) ends
 * the listener's loop of accepts for good: later peers connect, send, and are never read. So after each death of a peer the worker greets its own inbox; when the
 * greeting has not arrived in time the inbox is listened on again. That closes the pipes of the old listener: their peers dial again by themselves, and calls whose
 * replies may have been lost are made again. A worker that others call (stateless) ends instead and is replaced: its callers learn it from the supervisor.
 *
 * The other half is in peer.c: a callee that is new does not work before its dial is through, so that a message that ends it does not end it in that moment.
 */
#include "core/ipc/ipc_priv.h"

#include "core/base/log.h"
#include "core/base/mem.h"

#include <nng/protocol/pipeline0/push.h>

#include <stdlib.h>
#include <string.h>

enum { PROBE_TICK_MS = 20, PROBE_TICKS = 25 };

struct ipc_probe {
	nng_socket push;
	uint64_t sequence;
	unsigned ticks;
	bool open, sent, again;
};

static void
probe_end(struct ipc *ipc)
{
	struct ipc_probe *p = ipc->probe;

	loop_timer_stop(&ipc->probe_timer);
	if (p->open)
		nng_close(p->push);
	p->open = false;
}

static void
probe_begin(struct ipc *ipc)
{
	struct ipc_probe *p = ipc->probe;
	char url[IPC_URL_MAX];

	if (nng_push0_open(&p->push) != 0)
		return; /* out of something: the next death asks again */
	ipc_inbox_url(ipc, url);
	p->open = true;
	p->sent = p->again = false;
	p->ticks = 0;
	p->sequence++;
	if (nng_dial(p->push, url, NULL, NNG_FLAG_NONBLOCK) != 0) {
		probe_end(ipc);
		return;
	}
	loop_timer_start(&ipc->probe_timer, PROBE_TICK_MS, PROBE_TICK_MS);
}

nng_msg *
probe_greeting(uint64_t sequence)
{
	struct buf b;
	nng_msg *msg;

	buf_init(&b, 0);
	struct frame_writer w = frame_begin(&b, FRAME_GREETING, 0);
	frame_put_u64(&w, sequence);
	(void)frame_finish(&w); /* small */
	if (nng_msg_alloc(&msg, b.n) != 0)
		fatal("out of memory for a message of %zu bytes", b.n);
	memcpy(nng_msg_body(msg), b.p, b.n);
	buf_fini(&b);
	return msg;
}

/* True when it is on its way. */
static bool
probe_send(struct ipc_probe *p)
{
	nng_msg *msg = probe_greeting(p->sequence);

	if (nng_sendmsg(p->push, msg, NNG_FLAG_NONBLOCK) == 0)
		return true;
	nng_msg_free(msg);
	return false;
}

static void
on_deaf(struct ipc *ipc)
{
	struct hinny_error err;

	if ((kind_at(ipc->opt.kind)->flags & KIND_STATELESS) != 0)
		fatal("the inbox has stopped accepting connections");
	log_warning("the inbox had stopped accepting connections and is opened again");
	if (ipc_inbox_listen_again(ipc, &err) != HINNY_OK)
		fatal("%s", err.text);
	call_all_again(ipc, "the inbox was opened again");
	probe_begin(ipc); /* whether it helped */
}

static void
probe_tick(struct loop_timer *t)
{
	struct ipc *ipc = CONTAINER_OF(t, struct ipc, probe_timer);
	struct ipc_probe *p = ipc->probe;

	if (!p->sent)
		p->sent = probe_send(p);
	if (++p->ticks < PROBE_TICKS)
		return;
	ipc_inbox_drain(ipc); /* this turn may have been a long one */
	if (!p->open || ipc->closing)
		return;
	probe_end(ipc);
	on_deaf(ipc);
}

void
probe_heard(struct ipc *ipc, uint64_t sequence)
{
	struct ipc_probe *p = ipc->probe;

	if (p == NULL || !p->open || sequence != p->sequence)
		return;
	probe_end(ipc);
	if (p->again)
		probe_begin(ipc);
}

void
probe_inbox(struct ipc *ipc)
{
	if (ipc->closing)
		return;
	if (ipc->probe == NULL) {
		ipc->probe = MEM_NEW(struct ipc_probe);
		loop_timer_init(ipc->opt.lp, &ipc->probe_timer, probe_tick);
	}
	if (ipc->probe->open)
		ipc->probe->again = true;
	else
		probe_begin(ipc);
}

void
probe_close(struct ipc *ipc)
{
	if (ipc->probe == NULL)
		return;
	probe_end(ipc);
	loop_timer_close(&ipc->probe_timer, NULL);
	free(ipc->probe);
	ipc->probe = NULL;
}
