/* direct at run time: a send to a name that no route consumes. */
#include "transports/direct/direct.h"

#include "transports/direct/direct_conf.h"

static enum step_rc
direct_send(struct worker *wk, struct exchange *ex, const struct step *st, struct endpoint *ep)
{
	(void)wk;
	const struct direct_conf *conf = ep->conf;
	if (ep->target)
		return engine_enter_route(ex, st, ep->target);
	if (!conf->fail_if_no_consumers)
		return STEP_DONE;
	exchange_fail(
	    ex, EXCEPTION_DIRECT_NOT_AVAILABLE, "No consumers available on endpoint: %s. Exchange[]", ep->key);
	return STEP_FAILED;
}

const struct component_ops direct_ops = {
	.scheme = "direct",
	.send = direct_send,
};
