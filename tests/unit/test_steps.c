/* core/eip: what each step does to the message. Error handling and blocks are in test_engine and
 * test_errors. */
#include "core/eip/engine.h"

#include "core/base/log.h"
#include "tests/lib/program_build.h"
#include "tests/lib/unit.h"

#include <string.h>

extern const struct eip_desc filter_eip, setBody_eip, transform_eip, setHeader_eip, setHeaders_eip,
    setProperty_eip, setVariable_eip, setVariables_eip, removeHeader_eip, removeHeaders_eip,
    removeProperty_eip, removeProperties_eip, removeVariable_eip, log_eip, delay_eip, toD_eip,
    convertBodyTo_eip, convertHeaderTo_eip, convertVariableTo_eip, throwException_eip, loop_eip,
    validate_eip, pipeline_eip, rollback_eip, script_eip, threads_eip;

static struct build b;
static struct fake f;
static const char *const headers[] = { "a", "b", "x-one", "x-two", "CamelLoopIndex", NULL };
static const char *const properties[] = { "p", "CamelToEndpoint", "CamelLoopIndex", "CamelLoopSize",
	"CamelCharsetName", NULL };

static void
begin(void)
{
	fake_init(&f, &b);
	fake_watch(&f, headers, properties);
}

static void
end(void)
{
	assert_int_equal(f.pool.live, 0);
	fake_fini(&f);
	build_fini(&b);
}

static void
run(const struct route *route, const char *body)
{
	int done = f.done;
	(void)fake_start(&f, route, body);
	assert_int_equal(f.done, done + 1);
}

/* One step and what it leaves. */
static void
run_one(struct step *st, const char *body)
{
	struct route *r = build_route(&b, "r", st, NULL);
	begin();
	run(r, body);
}

/* Variables by name into headers, so that they can be seen. */
static enum step_rc
show_variables(struct engine *en, struct exchange *ex, const struct step *st)
{
	static const char *const names[] = { "a", "b" };
	(void)en;
	(void)st;
	for (size_t i = 0; i < 2; i++) {
		const struct value *v = exchange_variable(ex, str_of(names[i]));
		if (v)
			exchange_set_header(ex, str_of(names[i]), *v);
	}
	return STEP_DONE;
}

static struct step *
set(const struct eip_desc *eip, const char *name, struct expression *e)
{
	struct step *st = build_step(&b, eip);
	struct set_conf *conf = st->conf;
	conf->name = build_const(&b, name);
	conf->fixed = str_of(conf->name->text);
	st->expr = e;
	return st;
}

static struct expression *
null_expr(void)
{
	return build_expr(&b, fn_header, "absent");
}

/* ---- set ---- */

static void
test_set_body(void **state)
{
	(void)state;
	build_init(&b);
	struct step *st = build_step(&b, &transform_eip);
	st->expr = build_const(&b, "new");
	run_one(st, "x");
	assert_string_equal(f.body, "new");
	end();
	build_init(&b);
	st = build_step(&b, &setBody_eip);
	st->expr = null_expr();
	run_one(st, "x");
	assert_string_equal(f.body, "(null)");
	end();
	build_init(&b);
	st = build_step(&b, &setBody_eip);
	st->expr = build_expr(&b, fn_fail, "bad");
	run_one(st, "x");
	assert_string_equal(f.exception, "IllegalStateException: bad");
	end();
}

static void
test_set_header(void **state)
{
	(void)state;
	build_init(&b);
	struct step *dynamic = set(&setHeader_eip, "", build_const(&b, "2"));
	struct set_conf *conf = dynamic->conf;
	conf->name = build_expr(&b, fn_header, "which");
	conf->fixed = (struct str){ NULL, 0 };
	struct route *r = build_route(&b, "r", build_set_header(&b, "which", "B"), dynamic,
	    set(&setHeader_eip, "a", null_expr()), NULL);
	begin();
	run(r, "x");
	assert_string_equal(fake_seen(&f, "a"), "null"); /* present */
	assert_string_equal(fake_seen(&f, "b"), "2");
	end();
}

