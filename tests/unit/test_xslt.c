/* transformers/xslt: what a stylesheet sees of a message and leaves of it, xsl:output (case B15),
 * entities (B17), errors, the folder rule, and the home's file. */
#include "transformers/xslt/xslt.h"
#include "transformers/xslt/xslt_home.h"

#include "tests/lib/unit.h"
#include "tests/unit/xform_fixture.h"

#define SHEET(body)                                                                                \
	"<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>" body     \
	"</xsl:stylesheet>"
#define OUTPUT(attributes, template)                                                               \
	SHEET("<xsl:output " attributes "/><xsl:template match='/'>" template "</xsl:template>")
#define DECL "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
#define PEOPLE                                                                                     \
	"<people><p id=\"2\"><name>Bo</name></p><p id=\"1\"><name>Ann &amp; "                      \
	"Co</name></p></people>"

static struct endpoint *
endpoint_of(struct xslt_conf *conf, const char *name)
{
	static struct endpoint ep;
	static char folders[256][32];
	static int n;

	/* a folder for each case: a file is read at most once */
	(void)snprintf(folders[n], sizeof folders[n], "f%d/%s", n, name);
	name = strchr(name, '/') ? name : folders[n++];
	memset(&ep, 0, sizeof ep);
	*conf = (struct xslt_conf){
		.resource_uri = name, .copy = name, .fail_on_null_body = true, .content_cache = true
	};
	ep.conf = conf;
	return &ep;
}

static void
prepare(struct endpoint *ep, const char *sheet)
{
	struct xslt_conf *conf = ep->conf;
	struct hinny_error err = { 0 };

	fixture_file(conf->copy, sheet);
	if (xslt_ops.prepare(&fixture, ep, &err) != HINNY_OK)
		fail_msg("%s", err.text);
}

static const char *
body_text(struct exchange *ex)
{
	struct str s = value_text(&ex->arena, &ex->body);

	return arena_strndup(&ex->arena, s.p ? s.p : "", s.n);
}

struct row {
	const char *label;
	const char *sheet;
	const char *body;
	const char *want;
	enum value_type type;
};

static void
check_result(void **state)
{
	const struct row *r = *state;
	struct xslt_conf conf;
	struct endpoint *ep = endpoint_of(&conf, "t.xsl");
	struct exchange *ex;

	prepare(ep, r->sheet);
	for (int i = 0; i < 3; i++) {
		ex = fixture_exchange(r->body);
		exchange_set_header(ex, STR_LIT("h"), value_str(STR_LIT("it's \"h\"")));
		exchange_set_header(ex, STR_LIT("n"), value_int(5));
		exchange_set_header(ex, STR_LIT("zero"), value_int(0));
		exchange_set_header(ex, STR_LIT("no"), value_bool(false));
		exchange_set_header(ex, STR_LIT("Upper"), value_str(STR_LIT("x")));
		exchange_set_property(ex, STR_LIT("h"), value_str(STR_LIT("property")));
		exchange_set_property(ex, STR_LIT("p"), value_str(STR_LIT("property")));
		exchange_set_header(ex, STR_LIT("v"), value_str(STR_LIT("header")));
		exchange_set_variable(ex, STR_LIT("v"), value_str(STR_LIT("variable")));
		if (xslt_ops.send(&fixture, ex, NULL, ep) != STEP_DONE)
			fail_msg("%.*s", STR_FMT(ex->exception->message));
		assert_int_equal(ex->body.type, r->type);
		assert_string_equal(body_text(ex), r->want);
	}
	xslt_ops.release(&fixture, ep);
	fixture_exchange_end();
}

