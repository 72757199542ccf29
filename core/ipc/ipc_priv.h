/* Inside of core/ipc: peers, calls in flight, calls being served, bodies in chunks. */
#ifndef HINNY_IPC_IPC_PRIV_H
#define HINNY_IPC_IPC_PRIV_H

#include "core/base/buf.h"
#include "core/ipc/ipc.h"
#include "core/ipc/wire.h"
#include "core/model/frame.h"
#include "core/model/stream.h"

enum {
	IPC_BUCKETS = 1024,         /* a power of 2 */
	IPC_DEAD = 64,              /* last dead incarnations that are remembered */
	IPC_KINDS = 64,             /* bits of program.kinds */
	IPC_CHUNK = 64 << 10,
	IPC_CREDIT = 4,             /* chunks that may be outstanding */
	IPC_TICK_MS = 50,           /* how exactly deadlines are kept */
	IPC_LINGER_NS = 500000,     /* a reply does not wait longer for company when the next call is long */
	IPC_SERVE_BURST = 64,       /* calls served before the loop looks at its other work */
	IPC_PATH_MAX = 256,
	IPC_REDIAL_MS = 2, IPC_REDIAL_MAX_MS = 50,
	IPC_BROKEN_MS = 100, /* so long a death may take to be announced */
};

/* A process that this one sends to. */
struct ipc_peer {
	struct list node; /* of ipc.peers */
	struct ipc *ipc;
	int kind;
	uint32_t index;
	uint64_t incarnation;
	bool announced;         /* by the supervisor, so it may be called; else only replied to */
	struct link *link;
	bool dialled;
	bool broken;             /* it has been: nothing new is sent before it is dialled again */
	struct buf out;          /* frames of this turn, and those that cannot leave yet */
	struct loop_defer flush;
	struct monotime since;   /* first frame in `out` */
	struct list calls;       /* struct ipc_call: outstanding here */
	uint32_t calls_n;
};

/* A body that leaves in chunks. */
struct ipc_sender {
	struct list node;        /* of ipc.senders */
	struct ipc *ipc;
	uint64_t call_id;
	uint64_t to;             /* incarnation of the receiver */
	struct str rest;
	uint32_t credit;
	void (*finished)(struct ipc_sender *s); /* END has been queued, or it was dropped */
	void *owner;
};

/* A body that arrives in chunks: a stream's producer. */
struct ipc_receiver {
	struct list node;        /* of ipc.receivers */
	struct stream stream;
	struct ipc *ipc;
	uint64_t call_id;
	uint64_t from;
	struct list queued;      /* struct ipc_chunk: arrived, not yet taken */
	uint64_t expected, got;
	bool ended, failed;
	struct hinny_error error;
	void (*gone)(struct ipc_receiver *r); /* ended, failed or cancelled: the owner forgets it; it frees itself */
	void *owner;
	bool delivering, dead;
};

enum ipc_call_state { CALL_WAITING, CALL_SENT, CALL_REPLYING };

/* Home side. */
struct ipc_call {
	struct list node;        /* of a peer's calls or of ipc.waiting[kind] */
	struct list age;         /* of ipc.by_age */
	struct list bucket;      /* of ipc.by_id, while it is sent */
	struct ipc *ipc;
	struct exchange *ex;
	uint64_t id;
	int kind;
	enum ipc_call_state state;
	struct ipc_peer *peer;
	struct monotime deadline;
	uint32_t tries;
	bool sent_once;
	bool stream;
	/* a run of steps … */
	const struct step *first;
	uint32_t n;
	/* … or expressions */
	struct expression **exprs;
	uint32_t exprs_n;
	bool first_match;
	/* … or an operation of a state */
	const struct state_node *state_node;
	unsigned op;
	struct value arg;
	uint64_t generation;         /* of its owner; 0: this one */
	bool note;                   /* nobody waits, and the exchange is its own */
	struct ipc_sender sender;
	bool sending;
	struct ipc_receiver *receiver;
	struct collect *collect;
	struct frame_body reply_body; /* what is said of a body that comes in chunks */
	const struct step *failed;   /* reply: failed step */
	ipc_item_fn *item;
	void *item_arg;
	uint64_t item_seq;
	uint32_t items_owed;         /* credit not yet given back, while paused */
	bool items_paused;
};

