/* core/base/str, str_utf8, str_nearest */
#include "core/base/str.h"

#include "tests/lib/unit.h"

#include <math.h>
#include <stdio.h>

#define NONE SIZE_MAX

static void
test_comparison(void **state)
{
	(void)state;
	assert_true(str_eq(str_of(NULL), STR_LIT("")));
	assert_true(str_eq(STR_LIT("a"), STR_LIT("a")));
	assert_false(str_eq(STR_LIT("a"), STR_LIT("A")));
	assert_false(str_eq(STR_LIT("a"), STR_LIT("ab")));
	assert_true(str_caseeq(STR_LIT("Host-9"), STR_LIT("hOST-9")));
	assert_false(str_caseeq(STR_LIT("@"), STR_LIT("`"))); /* 0x40 and 0x60: no letters */
	assert_false(str_caseeq(STR_LIT("\xC0"), STR_LIT("\xE0")));
	assert_true(str_starts(STR_LIT("file:x"), "file:"));
	assert_false(str_starts(STR_LIT("fil"), "file:"));
	assert_true(str_starts(str_of(NULL), ""));
	assert_true(str_ends(STR_LIT("a.yaml"), ".yaml"));
	assert_false(str_ends(STR_LIT("yaml"), ".yaml"));
	assert_true(str_casestarts(STR_LIT("HTTP://x"), "http://"));
	assert_false(str_casestarts(STR_LIT("HTT"), "http://"));
}

static void
test_trim(void **state)
{
	(void)state;
	assert_true(str_eq(str_trim(STR_LIT(" \t a b\r\n")), STR_LIT("a b")));
	assert_true(str_eq(str_trim(STR_LIT(" \n ")), STR_LIT("")));
	assert_true(str_eq(str_trim(str_of(NULL)), STR_LIT("")));
	assert_true(str_eq(str_trim(STR_LIT("\v")), STR_LIT("\v")));
}

static const struct find_row {
	const char *label, *s, *needle;
	size_t exact, caseless;
} finds[] = {
	{ "in the middle", "xAbc", "Ab", 1, 1 },
	{ "another case", "xAbc", "ab", NONE, 1 },
	{ "at the end", "xab", "ab", 1, 1 },
	{ "the whole", "ab", "ab", 0, 0 },
	{ "longer than all", "a", "ab", NONE, NONE },
	{ "nothing", "a", "", 0, 0 },
	{ "nothing in nothing", "", "", 0, 0 },
	{ "in nothing", "", "a", NONE, NONE },
};

static void
check_find(void **state)
{
	const struct find_row *r = *state;

	assert_int_equal(str_find(str_of(r->s), str_of(r->needle)), r->exact);
	assert_int_equal(str_casefind(str_of(r->s), str_of(r->needle)), r->caseless);
}

static const struct split_row {
	const char *label, *s, *joined;
} splits[] = {
	{ "an empty item", "a,,b", "<a><><b>" },
	{ "one item", "a", "<a>" },
	{ "a last empty item", "a,", "<a><>" },
	{ "a first empty item", ",a", "<><a>" },
	{ "only a comma", ",", "<><>" },
	{ "the empty text", "", "<>" },
	{ "no text", NULL, "" },
};

static void
check_split(void **state)
{
	const struct split_row *r = *state;
	struct str rest = str_of(r->s), item;
	char got[64] = "";
	size_t n = 0;

	while (str_split(&rest, ',', &item))
		n += (size_t)snprintf(got + n, sizeof got - n, "<%.*s>", STR_FMT(item));
	assert_string_equal(got, r->joined);
}

static const struct int_row {
	const char *label, *s;
	bool ok;
	int64_t value;
} ints[] = {
	{ "zero", "0", true, 0 },
	{ "plus", "+7", true, 7 },
	{ "minus", "-7", true, -7 },
	{ "leading zeros", "007", true, 7 },
	{ "largest", "9223372036854775807", true, INT64_MAX },
	{ "too large", "9223372036854775808", false, 0 },
	{ "smallest", "-9223372036854775808", true, INT64_MIN },
	{ "too small", "-9223372036854775809", false, 0 },
	{ "far too large", "99999999999999999999", false, 0 },
	{ "empty", "", false, 0 },
	{ "sign alone", "-", false, 0 },
	{ "two signs", "--1", false, 0 },
	{ "blank", " 1", false, 0 },
	{ "letters behind", "1a", false, 0 },
	{ "hexadecimal", "0x1", false, 0 },
	{ "point", "1.0", false, 0 },
};

static void
check_int(void **state)
{
	const struct int_row *r = *state;
	int64_t value = 0;

	assert_int_equal(str_to_int64(str_of(r->s), &value), r->ok);
	assert_true(value == r->value);
}