static const struct row results[] = {
	{ "for-each, sort, value-of",
	    SHEET("<xsl:output method='xml'/><xsl:template match='/people'><list><xsl:for-each "
		  "select='p'><xsl:sort select='name'/>"
		  "<item n='{@id}'><xsl:value-of "
		  "select='name'/></item></xsl:for-each></list></xsl:template>"),
	    PEOPLE, DECL "<list><item n=\"1\">Ann &amp; Co</item><item n=\"2\">Bo</item></list>",
	    VALUE_STRING },
	{ "html",
	    OUTPUT("method='html' indent='no'",
		"<p><br/><xsl:value-of select='//p[1]/name'/><img src='a.png'/></p>"),
	    PEOPLE, "<p><br>Bo<img src=\"a.png\"></p>", VALUE_STRING },
	{ "html by the root's name",
	    SHEET("<xsl:output indent='no'/><xsl:template "
		  "match='/'><html><body><br/></body></html></xsl:template>"),
	    "<a/>", "<html><body><br></body></html>", VALUE_STRING },
	{ "text", OUTPUT("method='text'", "{\"id\":\"<xsl:value-of select='/order/@id'/>\"}"),
	    "<order id=\"7\"/>", "{\"id\":\"7\"}", VALUE_STRING },
	{ "omit-xml-declaration", OUTPUT("omit-xml-declaration='yes'", "<r><c/></r>"), "<a/>",
	    "<r><c/></r>", VALUE_STRING },
	{ "standalone", OUTPUT("encoding='UTF-8' standalone='yes'", "<r><c/></r>"), "<a/>",
	    "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?><r><c/></r>",
	    VALUE_STRING },
	{ "indent", OUTPUT("indent='yes'", "<r><c/></r>"), "<a/>", DECL "<r>\n  <c/>\n</r>\n",
	    VALUE_STRING },
	{ "doctype", OUTPUT("doctype-system='x.dtd' doctype-public='-//X'", "<r/>"), "<a/>",
	    DECL "<!DOCTYPE r PUBLIC \"-//X\" \"x.dtd\">\n<r/>", VALUE_STRING },
	{ "cdata-section-elements", OUTPUT("cdata-section-elements='r'", "<r>&lt;x&gt; ]]&gt;</r>"),
	    "<a/>", DECL "<r><![CDATA[<x> ]]]]><![CDATA[>]]></r>", VALUE_STRING },
	{ "escapes", OUTPUT("", "<r a='&lt;&gt;&amp;&quot;&#10;&#9;'>&lt;&gt;&amp;\"&#13;</r>"),
	    "<a/>", DECL "<r a=\"&lt;&gt;&amp;&quot;&#10;&#9;\">&lt;&gt;&amp;\"&#13;</r>",
	    VALUE_STRING },
	{ "disable-output-escaping",
	    OUTPUT("", "<r><xsl:value-of select=\"'&lt;b/>'\" disable-output-escaping='yes'/></r>"),
	    "<a/>", DECL "<r><b/></r>", VALUE_STRING },
	{ "comment and processing instruction",
	    OUTPUT("",
		"<r><xsl:comment>c</xsl:comment><xsl:processing-instruction "
		"name='p'>i</xsl:processing-instruction></r>"),
	    "<a/>", DECL "<r><!--c--><?p i?></r>", VALUE_STRING },
	{ "characters beyond ASCII", OUTPUT("", "<r a='\xc3\xa9'><xsl:value-of select='/a'/></r>"),
	    "<a>\xe2\x82\xac \xf0\x9f\x90\xb4</a>",
	    DECL "<r a=\"\xc3\xa9\">\xe2\x82\xac \xf0\x9f\x90\xb4</r>", VALUE_STRING },
	{ "B15 Latin-1",
	    SHEET("<xsl:output method='xml' encoding='ISO-8859-1'/><xsl:template match='/order'><o "
		  "n='{name}'/></xsl:template>"),
	    "<order><name>caf\xc3\xa9 \xe2\x82\xac</name></order>",
	    "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><o n=\"caf\xe9 &#8364;\"/>",
	    VALUE_BYTES },
	{ "names of all kinds",
	    "<xsl:stylesheet version='2.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform' "
	    "xmlns:f='http://exslt.org/functions' xmlns:m='urn:m' "
	    "xmlns:s='http://exslt.org/strings' extension-element-prefixes='f' "
	    "exclude-result-prefixes='m s'><xsl:output method='text'/><xsl:function name='m:two'/>"
	    "<xsl:key name='k' match='a' use='concat(@id, \"$x (y:z\")'/><xsl:variable "
	    "name='m:v' select='2'/><f:function name='m:twice'><xsl:param name='n'/><f:result "
	    "select='$n * 2'/></f:function><xsl:template name='m:t'><xsl:param name='p'/>"
	    "<xsl:value-of select='$p div $m:v'/></xsl:template><xsl:template match='/'>"
	    "<xsl:call-template name='m:t'><xsl:with-param name='p' select='m:twice(4) mod 5'/>"
	    "</xsl:call-template><xsl:value-of select=\"concat(count(a/*|a/m:*), a/div div 2, "
	    "s:padding(2, '{'), format-number(3, '#'), generate-id(/x) and self::node())\"/>"
	    "<xsl:sequence select='1'><xsl:fallback>f</xsl:fallback></xsl:sequence></xsl:template>"
	    "</xsl:stylesheet>",
	    "<a><div>8</div></a>", "1.514{{3falsef", VALUE_STRING },
	{ "large and small numbers",
	    OUTPUT("omit-xml-declaration='yes'",
		"<r a='{sum(//n)}'><xsl:value-of select='sum(//n) * 2'/>|<xsl:value-of "
		"select='concat(0.0000001, sum(//n))'/></r>"),
	    "<a><n>2999999999</n><n>1</n></a>",
	    "<r a=\"3000000000\">6000000000|0.00000013000000000</r>", VALUE_STRING },
	{ "text in Latin-9",
	    OUTPUT("method='text' encoding='ISO-8859-15'", "<xsl:value-of select='/a'/>"),
	    "<a>\xe2\x82\xac</a>", "\xa4", VALUE_BYTES },
	{ "namespaces",
	    "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform' "
	    "xmlns:i='urn:in' xmlns:o='urn:out' exclude-result-prefixes='i'>"
	    "<xsl:output omit-xml-declaration='yes'/><xsl:template "
	    "match='/i:d'><o:r><o:v><xsl:value-of select='i:v * "
	    "2'/></o:v></o:r></xsl:template></xsl:stylesheet>",
	    "<d xmlns=\"urn:in\"><v>5</v></d>", "<o:r xmlns:o=\"urn:out\"><o:v>10</o:v></o:r>",
	    VALUE_STRING },
	{ "parameters",
	    SHEET(
		"<xsl:output method='text'/><xsl:param name='h' select=\"'d'\"/><xsl:param "
		"name='p'/><xsl:param name='v'/><xsl:param name='n'/><xsl:param name='zero'/>"
		"<xsl:param name='no'/><xsl:param name='upper'/><xsl:param name='absent' "
		"select=\"'default'\"/>"
		"<xsl:template match='/'><xsl:value-of select=\"concat($h,'|',$p,'|',$v,'|',$n + "
		"1,'|',boolean($zero),'|',boolean($no),'|',$upper,'|',$absent)\"/></xsl:template>"),
	    "<a/>", "it's \"h\"|property|variable|6|false|false||default", VALUE_STRING },
	{ "EXSLT",
	    "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform' "
	    "xmlns:s='http://exslt.org/strings' xmlns:e='http://exslt.org/common' "
	    "exclude-result-prefixes='s e'><xsl:output method='text'/><xsl:template "
	    "match='/'><xsl:variable name='t'><i>1</i><i>2</i></xsl:variable>"
	    "<xsl:value-of select=\"concat(count(e:node-set($t)/i), s:padding(3, "
	    "'-'))\"/></xsl:template></xsl:stylesheet>",
	    "<a/>", "2---", VALUE_STRING },
	{ "strip-space",
	    SHEET("<xsl:strip-space elements='*'/><xsl:output "
		  "omit-xml-declaration='yes'/><xsl:template match='/'><xsl:copy-of "
		  "select='.'/></xsl:template>"),
	    "<a> <b/> </a>", "<a><b/></a>", VALUE_STRING },
	{ "an empty result", OUTPUT("method='text'", ""), "<a/>", "", VALUE_STRING },
	{ "an external DTD is not read",
	    OUTPUT("omit-xml-declaration='yes'", "<xsl:copy-of select='/a'/>"),
	    "<!DOCTYPE a SYSTEM \"http://127.0.0.1:18097/x.dtd\"><a>ok</a>", "<a>ok</a>",
	    VALUE_STRING },
	{ "a CDATA section is text",
	    OUTPUT("omit-xml-declaration='yes'", "<xsl:copy-of select='.'/>"),
	    "<a>x<![CDATA[<y>]]></a>", "<a>x&lt;y&gt;</a>", VALUE_STRING },
	{ "element-available",
	    OUTPUT("method='text'",
		"<xsl:value-of select=\"concat(element-available('xsl:if'), "
		"element-available('xsl:nope'))\"/>"),
	    "<a/>", "truefalse", VALUE_STRING },
	{ "xsl:message goes nowhere", OUTPUT("method='text'", "<xsl:message>said</xsl:message>x"),
	    "<a/>", "x", VALUE_STRING },
};

