/* snprintf() and HMAC() for librdkafka's SCRAM. */
#include "transports/kafka/kafka_scram.h"

#include <dlfcn.h>
#include <librdkafka/rdkafka.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MENDED = 0x020601ff, FILL_MIN = 20 };

/* client-final-message-without-proof: channel binding, the client's nonce, the server's, which
 * begins with the client's. */
#define FINAL "c=%s,r=%.*s%s"
#define FILL ",x="

struct evp_md_st;
typedef unsigned char *hmac_fn(const struct evp_md_st *md, const void *key, int key_n,
    const unsigned char *text, size_t n, unsigned char *out, unsigned *out_n);

/* Set before there are threads. */
static bool mends;
static hmac_fn *next_hmac;

static hmac_fn *
find_hmac(void)
{
	void *found = dlsym(RTLD_NEXT, "HMAC");
	hmac_fn *fn;

	memcpy(&fn, &found, sizeof fn);
	return fn;
}

void
kafka_scram_init(void)
{
	mends = rd_kafka_version() < MENDED;
	next_hmac = find_hmac();
}

/* As long as FINAL would be. */
static int
print_final(char *out, size_t size, va_list ap)
{
	const char *binding = va_arg(ap, const char *);
	int fill = va_arg(ap, int);
	(void)va_arg(ap, const char *);
	const char *nonce = va_arg(ap, const char *);
	static const char xs[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

	return snprintf(out, size, "c=%s,r=%s" FILL "%.*s", binding, nonce, fill - (int)strlen(FILL), xs);
}

static int __attribute__((format(printf, 3, 0)))
print(char *out, size_t size, const char *fmt, va_list ap)
{
	if (fmt[0] == 'c' && strcmp(fmt, FINAL) == 0 && mends)
		return print_final(out, size, ap);
	return vsnprintf(out, size, fmt, ap);
}

#undef snprintf
int
snprintf(char *restrict out, size_t size, const char *restrict fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = print(out, size, fmt, ap);
	va_end(ap);
	return n;
}

/* What the compiler makes of snprintf() where it knows the size of the array. */
int __snprintf_chk(char *out, size_t size, int flag, size_t room, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
int
__snprintf_chk(char *out, size_t size, int flag, size_t room, const char *fmt, ...)
{
	va_list ap;
	(void)flag;

	va_start(ap, fmt);
	int n = print(out, size < room ? size : room, fmt, ap);
	va_end(ap);
	return n;
}

/* Without the fill at its end. */
static size_t
without_fill(const unsigned char *text, size_t n)
{
	size_t end = n, mark = strlen(FILL);

	while (end > 0 && text[end - 1] == 'x')
		end--;
	if (n - end < FILL_MIN || end < mark || memcmp(text + end - mark, FILL, mark) != 0)
		return n;
	return end - mark;
}

hmac_fn HMAC;
unsigned char *
HMAC(const struct evp_md_st *md, const void *key, int key_n, const unsigned char *text, size_t n,
    unsigned char *out, unsigned *out_n)
{
	hmac_fn *fn = next_hmac != NULL ? next_hmac : find_hmac();

	if (fn == NULL)
		return NULL;
	return fn(md, key, key_n, text, mends ? without_fill(text, n) : n, out, out_n);
}
