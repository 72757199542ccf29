/* core/config: what is worked out of routes (plans, endpoints, files), beside the texts of errors,
 * which tests/config has */
#include "core/config/compile_priv.h"

#include "core/config/copy_scan.h"
#include "core/config/endpoint_uri.h"
#include "core/eip/on_exception.h"

#include "tests/unit/config_fixture.h"

#include <fcntl.h>

/* ---- uris ---- */

static const struct uri_row {
	const char *label;
	const char *key; /* NULL: an error */
} uris[] = {
	{ "timer:x", "timer://x" },
	{ "timer://x?period=1m30s&delay=5s", "timer://x?delay=5s&period=1m30s" },
	{ "a:b?x=1&&y", "a://b?x=1&y=" },
	{ "http:host/p", "http://host/p" },
	{ "platform-http:/t", "platform-http:///t" },
	{ "a:b?v=a+b%20c%2Bd%26e", "a://b?v=a+b+c%2Bd%26e" },
	{ "a:b?v=RAW(x&y=%2B)&w=1", "a://b?v=RAW(x&y=%2B)&w=1" },
	{ "a:b?v=RAW{x)&y}&w=1", "a://b?v=RAW(x)&y)&w=1" },
	{ "a:b?v=RAW(x", "a://b?v=RAW%28x" },
	{ "scheme", "scheme://" },
	{ "a:b?v=100%", NULL },
	{ "a:b?v=%zz", NULL },
	{ "a:b?v=%00", NULL },
	{ "a:b?=1", NULL },
};

static void
check_uri(void **state)
{
	const struct uri_row *r = *state;
	struct uri_options os = { 0 };
	struct hinny_error err;
	struct arena a;

	arena_init(&a);
	struct uri_parts parts = uri_split(str_of(r->label));
	enum hinny_rc rc = uri_parse_query(&a, parts.query, &os, &err);
	assert_int_equal(rc == HINNY_OK, r->key != NULL);
	if (rc == HINNY_OK)
		assert_string_equal(uri_normalise(&a, parts.scheme, parts.path, &os), r->key);
	arena_fini(&a);
}

static void
test_uri_texts(void **state)
{
	struct arena a;
	bool raw;
	(void)state;

	arena_init(&a);
	assert_int_equal(uri_split(STR_LIT("no scheme:x")).scheme.n, 0);
	assert_int_equal(uri_split(STR_LIT("1a:x")).scheme.n, 0);
	assert_int_equal(uri_split(STR_LIT("")).scheme.n, 0);
	assert_string_equal(uri_encode(&a, STR_LIT("a b&\xc3\xa9*")), "a+b%26%C3%A9*");
	assert_string_equal(uri_encode_template(&a, STR_LIT("a b&${header.x + '%'}%")),
	    "a+b%26${header.x + '%'}%25");
	assert_string_equal(uri_encode_template(&a, STR_LIT("RAW(a&b)")), "RAW(a&b)");
	assert_int_equal(uri_unwrap_raw(STR_LIT("RAW()"), &raw).n, 0);
	assert_true(raw);
	arena_fini(&a);
}

/* ---- what a program knows ---- */

static const char *const proxy = "- route: {id: p, from: {uri: 'platform-http:/p', steps: [%s]}}\n"
				 "- route: {id: d, from: {uri: 'direct:d', steps: [{log: x}]}}\n";

#define HTTP "{to: 'http:h?bridgeEndpoint=true'}"
#define CATCH(more)                                                                                \
	"{onException: {exception: [java.lang.Exception], handled: {constant: 'true'}" more

