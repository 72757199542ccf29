/*
 * Descriptors: what a component, EIP or language is called, which options it takes, what they default to. Data, read by core/config when it turns YAML into a
 * program, by `hinny doc`, the reference pages and "did you mean". A descriptor is the only place of a default.
 */
#ifndef HINNY_MODEL_DESCRIPTOR_H
#define HINNY_MODEL_DESCRIPTOR_H

#include "core/base/error.h"
#include "core/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct compile;  /* core/config/compile.h: the compilation that runs */
struct endpoint;
struct step;
struct expression;
struct exchange;
struct format;
struct format_result;
struct value;

/* How an option is written, and what lies at `offset` of the descriptor's conf structure afterwards. */
enum option_type {
	OPTION_STRING,     /* const char *, NULL when not given and no default */
	OPTION_BOOL,       /* bool */
	OPTION_INT,        /* int64_t; range min..max */
	OPTION_DOUBLE,     /* double */
	OPTION_DURATION,   /* int64_t milliseconds */
	OPTION_SIZE,       /* uint64_t bytes */
	OPTION_ENUM,       /* int: position in values "A|B|C" (case ignored) */
	OPTION_EXPRESSION, /* struct expression * (a map with one language) */
	OPTION_PREDICATE,  /* struct expression *, compiled as predicate */
	OPTION_STEPS,      /* struct block * */
	OPTION_URI,        /* struct endpoint *: with its `parameters` */
	OPTION_STRINGS,    /* struct strings: a YAML list of scalars, or one scalar with commas */
	OPTION_CLASSES,    /* struct classes: exception class names; unknown ones are errors */
	OPTION_NODES,      /* struct step_list: list of child nodes, each parsed as the EIP named in `values` (when, doCatch, setHeader …) */
	OPTION_NODE,       /* struct step *: one child node parsed as the EIP named in `values` (otherwise, doFinally, redeliveryPolicy) */
	OPTION_PAIRS,      /* struct pairs: a list of {key, value} maps, or a map (namespace) */
	OPTION_CLASS,      /* enum value_class_id as int: a Java type name */
	OPTION_BRANCHES,   /* struct step_list: a list of steps, each of which runs on its own (multicast) */
	OPTION_BEAN,       /* const struct bean *: "#class:NAME", "#bean:name", "#name", "name" of a bean whose class has the role in `values` */
};

enum option_flag {
	OPTION_REQUIRED = 1,
	OPTION_CONSUMER = 2,  /* endpoint options: where they may stand; neither: both */
	OPTION_PRODUCER = 4,
	OPTION_PATH = 8,      /* endpoint option that is part of the path */
	OPTION_LABEL = 16,    /* accepted and without meaning here (description, note): documented as such */
	OPTION_MAIN = 32,     /* what a scalar form sets: `log: text`, `to: uri` */
	OPTION_TEMPLATE = 64, /* STRING evaluated per message: compiled as Simple when it has "${": the conf member is struct expression * */
	                      /* …on an OPTION_URI (toD): constant text is made an endpoint, step.endpoint, and the member stays NULL; else the
	                       * member is the struct expression * of the whole uri, its parameters appended */
	OPTION_GIVEN = 128,   /* the conf member is followed by nothing, but `given` bit is recorded: see option_given() */
	OPTION_PREDICATES = 512, /* BOOL of a step: true makes its expression a predicate (doWhile) */
	OPTION_PREFIX = 1024,    /* of an endpoint: all options whose names begin with this one are kept in endpoint.rest */
	OPTION_SECRET = 2048,    /* of an endpoint: shown as "xxxxxx" wherever the endpoint is named, and given by a placeholder alone */
	OPTION_SECRET_PART = 4096, /* …of the text only what follows "password=" is the secret */
	OPTION_LABELLED = 8192, /* PREDICATE whose map may have id, description and note beside the language (onWhen) */
	OPTION_UNIQUE = 256,  /* of a COMPONENT_UNIQUE consumer: two that have no word of it in common (comma-separated), or both have it true, are not the same */
};

struct option_desc {
	const char *name;
	enum option_type type;
	const char *dflt;   /* as text, parsed like a given one; NULL: zero/NULL */
	unsigned flags;
	const char *values; /* ENUM: "A|B|C"; NODES/NODE: EIP name */
	int64_t min, max;   /* INT, SIZE, DURATION: checked unless both are 0 */
	const char *help;   /* one line */
	size_t offset;      /* offsetof(struct x_conf, member) */
};
#define OPTIONS_END { .name = NULL }

