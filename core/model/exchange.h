/*
 * One message on its way through a route. An exchange is made by a consumer at its home, never
 * changes its home, and everything that belongs to it lives in its arena. Exchanges are pooled:
 * exchange_new takes one whose arena is warm.
 */
#ifndef HINNY_MODEL_EXCHANGE_H
#define HINNY_MODEL_EXCHANGE_H

#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/list.h"
#include "core/model/exception.h"
#include "core/model/headers.h"
#include "core/model/json.h"
#include "core/model/value.h"

#include <stdbool.h>
#include <stdint.h>

enum exchange_pattern { PATTERN_IN_ONLY, PATTERN_IN_OUT };

enum exchange_dirty {
	DIRTY_BODY = 1,
	DIRTY_HEADERS = 2,
	DIRTY_PROPERTIES = 4,
	DIRTY_VARIABLES = 8
};

/* Names in an arena, each once. */
struct name_list {
	struct str *items;
	uint32_t n, cap;
};

struct activation; /* core/eip/engine.h */
struct engine_run;
struct engine;
struct route;
struct exchange;
struct eval_slot;
struct claims;
struct order;

/* Called once when the exchange is done: exception set or not, message as it stands. The home
 * acknowledges its source here, then frees the exchange. */
typedef void exchange_done_fn(struct exchange *ex);

struct exchange {
	struct arena arena;
	struct list node; /* of the owner's list of exchanges in flight, or of the free pool */

	/* the message */
	struct value body;
	struct headers headers;
	struct headers
	    *inbound; /* second, read-only header map (Mule's inbound properties), or NULL */
	struct value_map properties; /* names are case-sensitive */
	struct value_map variables;
	struct name_list changed_properties,
	    changed_variables;       /* set or removed since exchange_clean() */
	struct exception *exception; /* not yet handled, or NULL */
	struct exception *caught;    /* the last one that was caught: what property
	                                CamelExceptionCaught (a text) stands for */
	unsigned dirty;              /* enum exchange_dirty: changed since exchange_clean() */

	/* who it is */
	uint64_t seq;               /* unique in this process */
	uint64_t id_prefix, id_seq; /* of exchange_id(): those of the home, in a callee too */
	int64_t created_ms;         /* wall time */
	struct monotime started;
	enum exchange_pattern pattern;
	const struct route *from_route;
	const struct route *route; /* in which it is now */
	uint64_t transaction;      /* token, 0: none */
	uint64_t home; /* incarnation of the worker in which it is at home; 0: this one */

	/* how far it is: the engine's */
	struct engine *engine;
	struct activation *top;
	struct engine_run *run;  /* where the engine stands (core/eip/engine_priv.h) */
	struct eval_slot *slots; /* results of remote expressions for the current step, or NULL
	                            (core/lang/expression.h) */
	uint32_t slots_n;
	const void *need; /* struct expression *: the one that a step waits for */
	bool stop;        /* a stop step ran */
	bool sent_by_call;         /* a step's send that another worker makes (workers/engine_ops.c) */
	uint8_t traced;   /* a bit for each client of hinny trace that looks on */
	bool counted;     /* by the worker: it stands in the route's counters as in flight */
	bool detached;    /* a copy that may outlive its parent: nothing is borrowed from there */
	bool shares_unit; /* a part of its parent: what it does counts as done when that is */
	bool rollback_only;
	bool failed_over; /* error already handled by a called route's handler: the caller's does
	                     not run again */
	uint32_t depth;   /* of direct calls, bounded */

	/* the owner's */
	exchange_done_fn *done;
	void *owner;
	struct exchange *parent; /* split item or branch, else NULL */
	struct order *order; /* core/eip/engine.h: others are in flight that it must not overtake; NULL:
	                        none are. Its items and branches have it too */
	void *call;              /* the call in flight, or NULL */
	struct claims *claims;   /* what claimCheck has put aside (core/eip/claims.h), or NULL */

	/* the parsed form of the last JSON text, kept beside it: exchange_json() */
	struct str json_text;
	const struct json_node *json_root;
};

struct exchange_pool {
	struct list free;
	uint32_t free_n, free_max;
	uint64_t next_seq;
	uint64_t id_prefix; /* random, so that ids differ between processes and starts */
	uint32_t live;
};

void exchange_pool_init(struct exchange_pool *pool, uint32_t keep);
void exchange_pool_fini(struct exchange_pool *pool);
struct exchange *exchange_new(struct exchange_pool *pool);
/* Cancels a body stream that nobody took, resets the arena, gives it back. */
void exchange_free(struct exchange_pool *pool, struct exchange **ex);

/* Message access; names are borrowed: arena, program or constant memory. Setting marks dirty. What
 * is changed through a pointer that these give is not marked: set it again. */
static inline struct value *
exchange_header(struct exchange *ex, struct str name)
{
	struct header *h = headers_find(&ex->headers, name);
	return h ? &h->value : NULL;
}
void exchange_set_body(
    struct exchange *ex, struct value v); /* an old stream that nobody took is cancelled */
void exchange_set_header(struct exchange *ex, struct str name, struct value v);
bool exchange_remove_header(struct exchange *ex, struct str name);
struct value *exchange_property(struct exchange *ex, struct str name);
void exchange_set_property(struct exchange *ex, struct str name, struct value v); /* null removes */
struct value *exchange_variable(struct exchange *ex, struct str name);
void exchange_set_variable(struct exchange *ex, struct str name, struct value v); /* null removes */
void exchange_clean(struct exchange *ex); /* forgets the dirty marks, of headers too */
/* Parses JSON text once: the same bytes (by address) give the same nodes again. Errors as
 * json_parse. */
enum hinny_rc exchange_json(
    struct exchange *ex, struct str text, const struct json_node **root, struct hinny_error *err);

/* Sets the exception (in the exchange's arena). */
void exchange_fail(struct exchange *ex, enum exception_id id, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* "A4F5D82A729578A-0000000000000000": boot-unique prefix and the exchange's seq; in the arena. */
struct str exchange_id(struct exchange *ex);

#endif
