/* hinny eval: one expression that only this executable can evaluate, for a message that the command made. */
#include "workers/worker_priv.h"

#include "core/base/log.h"
#include "core/lang/expression.h"

static enum eval_rc
evaluate(struct worker *wk, struct exchange *ex, const struct control_evaluate_one *q, struct value *out)
{
	struct frame_reader r = { .p = q->message.p, .end = q->message.p + q->message.n };
	struct frame_body none = { .follows = false };
	const struct program *p = wk->program;
	frame_get_message(&r, ex, NULL, &none);
	struct frame_reader body = { .p = q->body.p, .end = q->body.p + q->body.n };
	exchange_set_body(ex, frame_get_value(&body, &ex->arena, NULL));
	if (!frame_end(&r) || !frame_end(&body) || q->slot >= p->remotes_n || p->remotes[q->slot]->ops == NULL) {
		exchange_fail(ex, EXCEPTION_ILLEGAL_ARGUMENT, "the expression or message is not as it should be");
		return EVAL_ERROR;
	}
	return expression_eval(p->remotes[q->slot], ex, out);
}

void
evaluate_one(struct worker *wk, const struct control_message *m)
{
	struct control_message answer = { .type = FRAME_VALUE, .fd = -1 };
	struct hinny_error err;
	struct buf value;
	struct value v = value_null();
	struct exchange *ex = exchange_new(&wk->pool);
	ex->engine = &wk->engine;
	ex->from_route = ex->route = wk->program->routes_n > 0 ? wk->program->routes[0] : NULL;
	enum eval_rc rc = evaluate(wk, ex, &m->evaluate_one, &v);
	buf_init(&value, FRAME_MAX - 1024);
	if (rc == EVAL_OK) {
		struct frame_writer w = { .out = &value };
		frame_put_value(&w, &v);
		if (w.rc != HINNY_OK) {
			exchange_fail(ex, EXCEPTION_BODY_TOO_LARGE, "the result is too large or too deep");
			rc = EVAL_ERROR;
		}
	}
	if (rc == EVAL_OK) {
		answer.value.value = (struct str){ value.p, value.n };
	} else {
		answer.value.exception = str_of(exception_class(ex->exception->id)->name);
		answer.value.text = ex->exception->message;
	}
	if (channel_send(wk->control, &answer, &err) != HINNY_OK)
		log_error("cannot answer: %s", err.text);
	buf_fini(&value);
	exchange_free(&wk->pool, &ex);
}
