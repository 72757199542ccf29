/* Links and inboxes (core/ipc/wire.h): frames whole and in order however their bytes come, strangers, ends of either side in the middle of the traffic. */
#include "tests/lib/unit.h"

#include "core/ipc/wire.h"
#include "core/model/frame.h"
#include "tests/unit/stranger.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 200, HANG_S = 60 };

struct fixture {
	struct loop lp;
	char dir[32], path[64];
	struct intake *in;
	struct buf got; /* all frames, one behind the other */
	bool close_at_blob;
};

/* A link and what it has told. */
struct watched {
	struct link *link;
	unsigned free, broken;
};

static void
on_event(void *arg, enum link_event event)
{
	struct watched *w = arg;
	w->free += event == LINK_FREE;
	w->broken += event == LINK_BROKEN;
}

static void
on_blob(void *arg, struct blob *blob)
{
	struct fixture *f = arg;
	struct str batch = { blob->data, blob->size };
	struct frame_reader r;
	assert_int_equal(buf_add(&f->got, blob->data, blob->size), HINNY_OK);
	while (frame_next(&batch, &r))
		continue;
	assert_int_equal(batch.n, 0); /* whole frames only */
	blob_put(blob);
	if (!f->close_at_blob)
		return;
	intake_free(f->in);
	f->in = NULL;
}

static void
inbox_open(struct fixture *f)
{
	struct hinny_error err;
	if (intake_new(&f->lp, f->path, on_blob, f, &f->in, &err) != HINNY_OK)
		fail_msg("%s", err.text);
}

static void
inbox_close(struct fixture *f)
{
	intake_free(f->in);
	f->in = NULL;
}

