/* The log component at run time: a line for each message, or one with the throughput for each group
 * of messages. */
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/eip/log_level.h"
#include "transports/log/log.h"

#include <stdlib.h>

/* What an endpoint keeps in a process. */
struct counting {
	struct log_group group;
	struct engine *en;
	const struct log_endpoint_conf *conf;
	struct engine_timer *timer; /* groupInterval */
};

static struct counting *
counting_of(struct engine *en, struct endpoint *ep)
{
	struct counting *ct = ep->impl;
	if (ct == NULL) {
		ct = MEM_NEW(struct counting);
		ct->en = en;
		ct->conf = ep->conf;
		ep->impl = ct;
	}
	return ct;
}

/* ---- groupInterval ---- */

static void
tell(void *arg)
{
	struct counting *ct = arg;
	struct arena a;
	enum log_level level;
	arena_init(&a);
	struct str text =
	    log_group_tell(&ct->group, ct->conf->group_active_only, monotime_now(), &a);
	if (text.n > 0 && route_log_level(ct->conf->level, &level) && level <= log_get_level())
		log_text(level, text.p, "logger", ct->conf->logger, NULL);
	arena_fini(&a);
	ct->timer = ct->en->ops->timer_start(ct->en, ct->conf->group_interval_ms, tell, ct);
}

static void
count(struct counting *ct)
{
	const struct log_endpoint_conf *conf = ct->conf;
	struct log_group *g = &ct->group;
	if (g->received++ == 0)
		g->started = g->group_started = monotime_now();
	g->group++;
	if (ct->timer == NULL)
		ct->timer = ct->en->ops->timer_start(ct->en,
		    conf->group_delay_ms > 0 ? conf->group_delay_ms : conf->group_interval_ms, tell,
		    ct);
}

static enum step_rc
log_send(struct worker *wk, struct exchange *ex, const struct step *st, struct endpoint *ep)
{
	(void)wk;
	(void)st;
	const struct log_endpoint_conf *conf = ep->conf;
	enum log_level level;
	if (!route_log_level(conf->level, &level))
		return STEP_DONE;
	struct str text;
	if (conf->group_interval_ms > 0) {
		count(counting_of(ex->engine, ep));
		return STEP_DONE;
	}
	if (conf->group_size > 0) {
		text = log_group_add(&counting_of(ex->engine, ep)->group,
		    (uint64_t)conf->group_size, monotime_now(), &ex->arena);
		if (text.n == 0)
			return STEP_DONE;
	} else {
		text = log_text_of(conf, ex);
	}
	ex->engine->ops->log(ex->engine, level, conf->logger, text, ex);
	return STEP_DONE;
}

static void
log_release(struct worker *wk, struct endpoint *ep)
{
	struct counting *ct = ep->impl;
	(void)wk;
	if (ct != NULL && ct->timer != NULL)
		ct->en->ops->timer_cancel(ct->en, ct->timer);
	free(ct);
	ep->impl = NULL;
}

const struct component_ops log_ops = {
	.scheme = "log",
	.send = log_send,
	.release = log_release,
};