static void
test_set_property_and_variable(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", set(&setProperty_eip, "p", build_const(&b, "1")),
	    set(&setVariable_eip, "a", build_const(&b, "2")),
	    set(&setVariable_eip, "b", build_const(&b, "3")),
	    set(&setVariable_eip, "b", null_expr()), build_run(&b, show_variables), NULL);
	struct route *removes =
	    build_route(&b, "s", set(&setProperty_eip, "p", build_const(&b, "1")),
		set(&setProperty_eip, "p", null_expr()), NULL);
	begin();
	run(r, "x");
	assert_string_equal(fake_seen(&f, "p"), "1");
	assert_string_equal(fake_seen(&f, "a"), "2");
	assert_string_equal(fake_seen(&f, "b"), "");
	run(removes, "x");
	assert_string_equal(fake_seen(&f, "p"), "");
	end();
}

static struct step *
set_many(const struct eip_desc *eip, struct step *one, struct step *two, bool at_once)
{
	struct step *st = build_step(&b, eip);
	struct set_many_conf *conf = st->conf;
	conf->items.items = arena_alloc(&b.arena, 2 * sizeof(struct step *));
	conf->items.items[0] = one;
	conf->items.items[1] = two;
	conf->items.n = 2;
	conf->at_once = at_once;
	return st;
}

static void
test_set_headers_see_those_before(void **state)
{
	(void)state;
	build_init(&b);
	run_one(set_many(&setHeaders_eip, build_set_header(&b, "a", "1"),
		    set(&setHeader_eip, "b", build_expr(&b, fn_header, "a")), false),
	    "x");
	assert_string_equal(fake_seen(&f, "a"), "1");
	assert_string_equal(fake_seen(&f, "b"), "1");
	end();
}

/* Both from another worker: in one call, or one after another when the second may depend on the
 * first. */
static void
set_remote_headers(bool at_once, const char *answers)
{
	build_init(&b);
	struct expression *one = build_remote(&b, "xform", "one", false),
			  *two = build_remote(&b, "xform", "two", false);
	struct step *st = set_many(
	    &setHeaders_eip, set(&setHeader_eip, "a", one), set(&setHeader_eip, "b", two), at_once);
	struct expression *remotes[] = { one, two };
	st->remotes = remotes;
	st->remotes_n = 2;
	struct route *r = build_route(&b, "r", st, NULL);
	begin();
	f.answers = answers;
	run(r, "x");
	assert_int_equal(f.evaluates, at_once ? 1 : 2);
}

static void
test_remote_set_headers(void **state)
{
	(void)state;
	for (int at_once = 0; at_once < 2; at_once++) {
		set_remote_headers(at_once, "one=1\ntwo=2");
		assert_string_equal(fake_seen(&f, "a"), "1");
		assert_string_equal(fake_seen(&f, "b"), "2");
		end();
		set_remote_headers(at_once, "one=1\ntwo=!bad");
		assert_string_equal(fake_seen(&f, "a"), "1");
		assert_string_equal(f.exception, "XPathExpressionException: bad");
		end();
	}
}

static void
test_set_variables(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r",
	    set_many(&setVariables_eip, set(&setVariable_eip, "a", build_const(&b, "1")),
		set(&setVariable_eip, "b", build_const(&b, "2")), true),
	    build_run(&b, show_variables), NULL);
	begin();
	run(r, "x");
	assert_string_equal(fake_seen(&f, "a"), "1");
	assert_string_equal(fake_seen(&f, "b"), "2");
	end();
}

/* ---- remove ---- */

static struct step *
remove_one(const struct eip_desc *eip, const char *name)
{
	struct step *st = build_step(&b, eip);
	((struct remove_conf *)st->conf)->name = name;
	return st;
}

static struct step *
remove_many(const struct eip_desc *eip, const char *pattern, const char *exclude)
{
	struct step *st = build_step(&b, eip);
	struct remove_many_conf *conf = st->conf;
	struct hinny_error err;
	assert_int_equal(
	    pattern_compile(&b.arena, str_of(pattern), true, &conf->remove, &err), HINNY_OK);
	if (exclude)
		assert_int_equal(
		    pattern_compile(&b.arena, str_of(exclude), true, &conf->keep, &err), HINNY_OK);
	return st;
}

static const struct remove_row {
	const char *label, *pattern, *exclude, *one, *two, *a;
} remove_rows[] = {
	{ "wildcard", "X-*", NULL, "", "", "3" },
	{ "wildcard but one", "x-*", "X-Two", "", "2", "3" },
	{ "regular expression", "x-(one|six)", NULL, "", "2", "3" },
	{ "exact", "X-ONE", NULL, "", "2", "3" },
	{ "all", "*", NULL, "", "", "" },
	{ "none", "y", NULL, "1", "2", "3" },
};