struct failure {
	const char *label;
	const char *sheet;
	const char *body;
	enum exception_id id;
	const char *says;
};

static void
check_failure(void **state)
{
	const struct failure *r = *state;
	struct xslt_conf conf;
	struct endpoint *ep = endpoint_of(&conf, "t.xsl");
	struct exchange *ex;
	const char *said;

	prepare(ep, r->sheet);
	ex = fixture_exchange(r->body);
	assert_int_equal(xslt_ops.send(&fixture, ex, NULL, ep), STEP_FAILED);
	assert_non_null(ex->exception);
	assert_int_equal(ex->exception->id, r->id);
	said = arena_strndup(&ex->arena, ex->exception->message.p, ex->exception->message.n);
	if (!strstr(said, r->says))
		assert_string_equal(said, r->says);
	if (r->body)
		assert_string_equal(body_text(ex), r->body);
	xslt_ops.release(&fixture, ep);
	fixture_exchange_end();
}

static const struct failure failures[] = {
	{ "no body", OUTPUT("", "<r/>"), NULL, EXCEPTION_EXPECTED_BODY_TYPE, "body is: null" },
	{ "empty body", OUTPUT("", "<r/>"), "", EXCEPTION_TYPE_CONVERSION,
	    "Premature end of file" },
	{ "malformed body", OUTPUT("", "<r/>"), "<a>\n<b></a>", EXCEPTION_TYPE_CONVERSION,
	    "line 2, column 8: Opening and ending tag mismatch" },
	{ "message that terminates",
	    OUTPUT("", "<xsl:message terminate='yes'>stopped</xsl:message>"), "<a/>",
	    EXCEPTION_TRANSFORMER, "by an xsl:message instruction: stopped" },
	{ "unknown function", OUTPUT("", "<xsl:if test='function-available(&quot;nope&quot;) or "
	    "true()'><xsl:value-of select='nope()'/></xsl:if>"), "<a/>",
	    EXCEPTION_TRANSFORMER, "/t.xsl: xmlXPathCompOpEval" },
	{ "endless recursion",
	    SHEET("<xsl:template match='/' name='t'><xsl:call-template name='t'/></xsl:template>"),
	    "<a/>", EXCEPTION_TRANSFORMER, "recursion" },
	{ "B17 file entity", OUTPUT("", "<xsl:copy-of select='.'/>"),
	    "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>[&x;]</a>",
	    EXCEPTION_TYPE_CONVERSION, "entities are not expanded" },
	{ "B17 expansion", OUTPUT("", "<xsl:copy-of select='.'/>"),
	    "<!DOCTYPE a [<!ENTITY a0 \"ha\"><!ENTITY a1 \"&a0;&a0;&a0;\">]><a>&a1;</a>",
	    EXCEPTION_TYPE_CONVERSION, "entities are not expanded" },
	{ "entity that the DTD may declare", OUTPUT("", "<xsl:copy-of select='.'/>"),
	    "<!DOCTYPE a SYSTEM \"x.dtd\"><a>&x;</a>", EXCEPTION_TYPE_CONVERSION, "" },
	{ "…in an attribute", OUTPUT("", "<xsl:copy-of select='.'/>"),
	    "<!DOCTYPE a SYSTEM \"x.dtd\"><a b='&x;'/>", EXCEPTION_TYPE_CONVERSION, "x" },
	{ "default attributes", OUTPUT("", "<xsl:copy-of select='.'/>"),
	    "<!DOCTYPE a [<!ATTLIST a b CDATA 'x'>]><a/>", EXCEPTION_TYPE_CONVERSION,
	    "internal subset" },
	{ "document() outside the folder",
	    OUTPUT("", "<xsl:copy-of select=\"document('/etc/passwd')\"/>"), "<a/>",
	    EXCEPTION_TRANSFORMER, "may not be opened" },
	{ "document() further up", OUTPUT("", "<xsl:copy-of select=\"document('../x.xml')\"/>"),
	    "<a/>", EXCEPTION_TRANSFORMER, "x.xml" },
	{ "document() further up, escaped",
	    OUTPUT("", "<xsl:copy-of select=\"document('%2e%2e/x.xml')\"/>"), "<a/>",
	    EXCEPTION_TRANSFORMER, "may not be opened" },
	{ "document() of the network",
	    OUTPUT("", "<xsl:copy-of select=\"document('http://127.0.0.1:18097/x.xml')\"/>"),
	    "<a/>", EXCEPTION_TRANSFORMER, "refused" },
	{ "document() of the message's choice", OUTPUT("", "<xsl:copy-of select='document(/a)'/>"),
	    "<a>file:///etc/hostname</a>", EXCEPTION_TRANSFORMER, "may not be opened" },
	{ "exsl:document",
	    "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform' "
	    "xmlns:e='http://exslt.org/common' extension-element-prefixes='e'>"
	    "<xsl:template match='/'><e:document "
	    "href='/tmp/hinny-never.xml'><x/></e:document></xsl:template></xsl:stylesheet>",
	    "<a/>", EXCEPTION_TRANSFORMER, "refused" },
};

