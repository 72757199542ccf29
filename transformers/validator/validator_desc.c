/* Descriptor of the validator component: data, and the check of what the option table cannot say.
 * Links no library. */
#include "transformers/validator/validator.h"

#include "core/config/compile.h"

#define OPT(member) .offset = offsetof(struct validator_conf, member)

static const struct option_desc validator_options[] = {
	{ .name = "failOnNullBody",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_PRODUCER,
	    .help = "whether a message without a body fails; otherwise it counts as valid",
	    OPT(fail_on_null_body) },
	{ .name = "failOnNullHeader",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_PRODUCER,
	    .help = "with headerName: whether a message without that header fails",
	    OPT(fail_on_null_header) },
	{ .name = "headerName",
	    .type = OPTION_STRING,
	    .flags = OPTION_PRODUCER,
	    .help = "the header that is validated instead of the body",
	    OPT(header_name) },
	{ .name = "lazyStartProducer",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER | OPTION_LABEL,
	    .help = "without meaning here: schemas are compiled before the route serves",
	    OPT(lazy_start) },
	{ .name = "resourceUri",
	    .type = OPTION_STRING,
	    .flags = OPTION_PRODUCER | OPTION_PATH | OPTION_REQUIRED,
	    .help = "the schema: file:NAME, classpath:NAME or NAME",
	    OPT(resource_uri) },
	{ .name = "schemaLanguage",
	    .type = OPTION_STRING,
	    .dflt = "http://www.w3.org/2001/XMLSchema",
	    .flags = OPTION_PRODUCER,
	    .help = "only W3C XML Schema",
	    OPT(schema_language) },
	{ .name = "useSharedSchema",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_PRODUCER | OPTION_LABEL,
	    .help = "without meaning here: a compiled schema is shared by all messages",
	    OPT(shared_schema) },
	OPTIONS_END
};

static int
validator_check(struct compile *c, struct endpoint *ep)
{
	struct validator_conf *conf = ep->conf;
	int rc = 0;
	if (!str_eq(str_of(conf->schema_language), STR_LIT("http://www.w3.org/2001/XMLSchema")))
		rc = compile_error(c, ep->at,
		    "schemaLanguage: expected http://www.w3.org/2001/XMLSchema, got \"%s\"",
		    conf->schema_language);
	conf->copy = compile_file(c, conf->resource_uri, ep->at);
	return rc | (conf->copy ? 0 : -1);
}

const struct component_desc validator_component = {
	.scheme = "validator",
	.syntax = "validator:resourceUri",
	.options = validator_options,
	.conf_size = sizeof(struct validator_conf),
	.owner = "xform",
	.flags = COMPONENT_PRODUCER | COMPONENT_PURE | COMPONENT_KEEPS_BODY,
	.check = validator_check,
	.help = "validates the message against an XML Schema",
};
