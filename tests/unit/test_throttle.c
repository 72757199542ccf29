/* core/eip/throttle, core/eip/sample: how many messages go on, and when. */
#include "core/eip/throttle.h"

#include "tests/lib/engine_case.h"

#include <stdlib.h>

extern const struct eip_desc throttle_eip, sample_eip;

static struct build b;
static struct fake f;

static void
test_throttle(void **state)
{
	(void)state;
	case_begin_shared(&f, &b);
	struct step *st = build_step(&b, &throttle_eip);
	struct throttle_conf *conf = st->conf;
	case_share(&f, st, throttle_times_layout(2, false, &conf->layout));
	st->expr = build_const(&b, "2");
	conf->period_ms = 300;
	struct route *r = build_route(&b, "r", st, build_append(&b, "."), NULL);
	f.wakes = false;
	f.now_ms = 1000;
	case_run(&f, r, "x");
	f.now_ms = 1100;
	case_run(&f, r, "x");
	assert_int_equal(f.waits_n, 0);
	case_run(&f, r, "x");
	case_run(&f, r, "x");
	case_run(&f, r, "x");
	assert_int_equal(f.waits_n, 3);
	assert_int_equal(f.waits[0], 200); /* at 1300, 1400, 1600 */
	assert_int_equal(f.waits[1], 300);
	assert_int_equal(f.waits[2], 500);
	conf->rejects = true;
	case_run(&f, r, "x");
	assert_string_equal(f.exception,
	    "ThrottlerRejectedExecutionException: Exceeded the max throttle rate of 2 within "
	    "300ms");
	f.now_ms = 1900;
	case_run(&f, r, "x");
	assert_string_equal(f.body, "x.");
	st->expr = build_const(&b, "x");
	case_run(&f, r, "x");
	assert_true(f.failed);
	case_end(&f);
}

/* Keys have limits of their own; a place is given away when its key limits nobody. */
static void
test_throttle_keys(void **state)
{
	struct throttle_layout layout;
	(void)state;
	struct throttle_state *ts = calloc(1, throttle_times_layout(1, true, &layout));
	assert_non_null(ts);
	assert_int_equal(layout.keys, THROTTLE_KEYS);
	uint64_t a = throttle_hash(STR_LIT("a")), other = throttle_hash(STR_LIT("b"));
	assert_int_not_equal(a, other);
	assert_int_equal(throttle_reserve(ts, &layout, a, 1, 100, false, 1000), 0);
	assert_int_equal(throttle_reserve(ts, &layout, other, 1, 100, false, 1000), 0);
	assert_int_equal(throttle_reserve(ts, &layout, a, 1, 100, false, 1040), 60);
	assert_int_equal(
	    throttle_reserve(ts, &layout, other, 1, 100, true, 1050), THROTTLE_REJECTED);
	/* keys that share a place */
	for (uint64_t i = 0; i < THROTTLE_PROBES; i++)
		assert_int_equal(
		    throttle_reserve(ts, &layout, 7 + i * layout.keys, 1, 100, false, 2000), 0);
	uint64_t one_more = 7 + (uint64_t)THROTTLE_PROBES * layout.keys;
	assert_int_equal(
	    throttle_reserve(ts, &layout, one_more, 1, 100, false, 2050), THROTTLE_FULL);
	assert_int_equal(throttle_reserve(ts, &layout, one_more, 1, 100, false, 2100), 0);
	/* large limits leave room for fewer keys */
	assert_true(throttle_times_layout(THROTTLE_MAX, true, &layout) <= THROTTLE_BYTES + 64);
	assert_true(layout.keys > 10);
	free(ts);
}

