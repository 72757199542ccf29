/* core/eip: what each other step does to the message. Error handling and blocks are in test_engine
 * and test_errors. */
#include "core/eip/engine.h"

#include "core/base/log.h"
#include "tests/lib/engine_case.h"

extern const struct eip_desc filter_eip, setVariable_eip, log_eip, delay_eip, toD_eip,
    convertBodyTo_eip, convertHeaderTo_eip, convertVariableTo_eip, throwException_eip, loop_eip,
    validate_eip, pipeline_eip, rollback_eip, script_eip, threads_eip;

static struct build b;
static struct fake f;

/* ---- blocks ---- */

static void
test_filter(void **state)
{
	(void)state;
	for (int holds = 0; holds < 2; holds++) {
		build_init(&b);
		struct step *st = build_step(&b, &filter_eip);
		st->expr = build_predicate(&b, holds ? fn_true : fn_false, "");
		((struct filter_conf *)st->conf)->status_property = "p";
		build_block(&st->block, build_append(&b, "in"), NULL);
		struct route *r = build_route(&b, "r", st, build_append(&b, "."), NULL);
		case_begin(&f, &b);
		case_run_at_once(&f, r, "x");
		assert_string_equal(f.body, holds ? "xin." : "x.");
		assert_string_equal(fake_seen(&f, "p"), holds ? "true" : "false");
		case_end(&f);
	}
}

static void
test_pipeline(void **state)
{
	(void)state;
	build_init(&b);
	struct step *st = build_step(&b, &pipeline_eip);
	build_block(&st->block, build_append(&b, "1"), build_append(&b, "2"), NULL);
	case_run_step(&f, &b, st, "x");
	assert_string_equal(f.body, "x12");
	case_end(&f);
}

static enum step_rc
append_index(struct engine *en, struct exchange *ex, const struct step *st)
{
	struct value v;
	(void)en;
	(void)st;
	struct str index = value_text(&ex->arena, exchange_property(ex, STR_LIT("CamelLoopIndex")));
	(void)fn_append(ex, arena_strndup(&ex->arena, index.p, index.n), &v);
	exchange_set_body(ex, v);
	return STEP_DONE;
}

static enum eval_rc
body_shorter(struct exchange *ex, const char *arg, struct value *out)
{
	*out = value_bool(value_text(&ex->arena, &ex->body).n < (size_t)(arg[0] - '0'));
	return EVAL_OK;
}

static const struct loop_row {
	const char *label, *count;
	bool copy;
	const char *body, *size, *index, *exception;
} loop_rows[] = {
	{ "three", "3", false, "x012", "3", "2", "" },
	{ "three copies", "3", true, "x2", "3", "2", "" },
	{ "none", "0", false, "x", "0", "", "" },
	{ "less than none", "-2", false, "x", "-2", "", "" },
	{ "no number", "many", false, "x", "", "", "TypeConversionException" },
	{ "null", NULL, false, "x", "", "", "NoTypeConversionAvailableException" },
};

static void
check_loop(void **state)
{
	const struct loop_row *row = *state;
	build_init(&b);
	struct step *st = build_step(&b, &loop_eip);
	st->expr = row->count ? build_const(&b, row->count) : build_null(&b);
	((struct loop_conf *)st->conf)->copy = row->copy;
	build_block(&st->block, build_run(&b, append_index), NULL);
	case_run_step(&f, &b, st, "x");
	assert_string_equal(f.body, row->body);
	assert_string_equal(fake_seen(&f, "CamelLoopSize"), row->size);
	f.exception[strcspn(f.exception, ":")] = 0;
	assert_string_equal(f.exception, row->exception);
	case_end(&f);
}

static void
test_loop_do_while(void **state)
{
	(void)state;
	build_init(&b);
	struct step *st = build_step(&b, &loop_eip);
	st->expr = build_predicate(&b, body_shorter, "5");
	((struct loop_conf *)st->conf)->do_while = true;
	build_block(&st->block, build_run(&b, append_index), NULL);
	case_run_step(&f, &b, st, "x");
	assert_string_equal(f.body, "x0123");
	assert_string_equal(fake_seen(&f, "CamelLoopSize"), "");
	case_end(&f);
}

/* ---- log, delay ---- */

static struct step *
log_step(int level, const char *name)
{
	struct step *st = build_step(&b, &log_eip);
	struct log_conf *conf = st->conf;
	conf->message = build_expr(&b, fn_append, "!");
	conf->level = level;
	conf->log_name = name;
	return st;
}

