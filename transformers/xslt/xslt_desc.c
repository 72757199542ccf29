/* Descriptor of the xslt component: data, and the check of what the option table cannot say. Links
 * no library. */
#include "transformers/xslt/xslt.h"

#include "core/config/compile.h"
#include "core/lang/source.h"

#define OPT(member) .offset = offsetof(struct xslt_conf, member)

static const struct option_desc xslt_options[] = {
	{ .name = "allowTemplateFromHeader",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER,
	    .help = "only false: a stylesheet is compiled before the route serves, never taken "
		    "from a message",
	    OPT(template_from_header) },
	{ .name = "contentCache",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_PRODUCER,
	    .help =
		"only true: files belong to the generation, a changed one is taken up by a reload",
	    OPT(content_cache) },
	{ .name = "deleteOutputFile",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER,
	    .help = "with output=file: delete the file when the exchange is done",
	    OPT(delete_output_file) },
	{ .name = "failOnNullBody",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_PRODUCER,
	    .help = "whether a message without a body fails; otherwise an empty document is "
		    "transformed",
	    OPT(fail_on_null_body) },
	{ .name = "lazyStartProducer",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER | OPTION_LABEL,
	    .help = "without meaning here: stylesheets are compiled before the route serves",
	    OPT(lazy_start) },
	{ .name = "output",
	    .type = OPTION_ENUM,
	    .dflt = "string",
	    .flags = OPTION_PRODUCER,
	    .values = "string|bytes|DOM|file",
	    .help = "what the result is: text, bytes in the encoding of xsl:output, a node, or a "
		    "file named by the header CamelXsltFileName",
	    OPT(output) },
	{ .name = "resourceUri",
	    .type = OPTION_STRING,
	    .flags = OPTION_PRODUCER | OPTION_PATH | OPTION_REQUIRED,
	    .help = "the stylesheet: file:NAME, classpath:NAME or NAME",
	    OPT(resource_uri) },
	{ .name = "source",
	    .type = OPTION_STRING,
	    .flags = OPTION_PRODUCER,
	    .help = "what is transformed instead of the body: header:NAME, exchangeProperty:NAME "
		    "or variable:NAME",
	    OPT(source_text) },
	{ .name = "transformerCacheSize",
	    .type = OPTION_INT,
	    .dflt = "0",
	    .flags = OPTION_PRODUCER | OPTION_LABEL,
	    .help = "without meaning here: a compiled stylesheet is shared by all messages",
	    OPT(cache_size) },
	{ .name = "xpathTotalOpLimit",
	    .type = OPTION_INT,
	    .dflt = "10000",
	    .flags = OPTION_PRODUCER | OPTION_LABEL,
	    .help = "without meaning here: the time limit of a transformation bounds it",
	    OPT(op_limit) },
	OPTIONS_END
};

static int
xslt_check(struct compile *c, struct endpoint *ep)
{
	struct xslt_conf *conf = ep->conf;
	int rc = 0;
	if (conf->template_from_header)
		rc |= compile_error(c, ep->at,
		    "allowTemplateFromHeader=true is not supported: stylesheets are compiled "
		    "before a route serves");
	if (!conf->content_cache)
		rc |= compile_error(c, ep->at,
		    "contentCache=false is not supported: reload to take up a changed stylesheet");
	if (conf->delete_output_file && conf->output != XSLT_OUTPUT_FILE)
		rc |= compile_error(
		    c, ep->at, "deleteOutputFile=true is of use with output=file only");
	/* a bare name is that of a variable */
	if (!source_parse(conf->source_text, &conf->source)) {
		conf->source = (struct source){ SOURCE_VARIABLE, str_of(conf->source_text) };
		if (strchr(conf->source_text, ':'))
			rc |= compile_error(c, ep->at,
			    "source: expected body, header:NAME, exchangeProperty:NAME or "
			    "variable:NAME, got \"%s\"",
			    conf->source_text);
	}
	ep->after_call = conf->output == XSLT_OUTPUT_FILE;
	ep->after_call = conf->output == XSLT_OUTPUT_FILE; /* the home writes it: xslt_home.c */
	conf->copy = compile_file(c, conf->resource_uri, ep->at);
	return rc | (conf->copy ? 0 : -1);
}

const struct component_desc xslt_component = {
	.scheme = "xslt",
	.syntax = "xslt:resourceUri",
	.options = xslt_options,
	.conf_size = sizeof(struct xslt_conf),
	.owner = "xform",
	.flags = COMPONENT_PRODUCER | COMPONENT_PURE,
	.check = xslt_check,
	.help = "transforms the message with an XSLT 1.0 stylesheet",
};