static void
check_remove(void **state)
{
	const struct remove_row *row = *state;
	build_init(&b);
	struct route *r = build_route(&b, "r", build_set_header(&b, "X-One", "1"),
	    build_set_header(&b, "X-Two", "2"), build_set_header(&b, "a", "3"),
	    remove_many(&removeHeaders_eip, row->pattern, row->exclude), NULL);
	begin();
	run(r, "x");
	assert_string_equal(fake_seen(&f, "x-one"), row->one);
	assert_string_equal(fake_seen(&f, "x-two"), row->two);
	assert_string_equal(fake_seen(&f, "a"), row->a);
	end();
}

static void
test_remove_one(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", build_set_header(&b, "X-One", "1"),
	    build_set_header(&b, "x-two", "2"), set(&setProperty_eip, "p", build_const(&b, "1")),
	    set(&setVariable_eip, "a", build_const(&b, "1")),
	    remove_one(&removeHeader_eip, "x-ONE"), remove_one(&removeHeader_eip, "absent"),
	    remove_one(&removeHeader_eip, "x-*"), remove_one(&removeProperty_eip, "p"),
	    remove_one(&removeVariable_eip, "a"), build_run(&b, show_variables), NULL);
	begin();
	run(r, "x");
	assert_string_equal(fake_seen(&f, "x-one"), "");
	assert_string_equal(fake_seen(&f, "x-two"), "2");
	assert_string_equal(fake_seen(&f, "p"), "");
	assert_string_equal(fake_seen(&f, "a"), "");
	end();
}

static void
test_remove_properties(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", set(&setProperty_eip, "p", build_const(&b, "1")),
	    set(&setProperty_eip, "p1", build_const(&b, "1")),
	    set(&setProperty_eip, "CamelToEndpoint", build_const(&b, "1")),
	    remove_many(&removeProperties_eip, "p*", "p1"), NULL);
	begin();
	run(r, "x");
	assert_string_equal(fake_seen(&f, "p"), "");
	assert_string_equal(fake_seen(&f, "CamelToEndpoint"), "1");
	end();
}

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
		begin();
		run(r, "x");
		assert_string_equal(f.body, holds ? "xin." : "x.");
		assert_string_equal(fake_seen(&f, "p"), holds ? "true" : "false");
		end();
	}
}

