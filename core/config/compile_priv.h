/*
 * A compilation that runs: what the parts of core/config share. compile.c begins and ends it,
 * walk.c goes through the files, steps.c, expression_parse.c and endpoint_parse.c turn nodes into
 * steps, expressions and endpoints, plan*.c works out what follows from them.
 */
#ifndef HINNY_CONFIG_COMPILE_PRIV_H
#define HINNY_CONFIG_COMPILE_PRIV_H

#include "core/base/hash.h"
#include "core/config/bundle_priv.h"
#include "core/config/compile.h"
#include "core/config/node.h"
#include "core/config/option.h"

#include <stdarg.h>

/* Where in the tree the compilation is: printed as "route.from.steps[2].setBody". On the C stack.
 */
struct path {
	const struct path *up;
	const char *key; /* NULL: an index */
	uint32_t index;
};

struct compile {
	struct arena *arena;
	struct program *program;
	struct bundle *bundle;
	struct diagnostics *ds; /* NULL at run time: then the first error goes to err */
	struct hinny_error *err;
	const char *file; /* of the document being compiled */
	const struct path *path;
	struct position at;  /* of the node being compiled */
	struct route *route; /* being compiled, or NULL */
	struct step *parent;
	size_t errors;
	bool probing; /* a template that nobody uses: no word of values that are not known */
	size_t failures; /* steps that were wrong */
	size_t steps_cap, routes_cap, endpoints_cap, remotes_cap, states_cap;
	struct hash endpoints; /* producers by key */
	struct hash consumers; /* consumers by key */
	struct hash beans;     /* struct bean by name */
	bool polling;          /* the endpoint that is made is received from by a step */
	/* handlers of the file being compiled */
	bool made; /* the document is a route of a template */
	struct step **file_handlers;
	size_t file_handlers_n, file_handlers_cap;
	struct configuration *configurations; /* scopes.c, newest first */
	const char *route_configurations;     /* routeConfigurationId */
	/* of the route being compiled */
	struct step **route_handlers;
	size_t route_handlers_n, route_handlers_cap;
};

/* A program with what its users do not see. */
struct program_full {
	struct program program;
	struct bundle *bundle;
};

/* ---- compile.c ---- */

