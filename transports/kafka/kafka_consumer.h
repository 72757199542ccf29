/*
 * from: kafka. A source is a route's consumer; it has consumersCount members, each a client of
 * librdkafka that is a member of the group. All of ours runs on the loop; what would block does so
 * on a thread of the pool.
 *
 * The partitions of a member have queues of their own, from which as many records are taken as may
 * be in flight. So librdkafka stops fetching a partition that is not kept up with, while the
 * member's own queue (rebalance, commits, errors) is always served and the group sees it alive.
 *
 *   kafka_consumer.c          sources, members: start, stop, errors
 *   kafka_consumer_assign.c   partitions come and go
 *   kafka_consumer_pump.c     records become exchanges, in flight, done
 *   kafka_consumer_batch.c    …several of them one exchange (batching)
 *   kafka_consumer_commit.c   offsets
 *   kafka_consumer_message.c  a record as a message
 *   kafka_consumer_name.c     names of groups and static members
 *   kafka_consumer_group.c    who joins and leaves
 */
#ifndef HINNY_KAFKA_KAFKA_CONSUMER_H
#define HINNY_KAFKA_KAFKA_CONSUMER_H

#include "transports/kafka/kafka_conf.h"
#include "transports/kafka/kafka_poll.h"
#include "transports/kafka/kafka_queue.h"
#include "transports/kafka/kafka_window.h"
#include "workers/worker.h"

#include <stdatomic.h>

enum {
	KAFKA_RECORDS_MAX = 4000,   /* of a member in flight */
	KAFKA_BYTES_MAX = 32 << 20, /* …or so many bytes of them, but one record at least */
	KAFKA_TICK_MS = 1000,       /* members are polled and their figures told so often */
	KAFKA_CLOSING_MS = 5,       /* …and, when they end, looked at whether they have */
};

/* Headers of a record's message. */
enum kafka_header {
	KAFKA_HEADER_TOPIC,
	KAFKA_HEADER_PARTITION,
	KAFKA_HEADER_OFFSET,
	KAFKA_HEADER_TIMESTAMP,
	KAFKA_HEADER_KEY,
	KAFKA_HEADER_HEADERS,
	KAFKA_HEADER_LAST_BEFORE_COMMIT,
	KAFKA_HEADER_LAST_OF_POLL,
	KAFKA_HEADERS_N
};

/* Of a SerializationException: topic, partition, offset, why. */
#define KAFKA_BAD_RECORD "Error deserializing key/value for partition %s-%d at offset %lld: %s"

struct kafka_member;
struct kafka_part;

/* Something of a record that waits for its turn: the exchange itself, or an item of it. */
struct kafka_waiting {
	struct kafka_waiter waiter;
	struct exchange *ex;
};

/* A record in flight. One a slot of the window. */
struct kafka_incoming {
	struct order order;
	struct kafka_waiting waiting; /* of ex; items have theirs in their arenas */
	struct kafka_part *part;
	struct kafka_slot *slot;
	rd_kafka_message_t *msg;
	struct exchange *ex; /* NULL: it is one of a batch, or waits to be tried again */
	bool unreadable;     /* its deserializer does not take it */
};

struct kafka_amount {
	size_t records, bytes; /* of values */
};

struct kafka_part {
	struct kafka_member *m;
	struct list node; /* of kafka_member.parts, or .lost */
	char *topic;
	int32_t partition;
	rd_kafka_queue_t *queue;
	atomic_bool ready; /* set by threads of librdkafka: the queue is not empty */
	bool more;         /* it may not be */
	struct kafka_amount since_asked, since_empty; /* taken since more was asked for, … */
	bool leaving;      /* revoked: what is in flight is finished, no more is taken */
	bool lost;         /* not the member's any more: nothing is committed */
	bool dirty;        /* its figures have changed */
	bool sealed;       /* a record was given up: no offset behind `seal` is committed */
	int64_t seal;
	int64_t end; /* of the partition when it was reached, behind markers of transactions too; -1 */
	rd_kafka_message_t *ahead; /* taken, and not yet begun */
	struct kafka_window window;
	struct kafka_incoming *incoming; /* by slot */
	struct kafka_incoming *again;    /* the one that is tried again; none behind it is taken */
	struct loop_timer retry;
	int64_t retry_ms;
	uint32_t running;   /* exchanges; with batching those of the batch */
	int64_t committed;  /* what the broker has, -1: nothing known */
	int64_t committing; /* what it has been asked to keep, -1 */
	int page_slot;      /* in the shared page, -1: there was none */
};

