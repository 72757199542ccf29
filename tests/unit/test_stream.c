/* core/model/stream and collect: attach, back-pressure, cancel, and collecting in memory, in a
 * spool file, up to a limit. */
#include "core/model/stream.h"

#include "core/base/assert.h"

#include "tests/lib/unit.h"

#undef fail /* cmocka takes the name of a sink's member */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- a producer that gives what the test says ---- */

struct producer {
	struct stream s;
	const char *at_attach; /* given from inside attach */
	bool end_at_attach;
	int attached, paused, resumed, cancelled;
};

static struct producer *
producer(struct stream *s)
{
	return CONTAINER_OF(s, struct producer, s);
}

static void
give(struct producer *p, const char *text)
{
	p->s.sink->data(p->s.sink, str_of(text), NULL);
}

static void
end(struct producer *p)
{
	struct stream_sink *sink = p->s.sink;
	sink->end(sink);
}

static void
on_attach(struct stream *s)
{
	struct producer *p = producer(s);

	p->attached++;
	if (p->at_attach != NULL)
		give(p, p->at_attach);
	if (p->end_at_attach && p->cancelled == 0)
		end(p);
}

static void
on_pause(struct stream *s)
{
	producer(s)->paused++;
}

static void
on_resume(struct stream *s)
{
	producer(s)->resumed++;
}

static void
on_cancel(struct stream *s)
{
	producer(s)->cancelled++;
}

static const struct stream_ops ops = {
	.attach = on_attach, .pause = on_pause, .resume = on_resume, .cancel = on_cancel
};

static struct producer
new_producer(int64_t length)
{
	return (struct producer){ .s = { .ops = &ops, .length = length } };
}

/* ---- what collect says ---- */

struct outcome {
	int calls;
	struct blob *blob;
	struct hinny_error err;
};

static void
on_done(void *arg, struct blob *blob, const struct hinny_error *err)
{
	struct outcome *o = arg;

	o->calls++;
	o->blob = blob;
	if (err != NULL)
		o->err = *err;
	assert_true((blob == NULL) == (err != NULL));
}

static const struct collect_limits limits = { .memory = 16, .max = 64, .spool_dir = -1 };

static void
assert_blob(struct outcome *o, const char *text)
{
	assert_int_equal(o->calls, 1);
	assert_non_null(o->blob);
	assert_int_equal(o->blob->size, strlen(text));
	assert_int_equal(o->blob->refs, 1);
	assert_memory_equal(o->blob->data, text, strlen(text));
	blob_put(o->blob);
}

static void
test_pause_is_told_once(void **state)
{
	struct producer p = new_producer(-1);
	struct stream_sink sink = { 0 };

	(void)state;
	stream_attach(&p.s, &sink);
	assert_int_equal(p.attached, 1);
	stream_pause(&p.s);
	stream_pause(&p.s);
	assert_int_equal(p.paused, 1);
	stream_resume(&p.s);
	stream_resume(&p.s);
	assert_int_equal(p.resumed, 1);
	stream_cancel(&p.s);
	assert_int_equal(p.cancelled, 1);
}

