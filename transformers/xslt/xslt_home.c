/*
 * Writes the result of a transformation to the file that the header CamelXsltFileName names,
 * relative names from the working folder; a file of that name is replaced at once, never seen half
 * written. The body stays the text of the result, which is what Camel's java.io.File body prints
 * as.
 */
#include "transformers/xslt/xslt_home.h"

#include "core/model/exchange.h"
#include "transformers/xslt/xslt.h"
#include "workers/component.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static bool
write_all(int fd, struct str s)
{
	while (s.n > 0) {
		ssize_t n = write(fd, s.p, s.n);

		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return false;
		s.p += n;
		s.n -= (size_t)n;
	}
	return true;
}

/* The name beside the file that is renamed to it. */
static const char *
temporary(struct exchange *ex, const char *name)
{
	const char *slash = strrchr(name, '/');
	int folder = slash ? (int)(slash - name) + 1 : 0;

	return arena_printf(&ex->arena, "%.*s.%s.%ld.%llx.tmp", folder, name, name + folder,
	    (long)getpid(), (unsigned long long)ex->seq);
}

static enum step_rc
write_failed(struct exchange *ex, const char *name, int errnum)
{
	exchange_fail(ex, errnum == ENOENT ? EXCEPTION_FILE_NOT_FOUND : EXCEPTION_IO,
	    "cannot write file \"%s\": %s", name, strerror(errnum));
	return STEP_FAILED;
}

static void
delete_file(void *arg)
{
	(void)unlink(arg); /* somebody else may have */
}

static enum step_rc
xslt_after_call(struct worker *wk, struct exchange *ex, const struct step *st, struct endpoint *ep)
{
	const struct xslt_conf *conf = ep->conf;
	struct value *header;
	const char *name, *tmp;
	struct str text;
	int fd, errnum;

	(void)wk;
	(void)st;
	if (conf->output != XSLT_OUTPUT_FILE)
		return STEP_DONE;
	header = exchange_header(ex, STR_LIT("CamelXsltFileName"));
	text = header ? value_text(&ex->arena, header) : (struct str){ NULL, 0 };
	if (text.n == 0 || memchr(text.p, '\0', text.n)) {
		exchange_fail(ex, EXCEPTION_NO_SUCH_HEADER,
		    "No 'CamelXsltFileName' header available of type: java.lang.String");
		return STEP_FAILED;
	}
	name = arena_strndup(&ex->arena, text.p, text.n);
	tmp = temporary(ex, name);
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (fd == -1)
		return write_failed(ex, name, errno);
	errnum = write_all(fd, value_text(&ex->arena, &ex->body)) ? 0 : errno;
	if (close(fd) == -1 && errnum == 0)
		errnum = errno;
	if (errnum == 0 && rename(tmp, name) == -1)
		errnum = errno;
	if (errnum != 0) {
		(void)unlink(tmp); /* it is the first failure that counts */
		return write_failed(ex, name, errnum);
	}
	if (conf->delete_output_file)
		arena_on_reset(&ex->arena, delete_file, (void *)name);
	return STEP_DONE;
}

const struct component_ops xslt_home_ops = {
	.scheme = "xslt",
	.after_call = xslt_after_call,
};