enum kafka_member_state {
	KAFKA_MEMBER_RUNNING,
	KAFKA_MEMBER_FINISHING, /* stop: no more is taken */
	KAFKA_MEMBER_LEAVING,   /* it leaves the group, where nobody will have its name */
	KAFKA_MEMBER_CLOSING,   /* it leaves the assignment */
	KAFKA_MEMBER_CLOSED,
};

struct kafka_source;

/* Partitions that come or go. */
struct kafka_rebalance {
	struct list node;
	rd_kafka_resp_err_t code; /* _ASSIGN_PARTITIONS, _REVOKE_PARTITIONS, or what went wrong */
	rd_kafka_topic_partition_list_t *list;
	bool lost; /* they are others' already */
	/* of the thread that looks for start positions */
	rd_kafka_resp_err_t problem;
	const char *doing;
};

struct kafka_member {
	struct kafka_source *src;
	struct worker *wk;
	const struct kafka_conf *conf;
	unsigned index;
	const char *name; /* group.instance.id */
	enum kafka_member_state state;
	rd_kafka_t *rk;
	struct kafka_poll poll;
	struct kafka_amount ahead; /* what may be fetched ahead of a partition, more or less */
	rd_kafka_queue_t *heartbeat; /* always empty: polling it tells librdkafka that we live */
	struct list rests;           /* struct kafka_rest */
	struct kafka_queue events;
	struct loop_wake wake;
	struct loop_defer pump;
	struct loop_timer tick, limit, restart;
	struct list parts, lost;
	uint32_t parts_n;
	struct list woken; /* struct kafka_waiter */
	uint32_t running;  /* exchanges */
	size_t bytes;
	bool pumping;
	struct list rebalances; /* struct kafka_rebalance: the first is under way, others wait */
	bool too_late;          /* the time for what is in flight is over */
	struct loop_work work;  /* start positions of an assignment; the end of the client */
	bool working;
	/* commits: one at a time */
	bool committing, commit_failed, commit_hopeless;
	bool commit_told; /* that they fail, until one passes */
	struct monotime commit_began, commit_due;
	struct kafka_batch {                   /* batching */
		struct kafka_incoming **items; /* maxPollRecords of them */
		uint32_t n;
		bool ends;           /* what comes next ends the member: it runs as it is */
		struct exchange *ex; /* in flight */
		struct monotime began;
		struct loop_timer timer;
		int64_t retry_ms; /* not 0: it has failed, and is tried again */
	} batch;
	bool asks;                  /* its progress is looked at when the pump has run */
	struct monotime complained; /* about the same error */
	rd_kafka_resp_err_t complaint;
	bool restarts; /* closed in order to begin anew */
	int64_t restart_ms;     /* …after so long; longer each time */
	struct monotime opened; /* began */
	bool leaves;   /* not for another one of its name: it leaves the group */
	bool unsubscribed; /* …of which it has told librdkafka */
	struct monotime left;
	bool fenced;   /* another client has its name */
	bool yields;   /* …and it waits until that has gone */
	struct monotime ask_due;
};

