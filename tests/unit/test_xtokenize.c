/* transformers/xtokenize: the four modes, paths, namespaces, encodings, and documents that are
 * wrong. */
#include "core/lang/xtokenize.h"
#include "transformers/xtokenize/xtokenize_impl.h"

#include "tests/lib/unit.h"
#include "tests/unit/xform_fixture.h"

#define ORDERS                                                                                     \
	"<?xml version=\"1.0\"?>\n<orders xmlns=\"urn:o\" xmlns:x=\"urn:x\">\n  <order "           \
	"id=\"1\"><n>a</n></order>\n  <x:other/>\n  <order id=\"2\"/>\n"                           \
	"  <order id=\"3\">t &lt; u</order>\n</orders>"
#define O "<o xmlns=\"urn:x\"><i a=\"1\">1</i><i>2</i></o>"

struct row {
	const char *label;
	const char *body;
	struct xtokenize_step steps[4];
	size_t n;
	int mode;
	const char *want; /* items with "|" behind each */
	int group;
};

#define S(text)                                                                                    \
	{                                                                                          \
		(text), sizeof(text) - 1                                                           \
	}
#define CHILD(name)                                                                                \
	{                                                                                          \
		{ NULL, 0 }, S(name), NULL, false                                                  \
	}
#define ANY(name)                                                                                  \
	{                                                                                          \
		{ NULL, 0 }, S(name), NULL, true                                                   \
	}
#define CHILD_NS(name, uri)                                                                        \
	{                                                                                          \
		S("p"), S(name), (uri), false                                                      \
	}
#define ANY_NS(name, uri)                                                                          \
	{                                                                                          \
		S("p"), S(name), (uri), true                                                       \
	}

static void
check_items(void **state)
{
	const struct row *r = *state;
	struct exchange *ex = fixture_exchange(r->body);
	struct xtokenize_path path = { (struct xtokenize_step *)r->steps, r->n };
	struct xtokenize_conf conf = { .mode = r->mode, .group = r->group };
	struct expression e = { .text = "/path", .conf = &conf, .code = &path };
	struct value v;
	struct buf b;

	assert_int_equal(xtokenize_impl.prepare(&fixture, &e, NULL), HINNY_OK);
	if (!r->want) {
		assert_int_equal(xtokenize_impl.eval(&e, ex, &v), EVAL_ERROR);
		assert_int_equal(ex->exception->id, EXCEPTION_XML_STREAM);
		fixture_exchange_end();
		return;
	}
	if (xtokenize_impl.eval(&e, ex, &v) != EVAL_OK)
		fail_msg("%.*s", STR_FMT(ex->exception->message));
	assert_int_equal(v.type, VALUE_LIST);
	buf_init(&b, 0);
	for (size_t i = 0; i < v.u.list->n; i++) {
		(void)value_print(&b, &v.u.list->items[i]);
		(void)buf_add_char(&b, '|');
	}
	assert_string_equal(b.n ? buf_cstr(&b) : "", r->want);
	buf_fini(&b);
	fixture_exchange_end();
}

