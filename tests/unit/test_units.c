/* core/base/units */
#include "core/base/units.h"

#include "tests/lib/unit.h"

static const struct duration_row {
	const char *label;
	bool ok;
	int64_t ms;
} durations[] = {
	{ "0", true, 0 },
	{ "500", true, 500 },
	{ "-1", true, -1 },
	{ "500ms", true, 500 },
	{ "5s", true, 5000 },
	{ "1m30s", true, 90000 },
	{ "1h", true, 3600000 },
	{ "2d", true, 172800000 },
	{ "1d2h3m4s5ms", true, 93784005 },
	{ "1m5ms", true, 60005 },
	{ "PT5S", true, 5000 },
	{ "pt5s", true, 5000 },
	{ "PT1M30S", true, 90000 },
	{ "PT0.25S", true, 250 },
	{ "PT1.2345678S", true, 1234 },
	{ "P2D", true, 172800000 },
	{ "P1DT12H", true, 129600000 },
	{ "", false, 0 },
	{ "s", false, 0 },
	{ "5 s", false, 0 },
	{ " 5s", false, 0 },
	{ "5 lightyears", false, 0 },
	{ "5x", false, 0 },
	{ "5S", false, 0 },
	{ "1.5s", false, 0 },
	{ "30s1m", false, 0 },
	{ "1s1s", false, 0 },
	{ "1m30", false, 0 },
	{ "-5s", false, 0 },
	{ "+-5", false, 0 },
	{ "P", false, 0 },
	{ "PT", false, 0 },
	{ "P1H", false, 0 },
	{ "PT1D", false, 0 },
	{ "P1DT", false, 0 },
	{ "PT0.5M", false, 0 },
	{ "PT1.S", false, 0 },
	{ "PT5", false, 0 },
	{ "PT5SX", false, 0 },
	{ "P1D2D", false, 0 },
	{ "PT5S1M", false, 0 },
	{ "P1M", false, 0 },
	{ "106751991167d", true, 9223372036828800000 },
	{ "106751991168d", false, 0 },
	{ "99999999999999999999s", false, 0 },
	{ "9223372036854775807", true, INT64_MAX },
};

static void
check_duration(void **state)
{
	const struct duration_row *r = *state;
	int64_t ms = 0;

	assert_int_equal(units_parse_duration(str_of(r->label), &ms), r->ok);
	if (r->ok)
		assert_true(ms == r->ms);
}

static const struct size_row {
	const char *label;
	bool ok;
	uint64_t bytes;
} sizes[] = {
	{ "0", true, 0 },
	{ "1000", true, 1000 },
	{ "64k", true, 65536 },
	{ "64K", true, 65536 },
	{ "64KiB", true, 65536 },
	{ "64kb", true, 65536 },
	{ "10m", true, 10485760 },
	{ "10MiB", true, 10485760 },
	{ "2g", true, 2147483648 },
	{ "2GB", true, 2147483648 },
	{ "7b", true, 7 },
	{ "", false, 0 },
	{ "k", false, 0 },
	{ "-1", false, 0 },
	{ "1 k", false, 0 },
	{ "1.5m", false, 0 },
	{ "1t", false, 0 },
	{ "1kk", false, 0 },
	{ "1k5", false, 0 },
	{ "9007199254740991k", true, 9223372036854774784 },
	{ "9007199254740992k", false, 0 },
};

static void
check_size(void **state)
{
	const struct size_row *r = *state;
	uint64_t bytes = 0;

	assert_int_equal(units_parse_size(str_of(r->label), &bytes), r->ok);
	if (r->ok)
		assert_true(bytes == r->bytes);
}

static const struct format_row {
	const char *label;
	bool is_size;
	int64_t value;
} formats[] = {
	{ "0 ms", false, 0 },
	{ "999 ms", false, 999 },
	{ "1 s", false, 1000 },
	{ "1.5 s", false, 1500 },
	{ "2 min", false, 120000 },
	{ "1 h", false, 3600000 },
	{ "2.5 d", false, 216000000 },
	{ "0 B", true, 0 },
	{ "1023 B", true, 1023 },
	{ "64 KiB", true, 65536 },
	{ "1.5 MiB", true, 1572864 },
	{ "3 GiB", true, 3221225472 },
};

static void
check_format(void **state)
{
	const struct format_row *r = *state;
	char buf[32];

	const char *got = r->is_size ? units_format_size((uint64_t)r->value, buf, sizeof buf)
				     : units_format_duration(r->value, buf, sizeof buf);
	assert_ptr_equal(got, buf);
	assert_string_equal(got, r->label);
}

int
main(void)
{
	UNIT_TABLE("duration", durations, check_duration);
	UNIT_TABLE("size", sizes, check_size);
	UNIT_TABLE("format", formats, check_format);
	return unit_run("units");
}