struct kafka_source {
	struct list node; /* of kafka_state.sources */
	struct worker *wk;
	struct endpoint *ep;
	const struct route *route;
	const struct kafka_conf *conf;
	struct arena arena;
	struct pairs props;
	const char *group, *pattern, *assignor;
	const char *place; /* in the names of its members */
	int place_fd;      /* kafka_place_name() */
	const char *seek_file; /* name in the run folder: partitions whose start has been chosen */
	uint32_t cap;          /* records of a partition in flight */
	bool ordered;          /* records overlap, and keep their order where it can be seen */
	bool names_both;       /* older names of headers are set too */
	bool commits_good; /* a record that failed moves the offset only with one after it that did
	                      not */
	bool stopped;
	uint32_t hashes[KAFKA_HEADERS_N], older_hashes[KAFKA_HEADERS_N];
	uint32_t members_n, open_n;
	struct kafka_member *members;
};

/* ---- kafka_consumer.c ---- */
enum hinny_rc kafka_consumer_prepare(
    struct worker *wk, struct endpoint *ep, struct hinny_error *err);
enum hinny_rc kafka_consumer_start(
    struct worker *wk, struct endpoint *ep, const struct route *route, struct hinny_error *err);
void kafka_consumer_stop(struct worker *wk, struct endpoint *ep);
void kafka_consumer_release(struct worker *wk, struct endpoint *ep);
/* Something that the end of a stopping member waits for may have come: looked at later. */
void kafka_member_progress(struct kafka_member *m);
/* Ends the client and makes another one, after a while. */
void kafka_member_restart(struct kafka_member *m, const char *why);
/* A poll has failed: the log, and as pollOnError says. part NULL: no record is meant. */
void kafka_member_poll_failed(
    struct kafka_member *m, struct kafka_part *part, rd_kafka_resp_err_t code, const char *text);

/* ---- kafka_consumer_assign.c ---- */
void kafka_assign_event(struct kafka_member *m, rd_kafka_event_t *ev);
/* Throws away what is left in the queues of partitions that have gone. */
void kafka_assign_sweep(struct kafka_member *m);
/* At the end of the client, when all has gone: the queues too. */
void kafka_assign_fini(struct kafka_member *m);
/* A revoked partition may have nothing in flight any more. */
void kafka_assign_progress(struct kafka_member *m);
/* All partitions go, whatever is in flight. */
void kafka_assign_drop(struct kafka_member *m);
void kafka_part_free(struct kafka_part *part);
/* The member stops: a record that waits to be tried again is given up. */
void kafka_part_stop(struct kafka_part *part);

/* ---- kafka_consumer_pump.c ---- */
void kafka_pump(struct kafka_member *m);
void kafka_pump_soon(struct kafka_member *m);
/* Its figures into the shared page. */
void kafka_part_publish(struct kafka_part *part);
/* The next record of the partition, NULL: there is none now. */
rd_kafka_message_t *kafka_part_take(struct kafka_part *part);
struct kafka_incoming *kafka_part_begin(struct kafka_part *part, rd_kafka_message_t *msg);
/* Its deserializer does not take it: as pollOnError says. */
void kafka_part_unreadable(struct kafka_incoming *in, const char *why);
/* The record's slot and memory are given back. */
void kafka_part_end(struct kafka_incoming *in, bool ok);
bool kafka_member_may_take(const struct kafka_member *m);
/* After a failure that is tried again: how long to wait, from now on longer. */
int64_t kafka_backoff(struct kafka_member *m, int64_t *ms);
/* Of kafka_part.retry. */
void kafka_part_retry(struct loop_timer *t);
/* A record that stays unhandled: nothing from it on is committed, no more is taken. */
void kafka_part_give_up(struct kafka_incoming *in);

/* ---- kafka_consumer_batch.c ---- */
void kafka_batch_init(struct kafka_member *m);
void kafka_batch_fini(struct kafka_member *m);
void kafka_batch_pump(struct kafka_member *m);
/* What has been gathered is run, or, drop, given back. */
void kafka_batch_flush(struct kafka_member *m);
void kafka_batch_drop(struct kafka_member *m);

