/* transformers/xpath: the vectors of Camel's XPath, cases B16 and B17, and what an expression may
 * not do. */
#include "core/lang/xpath.h"
#include "transformers/xpath/xpath_impl.h"

#include "tests/lib/unit.h"
#include "tests/unit/xform_fixture.h"

#define ORDER                                                                                      \
	"<order id=\"A7\" xmlns:x=\"urn:x\"><customer vip=\"yes\">Ann Lee</customer><lines><line " \
	"sku=\"p1\" qty=\"2\"><price>9.50</price></line>"                                          \
	"<line sku=\"p2\" "                                                                        \
	"qty=\"10\"><price>1.25</price></line></lines><x:note>hi</x:note><empty/></order>"
#define XMLNS_FIRST                                                                                \
	"<order xmlns:x=\"urn:x\" id=\"A7\"><customer vip=\"yes\">Ann Lee</customer><lines><line " \
	"sku=\"p1\" qty=\"2\"><price>9.50</price></line>"                                          \
	"<line sku=\"p2\" "                                                                        \
	"qty=\"10\"><price>1.25</price></line></lines><x:note>hi</x:note><empty/></order>"
#define X1 "<order id=\"7\"><item>Brake</item><item>Seat</item></order>"

enum { RAW = -1 };

struct row {
	const char *label;
	const char *body;
	const char *text;
	int result; /* resultQName, or RAW: not given */
	enum value_class_id type;
	bool predicate;
	const char *want; /* printed; NULL: an exception */
	enum value_type want_type;
	enum exception_id exception;
};

static struct pair namespaces[] = { { "o", "urn:example:orders" }, { "x", "urn:x" } };

/* An expression as the compiler leaves it. */
static void
expression_init(struct expression *e, struct xpath_conf *conf, const char *text)
{
	memset(e, 0, sizeof *e);
	memset(conf, 0, sizeof *conf);
	conf->namespaces = (struct pairs){ namespaces, 2 };
	e->text = text;
	e->conf = conf;
}

static void
print_equal(struct exchange *ex, const struct value *v, const char *want)
{
	struct str got = value_text(&ex->arena, v);

	assert_string_equal(arena_strndup(&ex->arena, got.p ? got.p : "", got.n), want);
}

static void
check_value(void **state)
{
	const struct row *r = *state;
	struct exchange *ex = fixture_exchange(r->body);
	struct xpath_conf conf;
	struct expression e;
	struct hinny_error err = { 0 };
	struct value v;

	expression_init(&e, &conf, r->text);
	e.predicate = r->predicate;
	e.result_type = r->type;
	conf.result_given = r->result != RAW;
	conf.result = r->result == RAW ? XPATH_NODESET : r->result;
	exchange_set_header(ex, STR_LIT("a"), value_str(STR_LIT("7")));
	exchange_set_header(ex, STR_LIT("n"), value_int(2));
	exchange_set_header(ex, STR_LIT("sku"), value_str(STR_LIT("p2")));
	exchange_set_property(ex, STR_LIT("pp"), value_str(STR_LIT("p1")));
	exchange_set_variable(ex, STR_LIT("vv"), value_str(STR_LIT("it's \"v\"")));
	assert_int_equal(xpath_impl.prepare(&fixture, &e, &err), HINNY_OK);
	if (!r->want) {
		assert_int_equal(xpath_impl.eval(&e, ex, &v), EVAL_ERROR);
		assert_non_null(ex->exception);
		assert_int_equal(ex->exception->id, r->exception);
		fixture_exchange_end();
		return;
	}
	assert_int_equal(xpath_impl.eval(&e, ex, &v), EVAL_OK);
	assert_int_equal(v.type, r->want_type);
	print_equal(ex, &v, r->want);
	/* a second time: nothing of the first is left */
	assert_int_equal(xpath_impl.eval(&e, ex, &v), EVAL_OK);
	print_equal(ex, &v, r->want);
	fixture_exchange_end();
}