static void
test_pipeline(void **state)
{
	(void)state;
	build_init(&b);
	struct step *st = build_step(&b, &pipeline_eip);
	build_block(&st->block, build_append(&b, "1"), build_append(&b, "2"), NULL);
	run_one(st, "x");
	assert_string_equal(f.body, "x12");
	end();
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
	st->expr = row->count ? build_const(&b, row->count) : null_expr();
	((struct loop_conf *)st->conf)->copy = row->copy;
	build_block(&st->block, build_run(&b, append_index), NULL);
	run_one(st, "x");
	assert_string_equal(f.body, row->body);
	assert_string_equal(fake_seen(&f, "CamelLoopSize"), row->size);
	f.exception[strcspn(f.exception, ":")] = 0;
	assert_string_equal(f.exception, row->exception);
	end();
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
	run_one(st, "x");
	assert_string_equal(f.body, "x0123");
	assert_string_equal(fake_seen(&f, "CamelLoopSize"), "");
	end();
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
	begin();
	run(r, "x");
	assert_string_equal(f.log, "2 r x!\n0 audit x!\n1 r x!\n");
	log_set_level(LOG_LEVEL_DEBUG);
	f.log[0] = 0;
	run(r, "x");
	assert_string_equal(f.log, "2 r x!\n0 audit x!\n3 r x!\n1 r x!\n");
	log_set_level(LOG_LEVEL_INFO);
	end();
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
	st->expr = row->ms ? build_const(&b, row->ms) : null_expr();
	run_one(st, "x");
	assert_int_equal(f.waits_n, row->wait >= 0);
	if (row->wait >= 0)
		assert_int_equal(f.waits[0], row->wait);
	assert_int_equal(f.failed, row->failed);
	end();
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
	struct route *null = build_route(&b, "n", to_d(null_expr()), build_append(&b, "."), NULL);
	begin();
	run(constant, "x");
	assert_string_equal(f.body, "xS");
	run(dynamic, " fake:y ");
	assert_string_equal(f.body, " fake:y S.");
	assert_string_equal(fake_seen(&f, "CamelToEndpoint"), "fake:y");
	f.sends = 0;
	run(null, "x");
	run(dynamic, "  ");
	assert_int_equal(f.sends, 0);
	assert_false(f.failed);
	run(dynamic, "nosuch:y");
	assert_string_equal(f.exception, "NoSuchEndpointException: nosuch:y");
	((struct to_conf *)dynamic->block.first->conf)->ignore_invalid = true;
	run(dynamic, "nosuch:y");
	assert_string_equal(f.body, "nosuch:y.");
	assert_false(f.failed);
	end();
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
		    set(&setVariable_eip, "req", build_const(&b, "v")), to,
		    build_run(&b, show_variables), build_append(&b, "."), NULL);
		begin();
		run(r, "x");
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
			run(r, "x");
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
	begin();
	run(r, "x");
	assert_string_equal(f.body, "x");
	end();
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
	begin();
	run(r, row->in);
	if (row->type != CLASS_BYTES)
		assert_string_equal(f.body, row->out);
	f.exception[strcspn(f.exception, ":")] = 0;
	assert_string_equal(f.exception, row->exception);
	if (row->charset)
		assert_string_equal(fake_seen(&f, "CamelCharsetName"), row->charset);
	end();
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
	begin();
	run(r, "caf\xc3\xa9 \xe2\x82\xac");
	assert_string_equal(f.body, "caf\xc3\xa9 ?");
	end();
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
	    set(&setVariable_eip, "a", build_const(&b, "3")), variable, NULL);
	struct route *shows = build_route(
	    &b, "s", build_to(&b, build_direct(&b, "r", r)), build_run(&b, show_variables), NULL);
	struct route *fails = build_route(&b, "f", build_set_header(&b, "a", "many"), bad, NULL);
	begin();
	run(r, "x");
	assert_string_equal(fake_seen(&f, "a"), "08");
	assert_string_equal(fake_seen(&f, "b"), "8");
	run(shows, "x");
	assert_string_equal(fake_seen(&f, "a"), "3.0");
	run(fails, "x");
	assert_memory_equal(f.exception, "TypeConversionException: ", 25);
	end();
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
	begin();
	run(r, "x");
	assert_string_equal(f.exception, "IllegalStateException: x is bad");
	conf->message = NULL;
	run(r, "x");
	assert_string_equal(f.exception, "IllegalStateException: ");
	end();
}

static void
test_validate(void **state)
{
	(void)state;
	build_init(&b);
	struct step *st = build_step(&b, &validate_eip);
	st->expr = build_predicate(&b, fn_header_is, "a=1");
	struct route *r = build_route(&b, "r", st, NULL);
	begin();
	run(r, "x");
	assert_memory_equal(f.exception,
	    "PredicateValidationException: Validation failed for Predicate[a=1]. Exchange[", 75);
	struct exchange *ex = fake_exchange(&f, "x");
	exchange_set_header(ex, STR_LIT("a"), value_str(STR_LIT("1")));
	engine_start(&f.en, ex, r);
	assert_false(f.failed);
	end();
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
	begin();
	run(r, "x");
	assert_memory_equal(f.exception, "RollbackExchangeException: rb ${body}. Exchange[", 48);
	conf->mark = true;
	run(r, "x");
	assert_false(f.failed);
	assert_string_equal(f.body, "x");
	end();
}

/* threads: others run first. */
static void
test_threads(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", build_append(&b, "1"),
	    build_step(&b, &threads_eip), build_append(&b, "2"), NULL);
	begin();
	f.wakes = false;
	(void)fake_start(&f, r, "x");
	assert_int_equal(f.done, 0);
	fake_answer(&f, NULL);
	assert_int_equal(f.done, 1);
	assert_string_equal(f.body, "x12");
	end();
}

static void
test_script(void **state)
{
	(void)state;
	build_init(&b);
	struct step *st = build_step(&b, &script_eip);
	st->expr = build_const(&b, "dropped");
	run_one(st, "x");
	assert_string_equal(f.body, "x");
	end();
}

int
main(void)
{
	UNIT_CASE(test_set_body);
	UNIT_CASE(test_set_header);
	UNIT_CASE(test_set_property_and_variable);
	UNIT_CASE(test_set_headers_see_those_before);
	UNIT_CASE(test_remote_set_headers);
	UNIT_CASE(test_set_variables);
	UNIT_TABLE("removeHeaders", remove_rows, check_remove);
	UNIT_CASE(test_remove_one);
	UNIT_CASE(test_remove_properties);
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