enum ipc_served_state { SERVED_BODY, SERVED_READY, SERVED_RUNNING, SERVED_REPLYING };

struct ipc_pending_item {
	struct list node;
	struct value value;
};

/* Callee side. */
struct ipc_served {
	struct list node;        /* of ipc.served_ready or ipc.served_all */
	struct ipc *ipc;
	struct exchange *ex;
	uint64_t id, home;       /* call id; the caller's incarnation */
	int home_kind;
	uint32_t home_index;
	enum ipc_served_state state;
	struct monotime deadline;
	bool evaluate, first_match, aborted;
	bool is_state;
	struct ipc_operation operation;
	const struct step *first;
	uint32_t n;
	struct expression **exprs;
	uint32_t exprs_n;
	struct ipc_receiver *receiver;
	struct collect *collect;
	struct frame_body body;
	struct ipc_sender sender;
	bool sending;
	uint64_t item_seq;
	uint32_t item_credit;
	struct list items;       /* struct ipc_pending_item */
	uint32_t items_n;
	ipc_items_more_fn *more;
	void *more_arg;
};

/* The owner of states in a newer generation. It is dialled when there is something for it. */
struct ipc_successor {
	struct list node; /* of ipc.successors */
	int kind;
	uint64_t incarnation, generation;
};

struct ipc_poison {
	uint64_t key; /* of step and body; 0: free */
	uint32_t kills;
	struct monotime at;
};
enum { IPC_POISON_SLOTS = 64 };

struct ipc {
	struct ipc_options opt;
	char *run_dir;
	struct intake *intake;
	struct loop_timer redial;
	int64_t redial_ms;
	struct list peers;
	struct list waiting[IPC_KINDS]; /* struct ipc_call without a peer */
	struct list waiting_states[IPC_KINDS]; /* the same of operations of states */
	struct list waiting_successors; /* of those for newer generations */
	struct list successors;
	bool kind_lost[IPC_KINDS];      /* nobody will ever serve its states */
	struct list by_age;             /* struct ipc_call, oldest first */
	struct list by_id[IPC_BUCKETS]; /* struct ipc_call, sent */
	struct list senders;
	struct list receivers;
	struct list served_ready;
	struct list served_all;         /* all others being served */
	uint32_t running, served_n, calls_n;
	uint64_t next_call;
	struct loop_timer tick;
	struct loop_timer again;        /* served calls that are left for the next turn */
	struct ipc_poison poison[IPC_POISON_SLOTS];
	struct list completions;        /* calls settled inside ipc_call: told at the end of the turn */
	struct loop_defer complete;
	uint64_t dead[IPC_DEAD];        /* a call from one of them has nobody to reply to */
	uint32_t dead_at;
	uint32_t poisons;               /* kills noted so far: nothing to look up while 0 */
	bool serving;                   /* serve_run is on the stack */
	bool closing;
};

/* inbox.c */
/* IPC_PATH_MAX bytes: the socket of a worker's inbox. */
void ipc_inbox_path(const struct ipc *ipc, int kind, uint32_t index, uint64_t incarnation, char *path);

/* peer.c */
bool peer_is_dead(const struct ipc *ipc, uint64_t incarnation);
struct ipc_peer *peer_find(struct ipc *ipc, uint64_t incarnation);
struct ipc_peer *peer_open(struct ipc *ipc, int kind, uint32_t index, uint64_t incarnation); /* NULL: cannot be made, logged */
void peer_close(struct ipc_peer **peer);
struct buf *peer_out(struct ipc_peer *peer); /* append frames here; they leave at the end of the turn */
void peer_flush(struct ipc_peer *peer);
void peer_flush_old(struct ipc *ipc); /* those whose first frame has waited for IPC_LINGER_NS */
size_t peer_queued(const struct ipc_peer *peer);
struct ipc_peer *peer_choose(struct ipc *ipc, int kind); /* least calls outstanding, with room; NULL */
bool peer_has_room(struct ipc_peer *peer); /* when false: call_dispatch comes when there may be some */
void ipc_redial(struct loop_timer *t);