static const struct row rows[] = {
	{ "i: namespaces come along", ORDERS,
	    { CHILD_NS("orders", "urn:o"), CHILD_NS("order", "urn:o") }, 2, XTOKENIZE_INJECT,
	    "<order id=\"1\" xmlns=\"urn:o\" xmlns:x=\"urn:x\"><n>a</n></order>|<order id=\"2\" "
	    "xmlns=\"urn:o\" xmlns:x=\"urn:x\"/>|"
	    "<order id=\"3\" xmlns=\"urn:o\" xmlns:x=\"urn:x\">t &lt; u</order>|", 0 },
	{ "i: by //", O, { ANY_NS("i", "urn:x") }, 1, XTOKENIZE_INJECT,
	    "<i a=\"1\" xmlns=\"urn:x\">1</i>|<i xmlns=\"urn:x\">2</i>|", 0 },
	{ "i: what is declared again stays",
	    "<a xmlns='u1' xmlns:p='u2'><b xmlns='u3' xmlns:q='u4'/></a>", { ANY_NS("b", "u3") }, 1,
	    XTOKENIZE_INJECT, "<b xmlns='u3' xmlns:q='u4' xmlns:p=\"u2\"/>|", 0 },
	{ "i: a blank before the end of the tag", "<a xmlns:p='u'><b x='>' /><b\n>t</b ></a>",
	    { CHILD("a"), CHILD("b") }, 2, XTOKENIZE_INJECT,
	    "<b x='>' xmlns:p=\"u\" />|<b xmlns:p=\"u\"\n>t</b >|", 0 },
	{ "w", O, { ANY_NS("i", "urn:x") }, 1, XTOKENIZE_WRAP,
	    "<o xmlns=\"urn:x\"><i a=\"1\">1</i></o>|<o xmlns=\"urn:x\"><i>2</i></o>|", 0 },
	{ "w: the root itself", "<a><b/></a>", { CHILD("a") }, 1, XTOKENIZE_WRAP, "<a><b/></a>|", 0 },
	{ "u", "<a><item>1</item><b><item><c/>2</item></b><item/></a>", { ANY("item") }, 1,
	    XTOKENIZE_UNWRAP, "1|<c/>2||", 0 },
	{ "t", "<a><item>1 &amp; <c>2</c><![CDATA[<3>]]></item></a>", { ANY("item") }, 1,
	    XTOKENIZE_TEXT, "1 & 2<3>|", 0 },
	{ "an item within an item is part of it", "<a><i><i/></i><i/></a>", { ANY("i") }, 1,
	    XTOKENIZE_INJECT, "<i><i/></i>|<i/>|", 0 },
	{ "child steps only", "<a><b><i/></b><i/></a>", { CHILD("a"), CHILD("i") }, 2,
	    XTOKENIZE_INJECT, "<i/>|", 0 },
	{ "// in the middle", "<a><b><c><i/></c></b><i/></a>", { CHILD("a"), CHILD("b"), ANY("i") },
	    3, XTOKENIZE_INJECT, "<i/>|", 0 },
	{ "*", "<a><b/><c/></a>", { CHILD("a"), CHILD("*") }, 2, XTOKENIZE_INJECT, "<b/>|<c/>|", 0 },
	{ "no namespace asked, one there", O, { ANY("i") }, 1, XTOKENIZE_INJECT, "", 0 },
	{ "nothing found", "<a/>", { ANY("i") }, 1, XTOKENIZE_INJECT, "", 0 },
	{ "no body", NULL, { ANY("i") }, 1, XTOKENIZE_INJECT, "", 0 },
	{ "not well-formed", "<a><i/><b></a>", { ANY("i") }, 1, XTOKENIZE_INJECT, NULL, 0 },
	{ "DOCTYPE", "<!DOCTYPE a [<!ENTITY e 'x'>]><a><i>&e;</i></a>", { ANY("i") }, 1,
	    XTOKENIZE_INJECT, NULL, 0 },
	{ "i: groups", "<a xmlns='u'><i>1</i> <i>2</i>\n<b><i>3</i></b></a>", { ANY_NS("i", "u") }, 1,
	    XTOKENIZE_INJECT, "<i xmlns=\"u\">1</i><i xmlns=\"u\">2</i>|<i xmlns=\"u\">3</i>|", 2 },
	{ "w: groups share their ancestors", "<a x='1'><i>1</i> <i>2</i><i>3</i></a>", { ANY("i") },
	    1, XTOKENIZE_WRAP, "<a x='1'><i>1</i><i>2</i></a>|<a x='1'><i>3</i></a>|", 2 },
	{ "w: a group ends with its parent", "<a><b><i>1</i></b><b n='2'><i>2</i><i>3</i></b></a>",
	    { ANY("i") }, 1, XTOKENIZE_WRAP,
	    "<a><b><i>1</i></b></a>|<a><b n='2'><i>2</i><i>3</i></b></a>|", 3 },
	{ "u and t: groups", "<a><i>1</i><i><b>2</b></i><i>3</i></a>", { ANY("i") }, 1,
	    XTOKENIZE_UNWRAP, "1<b>2</b>3|", 5 },
	{ "t: groups", "<a><i>1</i><i><b>2</b>,</i><i>3</i></a>", { ANY("i") }, 1, XTOKENIZE_TEXT,
	    "12,|3|", 2 },
	{ "empty", "", { ANY("i") }, 1, XTOKENIZE_INJECT, NULL, 0 },
};

static void
test_encoding(void **state)
{
	static const char text[] = "<?xml version='1.0' encoding='ISO-8859-1'?><a><i>\xe9</i></a>";
	struct exchange *ex = fixture_exchange(NULL);
	struct xtokenize_step step = ANY("i");
	struct xtokenize_path path = { &step, 1 };
	struct xtokenize_conf conf = { .mode = XTOKENIZE_INJECT };
	struct expression e = { .text = "//i", .conf = &conf, .code = &path };
	struct value v;

	(void)state;
	exchange_set_body(ex, value_bytes((struct str){ text, sizeof text - 1 }));
	assert_int_equal(xtokenize_impl.prepare(&fixture, &e, NULL), HINNY_OK);
	assert_int_equal(xtokenize_impl.eval(&e, ex, &v), EVAL_OK);
	assert_int_equal(v.u.list->n, 1);
	assert_true(str_eq(v.u.list->items[0].u.s, STR_LIT("<i>\xc3\xa9</i>")));
	fixture_exchange_end();
}

static void
test_many(void **state)
{
	enum { N = 50000 };
	struct xtokenize_step step = ANY("i");
	struct xtokenize_path path = { &step, 1 };
	struct xtokenize_conf conf = { .mode = XTOKENIZE_UNWRAP };
	struct expression e = { .text = "//i", .conf = &conf, .code = &path };
	struct exchange *ex;
	struct value v;
	struct buf b;
	char last[16];

	(void)state;
	buf_init(&b, 0);
	(void)buf_add(&b, "<a>\r\n", 5);
	for (int i = 0; i < N; i++)
		(void)buf_printf(&b, "<i n='%d'>%d</i>\r\n", i, i);
	(void)buf_add(&b, "</a>", 4);
	ex = fixture_exchange(buf_cstr(&b));
	assert_int_equal(xtokenize_impl.prepare(&fixture, &e, NULL), HINNY_OK);
	assert_int_equal(xtokenize_impl.eval(&e, ex, &v), EVAL_OK);
	assert_int_equal(v.u.list->n, N);
	(void)snprintf(last, sizeof last, "%d", N - 1);
	assert_true(str_eq(v.u.list->items[N - 1].u.s, str_of(last)));
	buf_fini(&b);
	fixture_exchange_end();
}

int
main(void)
{
	int rc;

	fixture_open();
	UNIT_TABLE("items", rows, check_items);
	UNIT_CASE(test_encoding);
	UNIT_CASE(test_many);
	rc = unit_run("xtokenize");
	fixture_close();
	return rc;
}
