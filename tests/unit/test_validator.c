/* transformers/validator: valid and invalid documents with line and column, missing bodies, schemas
 * that include others, and schemas that are wrong. */
#include "transformers/validator/validator.h"

#include "tests/lib/unit.h"
#include "tests/unit/xform_fixture.h"

#define SCHEMA(body) "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'>" body "</xs:schema>"
#define ORDER                                                                                      \
	SCHEMA("<xs:element name='order'><xs:complexType><xs:sequence><xs:element name='item' "    \
	       "type='xs:string' maxOccurs='2'/></xs:sequence>"                                    \
	       "<xs:attribute name='id' type='xs:int' "                                            \
	       "use='required'/></xs:complexType></xs:element>")

static struct endpoint *
endpoint_of(struct validator_conf *conf, const char *name)
{
	static struct endpoint ep;

	memset(&ep, 0, sizeof ep);
	*conf = (struct validator_conf){ .resource_uri = name,
		.copy = name,
		.fail_on_null_body = true,
		.fail_on_null_header = true };
	ep.conf = conf;
	return &ep;
}

static void
prepare(struct endpoint *ep)
{
	struct hinny_error err = { 0 };

	if (validator_ops.prepare(&fixture, ep, &err) != HINNY_OK)
		fail_msg("%s", err.text);
}

struct row {
	const char *label;
	const char *body;
	enum exception_id id; /* THROWABLE: valid */
	const char *says[3];
};

static void
check_document(void **state)
{
	const struct row *r = *state;
	struct validator_conf conf;
	struct endpoint *ep = endpoint_of(&conf, "order.xsd");
	struct exchange *ex;
	struct str said;

	fixture_file("order.xsd", ORDER);
	prepare(ep);
	for (int i = 0; i < 2; i++) {
		ex = fixture_exchange(r->body);
		if (r->id == EXCEPTION_THROWABLE) {
			if (validator_ops.send(&fixture, ex, NULL, ep) != STEP_DONE)
				fail_msg("%.*s", STR_FMT(ex->exception->message));
			assert_ptr_equal(ex->body.u.s.p, r->body);
			continue;
		}
		assert_int_equal(validator_ops.send(&fixture, ex, NULL, ep), STEP_FAILED);
		assert_int_equal(ex->exception->id, r->id);
		said = ex->exception->message;
		for (size_t k = 0; k < 3 && r->says[k]; k++)
			if (str_find(said, str_of(r->says[k])) == SIZE_MAX)
				assert_string_equal(
				    arena_strndup(&ex->arena, said.p, said.n), r->says[k]);
	}
	validator_ops.release(&fixture, ep);
	fixture_exchange_end();
}

static const struct row documents[] = {
	{ "valid", "<order id=\"5\"><item>x</item></order>", EXCEPTION_THROWABLE, { NULL } },
	{ "valid, two items", "<order id=\"5\"><item>x</item><item>y</item></order>",
	    EXCEPTION_THROWABLE, { NULL } },
	{ "attribute of another type", "<order id=\"five\"><item>x</item></order>",
	    EXCEPTION_SCHEMA_VALIDATION, { "'id'", "'five'", "Line : 1, Column : " } },
	{ "wrong child", "<order id=\"5\">\n  <thing>x</thing></order>",
	    EXCEPTION_SCHEMA_VALIDATION,
	    { "'thing'", "Expected is ( item )", "Line : 2, Column : 9" } },
	{ "too many", "<order id=\"5\"><item>x</item><item>y</item><item>z</item></order>",
	    EXCEPTION_SCHEMA_VALIDATION, { "'item'", NULL } },
	{ "missing attribute", "<order><item>x</item></order>", EXCEPTION_SCHEMA_VALIDATION,
	    { "'id' is required", NULL } },
	{ "two errors", "<order id=\"x\"><thing/></order>", EXCEPTION_SCHEMA_VALIDATION,
	    { "'thing'", "'id'", NULL } },
	{ "another root", "<a/>", EXCEPTION_SCHEMA_VALIDATION, { "'a'", NULL } },
	{ "not well-formed", "<order id=\"5\"", EXCEPTION_SCHEMA_VALIDATION, { "Line : 1", NULL } },
	{ "empty", "", EXCEPTION_SCHEMA_VALIDATION, { "Premature end of file", NULL } },
	{ "no body", NULL, EXCEPTION_NO_XML_BODY_VALIDATION, { "No XML body", NULL } },
	{ "entities", "<!DOCTYPE order [<!ENTITY e 'x'>]><order id=\"5\"><item>&e;</item></order>",
	    EXCEPTION_SCHEMA_VALIDATION, { "entities are not expanded", NULL } },
	{ "DTD of the network",
	    "<!DOCTYPE order SYSTEM 'http://127.0.0.1:18097/x.dtd'><order "
	    "id=\"5\"><item>x</item></order>",
	    EXCEPTION_THROWABLE, { NULL } },
};