/* Names that each document brings anew stay in its own dictionary: a sanitizer build asserts it. */
static void
test_names(void **state)
{
	struct xslt_conf conf;
	struct endpoint *ep = endpoint_of(&conf, "t.xsl");

	(void)state;
	prepare(ep, OUTPUT("", "<xsl:copy-of select='.'/><xsl:element name='{name(/*)}'/>"));
	for (int i = 0; i < 500; i++) {
		char text[64];
		struct exchange *ex;

		(void)snprintf(text, sizeof text, "<n%d a%d='%d'/>", i, i, i);
		ex = fixture_exchange(text);
		assert_int_equal(xslt_ops.send(&fixture, ex, NULL, ep), STEP_DONE);
	}
	xslt_ops.release(&fixture, ep);
	fixture_exchange_end();
}

static void
test_fatal_property(void **state)
{
	struct xslt_conf conf;
	struct endpoint *ep = endpoint_of(&conf, "t.xsl");
	struct exchange *ex = fixture_exchange("<a/>");

	(void)state;
	prepare(ep, OUTPUT("", "<xsl:message terminate='yes'>stopped</xsl:message>"));
	assert_int_equal(xslt_ops.send(&fixture, ex, NULL, ep), STEP_FAILED);
	assert_non_null(exchange_property(ex, STR_LIT("CamelXsltFatalError")));
	xslt_ops.release(&fixture, ep);
	fixture_exchange_end();
}