static const struct row values[] = {
	{ "elements as markup", X1, "/order/item", RAW, 0, false,
	    "<item>Brake</item><item>Seat</item>", VALUE_XML, 0 },
	{ "texts are joined", X1, "/order/item/text()", RAW, 0, false, "BrakeSeat", VALUE_XML, 0 },
	{ "attribute", X1, "/order/@id", RAW, 0, false, "7", VALUE_XML, 0 },
	{ "nothing found", X1, "/nope", RAW, 0, false, "", VALUE_XML, 0 },
	{ "number where nodes are wanted", X1, "count(/order/item)", RAW, 0, false, NULL, 0,
	    EXCEPTION_INVALID_XPATH },
	{ "string where nodes are wanted", X1, "string(/order/item)", RAW, 0, false, NULL, 0,
	    EXCEPTION_INVALID_XPATH },
	{ "variable where nodes are wanted", X1, "$a", RAW, 0, false, NULL, 0,
	    EXCEPTION_INVALID_XPATH },
	{ "String of elements is the first", X1, "/order/item", RAW, CLASS_STRING, false, "Brake",
	    VALUE_STRING, 0 },
	{ "large number as text", X1, "3000000000", RAW, CLASS_STRING, false, "3000000000",
	    VALUE_STRING, 0 },
	{ "numbers in functions of texts", X1,
	    "concat(-1 * 0, '|', 12345678901234 div 100, '|', string(0.1 + 0.2), '|', "
	    "substring(3000000000, 1, 3), '|', string-length(3000000000), '|', 1 div 0, '|', "
	    "-0.0000001)",
	    RAW, CLASS_STRING, false,
	    "0|123456789012.34|0.30000000000000004|300|10|Infinity|-0.0000001", VALUE_STRING, 0 },
	{ "String of concat", X1, "concat('x',/order/@id)", RAW, CLASS_STRING, false, "x7",
	    VALUE_STRING, 0 },
	{ "String of count", X1, "count(/order/item)", RAW, CLASS_STRING, false, "2", VALUE_STRING,
	    0 },
	{ "String of nothing", X1, "/nope", RAW, CLASS_STRING, false, "", VALUE_STRING, 0 },
	{ "String of a truth", ORDER, "contains(/order/customer,'Lee')", RAW, CLASS_STRING, false,
	    "true", VALUE_STRING, 0 },
	{ "String of NaN", ORDER, "number(/order/customer)", RAW, CLASS_STRING, false, "NaN",
	    VALUE_STRING, 0 },
	{ "String of a sum", ORDER, "sum(//price)", RAW, CLASS_STRING, false, "10.75", VALUE_STRING,
	    0 },
	{ "NUMBER", X1, "count(/order/item)", XPATH_NUMBER, 0, false, "2.0", VALUE_DOUBLE, 0 },
	{ "NUMBER of nothing", X1, "/nope", XPATH_NUMBER, 0, false, "NaN", VALUE_DOUBLE, 0 },
	{ "Integer", X1, "/order/@id", RAW, CLASS_INTEGER, false, "7.0", VALUE_DOUBLE, 0 },
	{ "Integer of nothing", X1, "/nope", RAW, CLASS_INTEGER, false, "", VALUE_NULL, 0 },
	{ "Boolean", X1, "/order/@id = 7", RAW, CLASS_BOOLEAN, false, "true", VALUE_BOOL, 0 },
	{ "STRING with $a", X1, "concat($a,'-',$in.header.a,'-',$pp)", XPATH_STRING, 0, false,
	    "7--p1", VALUE_STRING, 0 },
	{ "variable with quotes", X1, "$vv", XPATH_STRING, 0, false, "it's \"v\"", VALUE_STRING,
	    0 },
	{ "number variable", X1, "/order/item[$n]", RAW, 0, false, "<item>Seat</item>", VALUE_XML,
	    0 },
	{ "in:header", X1, "concat(in:header('a'), in:header('none'), out:header('sku'))",
	    XPATH_STRING, 0, false, "7p2", VALUE_STRING, 0 },
	{ "in:body", X1, "string-length(in:body())", XPATH_STRING, 0, false, "57", VALUE_STRING,
	    0 },
	{ "header in a condition", ORDER, "//line[@sku = $sku]/price", RAW, CLASS_STRING, false,
	    "1.25", VALUE_STRING, 0 },
	{ "NODE", X1, "/order/item[2]", XPATH_NODE, 0, false, "<item>Seat</item>", VALUE_XML, 0 },
	{ "NODE of nothing", X1, "/nope", XPATH_NODE, 0, false, "", VALUE_NULL, 0 },
	{ "namespaces that are used come along", ORDER, "/order/x:note", RAW, 0, false,
	    "<x:note xmlns:x=\"urn:x\">hi</x:note>", VALUE_XML, 0 },
	{ "namespaces that are not used do not", ORDER, "/order/customer", RAW, 0, false,
	    "<customer vip=\"yes\">Ann Lee</customer>", VALUE_XML, 0 },
	{ "the root has its own", ORDER, "/order/empty/..", RAW, 0, false, XMLNS_FIRST, VALUE_XML,
	    0 },
	{ "the document", X1, "/", RAW, 0, false, X1, VALUE_XML, 0 },
	{ "document order", X1, "//item[2] | //item[1] | /order/@id", RAW, 0, false,
	    "7<item>Brake</item><item>Seat</item>", VALUE_XML, 0 },
	{ "escapes in markup", "<a><b t='\"&lt;'>x &amp; &lt;y&gt;</b></a>", "/a/b", RAW, 0, false,
	    "<b t=\"&quot;&lt;\">x &amp; &lt;y&gt;</b>", VALUE_XML, 0 },
	{ "CDATA and references", "<a><d><![CDATA[<raw>]]>&#233;&#x20AC;</d></a>", "/a/d", RAW,
	    CLASS_STRING, false, "<raw>\xc3\xa9\xe2\x82\xac", VALUE_STRING, 0 },
	{ "comments are left out", "<a><!-- n -->x<!-- m -->y</a>",
	    "concat(count(/a/comment()), count(/a/text()))", RAW, CLASS_STRING, false, "01",
	    VALUE_STRING, 0 },
	{ "processing instruction", "<a><?p i?></a>", "/a/processing-instruction()", RAW, 0, false,
	    "i", VALUE_XML, 0 },
	{ "position at the top", X1, "position()", XPATH_NUMBER, 0, false, "1.0", VALUE_DOUBLE, 0 },
	{ "a text's declaration does not count",
	    "<?xml version='1.0' encoding='ISO-8859-1'?><a>\xc3\xa9</a>", "/a", RAW, CLASS_STRING,
	    false, "\xc3\xa9", VALUE_STRING, 0 },
	{ "predicate", X1, "/order/@id = 7", RAW, 0, true, "true", VALUE_BOOL, 0 },
	{ "predicate: nodes", X1, "/order/item", RAW, 0, true, "true", VALUE_BOOL, 0 },
	{ "predicate: none", X1, "/nope", RAW, 0, true, "false", VALUE_BOOL, 0 },
	{ "predicate: an empty element is one", ORDER, "/order/empty", RAW, 0, true, "true",
	    VALUE_BOOL, 0 },
	{ "predicate: no body", NULL, "/a", RAW, 0, true, "false", VALUE_BOOL, 0 },
	{ "predicate: no body, not", NULL, "not(/a)", RAW, 0, true, "true", VALUE_BOOL, 0 },
	{ "no body", NULL, "/a", RAW, 0, false, "", VALUE_XML, 0 },
	{ "B16 default namespace, no prefix",
	    "<order xmlns=\"urn:example:orders\"><total>150</total></order>", "/order/total > 100",
	    RAW, 0, true, "false", VALUE_BOOL, 0 },
	{ "B16 default namespace, prefix",
	    "<order xmlns=\"urn:example:orders\"><total>150</total></order>",
	    "/o:order/o:total > 100", RAW, 0, true, "true", VALUE_BOOL, 0 },
	{ "B16 no namespace, prefix", "<order><total>150</total></order>", "/o:order/o:total > 100",
	    RAW, 0, true, "false", VALUE_BOOL, 0 },
	{ "B16 other prefix",
	    "<p:order xmlns:p=\"urn:example:orders\"><p:total>99</p:total></p:order>",
	    "/o:order/o:total > 100", RAW, 0, true, "false", VALUE_BOOL, 0 },
	{ "B16 NaN", "<order xmlns=\"urn:example:orders\"><total>abc</total></order>",
	    "/o:order/o:total > 100", RAW, 0, true, "false", VALUE_BOOL, 0 },
	{ "empty body", "", "/a", RAW, 0, true, NULL, 0, EXCEPTION_TYPE_CONVERSION },
	{ "malformed body", "nope", "/a", RAW, 0, true, NULL, 0, EXCEPTION_TYPE_CONVERSION },
	{ "tags that do not match", "<a><b></a>", "/a", RAW, 0, true, NULL, 0,
	    EXCEPTION_TYPE_CONVERSION },
	{ "undeclared prefix in the document", "<p:a/>", "/*", RAW, 0, true, NULL, 0,
	    EXCEPTION_TYPE_CONVERSION },
	{ "wrong number of arguments", X1, "in:header()", XPATH_STRING, 0, false, NULL, 0,
	    EXCEPTION_XPATH_EXPRESSION },
	{ "B17 file entity", "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>[&x;]</a>",
	    "/a", RAW, CLASS_STRING, false, NULL, 0, EXCEPTION_TYPE_CONVERSION },
	{ "B17 DTD of the network", "<!DOCTYPE a SYSTEM \"http://127.0.0.1:18097/x.dtd\"><a>ok</a>",
	    "/a", RAW, CLASS_STRING, false, NULL, 0, EXCEPTION_TYPE_CONVERSION },
	{ "B17 expansion",
	    "<!DOCTYPE a [<!ENTITY a0 \"ha\"><!ENTITY a1 "
	    "\"&a0;&a0;&a0;&a0;&a0;&a0;&a0;&a0;&a0;&a0;\"><!ENTITY a2 "
	    "\"&a1;&a1;&a1;&a1;&a1;&a1;&a1;&a1;&a1;&a1;\">]><a>&a2;</a>",
	    "/a", RAW, CLASS_STRING, false, NULL, 0, EXCEPTION_TYPE_CONVERSION },
};