static const struct double_row {
	const char *label, *s;
	bool ok;
	double value;
} doubles[] = {
	{ "whole", "12", true, 12 },
	{ "fraction", "-1.5", true, -1.5 },
	{ "exponent", "2.5e-3", true, 0.0025 },
	{ "capital exponent", "1E2", true, 100 },
	{ "no digit before the point", ".5", true, 0.5 },
	{ "no digit behind the point", "5.", true, 5 },
	{ "too large", "1e999", false, 0 },
	{ "too small is zero", "1e-999", true, 0 },
	{ "point alone", ".", false, 0 },
	{ "exponent alone", "e5", false, 0 },
	{ "exponent without digits", "1e", false, 0 },
	{ "exponent sign alone", "1e+", false, 0 },
	{ "inf", "inf", false, 0 },
	{ "nan", "nan", false, 0 },
	{ "hexadecimal", "0x1p3", false, 0 },
	{ "empty", "", false, 0 },
	{ "blank behind", "1 ", false, 0 },
	{ "comma", "1,5", false, 0 },
};

static void
check_double(void **state)
{
	const struct double_row *r = *state;
	double value = 0;

	assert_int_equal(str_to_double(str_of(r->s), &value), r->ok);
	assert_true(fabs(value - r->value) < 1e-12);
}

static void
test_double_is_not_read_beyond_its_end(void **state)
{
	double value = 0;

	(void)state;
	assert_true(str_to_double((struct str){ "1234", 2 }, &value));
	assert_true(value > 11.9 && value < 12.1);
}

static void
test_hashes(void **state)
{
	(void)state;
	assert_int_equal(str_hash(STR_LIT("")), 2166136261u);
	assert_int_equal(str_hash(STR_LIT("a")), 0xE40C292Cu);
	assert_int_equal(str_hash(STR_LIT("foobar")), 0xBF9CF968u);
	assert_int_equal(str_casehash(STR_LIT("FooBAR")), 0xBF9CF968u);
}

static const struct utf8_row {
	const char *label, *s;
	bool ok;
} utf8s[] = {
	{ "empty", "", true },
	{ "ASCII", "0123456789abcdef ~", true },
	{ "two bytes", "\xC3\xA4", true },
	{ "three bytes", "\xE2\x82\xAC", true },
	{ "four bytes", "\xF0\x9F\x90\xB4", true },
	{ "behind eight of ASCII", "01234567\xC3\xA4", true },
	{ "largest", "\xF4\x8F\xBF\xBF", true },
	{ "below the surrogates", "\xED\x9F\xBF", true },
	{ "above the surrogates", "\xEE\x80\x80", true },
	{ "a surrogate", "\xED\xA0\x80", false },
	{ "beyond the largest", "\xF4\x90\x80\x80", false },
	{ "F5", "\xF5\x80\x80\x80", false },
	{ "overlong slash", "\xC0\xAF", false },
	{ "overlong of three", "\xE0\x80\xAF", false },
	{ "overlong of four", "\xF0\x80\x80\xAF", false },
	{ "continuation alone", "\x80", false },
	{ "cut two", "\xC3", false },
	{ "cut three", "\xE2\x82", false },
	{ "cut four", "\xF0\x9F\x90", false },
	{ "no continuation", "\xE2\x82z", false },
	{ "bad in the ninth byte", "01234567\xFF", false },
	{ "bad behind good", "\xC3\xA4\xFF", false },
};

static void
check_utf8(void **state)
{
	const struct utf8_row *r = *state;
	assert_int_equal(str_utf8_valid(str_of(r->s)), r->ok);
}

static const struct nearest_row {
	const char *label, *s, *nearest;
} nearests[] = {
	{ "swap", "setHaeder", "setHeader" },
	{ "left out", "setHader", "setHeader" },
	{ "one too many", "chooice", "choice" },
	{ "another letter", "chojce", "choice" },
	{ "another case", "setheader", "setHeader" },
	{ "two slips", "settHaeder", "setHeader" },
	{ "the nearer of two", "setBod", "setBody" },
	{ "nothing alike", "aggregate", NULL },
	{ "short word, nothing alike", "ab", NULL },
	{ "short word, one slip", "tp", "to" },
	{ "one letter", "x", NULL },
	{ "empty", "", NULL },
	{ "very long", "setHeadersetHeadersetHeadersetHeadersetHeadersetHeadersetHeadersetHeader",
	    NULL },
};

static void
check_nearest(void **state)
{
	static const char *const names[] = { "choice", "setBody", "setHeader", "setHeaders", "to",
		NULL };
	const struct nearest_row *r = *state;
	const char *got = str_nearest(str_of(r->s), names);

	if (r->nearest == NULL)
		assert_null(got);
	else
		assert_string_equal(got ? got : "(none)", r->nearest);
}

int
main(void)
{
	UNIT_CASE(test_comparison);
	UNIT_CASE(test_trim);
	UNIT_TABLE("find", finds, check_find);
	UNIT_TABLE("split", splits, check_split);
	UNIT_TABLE("int64", ints, check_int);
	UNIT_TABLE("double", doubles, check_double);
	UNIT_CASE(test_double_is_not_read_beyond_its_end);
	UNIT_CASE(test_hashes);
	UNIT_TABLE("utf8", utf8s, check_utf8);
	UNIT_TABLE("nearest", nearests, check_nearest);
	return unit_run("str");
}
