/* Data formats: marshal and unmarshal as routes have them, on the vectors of Camel and beyond. */
#include "core/eip/engine.h"
#include "core/lang/csv.h"
#include "tests/unit/config_fixture.h"

#define NOTHING "<null>"
#define FAILS "<fails>"
#define REFUSED "<refused>"
#define J "- unmarshal: {json: {}}\n"
#define LINE76 "eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4"

struct row {
	const char *label, *steps, *in, *out;
};

static const struct row rows[] = {
	/* json */
	{ "map as text", J, "{\"a\":1,\"b\":{\"c\":[1,2]}}", "{a=1, b={c=[1, 2]}}" },
	{ "round trip", J "- marshal: {json: {}}", "{\"a\":1,\"b\":[1,2.5,null,true,\"x\"]}",
	    "{\"a\":1,\"b\":[1,2.5,null,true,\"x\"]}" },
	{ "numbers", J "- marshal: {json: {}}",
	    "{\"d\":1.0,\"big\":12345678901234567890,\"e\":\"\\u00e9/\",\"x\":1e3}",
	    "{\"d\":1.0,\"big\":12345678901234567890,\"e\":\"\xc3\xa9/\",\"x\":1000.0}" },
	{ "non_null", J "- marshal: {json: {include: NON_NULL}}", "{\"a\":null,\"d\":1}",
	    "{\"d\":1}" },
	{ "non_empty", J "- marshal: {json: {include: NON_EMPTY}}",
	    "{\"a\":\"\",\"b\":[],\"c\":{},\"d\":[null]}", "{\"d\":[null]}" },
	{ "pretty", J "- marshal: {json: {prettyPrint: true}}", "{\"a\":1,\"b\":[1,2]}",
	    "{\n  \"a\" : 1,\n  \"b\" : [ 1, 2 ]\n}" },
	{ "pretty nested", J "- marshal: {json: {prettyPrint: true}}",
	    "{\"a\":[{\"b\":{\"c\":1}},{}],\"e\":[]}",
	    "{\n  \"a\" : [ {\n    \"b\" : {\n      \"c\" : 1\n    }\n  }, { } ],\n  \"e\" : [ ]\n}" },
	{ "text", "- marshal: {json: {}}", "hello \"q\"", "\"hello \\\"q\\\"\"" },
	{ "null", "- marshal: {json: {}}", NULL, "null" },
	{ "no json", J, "nope", FAILS },
	{ "empty", J, "", FAILS },
	{ "blank", J, " \n", FAILS },
	{ "null read", J, NULL, FAILS },
	{ "null allowed", "- unmarshal: {allowNullBody: true, json: {}}", NULL, NOTHING },
	{ "number", J, "5", "5" },
	{ "twice, and more", J, "{\"a\":1,\"a\":2} x", "{a=2}" },
	{ "mark", J, "\xef\xbb\xbf{\"a\":2}", "{a=2}" },
	{ "surrogates", J "- marshal: {json: {}}", "[\"\xf0\x9f\x98\x80x\"]",
	    "[\"\\uD83D\\uDE00x\"]" },
	{ "no surrogates", J "- marshal: {json: {combineUnicodeSurrogates: true}}",
	    "[\"\xf0\x9f\x98\x80\"]", "[\"\xf0\x9f\x98\x80\"]" },
	{ "list wanted", "- unmarshal: {json: {useList: true}}", "{}", FAILS },
	{ "list", "- unmarshal: {json: {unmarshalType: java.util.List}}", "[1]", "[1]" },
	{ "map wanted", "- unmarshal: {json: {unmarshalType: java.util.Map}}", "[1]", FAILS },
	{ "class", "- unmarshal: {json: {unmarshalType: com.acme.Order}}", "{}", REFUSED },
	{ "feature", "- unmarshal: {json: {enableFeatures: ALLOW_COMMENTS}}", "{}", REFUSED },
	{ "map again", J J, "{}", FAILS },
	/* csv */
	{ "lists", "- unmarshal: {csv: {}}", "a,b\n1,\"x, y\"\n2,\n", "[[a, b], [1, x, y], [2, ]]" },
	{ "maps", "- unmarshal: {csv: {useMaps: true}}", "a,b\n1,\"x, y\"\n2,\n",
	    "[{a=1, b=x, y}, {a=2, b=}]" },
	{ "names given", "- unmarshal: {csv: {useMaps: true, delimiter: ';', header: 'p,q', "
			 "skipHeaderRecord: true, trim: true}}",
	    "a;b\n1; 2\n", "[{p=1, q=2}]" },
	{ "ragged", "- unmarshal: {csv: {useMaps: true}}", "a,b\n1\n1,2,3\n",
	    "[{a=1}, {a=1, b=2}]" },
	{ "lines in cells", "- unmarshal: {csv: {}}", "\"a\nb\",c\n\n\"x\"\"y\",z",
	    "[[a\nb, c], [x\"y, z]]" },
	{ "cr lf", "- unmarshal: {csv: {}}", "a,b\r\nc,d\r\r\n", "[[a, b], [c, d]]" },
	{ "empty lines kept", "- unmarshal: {csv: {format: RFC4180}}", "a\n\nb\n", "[[a], [], [b]]" },
	{ "no text", "- unmarshal: {csv: {}}", "", "[]" },
	{ "one line skipped", "- unmarshal: {csv: {skipHeaderRecord: true}}", "a\n1\n", "[[1]]" },
	{ "marked names", "- unmarshal: {csv: {useMaps: true}}", "\xef\xbb\xbf\"id\",name\n1,x\n",
	    "[{id=1, name=x}]" },
	{ "name missing", "- unmarshal: {csv: {useMaps: true}}", "a,,c\n1,2,3\n", FAILS },
	{ "open quote", "- unmarshal: {csv: {}}", "a\n\"b", FAILS },
	{ "after a quote", "- unmarshal: {csv: {}}", "\"a\"b", FAILS },
	{ "blank after a quote", "- unmarshal: {csv: {}}", "\"a\" ,b", "[[a, b]]" },
	{ "quote within", "- unmarshal: {csv: {}}", "a\"b\",c", "[[a\"b\", c]]" },
	{ "comments", "- unmarshal: {csv: {commentMarker: '#'}}", "#x\na\n#y", "[[a]]" },
	{ "escapes", "- unmarshal: {csv: {escape: '\\'}}", "a\\,b,c\\nd,\\x", "[[a,b, c\nd, \\x]]" },
	{ "blanks", "- unmarshal: {csv: {ignoreSurroundingSpaces: true}}", "  a , \"b \" ,c",
	    "[[a, b , c]]" },
	{ "null text", "- unmarshal: {csv: {nullString: 'NULL'}}\n- marshal: {json: {}}", "a,NULL",
	    "[[\"a\",null]]" },
	{ "long delimiter", "- unmarshal: {csv: '||'}", "a||b|c||d", "[[a, b|c, d]]" },
	{ "mysql", "- unmarshal: {csv: {format: MYSQL}}\n- marshal: {json: {}}", "a\t\\N\tc\\td\n",
	    "[[\"a\",null,\"c\\td\"]]" },
	{ "quote mode without escape", "- marshal: {csv: {quoteMode: NONE}}", "", REFUSED },
	{ "two characters", "- marshal: {csv: {quote: ab}}", "", REFUSED },
	{ "quote delimits", "- marshal: {csv: {quote: ','}}", "", REFUSED },
	{ "written", J "- marshal: {csv: {}}",
	    "[{\"a\":1,\"b\":\"x,y\"},{\"a\":2,\"b\":\"q\\\"z\"}]", "1,\"x,y\"\r\n2,\"q\"\"z\"\r\n" },
	{ "written with names", J "- marshal: {csv: {header: 'h1,h2'}}",
	    "[[1,\"x y\"],[2,null],[\"\",\"  p\"]]",
	    "h1,h2\r\n1,x y\r\n2,\r\n\"\",\"  p\"\r\n" },
	{ "columns by name", J "- marshal: {csv: {header: 'b,a'}}", "[{\"a\":1,\"b\":2},{\"b\":3}]",
	    "b,a\r\n2,1\r\n3,\r\n" },
	{ "quoted", J "- marshal: {csv: {quoteMode: ALL, recordSeparator: \"\\n\"}}",
	    "{\"a\":1,\"b\":2}", "\"1\",\"2\"\n" },
	{ "quoted but numbers", J "- marshal: {csv: {quoteMode: NON_NUMERIC}}", "[1,\"2\"]",
	    "1,\"2\"\r\n" },
	{ "written with escapes", J "- marshal: {csv: {quoteMode: NONE, escape: '\\'}}",
	    "[\"a,b\",\"c\\nd\"]", "a\\,b,c\\nd\r\n" },
	{ "text is no record", "- marshal: {csv: {}}", "a", FAILS },
	{ "no records", J "- marshal: {csv: {}}", "[]", "" },
	/* base64 */
	{ "base64", "- marshal: {base64: {}}", "hello", "aGVsbG8=\r\n" },
	{ "base64 lines", "- marshal: {base64: {}}",
	    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
	    LINE76 "\r\neA==\r\n" },
	{ "base64 one line", "- marshal: {base64: {lineLength: 0}}", "hello", "aGVsbG8=" },
	{ "base64 url", "- marshal: {base64: {urlSafe: true}}", "hello?\?>>", "aGVsbG8_Pz4-\r\n" },
	{ "base64 read", "- unmarshal: {base64: {}}", "aGVs\r\nbG8=xx", "hello" },
	{ "base64 url read", "- unmarshal: {base64: {urlSafe: true}}", "aGVsbG8_Pz4-", "hello?\?>>" },
	{ "base64 separator", "- marshal: {base64: {lineSeparator: a}}", "", REFUSED },
	/* the steps */
	{ "variable", "- setVariable: {name: v, constant: '[1]'}\n"
		      "- unmarshal: {variableSend: v, variableReceive: w, json: {}}\n"
		      "- marshal: {variableSend: w, json: {}}",
	    "body", "[1]" },
	{ "body stays", "- unmarshal: {variableReceive: w, json: {}}", "[1]", "[1]" },
	{ "no format", "- marshal: {}", "", REFUSED },
	{ "two formats", "- marshal: {json: {}, csv: {}}", "", REFUSED },
	{ "no such format", "- marshal: {jsson: {}}", "", REFUSED },
	{ "no such option", "- marshal: {json: {prettyprint: true}}", "", REFUSED },
	{ "other format", "- marshal: {protobuf: {}}", "", REFUSED },
};