static void
test_nodeset(void **state)
{
	struct exchange *ex = fixture_exchange(X1);
	struct xpath_conf conf;
	struct expression e;
	struct value v;

	(void)state;
	expression_init(&e, &conf, "/order/item");
	assert_int_equal(xpath_impl.prepare(&fixture, &e, NULL), HINNY_OK);
	assert_int_equal(xpath_impl.eval(&e, ex, &v), EVAL_OK);
	assert_int_equal(v.flags, VALUE_NODESET);
	assert_int_equal(value_size(&v), 2);
	assert_true(value_truth(&v));
	fixture_exchange_end();
}

static void
test_source(void **state)
{
	struct exchange *ex = fixture_exchange("no XML");
	struct xpath_conf conf;
	struct expression e;
	struct value v;

	(void)state;
	expression_init(&e, &conf, "/z");
	conf.source = (struct source){ SOURCE_HEADER, STR_LIT("src") };
	e.result_type = CLASS_STRING;
	assert_int_equal(xpath_impl.prepare(&fixture, &e, NULL), HINNY_OK);
	assert_int_equal(xpath_impl.eval(&e, ex, &v), EVAL_OK); /* no such header: as no body */
	print_equal(ex, &v, "");
	exchange_set_header(ex, STR_LIT("src"), value_str(STR_LIT("<z>q</z>")));
	assert_int_equal(xpath_impl.eval(&e, ex, &v), EVAL_OK);
	print_equal(ex, &v, "q");
	fixture_exchange_end();
}

