/* hinny-xform: libxml2 is set up before anything is compiled, and the jail closes when all is
 * compiled and read. */
#include "transformers/xform.h"

#include "core/base/mem.h"
#include "transformers/validator/validator.h"
#include "transformers/jail/jail.h"
#include "transformers/xml/memory.h"
#include "transformers/xml/xml.h"
#include "transformers/xpath/xpath_impl.h"
#include "transformers/xslt/xslt.h"
#include "transformers/xtokenize/xtokenize_impl.h"
#include "workers/worker.h"

#include <stdlib.h>

/* Memory of a large message is free when its reply has left, which the transformers do not see: so
 * it is collected a few times after one. */
enum { COLLECT_MS = 500, COLLECT_TIMES = 4 };

/* The worker's data is the struct xml alone, which is what the transformers want; this is found by
 * its on_large_arg. */
struct xform {
	struct xml *xml;
	struct loop_timer collect;
	int collects; /* to come */
};

static void
on_collect(struct loop_timer *t)
{
	struct xform *xf = CONTAINER_OF(t, struct xform, collect);

	xml_memory_collect();
	if (--xf->collects > 0)
		loop_timer_start(&xf->collect, COLLECT_MS, 0);
}

static void
on_large(void *arg)
{
	struct xform *xf = arg;

	xf->collects = COLLECT_TIMES;
	loop_timer_start(&xf->collect, COLLECT_MS, 0);
}

static enum hinny_rc
xform_init(struct worker *wk, struct hinny_error *err)
{
	const struct settings *s = worker_settings(wk);
	struct xml_limits limits = { s->xform.max_size, s->xform.max_depth, s->xform.max_output };
	struct xform *xf = MEM_NEW(struct xform);

	(void)err;
	xf->xml = xml_new(&limits, worker_generation_dir(wk));
	loop_timer_init(worker_loop(wk), &xf->collect, on_collect);
	xf->xml->on_large = on_large;
	xf->xml->on_large_arg = xf;
	worker_set_data(wk, xf->xml);
	return HINNY_OK;
}

static enum hinny_rc
xform_jail(struct worker *wk, struct hinny_error *err)
{
	struct xml *x = worker_data(wk);
	enum hinny_rc rc = xml_files_seal(&x->files, err);

	return rc == HINNY_OK ? jail_close(err) : rc;
}

static void
on_closed(struct loop_timer *t)
{
	free(CONTAINER_OF(t, struct xform, collect));
}

static void
xform_fini(struct worker *wk)
{
	struct xml *x = worker_data(wk);
	struct xform *xf = x ? x->on_large_arg : NULL;

	if (!xf)
		return;
	xml_free(x);
	worker_set_data(wk, NULL);
	loop_timer_close(&xf->collect, on_closed);
}

static const struct component_ops *const components[] = { &validator_ops, &xslt_ops, NULL };
static const struct language_impl *const languages[] = { &xpath_impl, &xtokenize_impl, NULL };

const struct worker_kind xform_kind = {
	.kind = "xform",
	.components = components,
	.languages = languages,
	.init = xform_init,
	.jail = xform_jail,
	.fini = xform_fini,
	.calls_at_once = 1,
};