static const struct stream_row {
	const char *label;
	const char *steps;
	bool body_streams, once, reply;
} streams[] = {
	{ "direct proxy", HTTP, true, true, true },
	{ "headers before and behind",
	    "{removeHeaders: 'CamelHttp*'}, " HTTP ", {setHeader: {name: x, constant: y}}", true,
	    true, true },
	{ "log of a header", "{log: '${header.x}'}, " HTTP, true, true, true },
	{ "log of the body", "{log: '${body}'}, " HTTP, false, true, true },
	{ "log of the answer", HTTP ", {log: '${body}'}", true, true, false },
	{ "body replaced behind", HTTP ", {setBody: {constant: x}}", true, true, false },
	{ "body replaced before", "{setBody: {constant: x}}, " HTTP, false, true, true },
	{ "two in a row", HTTP ", {to: 'http:h2'}", true, true, true },
	{ "choice by header",
	    "{choice: {when: [{simple: '${header.x} == 1', steps: [" HTTP
	    "]}], otherwise: {steps: [{to: 'http:h3'}]}}}",
	    true, true, true },
	{ "choice by body", "{choice: {when: [{simple: '${body} == 1', steps: [" HTTP "]}]}}",
	    false, true, true },
	{ "choice by xpath", "{choice: {when: [{xpath: /a, steps: [" HTTP "]}]}}", false, true,
	    true },
	{ "filter by header", "{filter: {simple: '${header.x} == 1', steps: [" HTTP "]}}", true,
	    true, true },
	{ "doTry",
	    "{doTry: {steps: [" HTTP
	    "], doCatch: [{exception: [java.lang.Exception], steps: [{log: x}]}]}}",
	    false, false, false },
	{ "transformed before", "{to: 'xslt:file:x.xsl'}, " HTTP, false, true, true },
	{ "transformed behind", HTTP ", {to: 'xslt:file:x.xsl'}", true, true, false },
	{ "logged whole", "{to: 'log:a'}, " HTTP, false, true, true },
	{ "no producer", "{setBody: {constant: x}}", false, false, false },
	{ "echo", "{removeHeader: x}", false, false, false },
	{ "direct before", "{to: 'direct:d'}, " HTTP, false, true, true },
	{ "toD", "{toD: 'http://h/${header.x}'}", true, true, true },
	{ "toD, uri of the body", "{toD: 'http://h/${body}'}", false, false, true },
	{ "toD, scheme unknown", "{toD: '${header.x}'}", false, false, false },
	{ "variableReceive", "{to: {uri: 'http:h', variableReceive: v}}", false, false, false },
	{ "handler answers", CATCH(", steps: [{setBody: {constant: x}}]}}, ") HTTP, true, true,
	    true },
	{ "handler lets the body out", CATCH(", steps: [{log: x}]}}, ") HTTP, false, false, true },
	{ "handler reads it",
	    CATCH(", steps: [{log: '${body}'}, {setBody: {constant: x}}]}}, ") HTTP, false, false,
	    true },
	{ "original body",
	    CATCH(", useOriginalBody: true, steps: [{setBody: {constant: x}}]}}, ") HTTP, false,
	    false, true },
	{ "redelivery",
	    CATCH(", redeliveryPolicy: {maximumRedeliveries: 1}, steps: [{setBody: {constant: "
		  "x}}]}}, ") HTTP,
	    false, false, true },
	{ "redelivery none",
	    CATCH(", redeliveryPolicy: {maximumRedeliveries: 0}, steps: [{setBody: {constant: "
		  "x}}]}}, ") HTTP,
	    true, true, true },
	{ "continued",
	    "{onException: {exception: [java.lang.Exception], continued: {constant: 'true'}, "
	    "steps: [{setBody: {constant: x}}]}}, " HTTP,
	    false, false, true },
};

/* The first step that sends to http; its own flags. */
static const struct step *
find_http(const struct program *p)
{
	for (uint32_t i = 0; i < p->steps_n; i++) {
		const struct step *st = p->steps[i];
		if ((st->endpoint && strcmp(st->endpoint->component->scheme, "http") == 0) ||
		    strcmp(st->eip->name, "toD") == 0)
			return st;
	}
	return NULL;
}

