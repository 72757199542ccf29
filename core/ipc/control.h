/*
 * The control frames' payloads: what supervisor and workers say over the socketpair that a worker
 * inherits. One structure a frame; their members are encoded in the order in which the table in
 * control.c names them, and that table is all that encoder and decoder know. Which side may send
 * what comes from frames.def. The supervisor links it too. The socket itself is
 * core/ipc/channel.h.
 */
#ifndef HINNY_IPC_CONTROL_H
#define HINNY_IPC_CONTROL_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/str.h"
#include "core/model/frame.h"

#include <stdbool.h>
#include <stdint.h>

enum control_side { CONTROL_SUPERVISOR = 'S', CONTROL_WORKER = 'W' };

/* Set in the frame's flags when a descriptor goes along. */
enum { CONTROL_FLAG_FD = 1 };

struct control_hello {
	struct str build; /* CONTROL_BUILD: supervisor and workers are of one build, or the worker
	                     is not used */
	struct str kind;
	uint32_t index;
	uint64_t incarnation, generation;
	uint32_t page_route; /* sizeof(struct page_route): pages are shared memory */
};
struct control_ready {
	struct str kind;
	uint64_t incarnation, generation;
	struct str inbox; /* "RUN/KIND.I.INCARNATION"; empty when it opened none (its
	                     generation needs no calls) */
};
struct control_refused {
	struct str text; /* lines "file:line:column: path: what", the last one without a line end */
	uint32_t problems;
};
struct control_drain {
	uint64_t deadline_ms; /* 0: none */
	bool final; /* nobody follows: serve what waits in the listening queues, close idle
	               connections at once */
};
struct control_ping {
	uint64_t sequence;
};
struct control_pong {
	uint64_t sequence;
	uint64_t exchanges, calls; /* in flight */
	uint64_t connections; /* still open, idle ones too: a draining worker is done when all three
	                         are 0 */
	uint64_t held; /* groups, keys, messages in the states that it owns */
	bool draining;
};
struct control_peer_up {
	struct str kind;
	uint32_t index;
	uint64_t incarnation;
	struct str inbox;
	uint64_t successor; /* 0: of this generation; else the number of its newer one: operations of
	                       states are passed on to it, nothing else */
};
struct control_state_save {
	uint64_t generation; /* that takes over */
	struct str nodes;    /* of its states: route id, node id, kind of state, kind of worker that
	                        owns it; each ended by NUL */
};
struct control_state_saved { /* with a descriptor */
	uint64_t bytes;
	uint64_t records, lost;
};
struct control_state_file { /* with a descriptor */
	uint64_t bytes;
};
struct control_state_serve {
	bool older; /* older generations may still ask: an inbox is needed */
};
struct control_state_end {
	bool final; /* the broker ends; else it is a generation that others follow */
};
struct control_peer_down {
	struct str kind;
	uint32_t index;
	uint64_t incarnation;
	uint64_t call_id;   /* that it was working on; 0: none */
	uint64_t call_home; /* incarnation of that call's home */
	bool last;          /* no successor comes: its kind is degraded at this index */
	bool time_limit;    /* ended by the supervisor since that call ran too long */
	struct str reason;  /* "killed by signal 11 (Segmentation fault)" */
};
struct control_listener { /* with a descriptor */
	uint32_t address; /* position in http.listen; UINT32_MAX: an address that this generation
	                     has no more */
	bool until_empty; /* serve its queue, then close it; otherwise serve it as one's own */
};
struct control_log_level {
	uint8_t level; /* enum log_level */
};
struct control_trace { /* with a descriptor: docs/admin.md says what goes over it */
	struct str route; /* id; empty: all */
	uint32_t every;   /* one exchange of so many */
	uint32_t most;    /* exchanges in all; 0: no bound */
	bool body;        /* bodies are shown */
};
struct control_question { /* with a descriptor, on which the answer goes */
	struct str name, argument;
};
struct control_send { /* with a descriptor: docs/admin.md says what goes over it */
	struct str endpoint;
	struct str headers; /* a JSON object of strings, or empty */
};
struct control_event {
	struct str name;
	struct str text;
};
struct control_poison {
	uint64_t key; /* poison_key() of the call: the same in all workers of a generation */
};

struct control_evaluate_one {
	uint32_t slot;      /* of the expression, in program.remotes */
	struct str message; /* headers, properties, variables: frame_put_message */
	struct str body;    /* frame_put_value */
};
struct control_value {
	struct str value;     /* frame_put_value */
	struct str exception; /* class of the exception, or empty */
	struct str text;      /* …and its message */
};

/* Strings are borrowed: when encoded from the caller, when decoded from the frame's bytes. START,
 * START_SOURCES, SOURCES_STOPPED and STOP have no payload. */
struct control_message {
	enum frame_type type;
	int fd; /* decoded by the channel: the descriptor that came along, the receiver's to close;
	           else -1 */
	union {
		struct control_hello hello;
		struct control_ready ready;
		struct control_refused refused;
		struct control_drain drain;
		struct control_ping ping;
		struct control_pong pong;
		struct control_peer_up peer_up;
		struct control_peer_down peer_down;
		struct control_listener listener;
		struct control_log_level log_level;
		struct control_trace trace;
		struct control_question question;
		struct control_send send;
		struct control_event event;
		struct control_poison poison;
		struct control_state_save state_save;
		struct control_state_saved state_saved;
		struct control_state_file state_file;
		struct control_state_serve state_serve;
		struct control_state_end state_end;
		struct control_evaluate_one evaluate_one;
		struct control_value value;
	};
};

/* What HELLO carries as build. */
extern const char control_build[];

/* Name and help of a frame type, for logs; "unknown" when it is none. */
const char *control_name(unsigned type);
/* Is it a control frame that `side` may send? */
bool control_may_send(unsigned type, enum control_side side);
/* Must a descriptor go along? */
bool control_carries_fd(unsigned type);

/* Appends the frame. HINNY_ELIMIT when it would pass FRAME_MAX or out's bound. m->fd is not looked
 * at. */
enum hinny_rc control_encode(struct buf *out, const struct control_message *m);
/* Decodes a frame that `from` sent. HINNY_EPROTO: an unknown type, one from the wrong side, or a
 * broken payload. m->fd is set to -1. */
enum hinny_rc control_decode(struct frame_reader *r, enum control_side from,
    struct control_message *m, struct hinny_error *err);

#endif
