/* core/eip: the steps that set and remove headers, properties, variables and the body. */
#include "core/eip/engine.h"

#include "tests/lib/engine_case.h"

extern const struct eip_desc setBody_eip, transform_eip, setHeader_eip, setHeaders_eip,
    setProperty_eip, setVariable_eip, setVariables_eip, removeHeader_eip, removeHeaders_eip,
    removeProperty_eip, removeProperties_eip, removeVariable_eip;

static struct build b;
static struct fake f;

/* ---- set ---- */

static void
test_set_body(void **state)
{
	(void)state;
	build_init(&b);
	struct step *st = build_step(&b, &transform_eip);
	st->expr = build_const(&b, "new");
	case_run_step(&f, &b, st, "x");
	assert_string_equal(f.body, "new");
	case_end(&f);
	build_init(&b);
	st = build_step(&b, &setBody_eip);
	st->expr = build_null(&b);
	case_run_step(&f, &b, st, "x");
	assert_string_equal(f.body, "(null)");
	case_end(&f);
	build_init(&b);
	st = build_step(&b, &setBody_eip);
	st->expr = build_expr(&b, fn_fail, "bad");
	case_run_step(&f, &b, st, "x");
	assert_string_equal(f.exception, "IllegalStateException: bad");
	case_end(&f);
}

static void
test_set_header(void **state)
{
	(void)state;
	build_init(&b);
	struct step *dynamic = build_set(&b, &setHeader_eip, "", build_const(&b, "2"));
	struct set_conf *conf = dynamic->conf;
	conf->name = build_expr(&b, fn_header, "which");
	conf->fixed = (struct str){ NULL, 0 };
	struct route *r = build_route(&b, "r", build_set_header(&b, "which", "B"), dynamic,
	    build_set(&b, &setHeader_eip, "a", build_null(&b)), NULL);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(fake_seen(&f, "a"), "null"); /* present */
	assert_string_equal(fake_seen(&f, "b"), "2");
	case_end(&f);
}

static void
test_set_property_and_variable(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r =
	    build_route(&b, "r", build_set(&b, &setProperty_eip, "p", build_const(&b, "1")),
		build_set(&b, &setVariable_eip, "a", build_const(&b, "2")),
		build_set(&b, &setVariable_eip, "b", build_const(&b, "3")),
		build_set(&b, &setVariable_eip, "b", build_null(&b)),
		build_run(&b, case_show_variables), NULL);
	struct route *removes =
	    build_route(&b, "s", build_set(&b, &setProperty_eip, "p", build_const(&b, "1")),
		build_set(&b, &setProperty_eip, "p", build_null(&b)), NULL);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(fake_seen(&f, "p"), "1");
	assert_string_equal(fake_seen(&f, "a"), "2");
	assert_string_equal(fake_seen(&f, "b"), "");
	case_run_at_once(&f, removes, "x");
	assert_string_equal(fake_seen(&f, "p"), "");
	case_end(&f);
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
	case_run_step(&f, &b,
	    set_many(&setHeaders_eip, build_set_header(&b, "a", "1"),
		build_set(&b, &setHeader_eip, "b", build_expr(&b, fn_header, "a")), false),
	    "x");
	assert_string_equal(fake_seen(&f, "a"), "1");
	assert_string_equal(fake_seen(&f, "b"), "1");
	case_end(&f);
}

/* Both from another worker: in one call, or one after another when the second may depend on the
 * first. */
static void
set_remote_headers(bool at_once, const char *answers)
{
	build_init(&b);
	struct expression *one = build_remote(&b, "xform", "one", false),
			  *two = build_remote(&b, "xform", "two", false);
	struct step *st = set_many(&setHeaders_eip, build_set(&b, &setHeader_eip, "a", one),
	    build_set(&b, &setHeader_eip, "b", two), at_once);
	struct expression *remotes[] = { one, two };
	st->remotes = remotes;
	st->remotes_n = 2;
	struct route *r = build_route(&b, "r", st, NULL);
	case_begin(&f, &b);
	f.answers = answers;
	case_run_at_once(&f, r, "x");
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
		case_end(&f);
		set_remote_headers(at_once, "one=1\ntwo=!bad");
		assert_string_equal(fake_seen(&f, "a"), "1");
		assert_string_equal(f.exception, "XPathExpressionException: bad");
		case_end(&f);
	}
}

static void
test_set_variables(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r",
	    set_many(&setVariables_eip, build_set(&b, &setVariable_eip, "a", build_const(&b, "1")),
		build_set(&b, &setVariable_eip, "b", build_const(&b, "2")), true),
	    build_run(&b, case_show_variables), NULL);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(fake_seen(&f, "a"), "1");
	assert_string_equal(fake_seen(&f, "b"), "2");
	case_end(&f);
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
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(fake_seen(&f, "x-one"), row->one);
	assert_string_equal(fake_seen(&f, "x-two"), row->two);
	assert_string_equal(fake_seen(&f, "a"), row->a);
	case_end(&f);
}

static void
test_remove_one(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r = build_route(&b, "r", build_set_header(&b, "X-One", "1"),
	    build_set_header(&b, "x-two", "2"),
	    build_set(&b, &setProperty_eip, "p", build_const(&b, "1")),
	    build_set(&b, &setVariable_eip, "a", build_const(&b, "1")),
	    remove_one(&removeHeader_eip, "x-ONE"), remove_one(&removeHeader_eip, "absent"),
	    remove_one(&removeHeader_eip, "x-*"), remove_one(&removeProperty_eip, "p"),
	    remove_one(&removeVariable_eip, "a"), build_run(&b, case_show_variables), NULL);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(fake_seen(&f, "x-one"), "");
	assert_string_equal(fake_seen(&f, "x-two"), "2");
	assert_string_equal(fake_seen(&f, "p"), "");
	assert_string_equal(fake_seen(&f, "a"), "");
	case_end(&f);
}

static void
test_remove_properties(void **state)
{
	(void)state;
	build_init(&b);
	struct route *r =
	    build_route(&b, "r", build_set(&b, &setProperty_eip, "p", build_const(&b, "1")),
		build_set(&b, &setProperty_eip, "p1", build_const(&b, "1")),
		build_set(&b, &setProperty_eip, "CamelToEndpoint", build_const(&b, "1")),
		remove_many(&removeProperties_eip, "p*", "p1"), NULL);
	case_begin(&f, &b);
	case_run_at_once(&f, r, "x");
	assert_string_equal(fake_seen(&f, "p"), "");
	assert_string_equal(fake_seen(&f, "CamelToEndpoint"), "1");
	case_end(&f);
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
	return unit_run("set_steps");
}