static void
check_stream(void **state)
{
	const struct stream_row *r = *state;
	struct config_fixture fx;
	struct bundle *b;

	fixture_init(&fx);
	fixture_file(&fx, "x.xsl", "<x/>");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	struct program *p = fixture_compile(&fx, arena_printf(&fx.arena, proxy, r->steps), &b);
#pragma GCC diagnostic pop
	assert_string_equal(fixture_text(&fx), "");
	assert_int_equal(p->routes[0]->body_streams, r->body_streams);
	const struct step *st = find_http(p);
	assert_int_equal(st != NULL && st->body_once, r->once);
	assert_int_equal(st != NULL && st->reply_streams, r->reply);
	program_free(p);
	bundle_free(b);
	fixture_fini(&fx);
}

static const struct run_row {
	const char *label;
	const char *steps;
	uint32_t run; /* of the first step with an owner */
} runs[] = {
	{ "one", "{to: 'xslt:file:x.xsl'}, {log: x}", 1 },
	{ "two", "{to: 'xslt:file:x.xsl'}, {to: 'validator:file:x.xsd'}", 2 },
	{ "home-steps between",
	    "{to: 'xslt:file:x.xsl'}, {setHeader: {name: a, constant: b}}, {removeHeader: c}, {to: "
	    "'xslt:file:y.xsl'}, {setBody: {constant: x}}",
	    4 },
	{ "xpath between",
	    "{to: 'xslt:file:x.xsl'}, {setHeader: {name: a, xpath: /b}}, {to: 'xslt:file:y.xsl'}",
	    3 },
	{ "Simple between",
	    "{to: 'xslt:file:x.xsl'}, {setHeader: {name: a, simple: '${exchangeId}'}}, {to: "
	    "'xslt:file:y.xsl'}",
	    1 },
	{ "log between", "{to: 'xslt:file:x.xsl'}, {log: x}, {to: 'xslt:file:y.xsl'}", 1 },
	{ "choice between",
	    "{to: 'xslt:file:x.xsl'}, {choice: {when: []}}, {to: 'xslt:file:y.xsl'}", 1 },
	{ "another owner between",
	    "{to: 'xslt:file:x.xsl'}, {to: 'http:h'}, {to: 'xslt:file:y.xsl'}", 1 },
	{ "one with an effect", "{to: 'http:h'}, {to: 'http:h2'}", 1 },
	{ "a file is written at home",
	    "{to: 'xslt:file:x.xsl?output=file'}, {to: 'xslt:file:y.xsl'}", 1 },
	{ "…or behind",
	    "{to: 'xslt:file:y.xsl'}, {to: 'xslt:file:x.xsl?output=file'}, {to: 'xslt:file:y.xsl'}",
	    2 },
};

static void
check_run(void **state)
{
	const struct run_row *r = *state;
	struct config_fixture fx;
	struct bundle *b;

	fixture_init(&fx);
	fixture_file(&fx, "x.xsl", "<x/>");
	fixture_file(&fx, "y.xsl", "<x/>");
	fixture_file(&fx, "x.xsd", "<x/>");
	struct program *p = fixture_compile(&fx,
	    arena_printf(&fx.arena, "- from: {uri: 'platform-http:/p', steps: [%s]}\n", r->steps),
	    &b);
	assert_string_equal(fixture_text(&fx), "");
	const struct step *st = p->routes[0]->block.first;
	while (st->owner == NULL)
		st = st->next;
	assert_int_equal(st->call_run, r->run);
	program_free(p);
	bundle_free(b);
	fixture_fini(&fx);
}

/* ---- redelivery policies ---- */

#define POLICY(options) "redeliveryPolicy: {" options "}"
#define OUTER(options)                                                                             \
	"- errorHandler: {defaultErrorHandler: {" POLICY(options) "}}\n"
#define INNER(more) "- onException: {exception: [java.io.IOException]" more "}\n"

