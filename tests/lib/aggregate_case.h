/*
 * A route with one aggregate, on the fake engine. What its completed groups were is kept as text.
 *
 * A case sets options between ag_build and ag_begin. One runs at a time: its state is `ag`.
 */
#ifndef HINNY_TESTS_LIB_AGGREGATE_CASE_H
#define HINNY_TESTS_LIB_AGGREGATE_CASE_H

#include "core/eip/aggregate_state.h"
#include "tests/lib/engine_fake.h"
#include "tests/lib/unit.h"

struct aggregate_case {
	struct build b;
	struct fake f;
	struct state_node node, *nodes[1];
	struct step *st;
	struct aggregate_conf *conf;
	struct route *route;
	char ran[65536]; /* "BODY/SIZE/BY/KEY/TIMEOUT " of each completed group */
};
extern struct aggregate_case ag;

/* A message is "k" and more: k is its key, "" and " …" have none. The strategy joins texts. */
void ag_build(void);
void ag_begin(void);
void ag_setup(void); /* both */
/* No exchange is left and nothing waits. */
void ag_end(void);

/* One message, until it is done. */
void ag_send(const char *text);
/* Lets timers go off. */
void ag_advance(int64_t ms);
/* Messages with blanks between them; "+N": N ms go by; "!": the broker ends. */
void ag_play(const char *script);

/* The step of the block that writes into ag.ran. */
build_run_fn ag_note;
/* The text of a property, or "-". */
struct str ag_property(struct exchange *ex, const char *name);
/* A strategy; with String, what stands between texts. */
const struct bean *ag_bean(const struct bean_class *class, const char *delimiter);

/* Options. */
void ag_by_size2(void);
void ag_by_size3(void);
void ag_by_timeout(void);      /* 100 ms, looked at each 10 */
void ag_by_timeout_grid(void); /* 100 ms, looked at each 1000 */
void ag_by_interval(void);     /* 500 ms */
/* The strategies, two messages a group. */
void ag_joined(void);
void ag_latest(void);
void ag_original(void);
void ag_bodies(void);
void ag_messages(void);

#endif
