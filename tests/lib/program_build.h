/*
 * Programs made by hand: for what must be tested without YAML, workers and an event loop. They run
 * on the engine of engine_fake.h.
 *
 * All lives in the arena of struct build. Expressions are C functions (build_expr); remote ones are
 * answered by the test.
 */
#ifndef HINNY_TESTS_LIB_PROGRAM_BUILD_H
#define HINNY_TESTS_LIB_PROGRAM_BUILD_H

#include "core/eip/engine.h"
#include "core/eip/steps.h"

struct build {
	struct arena arena;
	struct program program;
	struct route *routes[16];
};
void build_init(struct build *b);
void build_fini(struct build *b);

typedef enum eval_rc build_fn(struct exchange *ex, const char *arg, struct value *out);
struct expression *build_const(struct build *b, const char *text);
struct expression *build_expr(struct build *b, build_fn *fn, const char *arg);
struct expression *build_predicate(struct build *b, build_fn *fn, const char *arg);
struct expression *build_remote(
    struct build *b, const char *owner, const char *text, bool predicate);
/* Expressions: body and arg; header arg; message of the exception; fails with IllegalStateException
 * arg; arg is "NAME=VALUE" of a header; true; false; redelivery counter below arg. */
build_fn fn_append, fn_header, fn_message, fn_fail, fn_header_is, fn_true, fn_false,
    fn_counter_below;

/* A step of the EIP, its options at their defaults, with an id "NAME1", "NAME2" … */
struct step *build_step(struct build *b, const struct eip_desc *eip);
struct step *build_set_body(struct build *b, const char *text);
struct step *build_append(struct build *b, const char *text); /* setBody: body and text */
struct step *build_set_header(struct build *b, const char *name, const char *text);
/* One of the EIPs that set something by name; an expression whose value is null. */
struct step *build_set(
    struct build *b, const struct eip_desc *eip, const char *name, struct expression *e);
struct expression *build_null(struct build *b);
struct boom_conf {
	enum exception_id id;
	const char *message;
	int times, run;
};
extern const struct eip_desc boom_eip;
/* Fails with this exception the first `times` times it runs (0: always), else appends "." to the
 * body. */
struct step *build_boom(struct build *b, enum exception_id id, const char *message, int times);
struct step *build_to(struct build *b, struct endpoint *ep);
/* Runs a function of the test. */
typedef enum step_rc build_run_fn(struct engine *en, struct exchange *ex, const struct step *st);
struct step *build_run(struct build *b, build_run_fn *run);
/* Steps until NULL, as the block of a step. */
void build_block(struct block *block, struct step *first, ...) __attribute__((sentinel));
struct step *build_when(struct build *b, struct expression *predicate, struct step *first, ...)
    __attribute__((sentinel));
struct step *build_choice(struct build *b, struct step *otherwise, struct step *when, ...)
    __attribute__((sentinel));
struct step *build_otherwise(struct build *b, struct step *first, ...) __attribute__((sentinel));
/* The parts of doTry: doCatch of one class, doFinally, then all together. */
struct step *build_catch(struct build *b, enum exception_id id, struct expression *on_when,
    struct step *first, ...) __attribute__((sentinel));
struct step *build_finally(struct build *b, struct step *first, ...) __attribute__((sentinel));
struct step *build_try(struct build *b, struct step *finally, struct step *catch1,
    struct step *catch2, struct step *first, ...) __attribute__((sentinel));
/* onException of one class. */
struct step *build_on_exception(struct build *b, enum exception_id id, struct step *first, ...)
    __attribute__((sentinel));
struct on_exception_conf *build_on_exception_conf(struct step *st);
struct redelivery_conf *build_redelivery(
    struct build *b, struct step *on_exception, int64_t maximum, int64_t delay_ms);

/* split of an expression; multicast. */
struct step *build_split(struct build *b, struct expression *e, struct step *first, ...)
    __attribute__((sentinel));
struct step *build_multicast(struct build *b, struct step *first, ...) __attribute__((sentinel));

struct route *build_route(struct build *b, const char *id, struct step *first, ...)
    __attribute__((sentinel));
/* Steps that are a block already become the route's. */
void build_route_block(struct route *route, const struct block *block);
/* The onException becomes one of the route: its own, or one of its file. */
void build_handler(struct build *b, struct route *route, struct step *on_exception, bool own);
struct endpoint *build_direct(struct build *b, const char *name, const struct route *target);
/* An endpoint of the component "fake": see fake.sends. */
struct endpoint *build_endpoint(struct build *b, const char *uri, unsigned component_flags);

#endif
