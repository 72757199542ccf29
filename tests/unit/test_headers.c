/* core/model/headers and pattern: order, case, removal, marks, well-known names, patterns. */
#include "core/model/headers.h"

#include "core/base/assert.h"

#include "tests/lib/unit.h"

#include <stdio.h>
#include <string.h>

struct fixture {
	struct arena a;
	struct headers hs;
};

static void
init(struct fixture *fx)
{
	arena_init(&fx->a);
	headers_init(&fx->hs);
}

static void
set(struct fixture *fx, const char *name, const char *value)
{
	headers_set(&fx->hs, &fx->a, str_of(name), value_str(str_of(value)));
}

/* "a=1 b=2", in order; dirty ones with "*". */
static const char *
show(struct fixture *fx)
{
	struct buf b;

	buf_init(&b, 0);
	HEADERS_FOREACH (&fx->hs, h) {
		struct str text = value_text(&fx->a, &h->value);
		(void)buf_printf(&b, "%s%.*s%s=%.*s", b.n > 0 ? " " : "", STR_FMT(h->name),
		    h->dirty ? "*" : "", STR_FMT(text));
	}
	const char *out = arena_strdup(&fx->a, buf_cstr(&b));
	buf_fini(&b);
	return out;
}

static void
test_set_and_find(void **state)
{
	struct fixture fx;

	(void)state;
	init(&fx);
	assert_null(headers_find(&fx.hs, STR_LIT("a")));
	set(&fx, "Content-Type", "text/plain");
	set(&fx, "foo", "abc");
	set(&fx, "FOO", "xyz");
	assert_string_equal(show(&fx), "Content-Type*=text/plain foo*=xyz");
	assert_int_equal(fx.hs.live, 2);
	struct header *h = headers_find(&fx.hs, STR_LIT("content-TYPE"));
	assert_non_null(h);
	assert_int_equal(h->id, HEADER_CONTENT_TYPE);
	assert_int_equal(headers_find(&fx.hs, STR_LIT("Foo"))->id, HEADER_NONE);
	assert_ptr_equal(headers_find_hashed(&fx.hs, STR_LIT("foo"), str_casehash(STR_LIT("foo"))),
	    headers_find(&fx.hs, STR_LIT("foo")));
	assert_null(headers_find(&fx.hs, STR_LIT("")));
	arena_fini(&fx.a);
}

static void
test_null_value_stays(void **state)
{
	struct fixture fx;

	(void)state;
	init(&fx);
	headers_set(&fx.hs, &fx.a, STR_LIT("n"), value_null());
	assert_non_null(headers_find(&fx.hs, STR_LIT("n")));
	assert_int_equal(fx.hs.live, 1);
	arena_fini(&fx.a);
}

static void
test_add_makes_lists(void **state)
{
	struct fixture fx;

	(void)state;
	init(&fx);
	for (int i = 0; i < 3; i++)
		headers_add(&fx.hs, &fx.a, i == 1 ? STR_LIT("Q") : STR_LIT("q"), value_int(i));
	assert_string_equal(show(&fx), "q*=[0, 1, 2]");
	headers_set(&fx.hs, &fx.a, STR_LIT("q"), value_int(7));
	assert_string_equal(show(&fx), "q*=7");
	arena_fini(&fx.a);
}

/* A list that was set may be the program's: it is not appended to. */
static void
test_add_to_foreign_list(void **state)
{
	struct fixture fx;

	(void)state;
	init(&fx);
	struct value list = value_new_list(&fx.a, 0);
	value_list_add(&fx.a, list.u.list, value_int(1));
	value_list_add(&fx.a, list.u.list, value_int(2));
	headers_set(&fx.hs, &fx.a, STR_LIT("q"), list);
	headers_add(&fx.hs, &fx.a, STR_LIT("q"), value_int(3));
	headers_add(&fx.hs, &fx.a, STR_LIT("q"), value_int(4));
	assert_string_equal(show(&fx), "q*=[1, 2, 3, 4]");
	assert_int_equal(value_size(&list), 2);
	arena_fini(&fx.a);
}

static void
test_set_by_id(void **state)
{
	struct fixture fx;

	(void)state;
	init(&fx);
	set(&fx, "content-type", "a");
	headers_set_id(&fx.hs, &fx.a, HEADER_CONTENT_TYPE, value_int(1));
	headers_set_id(&fx.hs, &fx.a, HEADER_HOST, value_int(2));
	headers_clean(&fx.hs);
	(void)headers_remove(&fx.hs, STR_LIT("Host"));
	headers_set_id(&fx.hs, &fx.a, HEADER_HOST, value_int(3));
	headers_set_id(&fx.hs, &fx.a, HEADER_HOST, value_int(4));
	assert_string_equal(show(&fx), "content-type=1 Host*=4");
	(void)headers_remove(&fx.hs, STR_LIT("content-type"));
	headers_clean(&fx.hs);
	assert_string_equal(show(&fx), "Host=4");
	arena_fini(&fx.a);
}

