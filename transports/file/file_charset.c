/* Character sets of files. */
#include "transports/file/file_charset.h"

#include "core/base/buf.h"

#include <errno.h>
#include <iconv.h>

static bool
is_utf8(const char *name)
{
	return str_caseeq(str_of(name), STR_LIT("UTF-8")) ||
	    str_caseeq(str_of(name), STR_LIT("UTF8"));
}

bool
charset_is_known(const char *name)
{
	if (is_utf8(name))
		return true;
	iconv_t to = iconv_open("UTF-8", name), from = iconv_open(name, "UTF-8");
	bool known = to != (iconv_t)-1 && from != (iconv_t)-1;
	if (to != (iconv_t)-1)
		(void)iconv_close(to);
	if (from != (iconv_t)-1)
		(void)iconv_close(from);
	return known;
}

/* How far to go on behind what cannot be converted: one character of UTF-8, one byte else. */
static size_t
skip_length(const char *p, size_t n, bool utf8)
{
	size_t skip = 1;

	while (utf8 && skip < n && ((unsigned char)p[skip] & 0xc0) == 0x80)
		skip++;
	return skip;
}

static void
convert_all(iconv_t cd, iconv_t plain, struct str in, bool from_utf8, struct buf *out)
{
	static const char unknown[] = "\xef\xbf\xbd";
	char *p = (char *)in.p, bytes[4096];
	size_t left = in.n;

	for (;;) {
		char *to = bytes;
		size_t room = sizeof bytes;
		size_t rc = left > 0 ? iconv(cd, &p, &left, &to, &room) : 0;
		int errnum = errno;
		if (left == 0 && rc != (size_t)-1)
			(void)iconv(cd, NULL, NULL, &to, &room);
		(void)buf_add(out, bytes, (size_t)(to - bytes)); /* buffers without a bound do not fail */
		if (left == 0)
			return;
		if (rc == (size_t)-1 && errnum != E2BIG) {
			char *mark = (char *)(from_utf8 ? "?" : unknown);
			size_t n = strlen(mark), skip = skip_length(p, left, from_utf8);
			to = bytes;
			room = sizeof bytes;
			if (from_utf8)
				(void)iconv(plain, &mark, &n, &to, &room);
			(void)buf_add(out, from_utf8 ? bytes : unknown,
			    from_utf8 ? (size_t)(to - bytes) : strlen(unknown));
			p += skip;
			left -= skip;
		}
	}
}

static struct str
convert(struct arena *a, struct str in, const char *from, const char *to)
{
	iconv_t cd = iconv_open(to, from), plain = iconv_open(to, "UTF-8");
	struct str result = in;
	struct buf out;

	if (cd != (iconv_t)-1 && plain != (iconv_t)-1) {
		buf_init(&out, 0);
		convert_all(cd, plain, in, is_utf8(from), &out);
		result = arena_str(a, (struct str){ out.p != NULL ? out.p : "", out.n });
		buf_fini(&out);
	}
	if (cd != (iconv_t)-1)
		(void)iconv_close(cd);
	if (plain != (iconv_t)-1)
		(void)iconv_close(plain);
	return result;
}

struct str
charset_decode(struct arena *a, struct str bytes, const char *name)
{
	return is_utf8(name) ? bytes : convert(a, bytes, name, "UTF-8");
}

struct str
charset_encode(struct arena *a, struct str text, const char *name)
{
	return is_utf8(name) ? text : convert(a, text, "UTF-8", name);
}