/* Runs the steps one by one: none of them needs an engine. */
static const char *
run_steps(struct exchange *ex, const struct program *p)
{
	for (const struct step *st = p->routes[0]->block.first; st != NULL; st = st->next) {
		enum step_rc rc = st->eip->run(NULL, ex, st);
		if (rc == STEP_FAILED) {
			assert_non_null(ex->exception);
			return FAILS;
		}
		assert_int_equal(rc, STEP_DONE);
	}
	if (value_is_null(&ex->body))
		return NOTHING;
	struct str s = value_text(&ex->arena, &ex->body);
	return arena_strndup(&ex->arena, s.p, s.n);
}

static const char *
indented(struct arena *a, const char *steps)
{
	struct str rest = str_of(steps), line;
	const char *out = "- from: {uri: 'direct:a', steps: [{log: x}]}\n"
			  "- route:\n    from:\n      uri: direct:x\n      steps:\n";

	while (str_split(&rest, '\n', &line))
		out = arena_printf(a, "%s        %.*s\n", out, STR_FMT(line));
	return strchr(out, '\n') + 1;
}

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct config_fixture fx;
	struct bundle *b;

	fixture_init(&fx);
	struct program *p = fixture_compile(&fx, indented(&fx.arena, r->steps), &b);
	if (p == NULL) {
		if (strcmp(r->out, REFUSED) != 0)
			print_message("%s\n", fixture_text(&fx));
		assert_string_equal(r->out, REFUSED);
	} else {
		struct exchange_pool pool;
		exchange_pool_init(&pool, 1);
		struct exchange *ex = exchange_new(&pool);
		if (r->in != NULL)
			exchange_set_body(ex, value_str(str_of(r->in)));
		assert_string_equal(run_steps(ex, p), r->out);
		exchange_free(&pool, &ex);
		exchange_pool_fini(&pool);
		program_free(p);
	}
	bundle_free(b);
	fixture_fini(&fx);
}

