/* core/base/error */
#include "core/base/error.h"

#include "tests/lib/unit.h"

#include <errno.h>
#include <string.h>

static const struct errno_row {
	const char *label;
	int errnum;
	enum hinny_rc rc;
	const char *text;
} errnos[] = {
	{ "absent", ENOENT, HINNY_ENOENT, "cannot open \"x\": no such file or directory" },
	{ "refused", EACCES, HINNY_EREFUSED, "cannot open \"x\": permission denied" },
	{ "other", EIO, HINNY_EIO, "cannot open \"x\": input/output error" },
	{ "capitals stay", EDOTDOT, HINNY_EIO, "cannot open \"x\": RFS specific error" },
	{ "unknown", 99999, HINNY_EIO, "cannot open \"x\": system error 99999" },
};

static void
check_errno(void **state)
{
	const struct errno_row *r = *state;
	struct hinny_error err;

	assert_int_equal(hinny_error_errno(&err, r->errnum, "cannot open \"%s\"", "x"), r->rc);
	assert_int_equal(err.rc, r->rc);
	assert_string_equal(err.text, r->text);
	assert_int_equal(hinny_error_errno(NULL, r->errnum, "cannot open"), r->rc);
}

static void
test_set(void **state)
{
	struct hinny_error err;

	(void)state;
	assert_int_equal(hinny_error_set(&err, HINNY_ELIMIT, "%d too many", 3), HINNY_ELIMIT);
	assert_int_equal(err.rc, HINNY_ELIMIT);
	assert_string_equal(err.text, "3 too many");
	assert_int_equal(hinny_error_set(NULL, HINNY_ELIMIT, "x"), HINNY_ELIMIT);
}

static void
test_wrapping_its_own_text(void **state)
{
	struct hinny_error err;

	(void)state;
	hinny_error_set(&err, HINNY_EINVAL, "bad sheet");
	hinny_error_set(&err, err.rc, "a.yaml:3: %s", err.text);
	assert_string_equal(err.text, "a.yaml:3: bad sheet");
	hinny_error_errno(&err, ENOENT, "%s", err.text);
	assert_string_equal(err.text, "a.yaml:3: bad sheet: no such file or directory");
}

static void
test_long_texts_are_cut_and_keep_the_reason(void **state)
{
	struct hinny_error err;

	(void)state;
	hinny_error_set(&err, HINNY_EINVAL, "%02000d", 1);
	assert_int_equal(strlen(err.text), HINNY_ERROR_TEXT - 1);
	hinny_error_errno(&err, ENOENT, "%02000d", 1);
	assert_non_null(strstr(err.text, ": no such file"));
}

int
main(void)
{
	UNIT_TABLE("errno", errnos, check_errno);
	UNIT_CASE(test_set);
	UNIT_CASE(test_wrapping_its_own_text);
	UNIT_CASE(test_long_texts_are_cut_and_keep_the_reason);
	return unit_run("error");
}