static void
test_log(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", log_step(ROUTE_LOG_INFO, NULL),
	    log_step(ROUTE_LOG_ERROR, "audit"), log_step(ROUTE_LOG_DEBUG, NULL),
	    log_step(ROUTE_LOG_OFF, NULL), log_step(ROUTE_LOG_WARN, NULL), NULL);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.log, "2 r x!\n0 audit x!\n1 r x!\n");
	log_set_level(LOG_LEVEL_DEBUG);
	f.log[0] = 0;
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.log, "2 r x!\n0 audit x!\n3 r x!\n1 r x!\n");
	log_set_level(LOG_LEVEL_INFO);
	case_end(&f);
}

static const struct delay_row {
	const char *label, *ms;
	int64_t wait; /* -1: none */
	bool failed;
} delay_rows[] = {
	{ "some", "250", 250, false },
	{ "none", "0", -1, false },
	{ "negative", "-5", -1, false },
	{ "null", NULL, -1, false },
	{ "no number", "soon", -1, true },
};

static void
check_delay(void **state)
{
	const struct delay_row *row = *state;
	build_init(&b);
	struct step *st = build_step(&b, &delay_eip);
	st->expr = row->ms ? build_const(&b, row->ms) : build_null(&b);
	case_run_step(&f, &b, st, "x");
	assert_int_equal(f.waits_n, row->wait >= 0);
	if (row->wait >= 0)
		assert_int_equal(f.waits[0], row->wait);
	assert_int_equal(f.failed, row->failed);
	case_end(&f);
}

/* ---- to, toD ---- */

static struct step *
to_d(struct expression *uri)
{
	struct step *st = build_step(&b, &toD_eip);
	((struct to_conf *)st->conf)->uri_template = uri;
	return st;
}

static void
test_to_d(void **state)
{
	(void)state;
	build_init(&b);
	struct route *constant = build_route(&b, "c", build_step(&b, &toD_eip), NULL);
	constant->block.first->endpoint = build_endpoint(&b, "fake:c", COMPONENT_PRODUCER);
	struct route *dynamic =
	    build_route(&b, "d", to_d(build_expr(&b, fn_append, "")), build_append(&b, "."), NULL);
	struct route *null =
	    build_route(&b, "n", to_d(build_null(&b)), build_append(&b, "."), NULL);
	case_begin(&f, &b);
	case_run_at_once(&f, constant, "x");
	assert_string_equal(f.body, "xS");
	case_run_at_once(&f, dynamic, " fake:y ");
	assert_string_equal(f.body, " fake:y S.");
	assert_string_equal(fake_seen(&f, "CamelToEndpoint"), "fake:y");
	f.sends = 0;
	case_run_at_once(&f, null, "x");
	case_run_at_once(&f, dynamic, "  ");
	assert_int_equal(f.sends, 0);
	assert_false(f.failed);
	case_run_at_once(&f, dynamic, "nosuch:y");
	assert_string_equal(f.exception, "NoSuchEndpointException: nosuch:y");
	((struct to_conf *)dynamic->block.first->conf)->ignore_invalid = true;
	case_run_at_once(&f, dynamic, "nosuch:y");
	assert_string_equal(f.body, "nosuch:y.");
	assert_false(f.failed);
	case_end(&f);
}

/* variableSend, variableReceive: the message itself stays as it is, through a send now, a send
 * later and a route. */
static void
test_to_with_variables(void **state)
{
	(void)state;
	build_init(&b);
	struct route *up =
	    build_route(&b, "up", build_append(&b, "U"), build_set_header(&b, "made", "in"), NULL);
	struct endpoint *eps[] = { build_direct(&b, "up", up),
		build_endpoint(&b, "fake:x", COMPONENT_PRODUCER) };
	for (size_t i = 0; i < 2; i++) {
		struct step *to = build_to(&b, eps[i]);
		struct to_conf *conf = to->conf;
		conf->variable_send = "req";
		conf->variable_receive = "a";
		struct route *r = build_route(&b, "r", build_set_header(&b, "b", "kept"),
		    build_set(&b, &setVariable_eip, "req", build_const(&b, "v")), to,
		    build_run(&b, case_show_variables), build_append(&b, "."), NULL);
		case_begin(&f, &b);
		case_run_at_once(&f, r, "x");
		assert_string_equal(f.body, "x.");
		assert_string_equal(fake_seen(&f, "a"), i == 0 ? "vU" : "vS");
		assert_string_equal(fake_seen(&f, "b"), "kept");
		if (i == 1) {
			f.send_mode = FAKE_LATER;
			struct exchange *ex = fake_start(&f, r, "x");
			exchange_set_body(ex, value_str(STR_LIT("later")));
			engine_resume(ex);
			assert_string_equal(f.body, "x.");
			assert_string_equal(fake_seen(&f, "a"), "later");
			f.send_mode = FAKE_FAIL;
			case_run_at_once(&f, r, "x");
			assert_string_equal(f.body, "x");
			assert_true(f.failed);
		}
		fake_fini(&f);
	}
	build_fini(&b);
}