/* chunk.c */
void sender_start(struct ipc_sender *s, struct ipc *ipc, uint64_t call_id, uint64_t to, struct str bytes);
void sender_drop(struct ipc_sender *s); /* no `finished` call */
void sender_credit(struct ipc *ipc, uint64_t call_id, uint32_t n);
struct ipc_receiver *receiver_new(struct ipc *ipc, uint64_t call_id, uint64_t from, uint64_t length);
void receiver_chunk(struct ipc_receiver *r, struct str bytes);
void receiver_end(struct ipc_receiver *r);
void receiver_fail(struct ipc_receiver *r, enum hinny_rc rc, const char *why);
struct ipc_receiver *receiver_find(struct ipc *ipc, uint64_t call_id);
void receivers_lost(struct ipc *ipc, uint64_t from, const char *why); /* the sender died */
void ipc_send_abort(struct ipc *ipc, uint64_t to, uint64_t call_id, enum hinny_rc rc, const char *why);

/* call.c: frames for the home */
void call_init(struct ipc *ipc);
void call_on_reply(struct ipc *ipc, struct frame_reader *r, struct blob *blob);
void call_on_values(struct ipc *ipc, struct frame_reader *r, struct blob *blob);
void call_on_item(struct ipc *ipc, struct frame_reader *r, struct blob *blob);
void call_on_abort(struct ipc *ipc, uint64_t id, enum hinny_rc rc, const char *why);
void call_dispatch(struct ipc *ipc, int kind); /* waiting calls go out where there is room */
void call_peer_lost(struct ipc *ipc, struct ipc_peer *peer, uint64_t running, const char *reason, bool time_limit);
/* What was sent to it may be lost, though it lives. */
void call_peer_again(struct ipc *ipc, struct ipc_peer *peer, const char *reason);
void call_expire(struct ipc *ipc);
void call_drop(struct ipc_call *c);

struct ipc_call *call_new(struct ipc *ipc, struct exchange *ex, int kind);
void call_place(struct ipc_call *c);
void call_send_to(struct ipc_call *c, struct ipc_peer *peer);
void call_fail_later(struct ipc_call *c, enum exception_id id, const char *why);
struct ipc_call *call_find(struct ipc *ipc, uint64_t id);
void call_settle(struct ipc_call *c, bool ok, const struct step *failed);
void call_fail_with(struct ipc_call *c, enum exception_id id, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void call_put_head(struct frame_writer *w, const struct ipc_call *c);

/* operation.c: operations of states, both sides */
void operation_put(struct frame_writer *w, const struct ipc_call *c);
const struct access *operation_access(const struct ipc_call *c);
void operation_place(struct ipc_call *c);
void operation_successor_lost(struct ipc *ipc, uint64_t incarnation);
void operation_dispatch(struct ipc *ipc, int kind);
void operation_on_value(struct ipc *ipc, struct frame_reader *r, struct blob *blob);
bool operation_get(struct ipc_served *sc, struct frame_reader *r, struct blob *blob);
void operation_serve(struct ipc_served *sc);

/* serve.c: frames for the callee */
enum served_what { SERVE_STEPS, SERVE_EVALUATE, SERVE_STATE };
void serve_on_call(struct ipc *ipc, struct frame_reader *r, struct blob *blob, enum served_what what);
void served_free(struct ipc_served *sc);
struct ipc_peer *served_peer(struct ipc_served *sc);
struct ipc_served *served_find(struct ipc *ipc, uint64_t id);
void serve_on_abort(struct ipc_served *sc);
void serve_item_credit(struct ipc_served *sc, uint32_t n);
void serve_run(struct ipc *ipc);
void serve_home_lost(struct ipc *ipc, uint64_t incarnation);
void served_drop(struct ipc_served *sc);

/* poison.c */
uint64_t poison_key(const struct ipc_call *c);
uint32_t poison_kills(struct ipc *ipc, uint64_t key); /* within refuse_ms */
void poison_note(struct ipc *ipc, uint64_t key);

#endif