static const struct policy_row {
	const char *label, *scopes;
	int64_t maximum, delay_ms;
	bool exponential;
	size_t groups;
} policies[] = {
	{ "nothing given", INNER(", steps: [{log: x}]"), 0, 1000, false, 0 },
	{ "its own", INNER(", " POLICY("maximumRedeliveries: 2, redeliveryDelay: 5")), 2, 5, false, 0 },
	{ "what it does not give",
	    OUTER("maximumRedeliveries: 7, redeliveryDelay: 20, useExponentialBackOff: true")
		INNER(", " POLICY("maximumRedeliveries: 2")),
	    2, 20, true, 0 },
	{ "the number too", OUTER("maximumRedeliveries: 7") INNER(", " POLICY("redeliveryDelay: 5")),
	    7, 5, false, 0 },
	{ "a default that is given",
	    OUTER("redeliveryDelay: 5, useExponentialBackOff: true")
		INNER(", " POLICY("redeliveryDelay: 1000, useExponentialBackOff: false")),
	    0, 1000, false, 0 },
	{ "no policy and no steps", OUTER("maximumRedeliveries: 7") INNER(""), 7, 1000, false, 0 },
	{ "no policy but steps", OUTER("maximumRedeliveries: 7, redeliveryDelay: 5")
				     INNER(", steps: [{log: x}]"),
	    0, 5, false, 0 },
	{ "a pattern", OUTER("delayPattern: '0:1;5:2'") INNER(", " POLICY("maximumRedeliveries: 1")),
	    1, 1000, false, 2 },
	{ "a pattern of its own",
	    OUTER("delayPattern: '0:1;5:2'") INNER(", " POLICY("delayPattern: '0:1'")), 0, 1000,
	    false, 1 },
	{ "of a dead letter channel",
	    "- errorHandler: {deadLetterChannel: {deadLetterUri: 'log:dlc', " POLICY(
		"maximumRedeliveries: 4") "}}\n" INNER(", " POLICY("redeliveryDelay: 5")),
	    4, 5, false, 0 },
};

static void
check_policy(void **state)
{
	const struct policy_row *r = *state;
	struct config_fixture fx;
	struct bundle *b;

	fixture_init(&fx);
	struct program *p = fixture_compile(&fx,
	    arena_printf(
		&fx.arena, "%s- from: {uri: 'direct:t', steps: [{log: x}]}\n", r->scopes),
	    &b);
	assert_string_equal(fixture_text(&fx), "");
	const struct redelivery_conf *policy = p->routes[0]->policies[0];
	assert_int_equal(policy->maximum_redeliveries, r->maximum);
	assert_int_equal(policy->redelivery_delay_ms, r->delay_ms);
	assert_int_equal(policy->exponential, r->exponential);
	assert_int_equal(policy->groups_n, r->groups);
	program_free(p);
	bundle_free(b);
	fixture_fini(&fx);
}

static const struct kind_row {
	const char *label;
	const char *routes;
	const char *kinds;
} kinds[] = {
	{ "http alone", "- from: {uri: 'platform-http:/p', steps: [{setBody: {constant: x}}]}",
	    "http " },
	{ "timer", "- from: {uri: 'timer:t', steps: [{log: x}]}", "flow " },
	{ "timer to http", "- from: {uri: 'timer:t', steps: [{to: 'http:h'}]}", "http flow " },
	{ "xslt", "- from: {uri: 'timer:t', steps: [{to: 'xslt:file:x.xsl'}]}", "xform flow " },
	{ "xpath in a branch",
	    "- from: {uri: 'timer:t', steps: [{choice: {when: [{xpath: /a, steps: []}]}}]}",
	    "xform flow " },
	{ "toD with a scheme", "- from: {uri: 'timer:t', steps: [{toD: 'log:${body}'}]}", "flow " },
	{ "toD, anything", "- from: {uri: 'timer:t', steps: [{toD: '${header.x}'}]}",
	    "http flow " },
	{ "direct", "- from: {uri: 'direct:t', steps: [{log: x}]}", "" },
	{ "handler",
	    "- onException: {exception: [java.lang.Exception], steps: [{to: 'http:h'}]}\n- from: "
	    "{uri: 'direct:t', steps: [{log: x}]}",
	    "http " },
};

