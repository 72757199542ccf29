/*
 * What a descriptor's compile and check functions may use. A compilation turns the nodes of a
 * bundle into a program; all errors of all files are gathered, none ends it early. The same code
 * runs in hinny check, in hinnyd, and (with nothing left to report) in every worker.
 */
#ifndef HINNY_CONFIG_COMPILE_H
#define HINNY_CONFIG_COMPILE_H

#include "core/base/arena.h"
#include "core/model/program.h"

struct bundle;
struct diagnostics;

/* The program's arena: what is allocated here lives as long as the program. */
struct arena *compile_arena(struct compile *c);
/* Reports `file:line:column: path: text` and returns -1. A position with file NULL takes that of
 * the node being compiled. */
int compile_error(struct compile *c, struct position at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void compile_warning(struct compile *c, struct position at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* As above at a character of an expression's text (0-based offset): the message names the column
 * within the text. */
int compile_error_in(struct compile *c, const struct expression *e, size_t offset, const char *fmt,
    ...) __attribute__((format(printf, 4, 5)));

/* A further expression (in Simple: ${xpath(…)}, a log message, a toD uri), compiled now; NULL when
 * it was wrong (reported). */
struct expression *compile_expression(
    struct compile *c, const char *language, const char *text, bool predicate, struct position at);
/* A copy of `options` (pairs) for languages with options (xpath namespaces) is taken from `like`
 * when it has the same language; else defaults. */
/* An endpoint from a constant uri, for steps with uris beside OPTION_URI. NULL when wrong
 * (reported). */
struct endpoint *compile_endpoint(
    struct compile *c, const char *uri, bool consumer, struct position at);
/* One that a step receives from; it is no part of the program. NULL when wrong (reported). */
struct endpoint *compile_polled(struct compile *c, const char *uri, struct position at);
/* For checks of steps that send: a step of its own, which the parent runs, sends to the endpoint or
 * (NULL) to the uri, a Simple text, as toD does. Its id is the parent's. NULL when wrong (reported).
 */
struct step *compile_send(
    struct compile *c, struct step *parent, struct endpoint *ep, const char *uri);
/* A hidden step of this kind, which the step's check puts into its lead or trail: it stands before or
 * behind it in its block. */
struct step *compile_hidden(struct compile *c, struct step *st, const struct eip_desc *eip);
/* Run time (toD): compiles a producer endpoint against the program outside a compilation; memory
 * from `a`. */
struct endpoint *endpoint_make(
    struct arena *a, const struct program *p, struct str uri, struct hinny_error *err);
/* The same of one that is received from (pollEnrich). */
struct endpoint *endpoint_make_consumer(
    struct arena *a, const struct program *p, struct str uri, struct hinny_error *err);

/* A file that a route names: relative names start at the working folder of hinnyd/hinny run;
 * "file:" and "classpath:" prefixes are taken off (classpath: is looked up beside the route file,
 * then in the working folder). The supervisor copies it, and what it includes, to the generation's
 * folder; returns the copy's name relative to that folder, or NULL (reported) when it cannot be
 * read. */
const char *compile_file(struct compile *c, const char *name, struct position at);
/* The contents of a small file, for resource:file: texts. NULL when it cannot be read (reported).
 */
const char *compile_file_text(struct compile *c, const char *name, struct position at);

/* Adds what is read. */
void access_add_header(struct compile *c, struct access *ac, const char *name);
void access_add_property(struct compile *c, struct access *ac, const char *name);
void access_add_variable(struct compile *c, struct access *ac, const char *name);
void access_merge(struct compile *c, struct access *to, const struct access *from);

/* For checks of steps with state (core/eip/state.h): the step keeps something of this kind; sets
 * st->state. */
struct state_node *compile_state(struct compile *c, struct step *st, const struct state_desc *desc);
/* The same of what belongs to no step, known by name ("variables"): one for the whole program,
 * whoever asks. NULL at run time (toD) when no route has asked for it; nothing is reported then. */
struct state_node *compile_state_shared(
    struct compile *c, const char *name, const struct state_desc *desc);

/* Was this option of `conf` (of a step, endpoint or expression) written, and not left to its
 * default? `options` is the table that filled it. */
bool option_given(const struct option_desc *options, const void *conf, const char *name);
/* The value of a property with placeholders in it resolved, an environment variable first; NULL
 * when there is none. For ${properties:NAME} with a constant name. */
const char *compile_property(struct compile *c, const char *name);

/* The body that an exchange began with is asked for: the engine keeps it (engine_original_body). */
void compile_keep_original(struct compile *c);

/* The route that consumes a direct name, known after all routes were read: NULL while none. */
const struct program *compile_program(struct compile *c);

#endif
