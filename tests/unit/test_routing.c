/* core/eip: recipientList, routingSlip, dynamicRouter, wireTap, enrich, sort, step. */
#include "core/eip/fan_out.h"

#include "tests/lib/engine_case.h"

#include <string.h>

extern const struct eip_desc recipientList_eip, routingSlip_eip, dynamicRouter_eip, wireTap_eip,
    enrich_eip, sort_eip, step_eip, toD_eip;
extern const struct bean_class String_bean;

static struct build b;
static struct fake f;

/* What compile_send makes. */
static struct step *
send_to(const char *property)
{
	struct step *st = build_step(&b, &toD_eip);
	((struct to_conf *)st->conf)->uri_template = build_expr(&b, case_property, property);
	return st;
}

/* ---- recipientList ---- */

static const struct recipients_row {
	const char *label, *list, *delimiter;
	bool ignore;
	const char *schemes, *body, *exception;
	int sends;
} recipients_rows[] = {
	{ "two", "fake:a, fake:b", ",", false, NULL, "xSxS.", "", 2 },
	{ "another delimiter", "fake:a;fake:b", ";", false, NULL, "xSxS.", "", 2 },
	{ "one that is none", "fake:a,nosuch:b", ",", false, NULL, "x",
	    "NoSuchEndpointException: nosuch:b", 0 },
	{ "which is ignored", "fake:a,nosuch:b", ",", true, NULL, "xS.", "", 1 },
	{ "none", " , ", ",", false, NULL, "x.", "", 0 },
	{ "schemes", "fake:a", ",", false, "http, fake", "xS.", "", 1 },
	{ "a scheme that is not allowed", "fake:a", ",", false, "http,https", "x",
	    "IllegalArgumentException: the scheme of endpoint fake:a is not among the "
	    "allowedSchemes http,https",
	    0 },
};

static void
check_recipients(void **state)
{
	const struct recipients_row *row = *state;
	static const struct aggregation_text_conf text = { NULL };
	static const struct bean joined = { .class = &String_bean, .conf = (void *)&text };
	case_begin_shared(&f, &b);
	struct step *st = build_step(&b, &recipientList_eip);
	struct recipient_list_conf *conf = st->conf;
	st->expr = build_const(&b, row->list);
	conf->delimiter = row->delimiter;
	conf->ignore_invalid = row->ignore;
	conf->allowed_schemes = row->schemes;
	conf->fan_out.strategy = &joined;
	conf->send = send_to("CamelRecipientListEndpoint");
	case_run(&f, build_route(&b, "r", st, build_append(&b, "."), NULL), "x");
	assert_string_equal(f.body, row->body);
	assert_string_equal(f.exception, row->exception);
	assert_int_equal(f.sends, row->sends);
	case_end(&f);
}

/* ---- routingSlip, dynamicRouter ---- */

static struct step *
slip(const struct eip_desc *eip, struct expression *e)
{
	struct step *st = build_step(&b, eip);
	struct slip_conf *conf = st->conf;
	st->expr = e;
	conf->asks_again = eip == &dynamicRouter_eip;
	conf->send = (struct block){ send_to("CamelSlipEndpoint"), 1 };
	return st;
}

static void
test_routing_slip(void **state)
{
	static const char *const properties[] = { "CamelSlipEndpoint", "CamelToEndpoint", NULL };
	(void)state;
	case_begin_shared(&f, &b);
	struct step *st = slip(&routingSlip_eip, build_const(&b, "fake:a,nosuch:x,fake:b"));
	struct route *r = build_route(&b, "r", st, build_append(&b, "."), NULL);
	fake_watch(&f, NULL, properties);
	case_run(&f, r, "x");
	assert_string_equal(f.exception, "NoSuchEndpointException: nosuch:x");
	assert_string_equal(f.body, "xS");
	((struct slip_conf *)st->conf)->ignore_invalid = true;
	f.send_mode = FAKE_LATER;
	case_run(&f, r, "x");
	assert_string_equal(f.body, "xSS.");
	assert_string_equal(fake_seen(&f, "CamelSlipEndpoint"), "fake:b");
	assert_string_equal(fake_seen(&f, "CamelToEndpoint"), "fake:b");
	case_end(&f);
}

/* Two at first, then one, then none. */
static enum eval_rc
fn_router(struct exchange *ex, const char *arg, struct value *out)
{
	size_t n = value_text(&ex->arena, &ex->body).n;
	(void)arg;
	*out = n == 1 ? value_str(STR_LIT("fake:a,fake:b"))
	    : n == 3  ? value_str(STR_LIT("fake:c"))
		      : value_null();
	return EVAL_OK;
}

static void
test_dynamic_router(void **state)
{
	(void)state;
	case_begin_shared(&f, &b);
	struct route *r = build_route(&b, "r",
	    slip(&dynamicRouter_eip, build_expr(&b, fn_router, "")), build_append(&b, "."), NULL);
	case_run(&f, r, "x");
	assert_string_equal(f.body, "xSSS.");
	case_end(&f);
}

/* ---- wireTap, enrich ---- */