static void
check_kinds(void **state)
{
	const struct kind_row *r = *state;
	struct config_fixture fx;
	struct bundle *b;

	fixture_init(&fx);
	fixture_file(&fx, "x.xsl", "<x/>");
	struct program *p = fixture_compile(&fx, r->routes, &b);
	assert_string_equal(fixture_text(&fx), "");
	char *text = arena_strdup(&fx.arena, "");
	for (int i = 0; i < kind_count(); i++) {
		if (p->kinds >> i & 1)
			text = arena_printf(&fx.arena, "%s%s ", text, kind_at(i)->kind);
	}
	assert_string_equal(text, r->kinds);
	program_free(p);
	bundle_free(b);
	fixture_fini(&fx);
}

/* Remote values in the order in which they are asked for, with equal numbers in every process. */
static void
test_remotes(void **state)
{
	struct config_fixture fx;
	struct bundle *b;
	(void)state;

	fixture_init(&fx);
	struct program *p = fixture_compile(&fx,
	    "- from: {uri: 'platform-http:/p', steps: [{choice: {when: [{xpath: /a, steps: "
	    "[{setBody: {xpath: /x}}]}, "
	    "{simple: '${header.q} == 1', steps: []}, {xpath: /b, steps: []}]}}]}\n",
	    &b);
	assert_string_equal(fixture_text(&fx), "");
	const struct step *choice = p->routes[0]->block.first;
	assert_int_equal(p->remotes_n, 3);
	assert_int_equal(choice->remotes_n, 2);
	assert_string_equal(choice->remotes[0]->text, "/a");
	assert_string_equal(choice->remotes[1]->text, "/b");
	for (uint32_t i = 0; i < p->remotes_n; i++)
		assert_int_equal(p->remotes[i]->slot, i);
	for (uint32_t i = 0; i < p->steps_n; i++)
		assert_int_equal(p->steps[i]->index, i);
	assert_true(choice->reads.flags & ACCESS_BODY);
	assert_int_equal(choice->reads.headers.n, 1);
	program_free(p);
	bundle_free(b);
	fixture_fini(&fx);
}

static void
test_ids(void **state)
{
	struct config_fixture fx;
	struct bundle *b;
	(void)state;

	fixture_init(&fx);
	struct program *p = fixture_compile(&fx,
	    "- from: {uri: 'direct:a', steps: [{log: a}, {log: {message: b, id: log1}}, {log: "
	    "c}]}\n"
	    "- route: {id: route1, from: {uri: 'direct:b', steps: [{log: d}, {log: {message: e, "
	    "disabled: true}}]}}\n"
	    "- from: {uri: 'direct:c', steps: [{setBody: {constant: x}}]}\n",
	    &b);
	assert_string_equal(fixture_text(&fx), "");
	assert_string_equal(p->routes[0]->id, "route2"); /* route1 is taken */
	assert_string_equal(p->routes[2]->id, "route3");
	const struct step *st = p->routes[0]->block.first;
	assert_string_equal(st->id, "log2");
	assert_string_equal(st->next->id, "log1");
	assert_string_equal(st->next->next->id, "log3");
	assert_int_equal(p->routes[1]->block.n, 1); /* disabled */
	assert_string_equal(p->routes[1]->block.first->id, "log4");
	program_free(p);
	bundle_free(b);
	fixture_fini(&fx);
}

/* ---- endpoints at run time ---- */

static const struct make_row {
	const char *label; /* uri */
	const char *error; /* NULL: made */
	bool known;        /* it is the program's own */
} makes[] = {
	{ "http://h/x?bridgeEndpoint=true", NULL, false },
	{ "http://known/", NULL, true },
	{ "log:x?showAll=true", NULL, false },
	{ "direct:d", NULL, false },
	{ "direct:none", NULL, false },
	{ "xslt:file:x.xsl", NULL, true },
	{ "xslt:file:x.xsl?output=bytes", NULL, false },
	{ "xslt:file:other.xsl", "is not among those of this generation", false },
	{ "nosuch:x", "unknown component \"nosuch\"", false },
	{ "platform-http:/x", "cannot be sent to", false },
	{ "http://h?connectTimeout=many", "option \"connectTimeout\" of http: expected a duration",
	    false },
	{ "log:", "missing path \"loggerName\"", false },
	{ "", "expected a uri", false },
	{ "${header.x}", "expected a uri", false },
};