static void
test_many(void **state)
{
	struct fixture fx;

	(void)state;
	init(&fx);
	for (int i = 0; i < 1000; i++)
		set(&fx, arena_printf(&fx.a, "X-%d", i), "v");
	assert_int_equal(fx.hs.live, 1000);
	for (int i = 0; i < 1000; i++)
		assert_non_null(headers_find(&fx.hs, str_of(arena_printf(&fx.a, "x-%d", i))));
	headers_clear(&fx.hs);
	assert_int_equal(fx.hs.live, 0);
	assert_null(headers_find(&fx.hs, STR_LIT("x-7")));
	arena_fini(&fx.a);
}

static void
test_remove_and_marks(void **state)
{
	struct fixture fx;

	(void)state;
	init(&fx);
	set(&fx, "a", "1");
	set(&fx, "b", "2");
	set(&fx, "c", "3");
	headers_clean(&fx.hs);
	assert_string_equal(show(&fx), "a=1 b=2 c=3");
	assert_true(headers_remove(&fx.hs, STR_LIT("B")));
	assert_false(headers_remove(&fx.hs, STR_LIT("B")));
	assert_true(fx.hs.removed);
	assert_int_equal(fx.hs.live, 2);
	set(&fx, "c", "4");
	assert_string_equal(show(&fx), "a=1 c*=4");
	set(&fx, "B", "5");
	assert_string_equal(show(&fx), "a=1 B*=5 c*=4");
	headers_clean(&fx.hs);
	assert_false(fx.hs.removed);
	assert_string_equal(show(&fx), "a=1 B=5 c=4");
	arena_fini(&fx.a);
}

/* A loop that sets and removes does not grow the array. */
static void
test_set_remove_loop(void **state)
{
	struct fixture fx;

	(void)state;
	init(&fx);
	for (int i = 0; i < 1000; i++) {
		set(&fx, "x", "1");
		assert_true(headers_remove(&fx.hs, STR_LIT("X")));
	}
	assert_int_equal(fx.hs.n, 1);
	assert_int_equal(fx.hs.live, 0);
	headers_clean(&fx.hs);
	assert_int_equal(fx.hs.n, 0);
	arena_fini(&fx.a);
}

static void
test_copy(void **state)
{
	struct fixture fx;
	struct arena to;
	struct headers copy;

	(void)state;
	init(&fx);
	arena_init(&to);
	set(&fx, arena_strdup(&fx.a, "a"), arena_strdup(&fx.a, "1"));
	set(&fx, "gone", "2");
	set(&fx, "Content-Type", "text/xml");
	(void)headers_remove(&fx.hs, STR_LIT("gone"));
	headers_copy(&copy, &to, &fx.hs);
	headers_set(&fx.hs, &fx.a, STR_LIT("a"), value_int(9));
	arena_fini(&fx.a);
	assert_int_equal(copy.n, 2);
	assert_true(str_eq(headers_find(&copy, STR_LIT("A"))->value.u.s, STR_LIT("1")));
	assert_null(headers_find(&copy, STR_LIT("gone")));
	assert_non_null(headers_find(&copy, STR_LIT("content-type")));
	struct headers none, of_none;
	headers_init(&none);
	headers_copy(&of_none, &to, &none);
	assert_int_equal(of_none.n, 0);
	arena_fini(&to);
}

/* ---- the table of well-known names ---- */

static const struct id_row {
	const char *label; /* the name */
	const char *id;
	int number;
	uint32_t hash;
} ids[] = {
#define HEADER_ID(id, number, name, hash) { name, #id, number, hash },
#include "core/model/header_ids.def"
#undef HEADER_ID
};

static void
check_id(void **state)
{
	const struct id_row *r = *state;
	struct str name = str_of(r->label);
	uint32_t hash = header_hash(name);

	if (hash != r->hash)
		fail_msg("the row is HEADER_ID(%s, %d, \"%s\", 0x%08xu)", r->id, r->number,
		    r->label, (unsigned)hash);
	if (r != ids && r[-1].hash >= r->hash)
		fail_msg("not sorted by hash");
	assert_in_range(r->number, 1, HEADER_ID_MAX);
	assert_int_equal(header_id_find(name, hash), r->number);
	assert_true(str_eq(header_id_name((enum header_id)r->number), name));
	assert_int_equal(header_id_hash((enum header_id)r->number), hash);
	for (const struct id_row *other = ids; other < r; other++)
		assert_int_not_equal(other->number, r->number);
}

static void
test_id_of_others(void **state)
{
	(void)state;
	assert_int_equal(
	    header_id_find(STR_LIT("X-Nobody"), header_hash(STR_LIT("X-Nobody"))), HEADER_NONE);
	assert_int_equal(
	    header_id_find(STR_LIT("content-type"), header_hash(STR_LIT("content-type"))),
	    HEADER_CONTENT_TYPE);
	assert_int_equal(
	    header_id_find(STR_LIT("other"), header_hash(STR_LIT("Host"))), HEADER_NONE);
	assert_int_equal(header_id_name((enum header_id)255).n, 0);
	assert_int_equal(header_id_name((enum header_id)0).n, 0);
	assert_int_equal(header_id_hash((enum header_id)255), 0);
}