struct strings {
	const char **items;
	size_t n;
};
struct classes {
	int *ids; /* enum exception_id */
	size_t n;
};
struct step_list {
	struct step **items;
	size_t n;
};
struct pairs {
	struct pair {
		const char *key, *value;
	} *items;
	size_t n;
};

/* The part of the world that a step or expression reads or writes; names are exact, *_all means that any may be. */
enum access_flag {
	ACCESS_BODY = 1,
	ACCESS_HEADERS_ALL = 2,
	ACCESS_PROPERTIES_ALL = 4,
	ACCESS_VARIABLES_ALL = 8,
	ACCESS_EXCEPTION = 16,
	ACCESS_ALL = 31,
	ACCESS_STATE = 32 /* a state is asked (core/eip/state.h), so it runs at home only */
};
struct access {
	unsigned flags;
	struct strings headers, properties, variables;
};

/* ---- languages ---- */

enum eval_rc {
	EVAL_OK,
	EVAL_ERROR, /* the exception is set on the exchange */
	EVAL_NEED   /* a remote value is missing: return STEP_NEED to the engine, which gets it and runs the step again */
};

enum language_flag {
	LANGUAGE_SCALAR_ONLY = 1, /* no option map */
	LANGUAGE_NO_TRIM = 2,
	LANGUAGE_NODES = 4, /* its results are XML nodes: for one that is split they are asked for as a list */
};

/* The items of a value one by one, where a list of them all would be too much to keep. */
struct value_iterator {
	/* False: there is no further one, or (failed) err says why not. Memory for items that are not part of what the expression read comes from `a`; with a NULL they are
	 * only counted, and *out is not set. */
	bool (*next)(struct value_iterator *it, struct arena *a, struct value *out);
	bool failed;
	struct hinny_error err;
};

/* One row a language. For a language with an owner, `compile` runs in every process and only checks what it can without the library and records what the
 * expression reads; the owner's process adds the rest by a language_impl. */
struct language_desc {
	const char *name;
	const char *const *aliases;       /* NULL-ended, or NULL */
	const struct option_desc *options; /* of the map form, beside `expression`, `id`, `trim`, `resultType`, which every language has */
	size_t conf_size;
	const char *owner;                /* worker kind, NULL: runs in every process */
	unsigned flags;
	/* Compiles e->text into e->code; memory from the program's arena; reports through compile_error() and returns nonzero. */
	int (*compile)(struct compile *c, struct expression *e);
	/* Evaluates to a value (expression) or truth (predicate: *out is then a BOOL). NULL for a language with an owner. */
	enum eval_rc (*eval)(const struct expression *e, struct exchange *ex, struct value *out);
	/* May be NULL: the same items as eval, one by one; memory from the exchange's arena. What the expression reads must stay until the last. */
	struct value_iterator *(*iterate)(const struct expression *e, struct exchange *ex);
	const char *help;
};

/* What the owner's process adds for its language. */
struct language_impl {
	const char *name;
	/* Once, before READY. e->impl may be set. HINNY_EINVAL refuses the generation: the text says why, the caller adds file:line. */
	enum hinny_rc (*prepare)(void *owner, struct expression *e, struct hinny_error *err);
	enum eval_rc (*eval)(const struct expression *e, struct exchange *ex, struct value *out);
};

/* ---- data formats ---- */

/* One row a data format (core/lang/formats.def). They run in every process, at once, and change nothing but *out. */
struct format_desc {
	const char *name;
	const struct option_desc *options; /* beside `id`, which every format has; the OPTION_MAIN one is what a scalar sets */
	size_t conf_size;
	/* After parsing: what the options do not say; sets f->writes (headers of its results). Reports and returns nonzero. May be NULL. */
	int (*check)(struct compile *c, struct format *f);
	/* A value to text or bytes, and back. False with the exception set on the exchange. Texts of *out lie in the exchange's arena or where `in` has them. */
	bool (*marshal)(const struct format *f, struct exchange *ex, const struct value *in, struct format_result *out);
	bool (*unmarshal)(const struct format *f, struct exchange *ex, const struct value *in, struct format_result *out);
	const char *help;
};

/* ---- EIPs ---- */

enum step_rc {
	STEP_DONE,    /* go on with the next step */
	STEP_FAILED,  /* ex->exception is set */
	STEP_PENDING, /* engine_resume() or engine_fail() will be called */
	STEP_ENTER,   /* a block was pushed by engine_enter(): run it, then the step's `after` */
	STEP_NEED,    /* an expression returned EVAL_NEED; nothing has been done yet */
};