/* Bytes are read as their declaration says; a body that came over the network is bytes. */
static void
test_encodings(void **state)
{
	static const struct {
		const char *text;
		size_t n;
	} rows[] = {
#define BYTES(s) { s, sizeof s - 1 }
		BYTES("<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>"),
		BYTES("<?xml version='1.0' encoding='ISO-8859-15'?><a>\xe9</a>"),
		BYTES("<?xml version='1.0' encoding='windows-1252'?><a>\xe9</a>"),
		BYTES("<?xml version='1.0' encoding='cp1252'?><a>\xe9</a>"),
		BYTES("<?xml version='1.0' encoding='UTF-8'?><a>\xc3\xa9</a>"),
		BYTES("\xef\xbb\xbf<a>\xc3\xa9</a>"),
		BYTES("\xff\xfe<\0a\0>\0\xe9\0<\0/\0a\0>\0"),
		BYTES("\xfe\xff\0<\0a\0>\0\xe9\0<\0/\0a\0>"),
	};
	struct xpath_conf conf;
	struct expression e;
	struct value v;

	(void)state;
	expression_init(&e, &conf, "/a");
	e.result_type = CLASS_STRING;
	assert_int_equal(xpath_impl.prepare(&fixture, &e, NULL), HINNY_OK);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct exchange *ex = fixture_exchange(NULL);

		exchange_set_body(ex, value_bytes((struct str){ rows[i].text, rows[i].n }));
		assert_int_equal(xpath_impl.eval(&e, ex, &v), EVAL_OK);
		print_equal(ex, &v, "\xc3\xa9");
	}
	fixture_exchange_end();
}

