/* core/ipc/control and core/ipc/channel */
#include "core/ipc/channel.h"
#include "core/ipc/control.h"

#include "core/base/assert.h"
#include "tests/lib/unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static struct control_message
decode(struct buf *b, enum control_side from, enum hinny_rc want)
{
	struct str batch = { b->p, b->n };
	struct frame_reader r;
	struct control_message m;
	struct hinny_error err;

	assert_true(frame_next(&batch, &r));
	assert_int_equal(control_decode(&r, from, &m, &err), want);
	return m;
}

static void
test_round_trip(void **state)
{
	struct control_message in = { .type = FRAME_PEER_DOWN, .fd = -1 }, out;
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	in.peer_down = (struct control_peer_down){ .kind = STR_LIT("xform"),
		.index = 3,
		.incarnation = UINT64_MAX,
		.call_id = 1ull << 40,
		.call_home = 7,
		.last = true,
		.reason = STR_LIT("killed by signal 11") };
	assert_int_equal(control_encode(&b, &in), HINNY_OK);
	out = decode(&b, CONTROL_SUPERVISOR, HINNY_OK);
	assert_int_equal(out.type, FRAME_PEER_DOWN);
	assert_int_equal(out.fd, -1);
	assert_true(str_eq(out.peer_down.kind, STR_LIT("xform")));
	assert_int_equal(out.peer_down.index, 3);
	assert_true(out.peer_down.incarnation == UINT64_MAX);
	assert_true(out.peer_down.call_id == 1ull << 40);
	assert_int_equal(out.peer_down.call_home, 7);
	assert_true(out.peer_down.last);
	assert_true(str_eq(out.peer_down.reason, STR_LIT("killed by signal 11")));
	buf_fini(&b);
}

static void
test_wrong_side(void **state)
{
	struct control_message m = { .type = FRAME_STOP };
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	assert_int_equal(control_encode(&b, &m), HINNY_OK);
	(void)decode(&b, CONTROL_WORKER, HINNY_EPROTO);
	(void)decode(&b, CONTROL_SUPERVISOR, HINNY_OK);
	assert_false(control_may_send(FRAME_CALL, CONTROL_SUPERVISOR));
	assert_false(control_may_send(FRAME_CALL, CONTROL_WORKER));
	assert_false(control_may_send(255, CONTROL_WORKER));
	assert_true(control_may_send(FRAME_HELLO, CONTROL_WORKER));
	buf_fini(&b);
}

/* Every frame of a side, cut at every length: an error each time, never a crash. */
static void
test_cut_frames(void **state)
{
	(void)state;
	for (unsigned type = 0; type < 256; type++) {
		struct control_message m = { .type = (enum frame_type)type };
		enum control_side side =
		    control_may_send(type, CONTROL_WORKER) ? CONTROL_WORKER : CONTROL_SUPERVISOR;
		struct buf b;
		if (!control_may_send(type, side))
			continue;
		buf_init(&b, 0);
		assert_int_equal(control_encode(&b, &m), HINNY_OK);
		(void)decode(&b, side, HINNY_OK);
		for (size_t n = FRAME_HEAD; n < b.n; n++) {
			char *copy = malloc(n); /* so that a sanitizer sees a read beyond it */
			assert_non_null(copy);
			memcpy(copy, b.p, n);
			copy[0] = (char)(n - 4); /* short frames */
			copy[1] = copy[2] = copy[3] = 0;
			struct buf cut = { .p = copy, .n = n };
			(void)decode(&cut, side, HINNY_EPROTO);
			free(copy);
		}
		buf_fini(&b);
	}
}

static void
test_left_over(void **state)
{
	struct control_message m = { .type = FRAME_PING, .ping.sequence = 5 };
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	assert_int_equal(control_encode(&b, &m), HINNY_OK);
	assert_int_equal(buf_add_char(&b, 'x'), HINNY_OK);
	b.p[0]++;
	(void)decode(&b, CONTROL_SUPERVISOR, HINNY_EPROTO);
	buf_fini(&b);
}

/* -- the channel -- */

struct end {
	struct loop *lp;
	struct channel *ch;
	unsigned messages, closed;
	enum hinny_rc why;
	uint64_t sequence;
	int fds[8];
	unsigned fds_n;
};

static void
on_message(void *owner, const struct control_message *m)
{
	struct end *e = owner;

	e->messages++;
	if (m->type == FRAME_PING)
		e->sequence = m->ping.sequence;
	if (m->fd != -1) {
		assert_true(e->fds_n < ARRAY_LEN(e->fds));
		e->fds[e->fds_n++] = m->fd;
	}
}

static void
on_closed(void *owner, const struct hinny_error *err)
{
	struct end *e = owner;

	e->closed++;
	e->why = err->rc;
}

static const struct channel_ops ops = { on_message, on_closed };

