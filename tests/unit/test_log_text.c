/* transports/log: the text of the log component, and that of direct without a consumer. */
#include "transports/log/log.h"

#include "core/eip/log_mask.h"
#include "tests/lib/engine_fake.h"
#include "tests/lib/unit.h"
#include "transports/direct/direct.h"
#include "transports/direct/direct_conf.h"

#include <string.h>

static struct build b;
static struct fake f;

static struct exchange *
begin(const char *body)
{
	build_init(&b);
	fake_init(&f, &b);
	return fake_exchange(&f, body);
}

static void
end(struct exchange *ex)
{
	exchange_free(&f.pool, &ex);
	fake_fini(&f);
	build_fini(&b);
}

static const struct log_endpoint_conf defaults = {
	.logger = "l",
	.level = ROUTE_LOG_INFO,
	.max_chars = 10000,
	.show_body = true,
	.show_body_type = true,
	.skip_line_separator = true,
};

static void
assert_text(const struct log_endpoint_conf *conf, struct exchange *ex, const char *expected)
{
	struct str text = log_text_of(conf, ex);
	assert_string_equal(arena_strndup(&ex->arena, text.p, text.n), expected);
}

static const struct text_row {
	const char *label;
	struct log_endpoint_conf conf;
	const char *body, *text;
} text_rows[] = {
	{ "default",
	    { .max_chars = 10000,
		.show_body = true,
		.show_body_type = true,
		.skip_line_separator = true },
	    "hello", "Exchange[ExchangePattern: InOut, BodyType: String, Body: hello]" },
	{ "null body",
	    { .max_chars = 10000,
		.show_body = true,
		.show_body_type = true,
		.skip_line_separator = true },
	    NULL, "Exchange[ExchangePattern: InOut, BodyType: null, Body: [Body is null]]" },
	{ "headers",
	    { .max_chars = 10000, .show_body = true, .show_body_type = true, .show_headers = true },
	    "hello", "Exchange[Headers: {A=null, b=2, Foo=bar}, BodyType: String, Body: hello]" },
	{ "headers alone", { .max_chars = 10000, .show_headers = true }, "hello",
	    "Exchange[Headers: {A=null, b=2, Foo=bar}]" },
	{ "properties", { .max_chars = 10000, .show_body = true, .show_properties = true }, "hello",
	    "Exchange[Properties: {p=1}, Body: hello]" },
	{ "all properties", { .max_chars = 10000, .show_body = true, .show_all_properties = true },
	    "hello", "Exchange[Properties: {CamelToEndpoint=log://l, p=1}, Body: hello]" },
	{ "variables", { .max_chars = 10000, .show_variables = true }, "hello",
	    "Exchange[Variables: {v=2}]" },
	{ "pattern",
	    { .max_chars = 10000,
		.show_pattern = true,
		.show_route_id = true,
		.show_route_group = true },
	    "hello", "Exchange[RouteGroup: g, RouteId: r, ExchangePattern: InOut]" },
	{ "nothing", { .max_chars = 10000 }, "hello", "Exchange[]" },
	{ "line ends are left out",
	    { .max_chars = 10000, .show_body = true, .skip_line_separator = true }, "a\nb",
	    "Exchange[Body: ab]" },
	{ "line ends stay", { .max_chars = 10000, .show_body = true }, "a\nb",
	    "Exchange[Body: a\nb]" },
	{ "cut", { .max_chars = 10, .show_body = true }, "hello", "Exchange[Body: hell...]" },
	{ "not cut", { .max_chars = 11, .show_body = true }, "hello", "Exchange[Body: hello]" },
	{ "cut between characters", { .max_chars = 7, .show_body = true }, "\xc3\xa9\xc3\xa9",
	    "Exchange[Body: ...]" },
	{ "no bound", { .max_chars = 0, .show_body = true }, "hello", "Exchange[Body: hello]" },
	{ "multiline",
	    { .max_chars = 10000, .show_body = true, .show_body_type = true, .multiline = true },
	    "hello", "Exchange[\n  ExchangePattern: InOut\n  BodyType: String\n  Body: hello\n]" },
	{ "plain", { .max_chars = 10000, .plain = true, .show_body = true, .show_body_type = true },
	    "hello", "hello" },
	{ "plain and cut", { .max_chars = 3, .plain = true }, "hello",
	    "hel... [Body clipped after 3 chars, total length is 5]" },
	{ "plain keeps line ends",
	    { .max_chars = 100, .plain = true, .multiline = true, .skip_line_separator = true },
	    "a\nb", "a\nb" },
	{ "tabs",
	    { .max_chars = 100,
		.show_body = true,
		.show_body_type = true,
		.show_headers = true,
		.style = LOG_STYLE_TAB },
	    "hello", "Exchange[\tHeaders: {A=null, b=2, Foo=bar}\tBodyType: String\tBody: hello]" },
	{ "fixed",
	    { .max_chars = 100, .show_body = true, .style = LOG_STYLE_FIXED, .multiline = true },
	    "hello", "Exchange[\n\tBody                hello\n]" },
	{ "masked", { .max_chars = 100, .show_body = true, .mask = true }, "password=a, b=c",
	    "Exchange[Body: password=xxxxx, b=c]" },
	{ "no exception to show", { .max_chars = 10000, .show_body = true, .show_exception = true },
	    "hello", "Exchange[Body: hello]" },
};