struct engine;
struct activation;

/* What an EIP is to the routes in whose scope it stands (root of a file, routeConfiguration, head of a route). */
enum scope_kind {
	SCOPE_NONE,
	SCOPE_EXCEPTION,      /* onException */
	SCOPE_ERROR_HANDLER,
	SCOPE_INTERCEPT,      /* before each step */
	SCOPE_INTERCEPT_FROM, /* before the first step */
	SCOPE_INTERCEPT_SEND, /* before a send */
	SCOPE_COMPLETION,     /* when the exchange is done */
};

enum eip_flag {
	EIP_EXPRESSION = 1,     /* takes one language key, inline or under `expression`: step.expr */
	EIP_PREDICATE = 2,      /* …and it is a predicate */
	EIP_STEPS = 4,          /* takes `steps`: step.block */
	EIP_EFFECT = 8,         /* does something to the outside */
	EIP_FIRST_MATCH = 16,   /* remote predicates are asked in order up to the first that is true */
	EIP_CHILD = 32,         /* only inside the parent that names it (when, otherwise, doCatch) */
	EIP_ROOT = 64,          /* may stand at the root of a file (onException) */
	EIP_ROUTE_HEAD = 128,   /* may stand as one of the first steps of a route, scoped to it (onException) */
	EIP_CATCHES = 256,      /* a boundary of error handling: calls never span it */
	EIP_NOT_A_STEP = 512,   /* option holder (redeliveryPolicy) */
	EIP_EXPRESSION_OPTIONAL = 1024,
	EIP_PLAIN = 2048,       /* changes the message and nothing else, at once: it may run inside a call, between two steps of an owner */
	EIP_FORMAT = 1 << 20,   /* takes one key that names a data format: step.format */
	EIP_TAKES = 1 << 22,    /* what it has taken counts as done, and lives in memory: `hinny check` notes it */
	EIP_POLL = 1 << 21,     /* its expression names an endpoint that one message is received from; conf begins with struct poll_conf */
};

struct eip_desc {
	const char *name;
	const char *const *aliases;
	unsigned flags;
	enum scope_kind scope;
	const struct option_desc *options; /* beside id, description, note, disabled, which every step has */
	size_t conf_size;
	/* After parsing: what the options do not say (both of two, wrong place); may compile further parts and sets st->reads/st->writes beyond those of its
	 * expressions. Reports through compile_error() and returns nonzero. May be NULL. */
	int (*check)(struct compile *c, struct step *st);
	/* Runs the step. Everything it evaluates, it evaluates before it changes anything (a STEP_NEED runs it again from the start). */
	enum step_rc (*run)(struct engine *en, struct exchange *ex, const struct step *st);
	/* A block entered by this step has ended (act is its activation, with the step's own state). Returns like run. May be NULL: DONE. */
	enum step_rc (*after)(struct engine *en, struct exchange *ex, const struct step *st, struct activation *act);
	/* An exception came out of the block. Returns STEP_FAILED to pass it on (the default when NULL), or like run having taken it. */
	enum step_rc (*caught)(struct engine *en, struct exchange *ex, const struct step *st, struct activation *act);
	const char *help;
};

/* ---- state ---- */

struct state_node;   /* core/model/program.h */
struct state_writer; /* core/eip/state.h, which says how state is used */
struct state_record;

enum state_end {
	STATE_END_BROKER, /* nobody follows */
	STATE_END_GONE,   /* others do, but in the new generation there is no such node */
};

/*
 * What a step (or a program: its variables) keeps from one message to the next. One row an EIP that has state, static const beside its eip_desc. All functions run in
 * the one process that owns the node, on its loop, and none of them may wait. node->state is what open() gave, node->engine the engine there.
 */