static void
open_pair(struct loop *lp, struct end *s, struct end *w)
{
	struct hinny_error err;
	int pair[2];

	assert_int_equal(loop_init(lp, &err), HINNY_OK);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	*s = (struct end){ .lp = lp };
	*w = (struct end){ .lp = lp };
	s->ch = channel_new(lp, pair[0], CONTROL_SUPERVISOR, &ops, s, &err);
	w->ch = channel_new(lp, pair[1], CONTROL_WORKER, &ops, w, &err);
	assert_non_null(s->ch);
	assert_non_null(w->ch);
}

static void
turns(struct loop *lp)
{
	for (int i = 0; i < 200; i++)
		loop_turn(lp, 0);
}

static void
close_pair(struct loop *lp, struct end *s, struct end *w)
{
	channel_free(s->ch);
	channel_free(w->ch);
	turns(lp);
	loop_fini(lp);
}

/* Descriptors among frames that wait in a queue: each arrives with the frame that announces it. */
static void
test_descriptors(void **state)
{
	struct loop lp;
	struct end s, w;
	enum { PINGS = 3000, FILES = 4 };
	char text[1] = { 0 };

	(void)state;
	open_pair(&lp, &s, &w);
	for (int f = 0; f < FILES; f++) {
		int fd[2];
		struct control_message m = { .type = FRAME_LISTENER };
		for (uint64_t i = 0; i < PINGS; i++) {
			struct control_message ping = { .type = FRAME_PING, .ping.sequence = i };
			assert_int_equal(channel_send(s.ch, &ping, NULL), HINNY_OK);
		}
		assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
		text[0] = (char)('a' + f);
		assert_int_equal(write(fd[1], text, 1), 1);
		(void)close(fd[1]);
		m.fd = fd[0];
		m.listener.address = (uint32_t)f;
		assert_int_equal(channel_send(s.ch, &m, NULL), HINNY_OK);
		(void)close(fd[0]);
	}
	turns(&lp);
	assert_int_equal(w.messages, FILES * (PINGS + 1));
	assert_int_equal(w.fds_n, FILES);
	for (int f = 0; f < FILES; f++) {
		assert_int_equal(read(w.fds[f], text, 1), 1);
		assert_int_equal(text[0], 'a' + f);
		(void)close(w.fds[f]);
	}
	close_pair(&lp, &s, &w);
}

static void
test_end(void **state)
{
	struct loop lp;
	struct end s, w;

	(void)state;
	open_pair(&lp, &s, &w);
	assert_int_equal(channel_send_type(s.ch, FRAME_STOP), HINNY_OK);
	channel_free(s.ch);
	s.ch = NULL;
	turns(&lp);
	assert_int_equal(w.messages, 1); /* what was said before the end is heard */
	assert_int_equal(w.closed, 1);
	assert_int_equal(w.why, HINNY_ECLOSED);
	assert_int_equal(channel_send_type(w.ch, FRAME_SOURCES_STOPPED), HINNY_ECLOSED);
	close_pair(&lp, &s, &w);
}

static void
test_garbage(void **state)
{
	struct loop lp;
	struct end e = { .lp = &lp };
	struct hinny_error err;
	int pair[2];

	(void)state;
	assert_int_equal(loop_init(&lp, &err), HINNY_OK);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	e.ch = channel_new(&lp, pair[0], CONTROL_SUPERVISOR, &ops, &e, &err);
	assert_int_equal(write(pair[1], "GET / HTTP/1.1\r\n\r\n", 18), 18);
	turns(&lp);
	assert_int_equal(e.closed, 1);
	assert_int_equal(e.why, HINNY_EPROTO);
	channel_free(e.ch);
	(void)close(pair[1]);
	turns(&lp);
	loop_fini(&lp);
}

/* Who does not read is found out; nothing blocks and nothing grows without end. */
static void
test_bounded(void **state)
{
	static char big[60000];
	struct loop lp;
	struct end s, w;
	struct control_message m = { .type = FRAME_PEER_DOWN,
		.fd = -1,
		.peer_down.reason = { big, sizeof big } };
	enum hinny_rc rc = HINNY_OK;
	int i;

	(void)state;
	open_pair(&lp, &s, &w);
	for (i = 0; i < 10000 && rc == HINNY_OK; i++)
		rc = channel_send(s.ch, &m, NULL);
	assert_int_equal(rc, HINNY_ELIMIT);
	unsigned sent = (unsigned)i - 1;
	turns(&lp);
	assert_int_equal(w.messages, sent); /* and what was taken arrives whole */
	close_pair(&lp, &s, &w);
}

int
main(void)
{
	UNIT_CASE(test_round_trip);
	UNIT_CASE(test_wrong_side);
	UNIT_CASE(test_cut_frames);
	UNIT_CASE(test_left_over);
	UNIT_CASE(test_descriptors);
	UNIT_CASE(test_end);
	UNIT_CASE(test_garbage);
	UNIT_CASE(test_bounded);
	return unit_run("control");
}