static void
check_make(void **state)
{
	const struct make_row *r = *state;
	struct config_fixture fx;
	struct bundle *b;
	struct hinny_error err;
	char uri[256];

	fixture_init(&fx);
	fixture_file(&fx, "x.xsl", "<x/>");
	fixture_file(&fx, "other.xsl", "<x/>");
	struct program *p = fixture_compile(&fx,
	    "- from: {uri: 'direct:d', steps: [{to: 'http:known/'}, {to: 'xslt:file:x.xsl'}, {toD: "
	    "'${header.u}'}]}\n",
	    &b);
	uint32_t before = p->endpoints_n;
	(void)snprintf(uri, sizeof uri, "%s+", r->label); /* not ended by NUL */
	struct endpoint *ep =
	    endpoint_make(&fx.arena, p, (struct str){ uri, strlen(r->label) }, &err);
	memset(uri, 'x', sizeof uri);
	if (r->error == NULL) {
		assert_non_null(ep);
		assert_int_equal(ep->index < before, r->known);
		assert_int_equal(ep->target != NULL, strcmp(r->label, "direct:d") == 0);
		assert_string_equal(ep->uri, r->known ? ep->uri : r->label);
	} else {
		assert_null(ep);
		assert_non_null(strstr(err.text, r->error));
	}
	assert_int_equal(p->endpoints_n, before);
	program_free(p);
	bundle_free(b);
	fixture_fini(&fx);
}

/* ---- files ---- */

#define XSL(body)                                                                                  \
	"<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\n" body   \
	"</xsl:stylesheet>"

static const struct copy_row {
	const char *label;
	const char *files[12]; /* name, text … */
	const char *copied;    /* below f0, sorted */
	const char *error;     /* NULL: none */
} copies[] = {
	{ "alone", { "s/main.xsl", "<x/>" }, "main.xsl ", NULL },
	{ "include, import, nested",
	    { "s/main.xsl", XSL("<xsl:include href='inc/a.xsl'/><xsl:import\n href = \"b.xsl\"/>"),
		"s/inc/a.xsl", XSL("<xsl:include href='../c.xsl'/>"), "s/b.xsl", "<x/>", "s/c.xsl",
		"<x/>", "s/not.xsl", "<x/>" },
	    "b.xsl c.xsl inc/a.xsl main.xsl ", NULL },
	{ "cycle", { "s/main.xsl", XSL("<xsl:include href='main.xsl'/>") }, "main.xsl ", NULL },
	{ "document of a literal",
	    { "s/main.xsl",
		XSL("<xsl:value-of select=\"document('d.xml')/a | document( 'e/f.xml#x', /)\"/>"),
		"s/d.xml", "<d/>", "s/e/f.xml", "<f/>", "s/g.xml", "<g/>" },
	    "d.xml e/f.xml main.xsl ", NULL },
	{ "document of itself", { "s/main.xsl", XSL("<xsl:value-of select=\"document('')\"/>") },
	    "main.xsl ", NULL },
	{ "computed document",
	    { "s/main.xsl", XSL("<xsl:value-of select='document(concat(@x, \".xml\"))'/>"),
		"s/d.xml", "<d/>", "s/e/f.xml", "<f/>", "s/g.txt", "g" },
	    "d.xml e/f.xml main.xsl ", NULL },
	{ "in comments nothing counts",
	    { "s/main.xsl",
		XSL("<!-- <xsl:include href='none.xsl'/> --><![CDATA[<xsl:include "
		    "href='none.xsl'/>]]>") },
	    "main.xsl ", NULL },
	{ "other namespaces do not count",
	    { "s/main.xsl",
		XSL("<a:include xmlns:a='urn:a' href='none.xsl'/><include href='none.xsl'/>") },
	    "main.xsl ", NULL },
	{ "default namespace",
	    { "s/main.xsl",
		"<stylesheet xmlns='http://www.w3.org/1999/XSL/Transform'><include "
		"href='a.xsl'/></stylesheet>",
		"s/a.xsl", "<x/>" },
	    "a.xsl main.xsl ", NULL },
	{ "schema",
	    { "s/main.xsl",
		"<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:include "
		"schemaLocation='a.xsd'/>"
		"<xs:import namespace='urn:b' schemaLocation='b.xsd'/><xs:redefine "
		"schemaLocation='c.xsd'/></xs:schema>",
		"s/a.xsd", "<x/>", "s/b.xsd", "<x/>", "s/c.xsd", "<x/>" },
	    "a.xsd b.xsd c.xsd main.xsl ", NULL },
	{ "outside", { "s/main.xsl", XSL("\n<xsl:include href='../a.xsl'/>"), "a.xsl", "<x/>" },
	    NULL, "s/main.xsl:3:1: \"../a.xsl\" lies outside of the folder" },
	{ "absolute", { "s/main.xsl", XSL("<xsl:include href='/etc/passwd'/>") }, NULL,
	    "s/main.xsl:2:1: \"/etc/passwd\" lies outside" },
	{ "an address", { "s/main.xsl", XSL("<xsl:include href='http://h/a.xsl'/>") }, NULL,
	    "s/main.xsl:2:1: \"http://h/a.xsl\" is no file" },
	{ "missing", { "s/main.xsl", XSL("<xsl:include href='none.xsl'/>") }, NULL,
	    "s/main.xsl:2:1: cannot open file \"s/none.xsl\"" },
};