struct state_desc {
	const char *name;      /* of its kind, "aggregate": a saved record goes to a node of the same kind only */
	unsigned ops;          /* operations 0 .. ops - 1, at most 32 */
	uint32_t message_ops;  /* bit i: operation i wants the message of the exchange; else serve sees an empty one, or one that it must not look at */
	uint32_t read_ops;     /* bit i: operation i changes nothing, so it may be asked anew at any time */
	bool runs_block;       /* the steps in the step's block run in the owner (aggregate, resequence) */
	/* Empty. Never NULL. */
	void *(*open)(struct state_node *node);
	/* Frees it all: timers too, and messages that it holds. */
	void (*close)(struct state_node *node);
	/*
	 * One operation. `ex` is the exchange that asks, or a copy of it: read its message (message_ops), allocate from its arena, set its exception; change nothing else and
	 * keep no pointer into it. `arg` is valid during the call, *out (null when it comes) must stay as long as ex. False: the exception is set. Operations of one exchange
	 * come in the order in which it makes them.
	 */
	bool (*serve)(struct state_node *node, struct exchange *ex, unsigned op, const struct value *arg, struct value *out);
	/* From now on this process serves; what there was has been loaded. Start what runs by itself (interval timers). May be NULL. */
	void (*started)(struct state_node *node);
	/* A process that exchanges were at home in is dead: what was held for them (state_home()) is given back. May be NULL. */
	void (*home_lost)(struct state_node *node, uint64_t home);
	/* Nothing that could add to it is on its way any more: what it holds goes on now, where its options say so (STATE_END_BROKER), or in any case (STATE_END_GONE). The
	 * exchanges begun here are waited for. It goes on serving. May be NULL. */
	void (*end)(struct state_node *node, enum state_end why);
	/* The next generation takes over: all of it as records, then close() comes. NULL: nothing is handed over. */
	void (*save)(struct state_node *node, struct state_writer *w);
	/* One record of the old generation; between open() and started(). What cannot be taken is dropped with a log line: false, err says why. */
	bool (*load)(struct state_node *node, struct state_record *r, struct hinny_error *err);
	/* Groups, keys, messages that it holds: for `hinny status`. May be NULL. */
	uint64_t (*count)(const struct state_node *node);
};

/* ---- beans ---- */

/* One row a Java class that routes name and this release has built in: strategies of aggregation … */
struct bean_class {
	const char *name; /* fully qualified */
	const char *role; /* what asks for it: "AggregationStrategy" */
	const struct option_desc *options; /* its properties */
	size_t conf_size;
	int kind; /* means something to those that use the role */
	const char *help;
};

/* What `#class:` makes, or an entry of `beans`. */
struct bean {
	const char *name; /* NULL: of #class: */
	const struct bean_class *class;
	void *conf;
};

/* ---- components ---- */

enum component_flag {
	COMPONENT_CONSUMER = 1,
	COMPONENT_PRODUCER = 2,
	COMPONENT_LENIENT = 4,       /* unknown options are kept in endpoint.rest (http: sent as query) */
	COMPONENT_EXCLUSIVE = 8,     /* its source must not run in two generations at once */
	COMPONENT_PURE = 16,         /* the producer has no effect on the outside: it may be repeated */
	COMPONENT_STREAM_IN = 32,    /* the producer can send a body that streams */
	COMPONENT_STREAM_OUT = 64,   /* the reply (producer) or message (consumer) body may be a stream */
	COMPONENT_READS_NO_BODY = 128,
	COMPONENT_KEEPS_BODY = 256,  /* the producer leaves the body as it was (log, validator) */
	COMPONENT_UNIQUE = 512,      /* two consumers of one uri are an error, options apart but those with OPTION_UNIQUE (direct) */
	COMPONENT_POLLED = 2048,     /* a step can receive one message from it (poll, pollEnrich) */
	COMPONENT_SIMPLE = 1024,     /* options may be Simple, and are evaluated for each message (file) */
	COMPONENT_TAKES = 8192,      /* what the producer has taken counts as done, and lives in memory: `hinny check` notes it */
	COMPONENT_ORDERED = 4096,    /* consumer: exchanges of it have an order (core/eip/engine.h); producer: what is sent in one process leaves in that order (kafka) */
};

struct component_desc {
	const char *scheme;
	const char *const *aliases;
	const char *syntax;                /* "timer:timerName", "platform-http:path", "http://httpUri" */
	const struct option_desc *options; /* the OPTION_PATH ones are set from the path by `syntax` */
	size_t conf_size;
	const char *owner;                 /* worker kind that runs it; NULL: whichever process the exchange is in */
	unsigned flags;
	/* After parsing. May register files of the generation (compile_file). Reports and returns nonzero. May be NULL. */
	int (*check)(struct compile *c, struct endpoint *ep);
	const char *help;
};

/* ---- kinds of worker ---- */

enum kind_flag {
	KIND_LISTENS = 1,   /* gets the listening sockets */
	KIND_SCALES = 2,    /* several processes by default: min(cores, 4) */
	KIND_STATELESS = 4, /* works on calls only (xform): a dead one's waiting calls are made again */
};

struct kind_desc {
	const char *kind;       /* "http" */
	const char *executable; /* "hinny-http" in libexec */
	unsigned flags;
	const char *help;
};

#endif