static const struct collect_row {
	const char *label;
	int64_t length;
	const char *pieces[8];
	const char *whole;
} collects[] = {
	{ "nothing", -1, { NULL }, "" },
	{ "nothing, known", 0, { NULL }, "" },
	{ "one piece", -1, { "abc", NULL }, "abc" },
	{ "one piece, known", 3, { "abc", NULL }, "abc" },
	{ "length that was wrong", 3, { "abcdef", NULL }, "abcdef" },
	{ "pieces in memory", -1, { "abc", "", "def", "ghi", NULL }, "abcdefghi" },
	{ "the whole memory", -1, { "0123456789", "abcdef", NULL }, "0123456789abcdef" },
	{ "one byte more", -1, { "0123456789", "abcdef", "!", NULL }, "0123456789abcdef!" },
	{ "spooled at once", -1, { "0123456789abcdefghij", NULL }, "0123456789abcdefghij" },
	{ "spooled, known", 40, { "0123456789", "0123456789", "0123456789", "0123456789", NULL },
	    "0123456789012345678901234567890123456789" },
	{ "the whole maximum", -1,
	    { "0123456789abcdef", "0123456789abcdef", "0123456789abcdef", "0123456789abcdef",
		NULL },
	    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" },
};

static void
collect_row(const struct collect_row *r, int spool_dir)
{
	struct producer p = new_producer(r->length);
	struct outcome o = { 0 };
	struct collect_limits l = limits;

	l.spool_dir = spool_dir;
	assert_non_null(collect_start(&p.s, &l, on_done, &o));
	for (int i = 0; r->pieces[i] != NULL; i++)
		give(&p, r->pieces[i]);
	assert_int_equal(o.calls, 0);
	end(&p);
	assert_blob(&o, r->whole);
	assert_int_equal(p.cancelled, 0);
}

static void
check_collect(void **state)
{
	collect_row(*state, -1);
}

static void
check_collect_in_folder(void **state)
{
	int dir = open("/tmp", O_DIRECTORY | O_CLOEXEC);
	assert_int_not_equal(dir, -1);
	collect_row(*state, dir);
	close(dir);
}

/* More than the first piece of memory. */
static void
test_growing_memory(void **state)
{
	static const struct collect_limits large = {
		.memory = 1 << 20, .max = 1 << 20, .spool_dir = -1
	};
	struct producer p = new_producer(-1);
	struct outcome o = { 0 };
	char piece[1001];

	(void)state;
	memset(piece, 'x', 1000);
	piece[1000] = '\0';
	assert_non_null(collect_start(&p.s, &large, on_done, &o));
	for (int i = 0; i < 100; i++)
		give(&p, piece);
	end(&p);
	assert_int_equal(o.blob->size, 100000);
	for (int i = 0; i < 100000; i++)
		assert_int_equal(o.blob->data[i], 'x');
	blob_put(o.blob);
}

/* The disk is full: a limit on the size of files says the same. */
static void
test_spool_fails(void **state)
{
	static const struct collect_limits large = {
		.memory = 10, .max = 1 << 20, .spool_dir = -1
	};
	struct producer p = new_producer(-1);
	struct outcome o = { 0 };
	struct rlimit old, few;
	char piece[1001];

	(void)state;
	memset(piece, 'x', 1000);
	piece[1000] = '\0';
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	few = (struct rlimit){ .rlim_cur = 1500, .rlim_max = old.rlim_max };
	assert_non_null(collect_start(&p.s, &large, on_done, &o));
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
	give(&p, piece);
	assert_int_equal(o.calls, 0);
	give(&p, piece);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(o.calls, 1);
	assert_int_equal(o.err.rc, HINNY_EIO);
	assert_non_null(strstr(o.err.text, "cannot write a body to its spool file: "));
	assert_int_equal(p.cancelled, 1);
}

static void
test_too_large(void **state)
{
	struct producer p = new_producer(-1);
	struct outcome o = { 0 };

	(void)state;
	assert_non_null(collect_start(&p.s, &limits, on_done, &o));
	for (int i = 0; i < 4; i++)
		give(&p, "0123456789abcdef");
	assert_int_equal(o.calls, 0);
	give(&p, "!");
	assert_int_equal(o.calls, 1);
	assert_int_equal(o.err.rc, HINNY_ELIMIT);
	assert_string_equal(o.err.text, "the body is larger than 64 bytes");
	assert_int_equal(p.cancelled, 1);
}

static void
test_too_large_by_length(void **state)
{
	struct producer p = new_producer(65);
	struct outcome o = { 0 };

	(void)state;
	assert_null(collect_start(&p.s, &limits, on_done, &o));
	assert_int_equal(o.calls, 1);
	assert_int_equal(o.err.rc, HINNY_ELIMIT);
	assert_int_equal(p.attached, 0);
	assert_int_equal(p.cancelled, 1);
}

static void
test_all_from_inside(void **state)
{
	struct producer p = new_producer(-1);
	struct outcome o = { 0 };

	(void)state;
	p.at_attach = "abc";
	p.end_at_attach = true;
	assert_null(collect_start(&p.s, &limits, on_done, &o));
	assert_blob(&o, "abc");
}

static void
test_too_large_from_inside(void **state)
{
	struct producer p = new_producer(-1);
	struct outcome o = { 0 };
	char large[80];

	(void)state;
	memset(large, 'x', sizeof large);
	large[sizeof large - 1] = '\0';
	p.at_attach = large;
	p.end_at_attach = true;
	assert_null(collect_start(&p.s, &limits, on_done, &o));
	assert_int_equal(o.err.rc, HINNY_ELIMIT);
	assert_int_equal(p.cancelled, 1);
}

static void
test_producer_fails(void **state)
{
	struct producer p = new_producer(-1);
	struct outcome o = { 0 };
	struct hinny_error err;

	(void)state;
	assert_non_null(collect_start(&p.s, &limits, on_done, &o));
	give(&p, "0123456789abcdefghij");
	(void)hinny_error_set(&err, HINNY_ECLOSED, "the client went away");
	p.s.sink->fail(p.s.sink, &err);
	assert_int_equal(o.calls, 1);
	assert_int_equal(o.err.rc, HINNY_ECLOSED);
	assert_string_equal(o.err.text, "the client went away");
	assert_int_equal(p.cancelled, 0);
}

static void
test_cancel(void **state)
{
	struct producer p = new_producer(-1);
	struct outcome o = { 0 };

	(void)state;
	struct collect *c = collect_start(&p.s, &limits, on_done, &o);
	give(&p, "0123456789abcdefghij");
	collect_cancel(c);
	assert_int_equal(o.calls, 0);
	assert_int_equal(p.cancelled, 1);
}

/* No descriptor is left behind, whatever happens. */
static void
test_descriptors(void **state)
{
	int before = dup(0), after;

	close(before);
	for (int i = 0; i < 3; i++) {
		test_producer_fails(state);
		test_cancel(state);
		test_too_large(state);
		collect_row(&collects[8], -1);
	}
	after = dup(0);
	close(after);
	assert_int_equal(before, after);
}

int
main(void)
{
	UNIT_CASE(test_pause_is_told_once);
	UNIT_TABLE("collect", collects, check_collect);
	UNIT_TABLE("collect in a folder", collects, check_collect_in_folder);
	UNIT_CASE(test_growing_memory);
	UNIT_CASE(test_spool_fails);
	UNIT_CASE(test_too_large);
	UNIT_CASE(test_too_large_by_length);
	UNIT_CASE(test_all_from_inside);
	UNIT_CASE(test_too_large_from_inside);
	UNIT_CASE(test_producer_fails);
	UNIT_CASE(test_cancel);
	UNIT_CASE(test_descriptors);
	return unit_run("stream");
}
