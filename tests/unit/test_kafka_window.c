/* transports/kafka/kafka_window: which records may go on, and what may be committed. */
#include "transports/kafka/kafka_window.h"

#include "core/base/mem.h"
#include "tests/lib/unit.h"

#include <stdlib.h>
#include <string.h>

enum { T = 1, U = 2 }; /* topics */

static struct kafka_slot *
add(struct kafka_window *w, int64_t offset, const char *key)
{
	return kafka_window_add(w, offset, key, key != NULL ? strlen(key) : 0);
}

static void
test_commit_in_order(void **state)
{
	(void)state;
	struct kafka_window w;
	kafka_window_init(&w, 3, 0);
	struct kafka_slot *a = add(&w, 10, "a"), *b = add(&w, 11, "b"), *c = add(&w, 15, NULL);
	assert_true(kafka_window_full(&w));
	assert_int_equal(w.next, -1);
	kafka_window_done(&w, b, true);
	assert_int_equal(w.next, -1);
	assert_int_equal(kafka_window_count(&w), 3);
	kafka_window_done(&w, a, true);
	assert_int_equal(w.next, 12); /* both */
	assert_int_equal(kafka_window_count(&w), 1);
	struct kafka_slot *d = add(&w, 16, "a");
	kafka_window_done(&w, d, true);
	assert_int_equal(w.next, 12);
	kafka_window_done(&w, c, true);
	assert_int_equal(w.next, 17);
	assert_int_equal(kafka_window_count(&w), 0);
	kafka_window_fini(&w);
}

static void
test_failed_records_are_told_apart(void **state)
{
	(void)state;
	struct kafka_window w;
	kafka_window_init(&w, 4, 0);
	kafka_window_done(&w, add(&w, 1, NULL), true);
	kafka_window_done(&w, add(&w, 2, NULL), false);
	assert_int_equal(w.next, 3);
	assert_int_equal(w.next_good, 2);
	kafka_window_done(&w, add(&w, 3, NULL), true);
	assert_int_equal(w.next_good, 4);
	kafka_window_fini(&w);
}

static void
test_same_key_waits(void **state)
{
	(void)state;
	struct kafka_window w;
	struct kafka_waiter wait_b, wait_c, none;
	kafka_window_init(&w, 8, 0);
	struct kafka_slot *a = add(&w, 0, "k"), *b = add(&w, 1, "k"), *c = add(&w, 2, "k"),
			  *other = add(&w, 3, "x");
	assert_true(kafka_window_may(&w, a, 0, 0, true, &none));
	assert_true(kafka_window_may(&w, other, 0, 0, true, &none));
	assert_false(kafka_window_may(&w, c, 0, 0, true, &wait_c));
	assert_false(kafka_window_may(&w, b, 0, 0, true, &wait_b));
	kafka_window_done(&w, other, true);
	assert_null(kafka_window_woken(&w));
	kafka_window_done(&w, a, true);
	assert_ptr_equal(kafka_window_woken(&w), &wait_b);
	assert_null(kafka_window_woken(&w));
	assert_true(kafka_window_may(&w, b, 0, 0, true, &wait_b));
	kafka_window_done(&w, b, false);
	assert_ptr_equal(kafka_window_woken(&w), &wait_c);
	assert_true(kafka_window_may(&w, c, 0, 0, true, &wait_c));
	kafka_window_done(&w, c, true);
	assert_int_equal(w.next, 4);
	kafka_window_fini(&w);
}

/* One in the middle that has no effect does not let the next one pass. */
static void
test_done_in_between(void **state)
{
	(void)state;
	struct kafka_window w;
	struct kafka_waiter wait;
	kafka_window_init(&w, 8, 0);
	struct kafka_slot *a = add(&w, 0, "k"), *b = add(&w, 1, "k"), *c = add(&w, 2, "k");
	kafka_window_done(&w, b, true);
	assert_false(kafka_window_may(&w, c, 0, 0, true, &wait));
	kafka_window_done(&w, a, true);
	assert_ptr_equal(kafka_window_woken(&w), &wait);
	assert_true(kafka_window_may(&w, c, 0, 0, true, &wait));
	kafka_window_done(&w, c, true);
	kafka_window_fini(&w);
}