static void
check_copy(void **state)
{
	const struct copy_row *r = *state;
	struct config_fixture fx;
	struct bundle *b;
	char text[512] = "", command[256];

	fixture_init(&fx);
	for (size_t i = 0; r->files[i] != NULL; i += 2)
		fixture_file(&fx, r->files[i], r->files[i + 1]);
	fixture_file(&fx, "gen/x", "");
	struct program *p = fixture_compile(
	    &fx, "- from: {uri: 'direct:d', steps: [{to: 'xslt:file:s/main.xsl'}]}\n", &b);
	assert_string_equal(fixture_text(&fx), "");
	int dir = open(arena_printf(&fx.arena, "%s/gen", fx.dir), O_RDONLY | O_DIRECTORY);
	enum hinny_rc rc = bundle_copy_files(p, dir, &fx.ds);
	(void)close(dir);
	assert_int_equal(rc == HINNY_OK, r->error == NULL);
	if (r->error != NULL)
		assert_non_null(strstr(fixture_text(&fx), r->error));
	(void)snprintf(command, sizeof command,
	    "cd %s/gen/f0 && find . -type f | sed 's|^./||' | LC_ALL=C sort | tr '\\n' ' '",
	    fx.dir);
	FILE *f = popen(command, "r");
	if (fgets(text, sizeof text, f) == NULL)
		text[0] = '\0'; /* no file */
	(void)pclose(f);
	if (r->copied != NULL)
		assert_string_equal(text, r->copied);
	if (r->copied != NULL) { /* each is watched, beside r.yaml and application.properties */
		size_t files = 0, sources = 0;
		for (const char *p2 = text; (p2 = strchr(p2, ' ')) != NULL; p2++)
			files++;
		while (bundle_sources(b)[sources] != NULL)
			sources++;
		assert_int_equal(sources, files + 2);
	}
	program_free(p);
	bundle_free(b);
	fixture_fini(&fx);
}