static void
test_limits(void **state)
{
	enum { DEPTH = 257 }; /* one more than the fixture's limit */
	struct buf b;
	struct xpath_conf conf;
	struct expression e;
	struct value v;
	struct exchange *ex;
	uint64_t max = fixture.xml->limits.max_size;

	(void)state;
	expression_init(&e, &conf, "/a");
	e.predicate = true;
	assert_int_equal(xpath_impl.prepare(&fixture, &e, NULL), HINNY_OK);
	buf_init(&b, 0);
	for (int i = 0; i < DEPTH; i++)
		(void)buf_add(&b, "<a>", 3);
	for (int i = 0; i < DEPTH; i++)
		(void)buf_add(&b, "</a>", 4);
	ex = fixture_exchange(buf_cstr(&b));
	assert_int_equal(xpath_impl.eval(&e, ex, &v), EVAL_ERROR);
	assert_int_equal(ex->exception->id, EXCEPTION_BODY_TOO_LARGE);
	char *one_less = strndup(b.p + 3, b.n - 7);
	ex = fixture_exchange(one_less);
	assert_int_equal(xpath_impl.eval(&e, ex, &v), EVAL_OK);
	free(one_less);
	fixture.xml->limits.max_size = 100;
	ex = fixture_exchange(buf_cstr(&b));
	assert_int_equal(xpath_impl.eval(&e, ex, &v), EVAL_ERROR);
	assert_int_equal(ex->exception->id, EXCEPTION_BODY_TOO_LARGE);
	fixture.xml->limits.max_size = max;
	buf_fini(&b);
	fixture_exchange_end();
}