struct bad {
	const char *label;
	const char *sheet;
	const char *says;
};

static void
check_bad(void **state)
{
	const struct bad *r = *state;
	struct xslt_conf conf;
	struct endpoint *ep = endpoint_of(&conf, r->sheet ? "bad.xsl" : "none.xsl");
	struct hinny_error err = { 0 };

	if (r->sheet)
		fixture_file(conf.copy, r->sheet);
	assert_int_equal(xslt_ops.prepare(&fixture, ep, &err), HINNY_EINVAL);
	if (!strstr(err.text, r->says))
		assert_string_equal(err.text, r->says);
	assert_null(ep->impl);
}

static const struct bad bad[] = {
	{ "not well-formed",
	    "<xsl:stylesheet version='1.0' "
	    "xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\n<xsl:template "
	    "match='/'><xsl:nope/></xsl:template>",
	    "stylesheet \"bad.xsl\", line 2, column " },
	{ "unknown element", SHEET("\n<xsl:template match='/'>\n<xsl:nope/></xsl:template>"),
	    "stylesheet \"bad.xsl\", line 3: unknown xsl:nope" },
	{ "wrong XPath",
	    SHEET("\n<xsl:template match='/'><xsl:value-of select='a['/></xsl:template>"),
	    "stylesheet \"bad.xsl\", line 2: " },
	{ "undeclared prefix", OUTPUT("", "<xsl:value-of select='o:a'/>"),
	    "no namespace is declared for the prefix \"o\"" },
	{ "unknown variable", OUTPUT("", "<r a='{concat(\"{\", $q)}'/>"),
	    "no variable or parameter is called \"q\"" },
	{ "function of XPath 2.0", OUTPUT("", "<xsl:value-of select='upper-case(a)'/>"),
	    "line 1: there is no function with these arguments: \"upper-case\"" },
	{ "too few arguments", OUTPUT("", "<r a='{concat(a)}'/>"),
	    "line 1: there is no function with these arguments: \"concat\"" },
	{ "open union", OUTPUT("", "<xsl:copy-of select='a|'/>"), "behind |" },
	{ "unknown function with a prefix",
	    OUTPUT("", "<r xmlns:j='java:x'><xsl:if test='j:f()'/></r>"),
	    "no function with these arguments: \"f\"" },
	{ "unknown template", OUTPUT("", "<xsl:call-template name='t'/>"),
	    "no template is called \"t\"" },
	{ "instruction of XSLT 2.0",
	    "<xsl:stylesheet version='2.0' "
	    "xmlns:xsl='http://www.w3.org/1999/XSL/Transform'><xsl:template "
	    "match='/'>\n<xsl:for-each-group select='a' group-by='b'/></xsl:template>"
	    "</xsl:stylesheet>",
	    "line 2: only XSLT 1.0 is available, which has no instruction \"for-each-group\"" },
	{ "wrong pattern", SHEET("\n<xsl:template match='a['/>"), "bad.xsl" },
	{ "no stylesheet", "<a/>", "bad.xsl" },
	{ "no file", NULL, "none.xsl" },
	{ "include that is not there", SHEET("<xsl:include href='gone.xsl'/>"),
	    "cannot read \"gone.xsl\": No such file" },
	{ "include outside of the folder", SHEET("<xsl:include href='/etc/passwd'/>"),
	    "\"/etc/passwd\" may not be opened" },
	{ "unknown encoding", OUTPUT("encoding='nonsense'", "<r/>"),
	    "unknown encoding \"nonsense\"" },
	{ "unknown method", OUTPUT("method='json'", "<r/>"), "json" },
};

