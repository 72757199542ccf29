/* language: an endpoint that evaluates an expression, and makes its value the body. */
#include "transports/language/language_conf.h"

#include "core/base/assert.h"
#include "core/config/compile.h"

#define AT(member) offsetof(struct language_endpoint_conf, member)

static const struct option_desc options[] = {
	{ .name = "languageName",
	    .type = OPTION_STRING,
	    .flags = OPTION_PATH | OPTION_REQUIRED,
	    .offset = AT(name),
	    .help = "simple, jsonpath, constant, header, exchangeProperty, variable or tokenize" },
	{ .name = "resourceUri",
	    .type = OPTION_STRING,
	    .flags = OPTION_PATH,
	    .offset = AT(resource),
	    .help = "the expression, or (file:, classpath:, resource:) the file that has it" },
	{ .name = "script",
	    .type = OPTION_STRING,
	    .flags = OPTION_PRODUCER,
	    .offset = AT(script),
	    .help = "the expression" },
	{ .name = "resultType",
	    .type = OPTION_CLASS,
	    .flags = OPTION_PRODUCER,
	    .offset = AT(result_type),
	    .help = "type that the value is converted to" },
	{ .name = "transform",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(transform),
	    .help = "the value becomes the body; false: it is dropped" },
	{ .name = "contentCache",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_PRODUCER | OPTION_LABEL,
	    .offset = AT(content_cache),
	    .help = "without meaning here: a file is read when the route is loaded" },
	{ .name = "cacheScript",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER | OPTION_LABEL,
	    .offset = AT(cache_script),
	    .help = "without meaning here: it is compiled when the route is loaded" },
	{ .name = "lazyStartProducer",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER | OPTION_LABEL,
	    .offset = AT(lazy_start),
	    .help = "without meaning here" },
	{ .name = "binary",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(binary),
	    .help = "true is not supported" },
	{ .name = "allowTemplateFromHeader",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(allow_template_from_header),
	    .help = "true is not supported: expressions are compiled when the route is loaded" },
	{ .name = "allowContextMapAll",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(allow_context),
	    .help = "true is not supported" },
	OPTIONS_END,
};

/* The text of the expression; NULL: reported. */
static const char *
text_of(struct compile *c, const struct endpoint *ep, const struct language_endpoint_conf *conf)
{
	static const char *const schemes[] = { "file:", "classpath:", "resource:" };
	const char *text = conf->script != NULL ? conf->script : conf->resource;

	if (text == NULL || text[0] == '\0') {
		(void)compile_error(c, ep->at,
		    "language:%s needs its expression: the header CamelLanguageScript is not "
		    "supported",
		    conf->name);
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
		if (str_starts(str_of(text), schemes[i]))
			return compile_file_text(
			    c, i == 2 ? text + strlen(schemes[i]) : text, ep->at);
	return text;
}

static int
refuse(struct compile *c, const struct endpoint *ep, const struct language_endpoint_conf *conf)
{
	const struct {
		const char *name;
		bool wanted;
	} refused[] = {
		{ "binary", conf->binary },
		{ "allowTemplateFromHeader", conf->allow_template_from_header },
		{ "allowContextMapAll", conf->allow_context },
	};
	int rc = 0;

	for (size_t i = 0; i < ARRAY_LEN(refused); i++)
		if (refused[i].wanted)
			rc |= compile_error(c, ep->at,
			    "option \"%s\" of component language is not supported", refused[i].name);
	return rc;
}

static int
language_check(struct compile *c, struct endpoint *ep)
{
	struct language_endpoint_conf *conf = ep->conf;
	const struct language_desc *language = language_find(str_of(conf->name));
	int rc = refuse(c, ep, conf);

	if (language == NULL)
		return compile_error(
		    c, ep->at, "language \"%s\" is not implemented in this release", conf->name);
	if (language->owner != NULL)
		return compile_error(c, ep->at,
		    "language:%s is not supported: write a step instead, such as setBody: {%s: …}",
		    conf->name, conf->name);
	const char *text = text_of(c, ep, conf);
	if (text == NULL)
		return -1;
	conf->e = compile_expression(c, conf->name, text, false, ep->at);
	if (conf->e == NULL)
		return -1;
	conf->e->result_type = (enum value_class_id)conf->result_type;
	for (uint32_t i = 0; i < conf->e->parts_n; i++)
		if (conf->e->parts[i]->owner != NULL)
			return compile_error(c, ep->at,
			    "%s within language:%s is not supported: write a step instead",
			    conf->e->parts[i]->language->name, conf->name);
	return rc;
}

const struct component_desc language_component = {
	.scheme = "language",
	.syntax = "language:languageName:resourceUri",
	.options = options,
	.conf_size = sizeof(struct language_endpoint_conf),
	.flags = COMPONENT_PRODUCER | COMPONENT_PURE | COMPONENT_SIMPLE,
	.check = language_check,
	.help = "evaluates an expression; its value becomes the body",
};