/* Two expressions on one body parse once; a new body is parsed anew. */
static void
test_parsed_once(void **state)
{
	struct exchange *ex = fixture_exchange(X1);
	struct xpath_conf conf;
	struct expression e;
	struct value v;
	xmlDocPtr doc;

	(void)state;
	expression_init(&e, &conf, "count(//item)");
	e.result_type = CLASS_STRING;
	assert_int_equal(xpath_impl.prepare(&fixture, &e, NULL), HINNY_OK);
	assert_int_equal(xpath_impl.eval(&e, ex, &v), EVAL_OK);
	doc = fixture.xml->cache.doc;
	assert_non_null(doc);
	assert_int_equal(xpath_impl.eval(&e, ex, &v), EVAL_OK);
	assert_ptr_equal(fixture.xml->cache.doc, doc);
	exchange_set_body(ex, value_str(STR_LIT("<a><item/></a>")));
	assert_int_equal(xpath_impl.eval(&e, ex, &v), EVAL_OK);
	print_equal(ex, &v, "1");
	fixture_exchange_end();
	assert_null(fixture.xml->cache.doc);
}

struct bad {
	const char *label;
	const char *text;
	const char *says;
};

static void
check_bad(void **state)
{
	const struct bad *r = *state;
	struct xpath_conf conf;
	struct expression e;
	struct hinny_error err = { 0 };

	expression_init(&e, &conf, r->text);
	if (!r->says) {
		assert_int_equal(xpath_impl.prepare(&fixture, &e, &err), HINNY_OK);
		return;
	}
	assert_int_equal(xpath_impl.prepare(&fixture, &e, &err), HINNY_EINVAL);
	if (!strstr(err.text, r->says))
		assert_string_equal(err.text, r->says);
}

static const struct bad bad[] = {
	{ "unclosed bracket", "/a[b", "invalid expression \"/a[b\"" },
	{ "unclosed quote", "/a = 'x", "invalid expression" },
	{ "nothing", "", "invalid expression" },
	{ "two expressions", "/a /b c", "invalid expression" },
	{ "undeclared prefix", "/zz:a", "Prefix must resolve to a namespace: zz" },
	{ "undeclared prefix with *", "//soap:*", "Prefix must resolve to a namespace: soap" },
	{ "undeclared prefix of a function", "my:f()", "Prefix must resolve to a namespace: my" },
	{ "undeclared prefix of an attribute", "/a/@q:b", "Prefix must resolve to a namespace: q" },
	{ "unknown function", "contain(/a, 'b')",
	    "Could not find function: contain, did you mean \"contains\"" },
	{ "too many arguments", "count(/a, ',)', /b[f = 1])",
	    "wrong number of arguments of function: count" },
	{ "too few arguments", "concat( '(,)' )", "wrong number of arguments of function: concat" },
	{ "no arguments", "true( )", NULL },
	{ "arguments in brackets",
	    "concat(substring(a, 1, 2), b[contains(., ',')], translate(c, 'x', 'y'))", NULL },
	{ "open union", "/a |", "an operand is missing behind |" },
	{ "open union in brackets", "count(/a|/b | )", "invalid expression" },
	{ "union", "/a|/b[c | d]", NULL },
	{ "unknown function of ours", "in:headr('a')", "Could not find function: headr" },
	{ "declared prefix", "/o:a/@x:b", NULL },
	{ "axis", "ancestor-or-self::a/child::*", NULL },
	{ "prefix in a literal", "/a = 'zz:b'", NULL },
	{ "operators", "/a and (b or c) div d mod e - f", NULL },
	{ "elements named as operators", "and/or", NULL },
	{ "xml:lang", "/a/@xml:lang", NULL },
	{ "node types", "/a/node() | /a/text() | //comment() | //processing-instruction('x')",
	    NULL },
	{ "variable", "$in.header.x = $y", NULL },
};

int
main(void)
{
	int rc;

	fixture_open();
	UNIT_TABLE("value", values, check_value);
	UNIT_CASE(test_nodeset);
	UNIT_CASE(test_source);
	UNIT_CASE(test_encodings);
	UNIT_CASE(test_limits);
	UNIT_CASE(test_parsed_once);
	UNIT_TABLE("compile", bad, check_bad);
	rc = unit_run("xpath");
	fixture_close();
	return rc;
}