/* Includes, imports and documents beside the sheet and below; those are there after the files were
 * sealed, too. */
static void
test_files(void **state)
{
	struct xslt_conf conf;
	struct endpoint *ep = endpoint_of(&conf, "xsl/main.xsl");
	struct exchange *ex;

	(void)state;
	fixture_file("xsl/base.xsl",
	    SHEET("<xsl:template match='p'><base><xsl:apply-templates "
		  "select='name'/></base></xsl:template><xsl:template "
		  "match='name'><never/></xsl:template>"));
	fixture_file("xsl/name.xsl",
	    SHEET("<xsl:template match='name'><n><xsl:value-of select='.'/>,<xsl:value-of "
		  "select=\"document('data.xml')/d\"/></n></xsl:template>"));
	fixture_file("xsl/data.xml", "<!DOCTYPE d [<!ENTITY e 'own'>]><d>&e;</d>");
	prepare(ep,
	    SHEET("<xsl:import href='base.xsl'/><xsl:include href='name.xsl'/><xsl:output "
		  "omit-xml-declaration='yes'/>"
		  "<xsl:template match='/people'><r><xsl:apply-templates "
		  "select='p'/></r></xsl:template>"));
	assert_int_equal(xml_files_seal(&fixture.xml->files, NULL), HINNY_OK);
	fixture.xml->files.dirfd = -1;
	ex = fixture_exchange(PEOPLE);
	if (xslt_ops.send(&fixture, ex, NULL, ep) != STEP_DONE)
		fail_msg("%.*s", STR_FMT(ex->exception->message));
	assert_string_equal(
	    body_text(ex), "<r><base><n>Bo,own</n></base><base><n>Ann &amp; Co,own</n></base></r>");
	fixture.xml->files.dirfd = fixture.dirfd;
	fixture.xml->files.sealed = false;
	xslt_ops.release(&fixture, ep);
	fixture_exchange_end();
}

static void
test_options(void **state)
{
	struct xslt_conf conf;
	struct endpoint *ep = endpoint_of(&conf, "t.xsl");
	struct exchange *ex = fixture_exchange("<a/>");

	(void)state;
	prepare(ep, OUTPUT("", "<r><xsl:value-of select='name(/*)'/></r>"));
	conf.output = XSLT_OUTPUT_BYTES;
	assert_int_equal(xslt_ops.send(&fixture, ex, NULL, ep), STEP_DONE);
	assert_int_equal(ex->body.type, VALUE_BYTES);
	conf.output = XSLT_OUTPUT_DOM;
	ex = fixture_exchange("<a/>");
	assert_int_equal(xslt_ops.send(&fixture, ex, NULL, ep), STEP_DONE);
	assert_int_equal(ex->body.type, VALUE_XML);
	conf.output = XSLT_OUTPUT_STRING;
	conf.source = (struct source){ SOURCE_HEADER, STR_LIT("doc") };
	ex = fixture_exchange("no XML");
	exchange_set_header(ex, STR_LIT("doc"), value_str(STR_LIT("<b/>")));
	assert_int_equal(xslt_ops.send(&fixture, ex, NULL, ep), STEP_DONE);
	assert_string_equal(body_text(ex), DECL "<r>b</r>");
	conf.source = (struct source){ SOURCE_BODY, { NULL, 0 } };
	conf.fail_on_null_body = false;
	ex = fixture_exchange(NULL);
	assert_int_equal(xslt_ops.send(&fixture, ex, NULL, ep), STEP_DONE);
	assert_string_equal(body_text(ex), DECL "<r/>");
	xslt_ops.release(&fixture, ep);
	fixture_exchange_end();
}

