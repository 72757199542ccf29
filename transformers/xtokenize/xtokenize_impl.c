/* The xtokenize language in hinny-xform: a list of the items' texts. */
#include "transformers/xtokenize/xtokenize_impl.h"

#include "core/model/program.h"
#include "transformers/xtokenize/tokenizer.h"
#include "workers/worker.h"

static enum hinny_rc
xtokenize_prepare(void *owner, struct expression *e, struct hinny_error *err)
{
	(void)err;
	e->impl = worker_data(owner);
	return HINNY_OK;
}

struct gather {
	struct arena *arena;
	struct value_list *list;
	uint64_t left; /* bytes of all items that there may be yet */
	bool full;
};

static bool
add_item(void *arg, struct str item)
{
	struct gather *g = arg;

	if (g->left != 0 && item.n > g->left) {
		g->full = true;
		return false;
	}
	g->left -= g->left != 0 ? item.n : 0;
	value_list_add(g->arena, g->list, value_str(arena_str(g->arena, item)));
	return true;
}

static enum eval_rc
xtokenize_eval(const struct expression *e, struct exchange *ex, struct value *out)
{
	const struct xtokenize_conf *conf = e->conf;
	struct xml *x = e->impl;
	struct value *v = source_value(&conf->source, ex);
	struct hinny_error err;
	enum hinny_rc rc;

	*out = value_new_list(&ex->arena, 16);
	struct gather g = { &ex->arena, out->u.list,
		x->limits.max_output ? x->limits.max_output + 1 : 0, false };
	if (!v || v->type == VALUE_NULL)
		return EVAL_OK;
	rc = tokenizer_run(x, xml_text_of(ex, v), e->code, conf, add_item, &g, &err);
	if (rc == HINNY_OK && !g.full)
		return EVAL_OK;
	if (rc == HINNY_ELIMIT || g.full)
		exchange_fail(ex, EXCEPTION_BODY_TOO_LARGE, "xtokenize %s: %s", e->text,
		    g.full ? "the items are larger than xform.max_output" : err.text);
	else
		exchange_fail(ex, EXCEPTION_XML_STREAM, "xtokenize %s: %s", e->text, err.text);
	return EVAL_ERROR;
}

const struct language_impl xtokenize_impl = {
	.name = "xtokenize",
	.prepare = xtokenize_prepare,
	.eval = xtokenize_eval,
};