static enum step_rc
header_variable(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	(void)st;
	const struct value *v = exchange_variable(ex, STR_LIT("header:a.made"));
	assert_non_null(v);
	assert_null(exchange_header(ex, STR_LIT("made")));
	assert_int_equal(ex->pattern, PATTERN_IN_OUT);
	return STEP_DONE;
}

static enum step_rc
is_in_only(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	(void)st;
	assert_int_equal(ex->pattern, PATTERN_IN_ONLY);
	return STEP_DONE;
}

static void
test_to_receives_headers_and_has_a_pattern(void **state)
{
	(void)state;
	build_init(&b);
	struct route *up = build_route(
	    &b, "up", build_run(&b, is_in_only), build_set_header(&b, "made", "in"), NULL);
	struct step *to = build_to(&b, build_direct(&b, "up", up));
	struct to_conf *conf = to->conf;
	conf->variable_receive = "a";
	conf->pattern = 1;
	struct route *r = build_route(&b, "r", to, build_run(&b, header_variable), NULL);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.body, "x");
	case_end(&f);
}

/* ---- conversion and failure ---- */

static const struct convert_row {
	const char *label;
	enum value_class_id type;
	const char *charset;
	bool mandatory;
	const char *in, *out, *exception;
} convert_rows[] = {
	{ "int", CLASS_INTEGER, NULL, true, "12", "12", "" },
	{ "no int", CLASS_INTEGER, NULL, true, "4x2", "4x2", "InvalidPayloadException" },
	{ "no int, not mandatory", CLASS_INTEGER, NULL, false, "4x2", "(null)", "" },
	{ "null", CLASS_INTEGER, NULL, true, NULL, "(null)", "" },
	{ "text as Latin-1 bytes", CLASS_BYTES, "ISO-8859-1", true, "caf\xc3\xa9 \xe2\x82\xac",
	    "caf\xe9 ?", "" },
	{ "text as ASCII bytes", CLASS_BYTES, "US-ASCII", true, "caf\xc3\xa9", "caf?", "" },
	{ "text as UTF-8 bytes", CLASS_BYTES, "UTF-8", true, "caf\xc3\xa9", "caf\xc3\xa9", "" },
};

static void
check_convert(void **state)
{
	const struct convert_row *row = *state;
	build_init(&b);
	struct step *st = build_step(&b, &convertBodyTo_eip);
	struct convert_conf *conf = st->conf;
	conf->type = row->type;
	conf->charset = row->charset;
	conf->mandatory = row->mandatory;
	struct route *r = build_route(&b, "r", st, NULL);
	case_begin(&f, &b);
	case_run_at_once(&f, r, row->in);
	if (row->type != CLASS_BYTES)
		assert_string_equal(f.body, row->out);
	f.exception[strcspn(f.exception, ":")] = 0;
	assert_string_equal(f.exception, row->exception);
	if (row->charset)
		assert_string_equal(fake_seen(&f, "CamelCharsetName"), row->charset);
	case_end(&f);
}

static enum step_rc
check_latin(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)en;
	(void)st;
	assert_int_equal(ex->body.type, VALUE_BYTES);
	assert_true(str_eq(ex->body.u.s, STR_LIT("caf\xe9 ?")));
	return STEP_DONE;
}

static void
test_convert_there_and_back(void **state)
{
	(void)state;
	build_init(&b);
	struct step *there = build_step(&b, &convertBodyTo_eip),
		    *back = build_step(&b, &convertBodyTo_eip);
	struct convert_conf *conf = there->conf;
	conf->type = CLASS_BYTES;
	conf->charset = "ISO-8859-1";
	conf = back->conf;
	conf->type = CLASS_STRING;
	conf->charset = "iso-8859-1";
	struct route *r = build_route(&b, "r", there, build_run(&b, check_latin), back, NULL);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "caf\xc3\xa9 \xe2\x82\xac");
	assert_string_equal(f.body, "caf\xc3\xa9 ?");
	case_end(&f);
}

