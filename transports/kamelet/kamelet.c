/* kamelet at run time: a send to what is no route. */
#include "transports/kamelet/kamelet.h"

#include "transports/kamelet/kamelet_conf.h"

#include <string.h>

static enum step_rc
kamelet_send(struct worker *wk, struct exchange *ex, const struct step *st, struct endpoint *ep)
{
	(void)wk;
	const struct kamelet_conf *conf = ep->conf;
	if (ep->target)
		return engine_enter_route(ex, st, ep->target);
	/* The end of a Kamelet that was sent to: its caller goes on when its route has ended. */
	if (strcmp(conf->name, "sink") == 0)
		return STEP_DONE;
	exchange_fail(ex, EXCEPTION_DIRECT_NOT_AVAILABLE,
	    "No consumers available on endpoint: %s: a kamelet's route is made at load, for a name "
	    "that "
	    "stands in the route file",
	    ep->key);
	return STEP_FAILED;
}

const struct component_ops kamelet_ops = {
	.scheme = "kamelet",
	.send = kamelet_send,
};
