/*
 * Filling of struct hinny_error. The arguments may point into the error that is filled, so that a
 * text can be wrapped.
 */
#include "core/base/error.h"

#include "core/base/assert.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void
error_store(struct hinny_error *err, enum hinny_rc rc, const char *text)
{
	err->rc = rc;
	(void)snprintf(err->text, sizeof err->text, "%s", text);
}

enum hinny_rc
hinny_error_set(struct hinny_error *err, enum hinny_rc rc, const char *fmt, ...)
{
	char text[HINNY_ERROR_TEXT];
	va_list ap;

	if (err == NULL)
		return rc;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap); /* a longer text is cut */
	va_end(ap);
	error_store(err, rc, text);
	return rc;
}

/* "No such file or directory" begins with a small letter here, "RPC is bad" keeps its first. */
static void
system_text(int errnum, char *out, size_t size)
{
	const char *s = strerrordesc_np(errnum);

	if (s == NULL) {
		(void)snprintf(out, size, "system error %d", errnum);
		return;
	}
	(void)snprintf(out, size, "%s", s);
	if (!isupper((unsigned char)out[1]))
		out[0] = (char)tolower((unsigned char)out[0]);
}

static enum hinny_rc
rc_of_errno(int errnum)
{
	static const struct {
		int errnum;
		enum hinny_rc rc;
	} rows[] = {
		{ ENOENT, HINNY_ENOENT },
		{ ENOTDIR, HINNY_ENOENT },
		{ EEXIST, HINNY_EEXIST },
		{ EADDRINUSE, HINNY_EEXIST },
		{ EACCES, HINNY_EREFUSED },
		{ EPERM, HINNY_EREFUSED },
		{ EAGAIN, HINNY_EAGAIN },
		{ ETIMEDOUT, HINNY_ETIMEOUT },
		{ EPIPE, HINNY_ECLOSED },
		{ ECONNRESET, HINNY_ECLOSED },
		{ EINVAL, HINNY_EINVAL },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].errnum == errnum)
			return rows[i].rc;
	}
	return HINNY_EIO;
}

enum hinny_rc
hinny_error_errno(struct hinny_error *err, int errnum, const char *fmt, ...)
{
	enum hinny_rc rc = rc_of_errno(errnum);
	/* The reason is never cut. */
	char why[128], what[HINNY_ERROR_TEXT - sizeof why], text[HINNY_ERROR_TEXT];
	va_list ap;

	if (err == NULL)
		return rc;
	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof what, fmt, ap); /* a longer text is cut */
	va_end(ap);
	system_text(errnum, why, sizeof why);
	(void)snprintf(text, sizeof text, "%s: %s", what, why);
	error_store(err, rc, text);
	return rc;
}