static void
test_convert_by_name(void **state)
{
	(void)state;
	build_init(&b);
	struct step *header = build_step(&b, &convertHeaderTo_eip),
		    *variable = build_step(&b, &convertVariableTo_eip),
		    *absent = build_step(&b, &convertHeaderTo_eip),
		    *bad = build_step(&b, &convertHeaderTo_eip);
	struct convert_conf *conf = header->conf;
	conf->name = "A";
	conf->to_name = "b";
	conf->type = CLASS_INTEGER;
	conf = variable->conf;
	conf->name = "a";
	conf->type = CLASS_DOUBLE;
	*(struct convert_conf *)bad->conf = *(struct convert_conf *)header->conf;
	conf = absent->conf;
	conf->name = "absent";
	conf->type = CLASS_INTEGER;
	struct route *r = build_route(&b, "r", build_set_header(&b, "a", "08"), header, absent,
	    build_set(&b, &setVariable_eip, "a", build_const(&b, "3")), variable, NULL);
	struct route *shows = build_route(&b, "s", build_to(&b, build_direct(&b, "r", r)),
	    build_run(&b, case_show_variables), NULL);
	struct route *fails = build_route(&b, "f", build_set_header(&b, "a", "many"), bad, NULL);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(fake_seen(&f, "a"), "08");
	assert_string_equal(fake_seen(&f, "b"), "8");
	case_run_at_once(&f, shows, "x");
	assert_string_equal(fake_seen(&f, "a"), "3.0");
	case_run_at_once(&f, fails, "x");
	assert_memory_equal(f.exception, "TypeConversionException: ", 25);
	case_end(&f);
}

static void
test_throw_exception(void **state)
{
	(void)state;
	int id = EXCEPTION_ILLEGAL_STATE;
	build_init(&b);
	struct step *st = build_step(&b, &throwException_eip);
	struct throw_exception_conf *conf = st->conf;
	conf->type = (struct classes){ .ids = &id, .n = 1 };
	conf->message = build_expr(&b, fn_append, " is bad");
	struct route *r = build_route(&b, "r", st, NULL);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.exception, "IllegalStateException: x is bad");
	conf->message = NULL;
	case_run_at_once(&f, r, "x");
	assert_string_equal(f.exception, "IllegalStateException: ");
	case_end(&f);
}

static void
test_validate(void **state)
{
	(void)state;
	build_init(&b);
	struct step *st = build_step(&b, &validate_eip);
	st->expr = build_predicate(&b, fn_header_is, "a=1");
	struct route *r = build_route(&b, "r", st, NULL);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_memory_equal(f.exception,
	    "PredicateValidationException: Validation failed for Predicate[a=1]. Exchange[", 75);
	struct exchange *ex = fake_exchange(&f, "x");
	exchange_set_header(ex, STR_LIT("a"), value_str(STR_LIT("1")));
	engine_start(&f.en, ex, r);
	assert_false(f.failed);
	case_end(&f);
}

static void
test_rollback(void **state)
{
	(void)state;
	build_init(&b);
	struct step *st = build_step(&b, &rollback_eip);
	struct rollback_conf *conf = st->conf;
	conf->message = "rb ${body}";
	struct route *r = build_route(&b, "r", st, build_append(&b, "no"), NULL);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_memory_equal(f.exception, "RollbackExchangeException: rb ${body}. Exchange[", 48);
	conf->mark = true;
	case_run_at_once(&f, r, "x");
	assert_false(f.failed);
	assert_string_equal(f.body, "x");
	case_end(&f);
}

/* threads: others run first. */
static void
test_threads(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", build_append(&b, "1"), build_step(&b, &threads_eip),
	    build_append(&b, "2"), NULL);
	case_begin(&f, &b);
	f.wakes = false;
	(void)fake_start(&f, r, "x");
	assert_int_equal(f.done, 0);
	fake_answer(&f, NULL);
	assert_int_equal(f.done, 1);
	assert_string_equal(f.body, "x12");
	case_end(&f);
}

static void
test_script(void **state)
{
	(void)state;
	build_init(&b);
	struct step *st = build_step(&b, &script_eip);
	st->expr = build_const(&b, "dropped");
	case_run_step(&f, &b, st, "x");
	assert_string_equal(f.body, "x");
	case_end(&f);
}

int
main(void)
{
	UNIT_CASE(test_filter);
	UNIT_CASE(test_pipeline);
	UNIT_TABLE("loop", loop_rows, check_loop);
	UNIT_CASE(test_loop_do_while);
	UNIT_CASE(test_log);
	UNIT_TABLE("delay", delay_rows, check_delay);
	UNIT_CASE(test_to_d);
	UNIT_CASE(test_to_with_variables);
	UNIT_CASE(test_to_receives_headers_and_has_a_pattern);
	UNIT_TABLE("convertBodyTo", convert_rows, check_convert);
	UNIT_CASE(test_convert_there_and_back);
	UNIT_CASE(test_convert_by_name);
	UNIT_CASE(test_throw_exception);
	UNIT_CASE(test_validate);
	UNIT_CASE(test_rollback);
	UNIT_CASE(test_threads);
	UNIT_CASE(test_script);
	return unit_run("steps");
}
