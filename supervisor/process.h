/*
 * A place in the process table: kind and index of a generation, with the process that fills it now,
 * or the wait for the next one. What is to be done about an event is process_table.h's; this
 * carries it out.
 */
#ifndef HINNY_SUPERVISOR_PROCESS_H
#define HINNY_SUPERVISOR_PROCESS_H

#include "core/ipc/channel.h"
#include "core/loop/loop.h"
#include "core/model/descriptor.h"
#include "core/model/page.h"
#include "supervisor/process_table.h"

#include <sys/types.h>

struct generation;
struct supervisor;

enum { PROCESS_STOP_GRACE_MS = 1000, PROCESS_NAME_SIZE = 48, PROCESS_WORDS_SIZE = 256 };

struct process {
	struct supervisor *sv;
	struct generation *gen;
	const struct kind_desc *kind;
	int kind_index;
	uint32_t index;
	char name[PROCESS_NAME_SIZE]; /* "http.0" */
	enum process_state state;
	struct loop_timer timer; /* of its state: start, back-off, stop */

	/* the process of now */
	pid_t pid; /* 0: none */
	uint64_t incarnation;
	struct channel *channel;
	char *inbox;                    /* NULL: it has none, or is not ready */
	struct monotime spawned, ready; /* ready.ns 0: has not said so */
	bool said_hello;
	bool sources_stopped;
	bool saving; /* STATE_SAVE was sent and not answered */
	uint64_t served_before; /* of the page, when it was spawned */
	const char *killed_for; /* why we killed it, or NULL */
	uint64_t late_call; /* the call that ran too long, when it was killed for that; else 0 */
	/* its answers */
	uint64_t ping_sent, pong_seen;
	struct monotime ping_since; /* when the oldest unanswered one left; ns 0: none is out */
	uint64_t exchanges, calls, connections, held;

	/* of all its processes */
	struct page *page;
	int page_fd;
	unsigned early;                      /* deaths in a row before they had proved themselves */
	unsigned deaths;                     /* not asked for */
	bool got_states; /* what older generations kept */
	bool lent;                           /* others serve its listening sockets */
	char last_words[PROCESS_WORDS_SIZE]; /* how the last one ended; "": none did */
};

/* What peers are told of a dead one. */
struct process_death {
	uint64_t incarnation;
	uint64_t call_id, call_home;
	bool was_ready;
	bool last;
	bool time_limit;
	const char *reason;
};

/* NULL with err when there is no memory for its page. */
struct process *process_new(
    struct generation *gen, int kind_index, uint32_t index, struct hinny_error *err);
/* Of a dead one. */
void process_free(struct process *pr);
void process_event(struct process *pr, enum process_event event);
/* SIGKILL; `why` (static) goes into its last words. */
void process_kill(struct process *pr, const char *why);
/* Settles its death if it has died. */
void process_reap(struct process *pr);
void process_ping(struct process *pr);
/* Sends; a worker that does not read is killed. Nothing happens when there is none. */
void process_send(struct process *pr, const struct control_message *m);
void process_send_type(struct process *pr, enum frame_type type);
/* Said READY and lives. */
bool process_is_up(const struct process *pr);
/* Requests, calls and exchanges that its page counts. */
uint64_t process_served(const struct process *pr);

#endif
