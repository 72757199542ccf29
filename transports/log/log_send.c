/* The log component at run time: a line for each message, or one with the throughput for each group
 * of messages. */
#include "core/base/mem.h"
#include "core/eip/log_level.h"
#include "transports/log/log.h"

#include <stdlib.h>

static struct log_group *
group_of(struct endpoint *ep)
{
	if (ep->impl == NULL)
		ep->impl = MEM_NEW(struct log_group);
	return ep->impl;
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
	if (conf->group_size > 0) {
		text = log_group_add(
		    group_of(ep), (uint64_t)conf->group_size, monotime_now(), &ex->arena);
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
	(void)wk;
	free(ep->impl);
	ep->impl = NULL;
}

const struct component_ops log_ops = {
	.scheme = "log",
	.send = log_send,
	.release = log_release,
};