/* ---- kafka_consumer_commit.c ---- */
/* The offset that may be committed, -1: none. */
int64_t kafka_part_committable(const struct kafka_part *part);
/* Is there something to commit, or being committed? Partitions that leave count as well. */
bool kafka_commit_pending(const struct kafka_member *m);
/* Asks the broker, unless it has been asked already. */
void kafka_commit_now(struct kafka_member *m);
void kafka_commit_event(struct kafka_member *m, rd_kafka_event_t *ev);
/* Of the timer: when the interval is over. */
void kafka_commit_tick(struct kafka_member *m);

/* ---- kafka_consumer_message.c ---- */
void kafka_message_names(struct kafka_source *src);
/* Headers of the record but its key. */
void kafka_message_headers(
    const struct kafka_source *src, struct exchange *ex, const rd_kafka_message_t *msg);
/* A key or value by its deserializer; p NULL: null. False: *why says what is wrong. */
bool kafka_message_value(
    enum kafka_serde serde, const void *p, size_t n, struct value *out, const char **why);
/* Would its deserializers take key and value? */
bool kafka_message_check(
    const struct kafka_source *src, const rd_kafka_message_t *msg, const char **why);
/* Whole; false: a key or value that its deserializer does not take. */
bool kafka_message_fill(const struct kafka_source *src, struct exchange *ex,
    const rd_kafka_message_t *msg, const char **why);
void kafka_message_flags(
    const struct kafka_source *src, struct exchange *ex, bool last_of_part, bool last_of_poll);
/* Topic (NULL: not) and partition (-1: not) as headers. */
void kafka_message_place(
    const struct kafka_source *src, struct exchange *ex, const char *topic, int32_t partition);
/* As an element of a batch's list: a map like the exchange. It has been checked. */
void kafka_message_element(const struct kafka_source *src, struct exchange *ex,
    const rd_kafka_message_t *msg, struct value *out);

/* ---- kafka_consumer_name.c ---- */
/* A number that stays for as long as this hinnyd runs, whichever worker asks. */
uint64_t kafka_broker_life(void);
/* …of what is sought for a group. */
uint64_t kafka_seek_tag(const char *group, unsigned seek_to);
/* All in the arena. */
const char *kafka_group_name(struct arena *a, struct worker *wk, const struct route *route);
/* What stands for the run folder in names of members: a number, where the folder is of this run
 * alone, so that the next run has the same names. *fd holds the number until it is closed; -1: there is none. */
const char *kafka_place_name(
    struct arena *a, struct worker *wk, const struct route *route, const char *group, int *fd);
/* It says what the member reads too: a member of another name begins with what the group gives it. */
const char *kafka_instance_name(struct arena *a, struct worker *wk, const struct route *route, const char *place,
    const struct kafka_conf *conf, unsigned member);
/* What it is known by over generations: its name, and what it reads. */
uint64_t kafka_member_key(struct worker *wk, const struct route *route, const char *group,
    const struct kafka_conf *conf, unsigned member);

/* ---- kafka_consumer_group.c ---- */
enum hinny_rc kafka_member_subscribe(struct kafka_member *m, struct hinny_error *err);
/* Before what has been assigned is taken: a member that comes back by its name is given what was read by
 * that name before. When the route reads other topics now, it leaves and begins anew. */
void kafka_member_check_topics(struct kafka_member *m, const rd_kafka_topic_partition_list_t *list);
/* It leaves the group; the tick asks whether it has. */
void kafka_member_leave(struct kafka_member *m);
bool kafka_member_has_left(struct kafka_member *m);
/*
 * The members of this worker's generation are noted in the run folder before it is READY, so that those
 * of the one before, which stop behind that, know who has a successor. It stays in the group for it; who
 * has none leaves, and others have its partitions at once.
 */
enum hinny_rc kafka_members_note(struct worker *wk, struct hinny_error *err);
void kafka_members_choose(struct kafka_source *src);
/* One that yields looks whether the other client has gone, and goes on then. */
void kafka_name_tick(struct kafka_member *m);
void kafka_name_answer(struct kafka_member *m, rd_kafka_event_t *ev);
#endif