/* ---- patterns ---- */

static const struct pattern_row {
	const char *label, *pattern, *name;
	bool nocase, match;
} patterns[] = {
	{ "exact", "foo", "foo", true, true },
	{ "exact, case", "foo", "FOO", true, true },
	{ "exact with case", "foo", "FOO", false, false },
	{ "exact is whole", "foo", "foobar", true, false },
	{ "prefix", "CamelHttp*", "CamelHttpPath", true, true },
	{ "prefix, case", "camelhttp*", "CamelHttpPath", true, true },
	{ "prefix with case", "camelhttp*", "CamelHttpPath", false, false },
	{ "prefix alone", "CamelHttp*", "CamelHttp", true, true },
	{ "prefix too short", "CamelHttp*", "CamelHttB", true, false },
	{ "all", "*", "anything", true, true },
	{ "all, empty", "*", "", true, true },
	{ "regex", "Camel(Http|File).*", "CamelFileName", true, true },
	{ "regex, other", "Camel(Http|File).*", "CamelKafkaKey", true, false },
	{ "regex is whole", "[a-c]+", "abcd", true, false },
	{ "regex, case", "[a-c]+", "ABC", true, true },
	{ "regex with case", "[a-c]+", "ABC", false, false },
	{ "prefix with a dot", "foo.*", "foobar", true, true },
	{ "prefix with a dot, prefix", "foo.*", "foo.bar", true, true },
	{ "name with a dot", "kafka.TOPIC", "kafka.topic", true, true },
	{ "class", "X-\\d+", "X-42", true, true },
	{ "class, other", "X-\\d+", "X-", true, false },
	{ "alternatives bind to the whole", "a|bc", "bc", true, true },
	{ "alternatives are anchored", "a|bc", "ac", true, false },
	{ "a prefix that is no regex", "a[*", "a[b", true, true },
	{ "absurd backtracking", "(a+)+b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	    true, false },
	{ "name that is no UTF-8", "a.c",
	    "a\xFF"
	    "c",
	    true, false },
};

static void
check_pattern(void **state)
{
	const struct pattern_row *r = *state;
	struct arena a;
	struct pattern *p;
	struct hinny_error err;

	arena_init(&a);
	if (pattern_compile(&a, str_of(r->pattern), r->nocase, &p, &err) != HINNY_OK)
		fail_msg("%s", err.text);
	assert_int_equal(pattern_match(p, str_of(r->name)), r->match);
	arena_fini(&a);
}

static void
test_bad_pattern(void **state)
{
	struct arena a;
	struct pattern *p;
	struct hinny_error err;

	(void)state;
	arena_init(&a);
	assert_int_equal(pattern_compile(&a, STR_LIT("a(b"), true, &p, &err), HINNY_EINVAL);
	assert_non_null(strstr(
	    err.text, "pattern \"a(b\" is no regular expression: missing closing parenthesis"));
	arena_fini(&a);
}

static void
test_remove_matching(void **state)
{
	struct fixture fx;
	struct pattern *remove, *keep;
	struct hinny_error err;

	(void)state;
	init(&fx);
	set(&fx, "foo1", "1");
	set(&fx, "foo2", "2");
	set(&fx, "bar", "3");
	set(&fx, "FOO3", "4");
	assert_int_equal(pattern_compile(&fx.a, STR_LIT("foo*"), true, &remove, &err), HINNY_OK);
	assert_int_equal(pattern_compile(&fx.a, STR_LIT("foo2"), true, &keep, &err), HINNY_OK);
	const struct pattern *keeps[] = { keep };
	assert_int_equal(headers_remove_matching(&fx.hs, remove, keeps, 1), 2);
	assert_string_equal(show(&fx), "foo2*=2 bar*=3");
	assert_int_equal(headers_remove_matching(&fx.hs, remove, NULL, 0), 1);
	assert_string_equal(show(&fx), "bar*=3");
	assert_int_equal(fx.hs.live, 1);
	arena_fini(&fx.a);
}

int
main(void)
{
	UNIT_CASE(test_set_and_find);
	UNIT_CASE(test_null_value_stays);
	UNIT_CASE(test_add_makes_lists);
	UNIT_CASE(test_add_to_foreign_list);
	UNIT_CASE(test_set_by_id);
	UNIT_CASE(test_many);
	UNIT_CASE(test_remove_and_marks);
	UNIT_CASE(test_set_remove_loop);
	UNIT_CASE(test_copy);
	UNIT_TABLE("id", ids, check_id);
	UNIT_CASE(test_id_of_others);
	UNIT_TABLE("pattern", patterns, check_pattern);
	UNIT_CASE(test_bad_pattern);
	UNIT_CASE(test_remove_matching);
	return unit_run("headers");
}
