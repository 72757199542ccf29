/* The xslt component in hinny-xform: prepare compiles the stylesheet, send transforms, both
 * synchronously; headers stay as they are. */
#include "transformers/xslt/xslt.h"

#include "core/base/mem.h"
#include "transformers/xslt/xslt_priv.h"
#include "workers/component.h"
#include "workers/worker.h"

#include <stdlib.h>

/* Results up to this size are copied to the exchange's arena, larger ones to a blob. */
enum { RESULT_SMALL = 16 << 10 };

/* endpoint.impl */
struct xslt_code {
	const struct xslt_engine_ops *engine;
	void *sheet;
};

static enum hinny_rc
xslt_prepare(struct worker *wk, struct endpoint *ep, struct hinny_error *err)
{
	struct xml *x = worker_data(wk);
	const struct xslt_conf *conf = ep->conf;
	struct xslt_code *code = MEM_NEW(struct xslt_code);
	const char *url = arena_printf(&x->files.arena, "/%s", conf->copy);
	enum hinny_rc rc;

	code->engine = &xslt_libxslt;
	rc = code->engine->compile(x, url, &code->sheet, err);
	if (rc != HINNY_OK)
		free(code);
	else
		ep->impl = code;
	return rc;
}

static void
xslt_release(struct worker *wk, struct endpoint *ep)
{
	struct xslt_code *code = ep->impl;

	(void)wk;
	if (!code)
		return;
	code->engine->free(code->sheet);
	free(code);
	ep->impl = NULL;
}

static void
set_result(struct xml *x, struct exchange *ex, const struct xslt_conf *conf, bool utf8)
{
	struct str s = { x->out.p, x->out.n };
	struct value v = { .type = VALUE_STRING };

	if (!utf8 || conf->output == XSLT_OUTPUT_BYTES)
		v.type = VALUE_BYTES;
	else if (conf->output == XSLT_OUTPUT_DOM)
		v.type = VALUE_XML;
	if (s.n <= RESULT_SMALL) {
		v.u.s = arena_str(&ex->arena, s);
	} else {
		struct blob *b = blob_copy(s.p, s.n);

		v.blob = arena_hold(&ex->arena, b);
		v.u.s = (struct str){ b->data, b->size };
		blob_put(b); /* the arena has its own */
	}
	exchange_set_body(ex, v);
}

static enum step_rc
failed(struct exchange *ex, const struct xslt_conf *conf, enum xslt_rc rc,
    const struct xslt_result *result)
{
	switch (rc) {
	case XSLT_STOPPED:
		exchange_set_property(ex, STR_LIT("CamelXsltFatalError"),
		    value_str(arena_str(&ex->arena, str_of(result->why))));
		exchange_fail(ex, EXCEPTION_TRANSFORMER,
		    "Termination forced by an xsl:message instruction: %s", result->why);
		break;
	case XSLT_TOO_LARGE:
		exchange_fail(ex, EXCEPTION_TRANSFORMER,
		    "xslt:%s: the result is larger than xform.max_output", conf->resource_uri);
		break;
	case XSLT_FAILED:
		exchange_fail(
		    ex, EXCEPTION_TRANSFORMER, "xslt:%s: %s", conf->resource_uri, result->why);
		break;
	default: /* set already */
		break;
	}
	return STEP_FAILED;
}

static enum step_rc
xslt_send(struct worker *wk, struct exchange *ex, const struct step *st, struct endpoint *ep)
{
	struct xml *x = worker_data(wk);
	const struct xslt_conf *conf = ep->conf;
	const struct xslt_code *code = ep->impl;
	const struct value *v = source_value(&conf->source, ex);
	struct xslt_result result = { .utf8 = true };
	enum xslt_rc rc;
	size_t size;

	(void)st;
	if (v && v->type == VALUE_NULL)
		v = NULL;
	if (!v && conf->fail_on_null_body) {
		exchange_fail(ex, EXCEPTION_EXPECTED_BODY_TYPE,
		    "Could not extract IN message body as type: interface "
		    "javax.xml.transform.Source body is: null");
		return STEP_FAILED;
	}
	size = v && value_has_text(v) ? v->u.s.n : 0;
	rc = code->engine->transform(x, code->sheet, ex, v, &result);
	if (rc == XSLT_DONE)
		set_result(x, ex, conf, result.utf8);
	xml_memory_trim(x, size + x->out.n);
	return rc == XSLT_DONE ? STEP_DONE : failed(ex, conf, rc, &result);
}

const struct component_ops xslt_ops = {
	.scheme = "xslt",
	.prepare = xslt_prepare,
	.send = xslt_send,
	.release = xslt_release,
};
