/* Inside of the worker skeleton. */
#ifndef HINNY_WORKERS_WORKER_PRIV_H
#define HINNY_WORKERS_WORKER_PRIV_H

#include "core/base/hash.h"
#include "core/config/config.h"
#include "core/ipc/channel.h"
#include "core/ipc/ipc.h"
#include "workers/worker.h"

enum worker_state {
	WORKER_STARTING, /* until READY */
	WORKER_READY,    /* waits for START */
	WORKER_SERVING,
	WORKER_DRAINING, /* no new work */
};

enum { WORKER_TRACES = 8 }; /* clients of hinny trace at a time: bits of exchange.traced */
enum { WORKER_TOD_MAX = 1000 }; /* endpoints made at run time that are kept */

struct worker_arguments {
	unsigned index, listeners;
	uint64_t incarnation, generation;
	bool check;
	bool evaluate; /* beside check: stay, and evaluate what the command asks for */
};

struct worker {
	const struct worker_kind *kind;
	struct worker_arguments args;
	enum worker_state state;
	struct loop lp;
	struct channel *control;
	struct bundle *bundle;
	struct program *program;
	struct page *page;
	struct engine engine;
	struct exchange_pool pool;
	struct ipc *ipc; /* NULL: the generation needs no calls */
	char run_dir[256];
	int lives; /* the lock file of the run folder, in which the byte of this incarnation is locked; -1 */
	void *data;
	void *slots[WORKER_SLOTS];
	struct trace *traces[WORKER_TRACES]; /* NULL: nobody there */
	unsigned traces_n;
	uint32_t inflight;
	uint32_t sends;       /* clients of hinny send, and of questions */
	bool exclusive_started;
	uint32_t sources_stopping; /* consumers whose stop takes its time */
	bool says_stopped;         /* SOURCES_STOPPED is said when they have */
	uint32_t drain_pings; /* since DRAIN: at the second all workers have got theirs */
	bool drain_final;     /* nobody follows: connections that wait are not handed over */
	struct monotime orphaned_at, orphan_quiet;
	uint64_t orphan_calls; /* served when it was last looked at */
	struct loop_timer orphan;
	bool states_ended;     /* without a supervisor: what they held goes on */
	struct states *states; /* NULL: the program has none */
	struct hash tod;      /* uri -> struct tod_endpoint */
	struct list tod_used; /* most recently used first */
};

/* bind.c: runtimes to endpoints and expressions. HINNY_EINVAL: refused, with all problems in ds. */
enum hinny_rc bind_program(struct worker *wk, struct diagnostics *ds);
bool bind_is_mine(const struct worker *wk, const char *owner); /* runs here what is owned so (NULL: by nobody)? */
const struct component_ops *bind_find_component(struct worker *wk, const struct component_desc *desc);

/* common.c */
extern const struct component_ops *const worker_common_components[];

/* consumers.c */
void consumers_start(struct worker *wk, bool exclusive);
void consumers_stop(struct worker *wk);
void endpoints_release(struct worker *wk);

/* engine_ops.c */
extern const struct engine_ops worker_engine_ops;
void tod_init(struct worker *wk);
void tod_fini(struct worker *wk);

/* main.c */
bool worker_lives(const struct worker *wk, uint64_t incarnation);

/* state.c: the nodes of state that this process owns, and operations of all others. */
struct states;
void states_open(struct worker *wk);
/* Nothing more comes from an older generation. */
void states_serve(struct worker *wk);
void states_close(struct worker *wk);
bool states_are_owned(const struct worker *wk);
uint32_t states_pending(const struct worker *wk); /* notes that wait for what comes from an older generation */
uint64_t states_held(const struct worker *wk);   /* groups, keys, messages in those that are served here */
void states_home_lost(struct worker *wk, uint64_t home);
/* Nothing is in flight any more that could add to them. True: somebody was told. */
bool states_end(struct worker *wk, bool final);
void states_ask(struct engine *en, struct exchange *ex, struct state_node *node, unsigned op, const struct value *arg);
void states_note(struct engine *en, struct exchange *ex, struct state_node *node, unsigned op, const struct value *arg);
void states_done(void *owner, struct exchange *ex, struct value v, struct exception *exception);
void states_served(void *owner, struct ipc_served *sc, struct exchange *ex, const struct ipc_operation *op);

/* state_handover.c: a newer generation takes over. */
/* All of it goes into a file, which the supervisor gets. `nodes`: those that the newer generation has. */
void states_save(struct worker *wk, uint64_t generation, struct str nodes);
void states_load(struct worker *wk, int fd, uint64_t bytes);

/* served.c */
enum hinny_rc worker_ipc_open(struct worker *wk, struct hinny_error *err);

/* control.c */
enum hinny_rc control_open(struct worker *wk, struct hinny_error *err);
void control_say_refused(struct worker *wk, const char *text, size_t problems);
/* evaluate.c: EVALUATE_ONE of hinny eval */
void evaluate_one(struct worker *wk, const struct control_message *m);
void control_say_ready(struct worker *wk);
void control_say_state_saved(struct worker *wk, int fd, uint64_t bytes, uint64_t records, uint64_t lost);
void control_say_stopped(struct worker *wk); /* once the sources have */
void control_say_poison(struct worker *wk, uint64_t key);

/* send.c: an exchange that comes from `hinny send`; owns fd. */
void send_start(struct worker *wk, struct str endpoint, struct str headers, int fd);

/* reply.c: writes the bytes to a client's socket, which is closed then; owns fd, takes the bytes. */
void reply_start(struct worker *wk, int fd, struct buf *bytes);

/* trace.c: tells a client what exchanges do; owns fd. What is traced has a bit in ex->traced. */
void trace_start(struct worker *wk, const struct control_trace *wanted, int fd);
void trace_begin(struct worker *wk, struct exchange *ex);
void trace_step(struct engine *en, struct exchange *ex, const struct step *st);
void trace_done(struct worker *wk, struct exchange *ex);
void trace_fini(struct worker *wk);

/* The last step of the call that begins with st. */
static inline const struct step *
worker_call_last(const struct step *st)
{
	const struct step *last = st;
	for (uint32_t i = 1; i < st->call_run; i++)
		last = last->next;
	return last;
}

#endif
