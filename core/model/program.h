/*
 * The program: what a bundle's route files compile to. A tree of steps with everything looked up and parsed; nothing is interpreted from YAML at run time. Every
 * process of a generation compiles the same bundle with the same code, so step numbers (step.index) and slots (expression.slot) mean the same in all of
 * them: they are what calls name on the wire.
 *
 * Immutable after program_compile (core/config/compile.h), but for the `impl` pointers, which the process that owns the thing sets before READY.
 */
#ifndef HINNY_MODEL_PROGRAM_H
#define HINNY_MODEL_PROGRAM_H

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/model/descriptor.h"
#include "core/model/value.h"

#include <stdbool.h>
#include <stdint.h>

/* Where something stands in the sources. */
struct position {
	const char *file;
	uint32_t line, column;
};

struct expression {
	const struct language_desc *language;
	const char *text;         /* trimmed as the language wants it */
	struct position at;
	bool predicate;
	bool not_found_ok;
	enum value_class_id result_type;
	void *conf;               /* the language's options */
	void *code;               /* compiled by language->compile */
	void *impl;               /* of the owner's process */
	const struct language_impl *ops; /* set in the owner's process: evaluated in place */
	const char *owner;        /* kind that evaluates it, NULL: here */
	uint32_t slot;            /* position in program.remotes, when owner is set */
	struct access reads;
	/* Expressions that this one contains (Simple with ${xpath(…)}), so that a step knows all its remote ones. */
	struct expression **parts;
	uint32_t parts_n;
};

/* A data format with its options. */
struct format {
	const struct format_desc *desc;
	struct position at;
	void *conf;
	struct access writes; /* headers that its results may bring */
};

struct step;
struct redelivery_conf; /* core/eip/on_exception.h */
struct pattern;

struct block {
	struct step *first;
	uint32_t n;
};

struct step {
	const struct eip_desc *eip;
	const struct route *route;
	struct step *next;        /* in its block */
	const struct step *parent;
	struct step *lead, *trail; /* hidden ones that stand before and behind it (made by its check), until the parser has put them there */
	const char *id;           /* given or generated: "to1" */
	struct position at;
	uint32_t index;           /* in program.steps */
	bool hidden;              /* made by its parent's check (compile_send), not written in the file */
	void *conf;               /* the EIP's options */
	struct expression *expr;  /* EIP_EXPRESSION */
	struct format *format;    /* EIP_FORMAT */
	struct block block;       /* EIP_STEPS */
	struct endpoint *endpoint; /* to, toD when constant, wireTap …: sent to */

	/* worked out by the compiler (core/config/plan.c) */
	const char *owner;        /* kind that runs it, NULL: home */
	uint32_t call_run;        /* owner set: this many steps from here on go in one call (>= 1) */
	bool effect;              /* of the step itself */
	struct access reads, writes; /* of the step with all that is in it */
	struct expression **remotes; /* remote expressions of this step's own run (not of its blocks), in order of evaluation */
	uint32_t remotes_n;
	bool reply_streams;       /* the body that this step leaves is used once only: it may stream */
	bool body_once;           /* nobody reads the body after this step took it: it may be streamed into the step */
	bool ordered;             /* an exchange that has an order asks it before this step */
	bool order_by_key;        /* …and waits for those before it with the same key */
	uint64_t order_sends;     /* topics that the step itself sends to in place, a bit each (core/config/plan_order.c) */
	uint64_t order_left;      /* topics that may still be sent to behind it */
	bool overlaps;            /* its block asks other workers, changes nothing but the message, and so may run for several items at a time */
	bool inherits;            /* EIP_CATCHES: what comes out of it is taken by the route's error handler all the same */
	uint32_t shared_size;     /* bytes of state that all workers of the generation share (set by the EIP's check); 0: none */
	uint32_t shared_at;       /* where they lie in the memory of program.shared_size bytes */
	struct state_node *state; /* what it keeps from one message to the next (compile_state() in its check); NULL: nothing */
};

/* What a step, or the program, keeps from one message to the next: in one process, its owner. How it is used: core/eip/state.h. */
struct state_node {
	const struct state_desc *desc;
	const struct step *step;  /* NULL: of the program */
	const char *route_id;     /* with node_id the name by which it is known for longer than a generation; "" outside of routes */
	const char *node_id;
	uint32_t index;           /* in program.states */
	const char *owner;        /* kind of worker; the first process of that kind */
	const void *conf;         /* of the desc's, set by the check of those that use it; NULL: it has none */
	/* in the owner */
	struct engine *engine;
	void *state;              /* of desc->open, NULL: none now */
	bool serving;             /* operations are served here, at once */
};

