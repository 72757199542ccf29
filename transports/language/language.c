/* language at run time: in the process where the exchange is. */
#include "transports/language/language.h"

#include "core/lang/expression.h"
#include "transports/language/language_conf.h"

static enum step_rc
language_send(struct worker *wk, struct exchange *ex, const struct step *st, struct endpoint *ep)
{
	const struct language_endpoint_conf *conf = ep->conf;
	struct value v;

	(void)wk;
	(void)st;
	if (expression_eval(conf->e, ex, &v) != EVAL_OK)
		return STEP_FAILED;
	if (conf->transform)
		exchange_set_body(ex, v);
	return STEP_DONE;
}

const struct component_ops language_ops = {
	.scheme = "language",
	.send = language_send,
};