static void
test_options(void **state)
{
	struct validator_conf conf;
	struct endpoint *ep = endpoint_of(&conf, "order.xsd");
	struct exchange *ex = fixture_exchange(NULL);

	(void)state;
	fixture_file("order.xsd", ORDER);
	prepare(ep);
	conf.fail_on_null_body = false;
	assert_int_equal(validator_ops.send(&fixture, ex, NULL, ep), STEP_DONE);
	conf.header_name = "doc";
	assert_int_equal(validator_ops.send(&fixture, ex, NULL, ep), STEP_FAILED);
	assert_int_equal(ex->exception->id, EXCEPTION_NO_XML_HEADER_VALIDATION);
	ex = fixture_exchange("no XML");
	conf.fail_on_null_header = false;
	assert_int_equal(validator_ops.send(&fixture, ex, NULL, ep), STEP_DONE);
	exchange_set_header(
	    ex, STR_LIT("doc"), value_str(STR_LIT("<order id='5'><item>x</item></order>")));
	assert_int_equal(validator_ops.send(&fixture, ex, NULL, ep), STEP_DONE);
	exchange_set_header(ex, STR_LIT("doc"), value_str(STR_LIT("<order/>")));
	assert_int_equal(validator_ops.send(&fixture, ex, NULL, ep), STEP_FAILED);
	validator_ops.release(&fixture, ep);
	fixture_exchange_end();
}

static void
test_include(void **state)
{
	struct validator_conf conf;
	struct endpoint *ep = endpoint_of(&conf, "xsd/main.xsd");
	struct exchange *ex;

	(void)state;
	fixture_file("xsd/types.xsd",
	    SCHEMA("<xs:simpleType name='code'><xs:restriction base='xs:string'><xs:length "
	           "value='2'/></xs:restriction></xs:simpleType>"));
	fixture_file("xsd/main.xsd",
	    SCHEMA("<xs:include schemaLocation='types.xsd'/><xs:element name='c' type='code'/>"));
	prepare(ep);
	ex = fixture_exchange("<c>ab</c>");
	assert_int_equal(validator_ops.send(&fixture, ex, NULL, ep), STEP_DONE);
	ex = fixture_exchange("<c>abc</c>");
	assert_int_equal(validator_ops.send(&fixture, ex, NULL, ep), STEP_FAILED);
	validator_ops.release(&fixture, ep);
	fixture_exchange_end();
}

struct bad {
	const char *label;
	const char *name, *schema;
	const char *says;
};

static void
check_bad(void **state)
{
	const struct bad *r = *state;
	struct validator_conf conf;
	struct endpoint *ep = endpoint_of(&conf, r->name);
	struct hinny_error err = { 0 };

	if (r->schema)
		fixture_file(r->name, r->schema);
	assert_int_equal(validator_ops.prepare(&fixture, ep, &err), HINNY_EINVAL);
	if (!strstr(err.text, r->says))
		assert_string_equal(err.text, r->says);
}

static const struct bad bad[] = {
	{ "not well-formed", "f1/b1.xsd",
	    "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'>\n<xs:element",
	    "schema \"b1.xsd\", line 2" },
	{ "unknown type", "f2/b2.xsd", SCHEMA("\n<xs:element name='a' type='nope'/>"),
	    "schema \"b2.xsd\", line 2" },
	{ "no schema", "f3/b3.xsd", "<a/>", "schema \"b3.xsd\"" },
	{ "no file", "f4/b4.xsd", NULL, "b4.xsd" },
	{ "include outside of the folder", "f5/sub/b5.xsd",
	    SCHEMA("<xs:include schemaLocation='../order.xsd'/>"), "may not be opened" },
	{ "import of the network", "f6/b6.xsd",
	    SCHEMA("<xs:import namespace='urn:x' "
	           "schemaLocation='http://127.0.0.1:18097/x.xsd'/><xs:element name='a'/>"),
	    "may not be opened" },
};

int
main(void)
{
	int rc;

	fixture_open();
	UNIT_TABLE("document", documents, check_document);
	UNIT_CASE(test_options);
	UNIT_CASE(test_include);
	UNIT_TABLE("compile", bad, check_bad);
	rc = unit_run("validator");
	fixture_close();
	return rc;
}