struct endpoint {
	const struct component_desc *component;
	const char *uri;          /* as written, placeholders resolved */
	const char *key;          /* normalised: "timer://x?delay=5s&period=1m30s" */
	const char *replaces;     /* key of the endpoint in whose place this one stands (program.replaced), or NULL */
	bool unseen;              /* stands in a route that is in another's place: CamelToEndpoint stays what it was */
	struct position at;
	void *conf;
	struct pairs rest;        /* COMPONENT_LENIENT: options that it does not know, decoded; OPTION_PREFIX: those */
	const char *rest_query;   /* …and as they came, "a=b&c=d", or NULL */
	const struct route *target; /* direct: the route that consumes it */
	uint32_t index;           /* in program.endpoints */
	bool consumer;
	bool effect;              /* producer: it does something to the outside (not COMPONENT_PURE); the component's check may say otherwise */
	bool after_call;          /* set by the component's check: the home has something to do after a call to it (component_ops.after_call), so the call ends there */
	void *impl;               /* of the process that runs it */
	const struct component_ops *ops; /* workers/component.h */
};

/* An onException of a route or a file. */
struct handler {
	const struct step *st;    /* the onException step: conf is its struct on_exception_conf (core/eip/on_exception.h) */
};

struct route {
	const char *id;
	struct position at;
	uint32_t index;           /* in program.routes */
	struct endpoint *from;
	struct block block;
	const struct step **handlers; /* onException steps in order of search: the route's, then the file's */
	uint32_t handlers_n;
	const struct redelivery_conf **policies; /* of the handlers, with what they inherit; NULL: each has its own alone (built by hand) */
	const struct step *error_handler; /* deadLetterChannel or defaultErrorHandler; NULL: none was given */
	bool no_error_handler;            /* noErrorHandler: failures go to the caller as they are */
	const struct step **interceptors; /* interceptSendToEndpoint */
	uint32_t interceptors_n;
	const struct step **completions;  /* onCompletion */
	uint32_t completions_n;
	const char *home;         /* worker kind; NULL: direct, runs where its caller is */
	const char *description, *group;
	const char *prefix;       /* nodePrefixId: stands in front of the ids of its steps, or NULL */
	bool body_streams;        /* the body that the consumer gives is used once only */
	bool auto_startup;
	bool log_mask;            /* what its log steps write is masked */
	uint64_t order_sends;     /* topics that an exchange of it may send to in place; 0 when its source keeps no order */
	void *conf;
};

/* The policy of an onException of a route: what it does not give is as the route's error handler (NULL: none) says, as in Camel; but a step is not run again for one that has
 * steps of its own and says nothing of it. core/eip/on_exception.c; memory from `a`. */
const struct redelivery_conf *redelivery_inherit(struct arena *a, const struct step *handler, const struct step *error_handler);

struct generation_file {
	const char *path;   /* absolute, as found */
	const char *copy;   /* below the generation's folder, relative */
};

/* Bounds of what steps keep from one message to the next. */
struct state_limits {
	uint64_t aggregate_groups, aggregate_bytes; /* of one aggregate */
};

struct program {
	struct arena arena;
	const struct settings *settings;   /* core/config/settings.h: hinny.yaml */
	struct route **routes;
	uint32_t routes_n;
	struct step **steps;
	uint32_t steps_n;
	struct endpoint **endpoints;
	uint32_t endpoints_n;
	struct expression **remotes;
	uint32_t remotes_n;
	struct generation_file *files;
	uint32_t files_n;
	struct state_node **states;
	uint32_t states_n;
	uint64_t kinds;                    /* bit i: kind i of kinds.def is needed */
	bool keeps_original;               /* an expression asks for the body that its exchange began with */
	uint32_t shared_size;              /* of the state of all steps that workers share: balancers, breakers … */
	struct state_limits limits;        /* from hinny.yaml */
	struct pairs properties;           /* what ${properties:x} finds */
	struct replacement {               /* hinny test: what is sent to matching endpoints goes elsewhere */
		const struct pattern *pattern;
		const char *uri;
	} *replaced;
	uint32_t replaced_n;
};

/* What routes see as the endpoint's name (CamelToEndpoint). */
static inline const char *
endpoint_name(const struct endpoint *ep)
{
	return ep->replaces != NULL ? ep->replaces : ep->key;
}

/* Is the endpoint one that the pattern (NULL: any) of a uri means: as written, normalised, without "//", each with or without its options? */
bool endpoint_matches(const struct pattern *p, const struct endpoint *ep);

/* Lists of descriptors: the .def files name one row each; NULL when there is none. Aliases are found too. */
const struct component_desc *component_find(struct str scheme);
const struct eip_desc *eip_find(struct str name);
const struct language_desc *language_find(struct str name);
const struct bean_class *bean_class_find(struct str name); /* fully qualified */
const struct format_desc *format_find(struct str name);
const struct kind_desc *kind_find(struct str kind);
int kind_index(struct str kind); /* position in kinds.def, -1 */
const struct kind_desc *kind_at(int index);
int kind_count(void);
/* Iterate (hinny doc, schema). */
const struct component_desc *const *component_all(size_t *n);
const struct eip_desc *const *eip_all(size_t *n);
const struct language_desc *const *language_all(size_t *n);
const struct bean_class *const *bean_class_all(size_t *n);
const struct format_desc *const *format_all(size_t *n);

#endif
