/* Any bytes as a document: through XPath, a stylesheet, a schema and the tokenizer, as bytes (odd
 * lengths) or as text. */
#include "transformers/validator/validator.h"
#include "transformers/xml/write.h"
#include "transformers/xslt/xslt.h"
#include "transformers/xtokenize/tokenizer.h"

#include "tests/unit/xform_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char sheet[] =
    "<xsl:stylesheet version='1.0' "
    "xmlns:xsl='http://www.w3.org/1999/XSL/Transform'><xsl:strip-space elements='s'/>"
    "<xsl:template match='@*|node()'><xsl:copy><xsl:apply-templates "
    "select='@*|node()'/></xsl:copy></xsl:template></xsl:stylesheet>";
static const char schema[] = "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:element "
                             "name='a'><xs:complexType mixed='true'><xs:sequence>"
			     "<xs:any minOccurs='0' maxOccurs='unbounded' "
                             "processContents='lax'/></xs:sequence><xs:anyAttribute/></"
                             "xs:complexType></xs:element></xs:schema>";

static struct xslt_conf xslt_conf = { .resource_uri = "t.xsl", .copy = "t.xsl" };
static struct validator_conf validator_conf = { .resource_uri = "t.xsd", .copy = "t.xsd" };
static struct endpoint xslt = { .conf = &xslt_conf }, validator = { .conf = &validator_conf };

static void
setup(void)
{
	fixture_open();
	fixture_file("t.xsl", sheet);
	fixture_file("t.xsd", schema);
	ASSERT(xslt_ops.prepare(&fixture, &xslt, NULL) == HINNY_OK);
	ASSERT(validator_ops.prepare(&fixture, &validator, NULL) == HINNY_OK);
	(void)atexit(fixture_close);
}

static bool
take_item(void *arg, struct str item)
{
	*(size_t *)arg += item.n;
	return true;
}

static void
tokenize(struct xml_text text)
{
	static struct xtokenize_step step = { .name = { "*", 1 }, .anywhere = true };
	static const struct xtokenize_path path = { &step, 1 };
	struct hinny_error err;
	size_t n = 0;

	for (int mode = XTOKENIZE_INJECT; mode <= XTOKENIZE_TEXT; mode++) {
		struct xtokenize_conf conf = { .mode = mode, .group = (int64_t)text.s.n % 3 };
		(void)tokenizer_run(fixture.xml, text, &path, &conf, take_item, &n, &err);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xml_text text = { { (const char *)data, size }, size % 2 == 0 };
	struct hinny_error err;
	struct exchange *ex;
	xmlDocPtr doc;

	if (!fixture.xml)
		setup();
	if (xml_parse(fixture.xml, text, XML_DOCTYPE_REFUSE, &doc, &err) == HINNY_OK) {
		buf_clear(&fixture.xml->out);
		(void)xml_write_alone(&fixture.xml->out, xmlDocGetRootElement(doc));
		xmlFreeDoc(doc);
	}
	tokenize(text);
	ex = fixture_exchange(NULL);
	exchange_set_body(ex, text.decoded ? value_str(text.s) : value_bytes(text.s));
	(void)validator_ops.send(&fixture, ex, NULL, &validator);
	(void)xslt_ops.send(&fixture, ex, NULL, &xslt);
	fixture_exchange_end();
	return 0;
}
