/*
 * The validator in hinny-xform: prepare compiles the schema with all that it includes and imports,
 * send validates. The document is not kept: it streams from the parser through the validator, which
 * knows the line and column of what does not fit.
 */
#include "transformers/validator/validator.h"

#include "core/base/mem.h"
#include "transformers/xml/errors.h"
#include "workers/component.h"
#include "workers/worker.h"

#include <stdlib.h>

#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlschemas.h>

enum { ERRORS_SHOWN = 100 };

/* endpoint.impl */
struct validator_code {
	xmlSchemaPtr schema; /* read-only after prepare */
};

/* A validation that runs. */
struct validation {
	struct xml *xml;
	xmlParserCtxtPtr parser;
	unsigned errors;
	struct buf text; /* one line an error, as Camel lists them; bounded */
};

static enum hinny_rc
compile_failed(struct xml *x, const char *url, struct hinny_error *err)
{
	const struct xml_errors *es = &x->errors;
	const char *file = xml_files_shown(es->file[0] ? es->file : url);

	if (es->line > 0)
		return hinny_error_set(
		    err, HINNY_EINVAL, "schema \"%s\", line %d: %s", file, es->line, es->first);
	return hinny_error_set(err, HINNY_EINVAL, "schema \"%s\": %s", file,
	    es->first[0] ? es->first : "it cannot be compiled");
}

static enum hinny_rc
validator_prepare(struct worker *wk, struct endpoint *ep, struct hinny_error *err)
{
	struct xml *x = worker_data(wk);
	const struct validator_conf *conf = ep->conf;
	const char *url = arena_printf(&x->files.arena, "/%s", conf->copy);
	xmlSchemaParserCtxtPtr pc;
	xmlSchemaPtr schema;
	struct validator_code *code;

	(void)xml_files_set_root(&x->files, xml_files_folder(&x->files, url));
	xml_errors_clear(&x->errors);
	pc = xmlSchemaNewParserCtxt(url);
	if (pc)
		xml_errors_hook_schema(&x->errors, pc);
	schema = pc ? xmlSchemaParse(pc) : NULL;
	xmlSchemaFreeParserCtxt(pc);
	(void)xml_files_set_root(&x->files, NULL);
	/* an import that cannot be read is only a warning to the library; what is refused was noted
	 */
	if (!schema || x->errors.n > 0) {
		xmlSchemaFree(schema);
		return compile_failed(x, url, err);
	}
	code = MEM_NEW(struct validator_code);
	code->schema = schema;
	ep->impl = code;
	return HINNY_OK;
}

static void
validator_release(struct worker *wk, struct endpoint *ep)
{
	struct validator_code *code = ep->impl;

	(void)wk;
	if (!code)
		return;
	xmlSchemaFree(code->schema);
	free(code);
	ep->impl = NULL;
}

/* ---- validating ---- */

static void
on_invalid(void *arg, xmlErrorPtr e)
{
	struct validation *va = arg;
	const xmlParserInput *in = va->parser->input;
	struct str what = str_trim(str_of(e->message ? e->message : "invalid"));

	if (e->level <= XML_ERR_WARNING || ++va->errors > ERRORS_SHOWN)
		return;
	/* beyond the bound the list is cut */
	(void)buf_printf(&va->text, "org.xml.sax.SAXParseException: %.*s, Line : %d, Column : %d\n",
	    STR_FMT(what), in ? in->line : 0, in ? in->col : 0);
}

/* The texts of errors are long enough without the class names of Java's XML library; what is kept
 * is what a person reads. */
static enum step_rc
fail_with(struct exchange *ex, const struct validator_conf *conf, struct str list)
{
	exchange_fail(ex, EXCEPTION_SCHEMA_VALIDATION,
	    "Validation failed for: %s\nerrors: [\n%.*s]", conf->resource_uri, STR_FMT(list));
	return STEP_FAILED;
}

/* Runs the parser with the validator in its SAX stream. The result is in va, the parser and the
 * errors of x. */