static void
test_without_a_key(void **state)
{
	(void)state;
	struct kafka_window w;
	struct kafka_waiter wait, none;
	kafka_window_init(&w, 8, 0);
	struct kafka_slot *a = add(&w, 0, "k"), *b = add(&w, 1, NULL), *c = add(&w, 2, "");
	assert_false(kafka_window_may(&w, b, 0, 0, true, &wait));
	assert_true(kafka_window_may(&w, c, 0, 0, true, &none)); /* an empty key is a key */
	kafka_window_done(&w, a, true);
	assert_ptr_equal(kafka_window_woken(&w), &wait);
	assert_true(kafka_window_may(&w, b, 0, 0, true, &wait));
	kafka_window_done(&w, b, true);
	kafka_window_done(&w, c, true);
	kafka_window_fini(&w);
}

/* Nobody overtakes on the way to a topic; behind its last send a record holds up nobody. */
static void
test_topics(void **state)
{
	(void)state;
	struct kafka_window w;
	struct kafka_waiter wait_b, wait_c, none;
	kafka_window_init(&w, 4, T | U);
	struct kafka_slot *a = add(&w, 0, "a"), *b = add(&w, 1, "b"), *c = add(&w, 2, NULL);
	assert_false(kafka_window_may(&w, b, T, U, false, &wait_b)); /* a has not been there */
	assert_true(kafka_window_may(&w, a, T, U, false, &none));
	kafka_window_ran(&w, a, U);
	assert_ptr_equal(kafka_window_woken(&w), &wait_b);
	assert_true(kafka_window_may(&w, b, T, U, false, &wait_b));
	assert_false(kafka_window_may(&w, c, T, U, false, &wait_c));
	kafka_window_ran(&w, b, U);
	assert_ptr_equal(kafka_window_woken(&w), &wait_c);
	assert_true(kafka_window_may(&w, c, T, U, false, &wait_c));
	kafka_window_ran(&w, c, U);
	assert_false(kafka_window_may(&w, b, U, 0, false, &wait_b));
	kafka_window_done(&w, a, true); /* filtered: it never sends to U */
	assert_ptr_equal(kafka_window_woken(&w), &wait_b);
	assert_true(kafka_window_may(&w, b, U, 0, false, &wait_b));
	kafka_window_ran(&w, b, 0);
	assert_true(kafka_window_may(&w, c, U, 0, false, &none));
	kafka_window_ran(&w, c, 0);
	kafka_window_done(&w, c, true);
	kafka_window_done(&w, b, true);
	assert_int_equal(w.next, 3);
	kafka_window_fini(&w);
}

/* One that goes another way lets the others pass when it comes to its next effect. */
static void
test_another_way(void **state)
{
	(void)state;
	struct kafka_window w;
	struct kafka_waiter wait, none;
	kafka_window_init(&w, 4, T | U);
	struct kafka_slot *a = add(&w, 0, "a"), *b = add(&w, 1, "b");
	assert_false(kafka_window_may(&w, b, T, 0, false, &wait));
	assert_true(kafka_window_may(&w, a, U, 0, false, &none));
	assert_ptr_equal(kafka_window_woken(&w), &wait);
	kafka_window_done(&w, a, true);
	kafka_window_done(&w, b, true);
	kafka_window_fini(&w);
}

/* Against a plain model: random arrivals, waits and ends; nothing is lost, nobody overtakes. */
enum { MODEL_RECORDS = 20000, MODEL_CAP = 16, MODEL_KEYS = 5 };

struct record {
	struct kafka_waiter wait;
	struct kafka_slot *slot;
	int key, stage; /* 0: before T, 1: before an effect, 2: runs it, 3: done */
	bool waits;
};

struct model {
	struct kafka_window w;
	struct record *records;
	int first, n, last_t, last_of[MODEL_KEYS];
};

