/* hinny-xform: libxml2 is set up before anything is compiled, and the jail closes when all is compiled and read. */
#include "transformers/xml/xform.h"

#include "core/base/log.h"
#include "transformers/validator/validator.h"
#include "transformers/xml/jail.h"
#include "transformers/xml/xml.h"
#include "transformers/xpath/xpath_impl.h"
#include "transformers/xslt/xslt.h"
#include "transformers/xtokenize/xtokenize_impl.h"
#include "workers/worker.h"

static enum hinny_rc
xform_init(struct worker *wk, struct hinny_error *err)
{
	const struct settings *s = worker_settings(wk);
	struct xml_limits limits = { s->xform.max_size, s->xform.max_depth, s->xform.max_output };

	(void)err;
	worker_set_data(wk, xml_new(&limits, worker_generation_dir(wk)));
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
xform_fini(struct worker *wk)
{
	xml_free(worker_data(wk));
	worker_set_data(wk, NULL);
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