static void
test_wire_tap(void **state)
{
	(void)state;
	case_begin_shared(&f, &b);
	struct route *tap =
	    build_route(&b, "tap", build_to(&b, build_endpoint(&b, "fake:x", COMPONENT_PRODUCER)),
		build_run(&b, case_note), build_boom(&b, EXCEPTION_IO, "boom", 0), NULL);
	struct step *st = build_step(&b, &wireTap_eip);
	((struct wire_tap_conf *)st->conf)->send = build_to(&b, build_direct(&b, "tap", tap));
	struct route *r = build_route(&b, "r", st, build_append(&b, "."), NULL);
	f.send_mode = FAKE_LATER;
	f.noted[0] = 0;
	(void)fake_start(&f, r, "x");
	assert_int_equal(f.done, 1);
	assert_string_equal(f.body, "x.");
	assert_string_equal(f.noted, "");
	assert_int_equal(f.pool.live, 1);
	fake_answer(&f, NULL);
	assert_string_equal(f.noted, "xS 0");
	assert_non_null(strstr(f.log, "wireTap"));
	assert_non_null(strstr(f.log, "java.io.IOException: boom"));
	case_end(&f);
}

static void
test_enrich(void **state)
{
	static const char *const headers[] = { "mine", "t", NULL };
	(void)state;
	case_begin_shared(&f, &b);
	struct step *st = build_step(&b, &enrich_eip);
	struct enrich_conf *conf = st->conf;
	st->expr = build_const(&b, "fake:more");
	conf->send = send_to("CamelToEndpoint");
	struct route *r = build_route(
	    &b, "r", build_set_header(&b, "mine", "m"), st, build_append(&b, "."), NULL);
	fake_watch(&f, headers, NULL);
	for (int later = 0; later < 2; later++) {
		f.send_mode = later ? FAKE_LATER : FAKE_NOW;
		case_run(&f, r, "x");
		assert_string_equal(f.body, "xS.");
		assert_string_equal(fake_seen(&f, "mine"), "m");
	}
	f.send_mode = FAKE_FAIL;
	case_run(&f, r, "x");
	assert_string_equal(f.exception, "ConnectException: no fake:more");
	f.send_mode = FAKE_LATER;
	struct exchange *ex = fake_start(&f, r, "x");
	engine_abort(ex, EXCEPTION_REJECTED_EXECUTION, "stop");
	assert_string_equal(f.exception, "RejectedExecutionException: stop");
	case_end(&f);
}

/* The route's handler may run the step again. */
static void
test_enrich_is_redelivered(void **state)
{
	(void)state;
	case_begin_shared(&f, &b);
	struct route *more = build_route(&b, "more", build_boom(&b, EXCEPTION_IO, "boom", 1), NULL);
	struct step *on = build_on_exception(&b, EXCEPTION_IO, NULL, NULL);
	struct step *st = build_step(&b, &enrich_eip);
	st->expr = build_const(&b, "fake:more");
	((struct enrich_conf *)st->conf)->send = more->block.first;
	struct route *r = build_route(&b, "r", st, build_append(&b, "!"), NULL);
	build_redelivery(&b, on, 1, 0);
	build_handler(&b, r, on, true);
	case_run(&f, r, "x");
	assert_string_equal(f.body, "x.!");
	case_end(&f);
}

/* ---- sort, step ---- */

static enum eval_rc
fn_list(struct exchange *ex, const char *arg, struct value *out)
{
	struct str rest = str_of(arg), item;
	*out = value_new_list(&ex->arena, 8);
	while (str_split(&rest, ',', &item)) {
		int64_t i;
		value_list_add(&ex->arena, out->u.list,
		    str_starts(item, "#") &&
			    str_to_int64((struct str){ item.p + 1, item.n - 1 }, &i)
			? value_int(i)
			: value_str(item));
	}
	return EVAL_OK;
}

static const struct sort_row {
	const char *label, *list, *sorted;
} sort_rows[] = {
	{ "texts", "c,a,b,aa,", "[, a, aa, b, c]" },
	{ "numbers", "#10,#9,#100", "[9, 10, 100]" },
	{ "texts of digits", "10,9,100", "[10, 100, 9]" },
	{ "one", "a", "[a]" },
};

static void
check_sort(void **state)
{
	const struct sort_row *row = *state;
	case_begin_shared(&f, &b);
	struct step *st = build_step(&b, &sort_eip);
	st->expr = build_expr(&b, fn_list, row->list);
	struct route *r = build_route(&b, "r", st, NULL);
	case_run(&f, r, "x");
	assert_string_equal(f.body, row->sorted);
	st->expr = build_const(&b, "text");
	case_run(&f, r, "x");
	assert_true(f.failed);
	case_end(&f);
}

static void
test_step(void **state)
{
	static const char *const properties[] = { "CamelStepId", NULL };
	(void)state;
	case_begin_shared(&f, &b);
	struct step *st = build_step(&b, &step_eip);
	struct step *set = build_append(&b, "1");
	st->block = (struct block){ set, 1 };
	struct route *r = build_route(&b, "r", st, NULL);
	fake_watch(&f, NULL, properties);
	case_run(&f, r, "x");
	assert_string_equal(f.body, "x1");
	assert_string_equal(fake_seen(&f, "CamelStepId"), "");
	case_end(&f);
}

int
main(void)
{
	UNIT_TABLE("recipientList", recipients_rows, check_recipients);
	UNIT_CASE(test_routing_slip);
	UNIT_CASE(test_dynamic_router);
	UNIT_CASE(test_wire_tap);
	UNIT_CASE(test_enrich);
	UNIT_CASE(test_enrich_is_redelivered);
	UNIT_TABLE("sort", sort_rows, check_sort);
	UNIT_CASE(test_step);
	return unit_run("routing");
}