/* Files of one folder share one, others have their own. */
static void
test_copy_names(void **state)
{
	struct config_fixture fx;
	struct bundle *b;
	(void)state;

	fixture_init(&fx);
	fixture_file(&fx, "a/1.xsl", "<x/>");
	fixture_file(&fx, "a/2.xsl", "<x/>");
	fixture_file(&fx, "b/1.xsl", "<x/>");
	struct program *p = fixture_compile(&fx,
	    "- from: {uri: 'direct:d', steps: [{to: 'xslt:file:a/1.xsl'}, {to: 'xslt:b/1.xsl'}, "
	    "{to: 'xslt:file:a/../a/2.xsl'}]}\n",
	    &b);
	assert_string_equal(fixture_text(&fx), "");
	assert_int_equal(p->files_n, 3);
	assert_string_equal(p->files[0].copy, "f0/1.xsl");
	assert_string_equal(p->files[1].copy, "f1/1.xsl");
	assert_string_equal(p->files[2].copy, "f0/2.xsl");
	assert_string_equal(p->files[2].path, arena_printf(&fx.arena, "%s/a/2.xsl", fx.dir));
	program_free(p);
	bundle_free(b);
	fixture_fini(&fx);
}

/* ---- the lists ---- */

/* Every option of every descriptor has a help text, a default that parses and a place of its own.
 */
static void
check_options(const char *owner, const struct option_desc *options, size_t conf_size)
{
	struct arena a;

	arena_init(&a);
	void *conf = option_new_conf(&a, conf_size);
	for (const struct option_desc *o = options; o != NULL && o->name != NULL; o++) {
		if (o->help == NULL)
			fail_msg("%s.%s has no help", owner, o->name);
		if (!(o->flags & OPTION_TEMPLATE))
			option_set_default(&a, o, conf);
		assert_true(o->offset < conf_size);
		if (o->type == OPTION_NODE || o->type == OPTION_NODES)
			assert_non_null(eip_find(str_of(o->values)));
		if (o->type == OPTION_ENUM)
			assert_non_null(o->values);
	}
	arena_fini(&a);
}

static void
test_descriptors(void **state)
{
	size_t n;
	(void)state;

	for (size_t i = 0; i < (component_all(&n), n); i++) {
		const struct component_desc *desc = component_all(&n)[i];
		check_options(desc->scheme, desc->options, desc->conf_size);
		assert_ptr_equal(component_find(str_of(desc->scheme)), desc);
		assert_true(desc->owner == NULL || kind_find(str_of(desc->owner)) != NULL);
		assert_non_null(desc->help);
		assert_true(desc->flags & (COMPONENT_CONSUMER | COMPONENT_PRODUCER));
	}
	for (size_t i = 0; i < (eip_all(&n), n); i++) {
		const struct eip_desc *desc = eip_all(&n)[i];
		check_options(desc->name, desc->options, desc->conf_size);
		assert_ptr_equal(eip_find(str_of(desc->name)), desc);
		assert_non_null(desc->help);
	}
	for (size_t i = 0; i < (language_all(&n), n); i++) {
		const struct language_desc *desc = language_all(&n)[i];
		check_options(desc->name, desc->options, desc->conf_size);
		assert_ptr_equal(language_find(str_of(desc->name)), desc);
		assert_true(desc->owner == NULL || kind_find(str_of(desc->owner)) != NULL);
		assert_non_null(desc->help);
	}
}

int
main(void)
{
	UNIT_TABLE("uri", uris, check_uri);
	UNIT_CASE(test_uri_texts);
	UNIT_TABLE("stream", streams, check_stream);
	UNIT_TABLE("run", runs, check_run);
	UNIT_TABLE("kinds", kinds, check_kinds);
	UNIT_TABLE("policy", policies, check_policy);
	UNIT_CASE(test_remotes);
	UNIT_CASE(test_ids);
	UNIT_TABLE("make", makes, check_make);
	UNIT_TABLE("copy", copies, check_copy);
	UNIT_CASE(test_copy_names);
	UNIT_CASE(test_descriptors);
	return unit_run("compile");
}