static bool
run(struct validation *va, const struct validator_code *code)
{
	xmlSchemaValidCtxtPtr vc = xmlSchemaNewValidCtxt(code->schema);
	xmlSAXHandler own = *va->parser->sax;
	xmlSAXHandlerPtr sax = &own, kept = va->parser->sax;
	void *user = va->parser, *kept_user = va->parser->userData;
	xmlSchemaSAXPlugPtr plug;

	if (!vc)
		return false;
	/* our rules on the DOCTYPE go on, but no tree is built */
	own.startElement = NULL;
	own.endElement = NULL;
	own.startElementNs = NULL;
	own.endElementNs = NULL;
	own.characters = own.ignorableWhitespace = NULL;
	own.cdataBlock = NULL;
	own.comment = NULL;
	own.processingInstruction = NULL;
	xmlSchemaSetValidStructuredErrors(vc, on_invalid, va);
	plug = xmlSchemaSAXPlug(vc, &sax, &user);
	if (plug) {
		va->parser->sax = sax;
		va->parser->userData = user;
		(void)xmlParseDocument(va->parser); /* the parser's state says more */
		va->parser->sax = kept;
		va->parser->userData = kept_user;
		(void)xmlSchemaSAXUnplug(plug);
	}
	xmlSchemaFreeValidCtxt(vc);
	return plug != NULL;
}

static enum step_rc
validate(struct xml *x, struct exchange *ex, const struct validator_conf *conf,
    const struct validator_code *code, const struct value *v)
{
	struct validation va = { .xml = x };
	struct hinny_error err;
	enum step_rc rc = STEP_DONE;

	va.parser = xml_parser_new(x, xml_text_of(ex, v), XML_DOCTYPE_IGNORE, &err);
	if (!va.parser && err.rc == HINNY_ELIMIT) {
		exchange_fail(ex, EXCEPTION_BODY_TOO_LARGE, "%s", err.text);
		return STEP_FAILED;
	}
	buf_init(&va.text, HINNY_ERROR_TEXT * 16);
	if (!va.parser) {
		(void)buf_printf(&va.text,
		    "org.xml.sax.SAXParseException: %s, Line : 1, Column : 1\n", err.text);
		rc = fail_with(ex, conf, (struct str){ va.text.p, va.text.n });
	} else if (!run(&va, code)) {
		exchange_fail(ex, EXCEPTION_SCHEMA_VALIDATION, "out of memory for a validation");
		rc = STEP_FAILED;
	} else if (xml_parser_result(x, va.parser, &err) != HINNY_OK) {
		(void)buf_printf(&va.text,
		    "org.xml.sax.SAXParseException: %s, Line : %d, Column : %d\n", x->errors.first,
		    x->errors.line, x->errors.column);
		rc = fail_with(ex, conf, (struct str){ va.text.p, va.text.n });
	} else if (va.errors > 0) {
		rc = fail_with(ex, conf, (struct str){ va.text.p, va.text.n });
	}
	if (va.parser) {
		xmlFreeDoc(va.parser->myDoc);
		xmlFreeParserCtxt(va.parser);
	}
	buf_fini(&va.text);
	return rc;
}

static enum step_rc
validator_send(struct worker *wk, struct exchange *ex, const struct step *st, struct endpoint *ep)
{
	const struct validator_conf *conf = ep->conf;
	const struct value *v =
	    conf->header_name ? exchange_header(ex, str_of(conf->header_name)) : &ex->body;

	(void)st;
	if (v && v->type != VALUE_NULL)
		return validate(worker_data(wk), ex, conf, ep->impl, v);
	if (conf->header_name && conf->fail_on_null_header) {
		exchange_fail(ex, EXCEPTION_NO_XML_HEADER_VALIDATION,
		    "XML header \"%s\" could not be found on the input message", conf->header_name);
		return STEP_FAILED;
	}
	if (!conf->header_name && conf->fail_on_null_body) {
		exchange_fail(ex, EXCEPTION_NO_XML_BODY_VALIDATION,
		    "No XML body could be found on the input message");
		return STEP_FAILED;
	}
	return STEP_DONE;
}

const struct component_ops validator_ops = {
	.scheme = "validator",
	.prepare = validator_prepare,
	.send = validator_send,
	.release = validator_release,
};