static void
check_text(void **state)
{
	const struct text_row *row = *state;
	struct exchange *ex = begin(row->body);
	struct route *r = build_route(&b, "r", NULL, NULL);
	r->group = "g";
	ex->route = r;
	exchange_set_header(ex, STR_LIT("Foo"), value_str(STR_LIT("bar")));
	exchange_set_header(ex, STR_LIT("b"), value_int(2));
	exchange_set_header(ex, STR_LIT("A"), value_null());
	exchange_set_property(ex, STR_LIT("p"), value_int(1));
	exchange_set_property(ex, STR_LIT("CamelToEndpoint"), value_str(STR_LIT("log://l")));
	exchange_set_variable(ex, STR_LIT("v"), value_int(2));
	assert_text(&row->conf, ex, row->text);
	end(ex);
}

static const struct mask_row {
	const char *label, *text, *masked;
} mask_rows[] = {
	{ "nothing", "hello", "hello" },
	{ "empty", "", "" },
	{ "pair", "user=x, a=b", "user=xxxxx, a=b" },
	{ "a name with a word in it", "my_PassWord_2 = \"x\" y", "my_PassWord_2 = \"xxxxx\" y" },
	{ "a word with a dash", "x-api-key='k'", "x-api-key='xxxxx'" },
	{ "a pair without a value", "token=", "token=" },
	{ "two pairs", "token=a,secret=b c", "token=xxxxx,secret=xxxxx" },
	{ "another name", "pass=a", "pass=a" },
	{ "member", "{\"password\" : \"a\\\"b\", \"mypassword\":\"c\"}",
	    "{\"password\" : \"xxxxx\", \"mypassword\":\"c\"}" },
	{ "members in a list", "[{\"Token\":\"\"},{\"token\":1}]",
	    "[{\"Token\":\"xxxxx\"},{\"token\":1}]" },
	{ "a member that does not end", "{\"token\":\"ab", "{\"token\":\"xxxxx" },
	{ "a name that does not end", "{\"token", "{\"token" },
	{ "element", "<a><Password> x y </Password><b>c</b></a>",
	    "<a><Password> xxxxx </Password><b>c</b></a>" },
	{ "element with a prefix and attributes", "<n:token id=\"1\">t</n:token>",
	    "<n:token id=\"1\">xxxxx</n:token>" },
	{ "attribute", "<a user=\"u\" b=\"c\"><token>t</token></a>",
	    "<a user=\"xxxxx\" b=\"c\"><token>xxxxx</token></a>" },
	{ "element with elements", "<token><a>t</a></token>", "<token><a>t</a></token>" },
	{ "element that does not end", "<token>t", "<token>t" },
	{ "tag that does not end", "<token", "<token" },
};

static void
check_mask(void **state)
{
	const struct mask_row *row = *state;
	struct arena a;
	arena_init(&a);
	struct str text = log_mask(&a, str_of(row->text));
	assert_string_equal(arena_strndup(&a, text.p, text.n), row->masked);
	arena_fini(&a);
}

static void
test_empty_parts_are_left_out(void **state)
{
	(void)state;
	struct exchange *ex = begin("x");
	struct log_endpoint_conf conf = defaults;
	conf.show_headers = conf.show_properties = conf.show_variables = conf.show_route_id = true;
	assert_text(&conf, ex, "Exchange[BodyType: String, Body: x]");
	end(ex);
}

static void
test_exceptions(void **state)
{
	(void)state;
	struct exchange *ex = begin("x");
	struct log_endpoint_conf conf = { .max_chars = 10000, .show_exception = true };
	ex->caught = exception_new(&ex->arena, EXCEPTION_IO, "before");
	assert_text(&conf, ex, "Exchange[]");
	conf.show_caught = true;
	assert_text(&conf, ex,
	    "Exchange[CaughtExceptionType: java.io.IOException, CaughtExceptionMessage: before]");
	exchange_fail(ex, EXCEPTION_ILLEGAL_STATE, "now");
	assert_text(&conf, ex,
	    "Exchange[ExceptionType: java.lang.IllegalStateException, ExceptionMessage: now]");
	end(ex);
}

static void
test_all(void **state)
{
	(void)state;
	struct exchange *ex = begin("x");
	struct log_endpoint_conf conf = defaults;
	conf.show_all = true;
	struct str text = log_text_of(&conf, ex);
	assert_true(str_starts(text, "Exchange[Id: "));
	assert_true(str_ends(text, ", ExchangePattern: InOut, BodyType: String, Body: x]"));
	end(ex);
}

static void
test_long_body(void **state)
{
	(void)state;
	struct exchange *ex = begin(NULL);
	char *body = arena_alloc(&ex->arena, 1 << 20);
	memset(body, 'b', 1 << 20);
	exchange_set_body(ex, value_str((struct str){ body, 1 << 20 }));
	struct str text = log_text_of(&defaults, ex);
	assert_int_equal(text.n, sizeof("Exchange[]") - 1 + 10000 + 3);
	end(ex);
}