/* Appends to an array that grows in the heap. */
void compile_grow(void **items, uint32_t n, size_t *cap, size_t size);
/* `at` for the node, and errors without a position from now on. */
struct position compile_set_at(struct compile *c, const struct node *n);
/* compile_error at a node. */
int compile_error_node(struct compile *c, const struct node *n, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#define PATH_KEY(c, name)                                                                          \
	struct path path_here = { (c)->path, (name), 0 };                                          \
	(c)->path = &path_here
#define PATH_INDEX(c, i)                                                                           \
	struct path path_here = { (c)->path, NULL, (i) };                                          \
	(c)->path = &path_here
#define PATH_END(c) ((c)->path = path_here.up)

/* ---- walk.c ---- */
void walk_document(struct compile *c, const struct document *doc);
/* After all documents: ids, targets of direct, what only the whole shows. */
void walk_finish(struct compile *c);

/* ---- steps.c ---- */
enum steps_place { STEPS_INNER, STEPS_ROUTE, STEPS_BRANCHES };
/* A list of steps into *out. STEPS_ROUTE: heads such as onException may stand in front; they go to
 * c->route_handlers. */
void steps_parse(
    struct compile *c, const struct node *list, enum steps_place place, struct block *out);
/* One node as an EIP: a step, a child of one, an option holder, or a root. NULL when it was wrong
 * (reported). */
struct step *step_parse(struct compile *c, const struct eip_desc *eip, const struct node *key,
    const struct node *value);
/* A step with its options at their defaults. */
struct step *step_new(struct compile *c, const struct eip_desc *eip, struct position at);
/* An item of a list of steps: a map with one key. False when it was wrong (reported). */
bool steps_one_key(struct compile *c, const struct node *item, const char *what);

/* ---- secrets.c ---- */
/* Secrets of an endpoint come from outside of the route files: each that does not is reported.
 * Workers find nothing: hinnyd has looked. */
int secrets_check(struct compile *c, const struct node *uri, const struct node *parameters);
/* The same of uris within the text of an expression. */
int secrets_check_text(struct compile *c, const struct node *text);

/* ---- options_parse.c ---- */
/* Sets one option of a step (or of a language) from a node. */
int option_set_node(struct compile *c, const struct option_desc *o, void *conf,
    const struct node *value, struct step *st, const struct node *parameters);
/* The exception class that a text names; -1: unknown (reported). */
int option_class(struct compile *c, const struct node *n);
/* `disabled: true`? */
bool node_is_true(const struct node *n);

/* ---- expression_parse.c ---- */
/* Is the key a language, known or refused? */
bool expression_is_language(struct compile *c, struct str key);
/* {<language>: …}; NULL when it was wrong (reported). */
struct expression *expression_parse(
    struct compile *c, const struct node *key, const struct node *value, bool predicate);
/* A map that holds one language and nothing else (handled, onWhen, expression). */
struct expression *expression_parse_map(struct compile *c, const struct node *map, bool predicate);

/* ---- format_parse.c ---- */
/* Is the key a data format, known or refused? */
bool format_is_name(struct compile *c, struct str key);
/* {<format>: {…}}; NULL when it was wrong (reported). */
struct format *format_parse(struct compile *c, const struct node *key, const struct node *value);

/* ---- endpoint_parse.c ---- */
/* The row of an option that is a secret, else NULL. */
const struct option_desc *endpoint_secret(const struct component_desc *desc, struct str name);
struct endpoint *endpoint_parse(
    struct compile *c, const struct node *uri, const struct node *parameters, bool consumer);
/* One that a step receives from; not added to the program. */
struct endpoint *endpoint_polled(struct compile *c, struct str uri, const struct node *parameters,
    struct position at);
struct endpoint *endpoint_parse_text(struct compile *c, struct str uri,
    const struct node *parameters, bool consumer, struct position at);
/* The uri of a toD with its parameters appended. */
const char *endpoint_append_parameters(
    struct compile *c, const char *uri, const struct node *parameters);
/* Path of a key: without the options. */
struct str endpoint_base(const struct endpoint *ep);

/* ---- scopes.c: what stands outside of routes and holds for them ---- */
/* The routeConfigurations of a file: before any route is read. */
void scope_collect(struct compile *c, const struct document *doc);
/* errorHandler of a route: goes to c->route_handlers. */
void scope_parse_error_handler(struct compile *c, const struct node *value);
/* Gives the route what holds for it: its own, of its configurations, of its file. */
void scope_apply(struct compile *c, struct route *r);

/* ---- intercepts.c ---- */
/* Puts interceptors before each step of the route, and before its first. */
void intercept_apply(struct compile *c, struct route *r, const struct step *const *each,
    uint32_t each_n, const struct step *const *from, uint32_t from_n);

/* ---- preconditions.c ---- */
/* Decides what a file leaves to be decided at load, and changes its tree; in hinnyd, before all. */
void preconditions_decide(struct compile *c, const struct document *doc);

/* ---- beans.c ---- */
/* The entries of `beans` of a file: before any route is read. */
void beans_collect(struct compile *c, const struct document *doc);
/* Is it a bean of some class? */
bool bean_is_known(struct compile *c, struct str text);
/* Was it refused, so that nothing need be said of its use? */
bool bean_is_refused(struct compile *c, struct str text);
/* The bean that a text names, of a class with this role. NULL: reported. */
const struct bean *bean_find(struct compile *c, const struct node *at, const char *role);

/* ---- refused.c ---- */
enum refused_kind {
	REFUSED_ROOT,
	REFUSED_STEP,
	REFUSED_LANGUAGE,
	REFUSED_COMPONENT,
	REFUSED_DATAFORMAT,
	REFUSED_BEAN
};
/* Does Camel know this name, though this release does not? *alternative: what comes nearest, or
 * NULL. */
bool refused_find(enum refused_kind kind, struct str name, const char **alternative);
/* The same of an option of a step, language or component that is known. `owner` is its name. */
bool refused_option(enum refused_kind kind, const char *owner, struct str option);
/* All of them, apart by blanks; options: NULL when there are none. */
const char *refused_names(enum refused_kind kind);
const char *refused_options(enum refused_kind kind, const char *owner);

/* ---- plan.c ---- */
void plan_program(struct compile *c);
/* Of a program with errors: the kinds that can look at what is right of it, and do nothing else. */
void plan_owners(struct program *p);
/* ---- plan_states.c ---- */
/* Where each route's exchanges are at home, and who owns the states. */
void plan_states(struct compile *c);
/* ---- plan_calls.c ---- */
void plan_calls(struct program *p);
/* ---- plan_streams.c ---- */
void plan_streams(struct program *p);

/* ---- plan_order.c ---- */
void plan_order(struct compile *c);

/* The member of an option in a conf structure. */
#define OPTION_AT(conf, o, type) (*(type *)((char *)(conf) + (o)->offset))

#endif
