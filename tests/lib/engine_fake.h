/*
 * The engine over ops that tests steer: each answers at once, later (fake_answer) or fails, as
 * struct fake says. Remote expressions are answered by the test.
 */
#ifndef HINNY_TESTS_LIB_ENGINE_FAKE_H
#define HINNY_TESTS_LIB_ENGINE_FAKE_H

#include "core/model/stream.h"
#include "tests/lib/program_build.h"

enum { FAKE_SEEN_MAX = 8 };
enum fake_mode { FAKE_NOW, FAKE_LATER, FAKE_FAIL };
enum fake_pending {
	PENDING_NOTHING,
	PENDING_CALL,
	PENDING_EVALUATE,
	PENDING_SEND,
	PENDING_WAIT,
	PENDING_TIMER,
	PENDING_STATE
};
enum { FAKE_PENDING_MAX = 256 };

/* What an exchange (or, a timer: something else) waits for. */
struct fake_asked {
	enum fake_pending kind;
	struct exchange *ex;
	const struct step *called;
	struct expression *const *asked;
	uint32_t asked_n;
	bool first_match;
	int64_t ms;
	struct engine_timer *timer;
	struct state_node *node;
	unsigned op;
	struct value arg;
};

struct fake {
	struct engine en;
	struct exchange_pool pool;
	struct build *b;
	enum fake_mode call_mode, evaluate_mode, send_mode, collect_mode, state_mode;
	const struct step *call_failed; /* FAKE_FAIL: the step named */
	int calls, evaluates, sends, collects, done, redelivered;
	int states, notes; /* operations of states that are open and not served */
	int64_t waits[64];
	int waits_n;
	bool wakes;                /* waits end at once */
	enum fake_pending pending; /* what fake_answer() answers */
	struct fake_asked queue[FAKE_PENDING_MAX];
	int queue_n;
	int64_t now_ms;
	void *shared; /* as large as the program wants it */
	uint32_t shared_used; /* case_share */
	char noted[256]; /* case_note */
	const struct step *called;
	bool local;       /* steps with an owner run here */
	uint32_t asked_n; /* of the last evaluate */
	bool asked_first_match;
	struct expression *const *asked;
	/* answers to evaluate by the text of the expression: "NAME=VALUE" lines; VALUE "!x" is an
	 * exception, "true"/"false" are Booleans */
	const char *answers;
	char log[8192];
	/* of the exchange that was done last */
	char body[8192];
	char exception[1024]; /* "Class: message", or "" */
	bool failed;
	/* fake_watch */
	const char *const *headers, *const *properties;
	char seen[FAKE_SEEN_MAX * 2][256];
};

void fake_init(struct fake *f, struct build *b);
void fake_fini(struct fake *f);
/* A new exchange with this text as body (NULL: null); it is freed when it is done, what it was then
 * stands in f. */
struct exchange *fake_exchange(struct fake *f, const char *body);
/* fake_exchange and engine_start. */
struct exchange *fake_start(struct fake *f, const struct route *route, const char *body);
/* Answers what an op in FAKE_LATER mode was asked; without f.answers the text of an expression is
 * the answer, and a call fails at a step whose expression is "!". */
void fake_answer_evaluate(struct fake *f, struct exchange *ex);
/* The oldest thing that was asked, whichever exchange asked; timers that are not due at once come
 * last. `ex` is only for the reader. */
void fake_answer(struct fake *f, struct exchange *ex);
/* A header of the last done exchange, remembered by name: "" when absent. Call fake_watch before it
 * is done. */
void fake_watch(struct fake *f, const char *const *headers, const char *const *properties);
const char *fake_seen(const struct fake *f, const char *name);

/* A body that streams; counts what happens to it. */
struct fake_stream {
	struct stream stream;
	int cancelled;
};
void fake_stream_init(struct fake_stream *fs);

#endif