static void
try(struct model *m, int i)
{
	struct record *r = &m->records[i];
	r->waits =
	    !kafka_window_may(&m->w, r->slot, r->stage == 0 ? T : 0, 0, r->stage == 1, &r->wait);
	if (r->waits)
		return;
	if (r->stage == 0) {
		assert_int_equal(m->last_t, i - 1); /* all, in order */
		m->last_t = i;
	} else {
		int before = r->key == 0 ? i - 1 : m->last_of[r->key];
		assert_true(before < 0 || m->records[before].stage == 3);
		m->last_of[r->key] = i;
	}
	kafka_window_ran(&m->w, r->slot, 0);
	r->stage++;
}

static void
drain(struct model *m)
{
	struct kafka_waiter *waiter;
	while ((waiter = kafka_window_woken(&m->w)) != NULL)
		try(m, (int)(CONTAINER_OF(waiter, struct record, wait) - m->records));
}

static void
test_model(void **state)
{
	(void)state;
	static const char keys[MODEL_KEYS][2] = { "-", "a", "b", "c", "d" };
	struct model m = { .last_t = -1, .last_of = { -1, -1, -1, -1, -1 } };
	unsigned long steps = 0;
	m.records = mem_zalloc(MODEL_RECORDS * sizeof(struct record));
	kafka_window_init(&m.w, MODEL_CAP, T);
	srand(7);
	while (m.first < MODEL_RECORDS) {
		assert_true(++steps < 10000000);
		if (m.n < MODEL_RECORDS && !kafka_window_full(&m.w) && rand() % 3 == 0) {
			struct record *r = &m.records[m.n];
			r->key = rand() % MODEL_KEYS;
			r->slot = add(&m.w, m.n, r->key == 0 ? NULL : keys[r->key]);
			m.n++;
		}
		if (m.first == m.n)
			continue;
		int i = m.first + rand() % (m.n - m.first);
		struct record *r = &m.records[i];
		if (r->stage < 2 && !r->waits) {
			try(&m, i);
		} else if (r->stage == 2) {
			r->stage = 3;
			kafka_window_done(&m.w, r->slot, true);
		}
		drain(&m);
		while (m.first < m.n && m.records[m.first].stage == 3)
			m.first++;
		assert_int_equal(m.w.next, m.first == 0 ? -1 : m.first);
	}
	assert_int_equal(kafka_window_count(&m.w), 0);
	kafka_window_fini(&m.w);
	free(m.records);
}

/* What was no record is passed over when all that was begun is done. */
static void
test_skip(void **state)
{
	struct kafka_window w;
	(void)state;

	kafka_window_init(&w, 4, 0);
	struct kafka_slot *slot = kafka_window_add(&w, 5, NULL, 0);
	kafka_window_skip(&w, 9);
	assert_int_equal(w.next, -1);
	kafka_window_done(&w, slot, true);
	assert_int_equal(w.next, 6);
	kafka_window_skip(&w, 9);
	assert_int_equal(w.next, 9);
	assert_int_equal(w.next_good, 9);
	kafka_window_skip(&w, 7);
	assert_int_equal(w.next, 9);
	slot = kafka_window_add(&w, 9, NULL, 0);
	kafka_window_done(&w, slot, false);
	kafka_window_skip(&w, 12);
	assert_int_equal(w.next, 12);
	assert_int_equal(w.next_good, 9); /* the failed one stays uncommitted where it counts */
	kafka_window_fini(&w);
}

int
main(void)
{
	UNIT_CASE(test_commit_in_order);
	UNIT_CASE(test_failed_records_are_told_apart);
	UNIT_CASE(test_same_key_waits);
	UNIT_CASE(test_done_in_between);
	UNIT_CASE(test_without_a_key);
	UNIT_CASE(test_topics);
	UNIT_CASE(test_another_way);
	UNIT_CASE(test_skip);
	UNIT_CASE(test_model);
	return unit_run("kafka window");
}