static void
test_send(void **state)
{
	(void)state;
	struct exchange *ex = begin("x");
	struct log_endpoint_conf conf = defaults;
	struct endpoint *ep = build_endpoint(&b, "log:l", COMPONENT_PRODUCER);
	ep->conf = &conf;
	ex->engine = &f.en;
	assert_int_equal(log_ops.send(NULL, ex, NULL, ep), STEP_DONE);
	conf.level = ROUTE_LOG_OFF;
	assert_int_equal(log_ops.send(NULL, ex, NULL, ep), STEP_DONE);
	conf.level = ROUTE_LOG_ERROR;
	conf.plain = true;
	assert_int_equal(log_ops.send(NULL, ex, NULL, ep), STEP_DONE);
	assert_string_equal(
	    f.log, "2 l Exchange[ExchangePattern: InOut, BodyType: String, Body: x]\n0 l x\n");
	end(ex);
}

static void
test_send_in_groups(void **state)
{
	(void)state;
	struct exchange *ex = begin("x");
	struct log_endpoint_conf conf = defaults;
	struct endpoint *ep = build_endpoint(&b, "log:l", COMPONENT_PRODUCER);
	conf.group_size = 2;
	ep->conf = &conf;
	ex->engine = &f.en;
	for (int i = 0; i < 3; i++)
		assert_int_equal(log_ops.send(NULL, ex, NULL, ep), STEP_DONE);
	assert_non_null(strstr(f.log, "2 l Received: 2 messages so far. Last group took: "));
	assert_int_equal(strcspn(f.log, "\n") + 1, strlen(f.log));
	log_ops.release(NULL, ep);
	log_ops.release(NULL, ep);
	end(ex);
}

static struct monotime
at_ms(int64_t ms)
{
	return monotime_add_ms((struct monotime){ 1 }, ms);
}

static void
test_group_text(void **state)
{
	(void)state;
	struct exchange *ex = begin("x");
	struct log_group g = { .received = 0 };
	assert_int_equal(log_group_add(&g, 2, at_ms(0), &ex->arena).n, 0);
	struct str text = log_group_add(&g, 2, at_ms(1), &ex->arena);
	assert_string_equal(text.p,
	    "Received: 2 messages so far. Last group took: 1 millis which is: 2,000 messages per "
	    "second. average: 2,000");
	assert_int_equal(log_group_add(&g, 2, at_ms(1500), &ex->arena).n, 0);
	text = log_group_add(&g, 2, at_ms(3001), &ex->arena);
	assert_string_equal(text.p,
	    "Received: 4 messages so far. Last group took: 3000 millis which is: 0.667 messages "
	    "per second. average: 1.333");
	end(ex);
}

static void
test_interval_text(void **state)
{
	(void)state;
	struct exchange *ex = begin("x");
	struct log_group g = {
		.received = 3, .group = 3, .started = at_ms(0), .group_started = at_ms(0)
	};
	struct str text = log_group_tell(&g, true, at_ms(1000), &ex->arena);
	assert_string_equal(text.p,
	    "Received: 3 new messages, with total 3 so far. Last group took: 1000 millis which is: "
	    "3 messages per second. average: 3");
	assert_int_equal(log_group_tell(&g, true, at_ms(2000), &ex->arena).n, 0);
	text = log_group_tell(&g, false, at_ms(3000), &ex->arena);
	assert_string_equal(text.p,
	    "Received: 0 new messages, with total 3 so far. Last group took: 2000 millis which is: "
	    "0 messages per second. average: 1");
	end(ex);
}

static void
test_direct_without_a_consumer(void **state)
{
	(void)state;
	struct exchange *ex = begin("x");
	struct direct_conf conf = { .fail_if_no_consumers = true };
	struct endpoint *ep = build_direct(&b, "nobody", NULL);
	ep->conf = &conf;
	assert_int_equal(direct_ops.send(NULL, ex, NULL, ep), STEP_FAILED);
	assert_int_equal(ex->exception->id, EXCEPTION_DIRECT_NOT_AVAILABLE);
	assert_string_equal(
	    ex->exception->message.p, "No consumers available on endpoint: direct://nobody. Exchange[]");
	ex->exception = NULL;
	conf.fail_if_no_consumers = false;
	assert_int_equal(direct_ops.send(NULL, ex, NULL, ep), STEP_DONE);
	end(ex);
}

int
main(void)
{
	UNIT_TABLE("text", text_rows, check_text);
	UNIT_TABLE("mask", mask_rows, check_mask);
	UNIT_CASE(test_empty_parts_are_left_out);
	UNIT_CASE(test_exceptions);
	UNIT_CASE(test_all);
	UNIT_CASE(test_long_body);
	UNIT_CASE(test_send);
	UNIT_CASE(test_send_in_groups);
	UNIT_CASE(test_group_text);
	UNIT_CASE(test_interval_text);
	UNIT_CASE(test_direct_without_a_consumer);
	return unit_run("log text");
}
