/*
 * What a transport or transformer gives to the worker that runs it, beside its descriptor.
 */
#ifndef HINNY_WORKERS_COMPONENT_H
#define HINNY_WORKERS_COMPONENT_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/eip/engine.h"
#include "core/model/program.h"

struct worker;

/* All of them run on the worker's loop and must not block. Members that a component does not have are NULL, by its flags. */
struct component_ops {
	const char *scheme;
	/* Before READY, once for each endpoint of the program that this worker runs: checks and compiles (a stylesheet). HINNY_EINVAL refuses the generation.
	 * At run time (toD) too; HINNY_ELIMIT: there would be room if idle ones of the component were released, which is done then. */
	enum hinny_rc (*prepare)(struct worker *wk, struct endpoint *ep, struct hinny_error *err);
	/* Consumer: begin / stop taking work in. After stop no new exchange starts; those in flight go on. */
	enum hinny_rc (*start)(struct worker *wk, struct endpoint *ep, const struct route *route, struct hinny_error *err);
	void (*stop)(struct worker *wk, struct endpoint *ep);
	/* Producer: sends the exchange's message. Returns like a step: DONE, FAILED with the exception set, PENDING and engine_resume/engine_fail later. */
	enum step_rc (*send)(struct worker *wk, struct exchange *ex, const struct step *st, struct endpoint *ep);
	/* Consumer: receives one message into the exchange (pollEnrich), whose body becomes null when none has come within the time. Returns as send does.
	 * The endpoint is one of run time, and was not started. May be NULL. */
	enum step_rc (*receive)(struct worker *wk, struct exchange *ex, struct endpoint *ep, int64_t timeout_ms);
	/* Home side, after a call to the owner brought the reply (xslt output=file: the home writes the file). May be NULL. */
	enum step_rc (*after_call)(struct worker *wk, struct exchange *ex, const struct step *st, struct endpoint *ep);
	/* An admin question of the component's name: appends the answer, JSON, to out (which has no bound). May be NULL. */
	void (*question)(struct worker *wk, struct str argument, struct buf *out);
	/* End of the process: what belongs to no endpoint goes. May be NULL. */
	void (*fini)(struct worker *wk);
	/* The endpoint's memory goes (end of the process, or a toD endpoint leaves the cache). */
	void (*release)(struct worker *wk, struct endpoint *ep);
};

#endif