static void
test_large(void **state)
{
	struct xslt_conf conf;
	struct endpoint *ep = endpoint_of(&conf, "t.xsl");
	struct exchange *ex;
	struct buf b;

	(void)state;
	prepare(ep, OUTPUT("omit-xml-declaration='yes'", "<xsl:copy-of select='.'/>"));
	buf_init(&b, 0);
	(void)buf_add(&b, "<a>", 3);
	for (int i = 0; i < 200000; i++)
		(void)buf_printf(&b, "<i n=\"%d\">value</i>", i);
	(void)buf_add(&b, "</a>", 4);
	ex = fixture_exchange(buf_cstr(&b));
	assert_int_equal(xslt_ops.send(&fixture, ex, NULL, ep), STEP_DONE);
	assert_int_equal(ex->body.u.s.n, b.n);
	assert_memory_equal(ex->body.u.s.p, b.p, b.n);
	fixture.xml->out.max = 1000;
	ex = fixture_exchange(buf_cstr(&b));
	assert_int_equal(xslt_ops.send(&fixture, ex, NULL, ep), STEP_FAILED);
	fixture.xml->out.max = fixture.xml->limits.max_output;
	buf_fini(&b);
	xslt_ops.release(&fixture, ep);
	fixture_exchange_end();
}

static void
test_home(void **state)
{
	struct xslt_conf conf;
	struct endpoint *ep = endpoint_of(&conf, "t.xsl");
	struct exchange *ex = fixture_exchange("result");
	char name[128], got[16] = "";
	int fd;

	(void)state;
	assert_int_equal(xslt_home_ops.after_call(&fixture, ex, NULL, ep),
	    STEP_DONE); /* output=string: nothing to do */
	conf.output = XSLT_OUTPUT_FILE;
	assert_int_equal(xslt_home_ops.after_call(&fixture, ex, NULL, ep), STEP_FAILED);
	assert_int_equal(ex->exception->id, EXCEPTION_NO_SUCH_HEADER);
	(void)snprintf(name, sizeof name, "%s/out.xml", fixture.dir);
	ex = fixture_exchange("result");
	exchange_set_header(ex, STR_LIT("CamelXsltFileName"), value_str(str_of(name)));
	assert_int_equal(xslt_home_ops.after_call(&fixture, ex, NULL, ep), STEP_DONE);
	fd = open(name, O_RDONLY);
	assert_int_equal(read(fd, got, sizeof got), 6);
	(void)close(fd);
	assert_string_equal(got, "result");
	ex = fixture_exchange("result");
	exchange_set_header(
	    ex, STR_LIT("CamelXsltFileName"), value_str(STR_LIT("/nonexistent/x.xml")));
	assert_int_equal(xslt_home_ops.after_call(&fixture, ex, NULL, ep), STEP_FAILED);
	assert_int_equal(ex->exception->id, EXCEPTION_FILE_NOT_FOUND);
	conf.delete_output_file = true;
	ex = fixture_exchange("result");
	exchange_set_header(ex, STR_LIT("CamelXsltFileName"), value_str(str_of(name)));
	assert_int_equal(xslt_home_ops.after_call(&fixture, ex, NULL, ep), STEP_DONE);
	assert_int_equal(access(name, F_OK), 0);
	fixture_exchange_end();
	assert_int_equal(access(name, F_OK), -1);
}

int
main(void)
{
	int rc;

	fixture_open();
	UNIT_TABLE("result", results, check_result);
	UNIT_TABLE("failure", failures, check_failure);
	UNIT_CASE(test_names);
	UNIT_CASE(test_fatal_property);
	UNIT_TABLE("compile", bad, check_bad);
	UNIT_CASE(test_files);
	UNIT_CASE(test_options);
	UNIT_CASE(test_large);
	UNIT_CASE(test_home);
	rc = unit_run("xslt");
	fixture_close();
	return rc;
}