static void
test_permits(void **state)
{
	struct throttle_layout layout;
	(void)state;
	struct throttle_state *ts = calloc(1, throttle_permits_layout(true, &layout));
	assert_non_null(ts);
	assert_int_equal(throttle_acquire(ts, &layout, 5, 2), 0);
	assert_int_equal(throttle_acquire(ts, &layout, 5, 2), 0);
	assert_int_equal(throttle_acquire(ts, &layout, 5, 2), THROTTLE_REJECTED);
	assert_int_equal(throttle_acquire(ts, &layout, 6, 2), 0);
	throttle_release(ts, &layout, 5);
	assert_int_equal(throttle_acquire(ts, &layout, 5, 2), 0);
	/* those of a process that is gone are taken back */
	struct throttle_permits *tp = (struct throttle_permits *)(ts->keys + 5 * layout.stride);
	assert_int_equal(tp->key, 5);
	assert_int_equal(tp->holders[0].n, 2);
	tp->holders[0].pid = INT32_MAX;
	assert_int_equal(throttle_acquire(ts, &layout, 5, 2), 0);
	free(ts);
}

static void
test_throttle_concurrent(void **state)
{
	(void)state;
	case_begin_shared(&f, &b);
	struct step *st = build_step(&b, &throttle_eip);
	struct throttle_conf *conf = st->conf;
	conf->mode = 1;
	case_share(&f, st, throttle_permits_layout(false, &conf->layout));
	st->expr = build_const(&b, "1");
	struct endpoint *ep = build_endpoint(&b, "fake:x", COMPONENT_PRODUCER);
	struct route *r = build_route(&b, "r", st, build_to(&b, ep), build_append(&b, "."), NULL);
	f.send_mode = FAKE_LATER;
	(void)fake_start(&f, r, "1"); /* sends */
	(void)fake_start(&f, r, "2"); /* waits */
	struct exchange *third = fake_start(&f, r, "3");
	assert_int_equal(f.done, 0);
	assert_int_equal(f.sends, 1);
	engine_abort(third, EXCEPTION_REJECTED_EXECUTION, "stop");
	assert_int_equal(f.done, 1);
	fake_answer(&f, NULL); /* the first is done: the second is let in */
	assert_int_equal(f.done, 2);
	assert_string_equal(f.body, "1S.");
	assert_int_equal(f.sends, 2);
	conf->rejects = true;
	(void)fake_start(&f, r, "4");
	assert_string_equal(f.exception,
	    "ThrottlerRejectedExecutionException: Exceeded the max throttle rate of 1");
	while (f.done < 4)
		fake_answer(&f, NULL);
	assert_string_equal(f.body, "2S.");
	conf->rejects = false;
	f.send_mode = FAKE_NOW;
	case_run(&f, r, "5");
	assert_string_equal(f.body, "5S.");
	while (f.queue_n > 0) /* a timer that looks at who waits */
		fake_answer(&f, NULL);
	case_end(&f);
}

static void
test_sample(void **state)
{
	char got[16] = "";
	(void)state;
	case_begin_shared(&f, &b);
	struct step *st = case_share(&f, build_step(&b, &sample_eip), 64);
	struct sample_conf *conf = st->conf;
	struct route *r = build_route(&b, "r", st, build_set_body(&b, "y"), NULL);
	conf->frequency = 3;
	for (int i = 0; i < 6; i++) {
		case_run(&f, r, "x");
		strcat(got, f.body);
	}
	assert_string_equal(got, "xxyxxy");
	conf->frequency = 0;
	conf->period_ms = 100;
	f.now_ms = 5000;
	case_run(&f, r, "x");
	assert_string_equal(f.body, "y");
	f.now_ms = 5099;
	case_run(&f, r, "x");
	assert_string_equal(f.body, "x");
	f.now_ms = 5100;
	case_run(&f, r, "x");
	assert_string_equal(f.body, "y");
	case_end(&f);
}

int
main(void)
{
	UNIT_CASE(test_throttle);
	UNIT_CASE(test_throttle_keys);
	UNIT_CASE(test_permits);
	UNIT_CASE(test_throttle_concurrent);
	UNIT_CASE(test_sample);
	return unit_run("throttle");
}