/* The names of the columns, and what a JSON body is called, as headers. */
static void
test_headers(void **state)
{
	struct config_fixture fx;
	struct bundle *b;
	struct exchange_pool pool;
	(void)state;

	fixture_init(&fx);
	struct program *p = fixture_compile(&fx,
	    indented(&fx.arena,
		"- unmarshal: {csv: {captureHeaderRecord: true, useMaps: true}}\n"
		"- marshal: {variableReceive: v, json: {}}\n- marshal: {json: {}}"),
	    &b);
	assert_non_null(p);
	exchange_pool_init(&pool, 1);
	struct exchange *ex = exchange_new(&pool);
	exchange_set_body(ex, value_str(STR_LIT("a,b\n1,2\n")));
	assert_string_equal(run_steps(ex, p), "[{\"a\":\"1\",\"b\":\"2\"}]");
	struct value *v = exchange_header(ex, STR_LIT("CamelCsvHeaderRecord"));
	assert_non_null(v);
	assert_int_equal(value_size(v), 2);
	v = exchange_header(ex, STR_LIT("Content-Type"));
	assert_non_null(v);
	assert_true(str_eq(v->u.s, STR_LIT("application/json")));
	assert_non_null(exchange_variable(ex, STR_LIT("header:v.Content-Type")));
	exchange_free(&pool, &ex);
	exchange_pool_fini(&pool);
	program_free(p);
	bundle_free(b);
	fixture_fini(&fx);
}

int
main(void)
{
	UNIT_TABLE("format", rows, check_row);
	UNIT_CASE(test_headers);
	return unit_run("formats");
}