static struct fixture *
setup(void)
{
	struct fixture *f = calloc(1, sizeof *f);
	struct hinny_error err;
	assert_non_null(f);
	strcpy(f->dir, "/tmp/hwire-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof f->path, "%s/inbox", f->dir);
	assert_int_equal(loop_init(&f->lp, &err), HINNY_OK);
	buf_init(&f->got, 0);
	inbox_open(f);
	return f;
}

static void
teardown(struct fixture *f)
{
	inbox_close(f);
	loop_fini(&f->lp);
	buf_fini(&f->got);
	assert_int_equal(rmdir(f->dir), 0);
	free(f);
}

static void
turn_until_got(struct fixture *f, size_t n)
{
	struct monotime begin = monotime_now();
	while (f->got.n < n) {
		loop_turn(&f->lp, 10);
		if (monotime_ms_between(begin, monotime_now()) > STRANGER_MS)
			fail_msg("%zu of %zu bytes have come", f->got.n, n);
	}
	assert_int_equal(f->got.n, n);
}

static void
put_frame(struct buf *b, size_t size)
{
	struct frame_writer w = frame_begin(b, FRAME_CHUNK, 0);
	for (size_t i = 0; i < size; i++)
		frame_put_u8(&w, (uint8_t)(i * 7 + size));
	assert_int_equal(frame_finish(&w), HINNY_OK);
}

/* ---- frames whole ---- */

static const struct piece_row {
	const char *label;
	size_t piece, largest;
} piece_rows[] = {
	{ "byte by byte", 1, 300 },
	{ "in sevens", 7, 3000 },
	{ "larger than what is read at once", 100000, 200000 },
	{ "all at once", SIZE_MAX, 20000 },
	{ "very large", SIZE_MAX, 5 << 20 },
};

static void
test_pieces(void **state)
{
	const struct piece_row *row = *state;
	struct fixture *f = setup();
	struct buf b;
	unsigned seed = 3;
	buf_init(&b, 0);
	for (int i = 0; i < 12; i++)
		put_frame(&b, i % 3 == 2 ? row->largest : (size_t)rand_r(&seed) % 90);
	int fd = stranger_open(f->dir, "inbox");
	for (size_t at = 0, n; at < b.n; at += n) {
		n = b.n - at < row->piece ? b.n - at : row->piece;
		assert_true(stranger_send(&f->lp, fd, b.p + at, n));
		if (row->piece == 1 && at % 16 == 0)
			loop_turn(&f->lp, 0);
	}
	turn_until_got(f, b.n);
	assert_memory_equal(f->got.p, b.p, b.n);
	close(fd);
	buf_fini(&b);
	teardown(f);
}

static const struct bad_row {
	const char *label;
	const char *bytes;
	size_t n;
} bad_rows[] = {
	{ "no room for a head", "\3\0\0", 4 },
	{ "too long", "\xfd\xff\xff", 4 }, /* FRAME_MAX - 3 */
	{ "far too long", "\xff\xff\xff\xff", 4 },
	{ "of another version", "\x10\0\0\0\2", 5 },
	{ "a greeting of another library", "\0SP\0\0\x50\0", 8 },
};

static void
test_no_frame(void **state)
{
	const struct bad_row *row = *state;
	struct fixture *f = setup();
	struct buf b;
	buf_init(&b, 0);
	put_frame(&b, 10);
	int bad = stranger_open(f->dir, "inbox"), good = stranger_open(f->dir, "inbox");
	assert_true(stranger_send(&f->lp, bad, b.p, b.n));
	assert_true(stranger_send(&f->lp, bad, row->bytes, row->n));
	stranger_is_cut_off(&f->lp, bad);
	assert_true(stranger_send(&f->lp, good, b.p, b.n));
	turn_until_got(f, 2 * b.n); /* what came before counts */
	close(bad);
	close(good);
	buf_fini(&b);
	teardown(f);
}

/* The loop is late: the sender is held up by the socket, and nothing is lost. */
static void
test_late_loop(void **state)
{
	(void)state;
	struct fixture *f = setup();
	struct buf b;
	size_t sent = 0;
	ssize_t k;
	buf_init(&b, 0);
	put_frame(&b, 50000);
	int fd = stranger_open(f->dir, "inbox");
	while ((k = send(fd, b.p + sent % b.n, b.n - sent % b.n, MSG_DONTWAIT | MSG_NOSIGNAL)) > 0) {
		sent += (size_t)k;
		assert_true(sent < (64 << 20));
	}
	assert_int_equal(errno, EAGAIN);
	size_t held = sent;
	while (sent % b.n != 0 || sent < 2 * held) {
		size_t n = b.n - sent % b.n;
		assert_true(stranger_send(&f->lp, fd, b.p + sent % b.n, n));
		sent += n;
	}
	turn_until_got(f, sent);
	close(fd);
	buf_fini(&b);
	teardown(f);
}

/* The inbox goes while it is read, with two blobs on their way to the callee. */
static void
test_closed_by_a_frame(void **state)
{
	(void)state;
	struct fixture *f = setup();
	struct buf b;
	buf_init(&b, 0);
	put_frame(&b, 10000);
	put_frame(&b, 10);
	int fd = stranger_open(f->dir, "inbox");
	assert_true(stranger_send(&f->lp, fd, b.p, 5000));
	for (int i = 0; i < 5; i++)
		loop_turn(&f->lp, 0);
	f->close_at_blob = true;
	assert_true(stranger_send(&f->lp, fd, b.p + 5000, b.n - 5000));
	turn_until_got(f, b.n);
	assert_null(f->in);
	stranger_is_cut_off(&f->lp, fd);
	close(fd);
	buf_fini(&b);
	teardown(f);
}

static void
test_long_name(void **state)
{
	(void)state;
	struct fixture *f = setup();
	struct hinny_error err;
	struct intake *in = NULL;
	char path[200];
	memset(path, 'a', sizeof path - 1);
	path[0] = '/';
	path[sizeof path - 1] = '\0';
	assert_int_equal(intake_new(&f->lp, path, on_blob, f, &in, &err), HINNY_EINVAL);
	assert_non_null(strstr(err.text, "107 bytes at most"));
	assert_null(link_new(&f->lp, path, on_event, NULL, &err));
	assert_int_not_equal(intake_new(&f->lp, f->path, on_blob, f, &in, &err), HINNY_OK); /* somebody has it */
	assert_non_null(strstr(err.text, "cannot open the inbox"));
	teardown(f);
}

static void
test_strangers_that_go_at_once(void **state)
{
	(void)state;
	struct fixture *f = setup();
	struct buf b;
	buf_init(&b, 0);
	for (int i = 0; i < 300; i++) {
		int fd = stranger_open(f->dir, "inbox");
		if (i % 3 == 0)
			(void)send(fd, "\x10", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		close(fd);
		loop_turn(&f->lp, 0);
	}
	put_frame(&b, 10);
	int fd = stranger_open(f->dir, "inbox");
	assert_true(stranger_send(&f->lp, fd, b.p, b.n));
	turn_until_got(f, b.n);
	close(fd);
	buf_fini(&b);
	teardown(f);
}

/* ---- links ---- */

static struct watched *
open_link(struct fixture *f)
{
	struct hinny_error err;
	struct watched *w = calloc(1, sizeof *w);
	assert_non_null(w);
	w->link = link_new(&f->lp, f->path, on_event, w, &err);
	if (w->link == NULL)
		fail_msg("%s", err.text);
	return w;
}

static void
link_close(struct watched *w)
{
	link_free(w->link);
	free(w);
}

static void
turn_until(struct fixture *f, const unsigned *told, unsigned n)
{
	struct monotime begin = monotime_now();
	while (*told < n) {
		loop_turn(&f->lp, 10);
		if (monotime_ms_between(begin, monotime_now()) > STRANGER_MS)
			fail_msg("the link does not tell");
	}
	assert_int_equal(*told, n);
}

static void
test_link(void **state)
{
	(void)state;
	struct fixture *f = setup();
	struct buf b;
	buf_init(&b, 0);
	inbox_close(f);
	struct watched *w = open_link(f);
	struct link *l = w->link;
	assert_false(link_dial(l)); /* nobody there */
	put_frame(&b, 10);
	assert_false(link_send(l, &b));
	inbox_open(f);
	assert_true(link_dial(l));
	assert_true(link_send(l, &b));
	assert_int_equal(b.n, 0);
	turn_until_got(f, FRAME_HEAD + 10);
	inbox_close(f);
	turn_until(f, &w->broken, 1);
	put_frame(&b, 20);
	assert_false(link_send(l, &b));
	assert_false(link_dial(l));
	inbox_open(f);
	assert_true(link_dial(l)); /* begins anew */
	assert_true(link_send(l, &b));
	turn_until_got(f, 2 * FRAME_HEAD + 30);
	link_close(w);
	buf_fini(&b);
	teardown(f);
}

/* More than a socket takes, to one who does not read at first. */
static void
test_busy_link(void **state)
{
	(void)state;
	struct fixture *f = setup();
	struct buf b;
	size_t read_n = 0, large = FRAME_HEAD + (4 << 20);
	static char bytes[65536];
	buf_init(&b, 0);
	inbox_close(f);
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	snprintf(sa.sun_path, sizeof sa.sun_path, "%s", f->path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof sa), 0);
	assert_int_equal(listen(fd, 1), 0);
	struct watched *w = open_link(f);
	struct link *l = w->link;
	assert_true(link_dial(l));
	put_frame(&b, 4 << 20);
	assert_true(link_send(l, &b));
	put_frame(&b, 100);
	assert_false(link_send(l, &b)); /* later */
	assert_in_range(link_unsent(l), 1, large);
	int conn = accept(fd, NULL, NULL);
	assert_int_not_equal(conn, -1);
	while (read_n < large) {
		ssize_t k = recv(conn, bytes, sizeof bytes, MSG_DONTWAIT);
		assert_true(k > 0 || errno == EAGAIN);
		read_n += k > 0 ? (size_t)k : 0;
		loop_turn(&f->lp, 0);
	}
	turn_until(f, &w->free, 1);
	assert_int_equal(link_unsent(l), 0);
	assert_true(link_send(l, &b));
	assert_int_equal(recv(conn, bytes, sizeof bytes, 0), FRAME_HEAD + 100);
	close(conn);
	turn_until(f, &w->broken, 1);
	close(fd);
	link_close(w);
	assert_int_equal(unlink(sa.sun_path), 0);
	buf_fini(&b);
	inbox_open(f);
	teardown(f);
}

/* A link with nothing under way tells at once, and one that is freed does not. */
static void
test_tell(void **state)
{
	(void)state;
	struct fixture *f = setup();
	struct buf b;
	buf_init(&b, 0);
	struct watched *w = open_link(f);
	assert_true(link_dial(w->link));
	link_tell(w->link);
	link_tell(w->link);
	assert_int_equal(w->free, 0); /* not from inside */
	turn_until(f, &w->free, 1);
	put_frame(&b, 10);
	link_tell(w->link);
	assert_true(link_send(w->link, &b));
	turn_until(f, &w->free, 2);
	link_tell(w->link);
	link_close(w);
	for (int i = 0; i < 5; i++)
		loop_turn(&f->lp, 0);
	buf_fini(&b);
	teardown(f);
}

/* Everything is closed in the middle of everything, again and again. */
static void
test_ends_in_the_traffic(void **state)
{
	(void)state;
	struct fixture *f = setup();
	struct buf b;
	unsigned seed = 5;
	buf_init(&b, 0);
	alarm(HANG_S);
	for (int round = 0; round < ROUNDS; round++) {
		struct watched *links[3];
		for (size_t i = 0; i < 3; i++) {
			links[i] = open_link(f);
			assert_true(link_dial(links[i]->link));
		}
		int turns = rand_r(&seed) % 20;
		for (int t = 0; t < turns; t++) {
			for (size_t i = 0; i < 3; i++) {
				buf_clear(&b);
				for (int k = 0; k < 20; k++)
					put_frame(&b, i == 0 && k == 0 ? 300000 : 1000);
				(void)link_send(links[i]->link, &b);
			}
			loop_turn(&f->lp, 0);
		}
		if (round % 2 == 0)
			inbox_close(f);
		for (size_t i = 0; i < 3; i++)
			link_close(links[i]);
		if (round % 2 == 0)
			inbox_open(f);
		buf_clear(&f->got);
	}
	alarm(0);
	buf_fini(&b);
	teardown(f);
}

int
main(void)
{
	UNIT_TABLE("pieces", piece_rows, test_pieces);
	UNIT_TABLE("no frame", bad_rows, test_no_frame);
	UNIT_CASE(test_late_loop);
	UNIT_CASE(test_closed_by_a_frame);
	UNIT_CASE(test_long_name);
	UNIT_CASE(test_strangers_that_go_at_once);
	UNIT_CASE(test_link);
	UNIT_CASE(test_busy_link);
	UNIT_CASE(test_tell);
	UNIT_CASE(test_ends_in_the_traffic);
	return unit_run("wire");
}
