/*
 * The log. A record is put together on the stack, so that a process without memory can still say
 * so, and leaves in one write that never waits: stderr is written to by way of a description of our
 * own that is non-blocking (a pipe, a terminal), with MSG_DONTWAIT (a socket), or as it is (a file,
 * which never makes anyone wait).
 */
#include "core/base/log.h"

#include "core/base/assert.h"
#include "core/base/clock.h"
#include "core/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	RECORD_MAX = 64 * 1024,
	RECORD_TAIL = 16, /* kept for what ends a cut record */
	EXIT_FATAL = 70,
};

static struct {
	char who[32];
	enum log_level level;
	enum log_format format;
	int fd;
	enum log_way { WAY_ASK, WAY_WRITE, WAY_SEND } way; /* see write_now() */
	atomic_uint dropped;
	atomic_bool cut; /* the last record left only in part */
} log_state = { .level = LOG_LEVEL_INFO, .fd = STDERR_FILENO };

static const char *const level_names[] = { "error", "warning", "info", "debug" };

/* -- a record in the making -- */

struct record {
	char text[RECORD_MAX];
	size_t n;
};

static void
put_bytes(struct record *r, const char *p, size_t n)
{
	size_t room = RECORD_MAX - RECORD_TAIL - r->n;
	if (n > room)
		n = room;
	memcpy(r->text + r->n, p, n);
	r->n += n;
}

static void
put_text(struct record *r, const char *s)
{
	put_bytes(r, s, strlen(s));
}

/* As put_text, but may use what put_bytes leaves free: quotes, braces, the line end. */
static void
put_tail(struct record *r, const char *s)
{
	for (; *s != '\0' && r->n < RECORD_MAX; s++)
		r->text[r->n++] = *s;
}

static size_t
utf8_length(const unsigned char *p)
{
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
	size_t there = strnlen((const char *)p, n);

	return there == n && str_utf8_valid((struct str){ (const char *)p, n }) ? n : 0;
}

static const char *
short_escape(unsigned char c)
{
	switch (c) {
	case '"':
		return "\\\"";
	case '\\':
		return "\\\\";
	case '\n':
		return "\\n";
	case '\r':
		return "\\r";
	case '\t':
		return "\\t";
	default:
		return NULL;
	}
}

/*
 * In quotes, escaped as JSON has it; logfmt is read with the same rules. What is no UTF-8 becomes
 * U+FFFD.
 */
static void
put_quoted(struct record *r, const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	char hex[8];

	put_text(r, "\"");
	while (*p != '\0' && r->n < RECORD_MAX - RECORD_TAIL - sizeof hex) {
		const char *escape = short_escape(*p);
		size_t n = utf8_length(p);
		if (escape != NULL) {
			put_text(r, escape);
		} else if (n == 0) {
			put_text(r, "\\ufffd");
		} else if (*p < 0x20 || *p == 0x7F) {
			(void)snprintf(hex, sizeof hex, "\\u%04x", *p); /* fits */
			put_text(r, hex);
		} else {
			put_bytes(r, (const char *)p, n);
		}
		p += n > 0 ? n : 1;
	}
	put_tail(r, "\"");
}

static bool
needs_quotes(const char *s)
{
	if (*s == '\0')
		return true;
	for (; *s != '\0'; s++) {
		unsigned char c = (unsigned char)*s;
		if (c <= ' ' || c == '"' || c == '=' || c == '\\' || c >= 0x7F)
			return true;
	}
	return false;
}

/*
 * Days since 1970 to a date (proleptic Gregorian, years from March): gmtime_r would read the time
 * zone's file first.
 */
static void
civil_from_days(int64_t days, int *year, int *month, int *day)
{
	int64_t z = days + 719468;
	int64_t era = z / 146097;
	int64_t doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int64_t mp = (5 * doy + 2) / 153;

	*day = (int)(doy - (153 * mp + 2) / 5 + 1);
	*month = (int)(mp < 10 ? mp + 3 : mp - 9);
	*year = (int)(yoe + era * 400 + (*month <= 2 ? 1 : 0));
}

static void
put_time(struct record *r)
{
	char text[64];
	int year, month, day;
	int64_t ms = walltime_ms();
	int of_day = (int)(ms / 1000 % 86400);

	civil_from_days(ms / 86400000, &year, &month, &day);
	(void)snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", year, month, day,
	    of_day / 3600, of_day / 60 % 60, of_day % 60, (int)(ms % 1000)); /* fits */
	put_text(r, text);
}

/* -- the three formats -- */

struct entry {
	enum log_level level;
	const char *msg;
	bool text_only; /* the plain format prints the message and nothing else */
};

static void
format_logfmt_field(struct record *r, const char *key, const char *value)
{
	put_text(r, " ");
	put_text(r, key);
	put_text(r, "=");
	if (needs_quotes(value))
		put_quoted(r, value);
	else
		put_text(r, value);
}

static void
format_logfmt_head(struct record *r, const struct entry *e)
{
	put_text(r, "time=");
	put_time(r);
	format_logfmt_field(r, "level", level_names[e->level]);
	if (log_state.who[0] != '\0')
		format_logfmt_field(r, "who", log_state.who);
	format_logfmt_field(r, "msg", e->msg);
}

static void
format_json_field(struct record *r, const char *key, const char *value)
{
	/* A field that may not fit is left out whole, so that the record stays JSON. */
	if (RECORD_MAX - RECORD_TAIL - r->n < strlen(key) * 6 + RECORD_TAIL)
		return;
	put_text(r, ",");
	put_quoted(r, key);
	put_text(r, ":");
	put_quoted(r, value);
}

static void
format_json_head(struct record *r, const struct entry *e)
{
	put_text(r, "{\"time\":\"");
	put_time(r);
	put_text(r, "\"");
	format_json_field(r, "level", level_names[e->level]);
	if (log_state.who[0] != '\0')
		format_json_field(r, "who", log_state.who);
	format_json_field(r, "msg", e->msg);
}

static void
format_plain_head(struct record *r, const struct entry *e)
{
	if (!e->text_only && e->level != LOG_LEVEL_INFO) {
		put_text(r, level_names[e->level]);
		put_text(r, ": ");
	}
	put_text(r, e->msg);
}

static const struct format_ops {
	void (*head)(struct record *r, const struct entry *e);
	void (*field)(struct record *r, const char *key, const char *value);
	const char *end;
	bool skips_fields; /* of a text-only entry */
} formats[] = {
	[LOG_FORMAT_LOGFMT] = { format_logfmt_head, format_logfmt_field, "\n", false },
	[LOG_FORMAT_JSON] = { format_json_head, format_json_field, "}\n", false },
	[LOG_FORMAT_PLAIN] = { format_plain_head, format_logfmt_field, "\n", true },
};

/* -- writing without waiting -- */

/* Is there room? For a pipe that is a page or none, so a write of more may wait after all. */
static bool
has_room(void)
{
	struct pollfd pfd = { .fd = log_state.fd, .events = POLLOUT };

	return poll(&pfd, 1, 0) == 1 && (pfd.revents & POLLOUT);
}

static ssize_t
write_now(const char *p, size_t n)
{
	if (log_state.way == WAY_SEND)
		return send(log_state.fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (log_state.way == WAY_WRITE || has_room())
		return write(log_state.fd, p, n);
	errno = EAGAIN;
	return -1;
}

/*
 * All of it or false. A record of which a part left is a loss as well, and the next one begins on a
 * line of its own.
 */
static bool
write_record(const char *p, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t k = write_now(p + done, n - done);
		if (k == -1 && errno == EINTR)
			continue;
		if (k <= 0)
			break;
		done += (size_t)k;
	}
	if (done == n)
		return true;
	if (done > 0)
		atomic_store(&log_state.cut, true);
	return false;
}

static void
format_record(struct record *r, const struct entry *e, va_list fields)
{
	const struct format_ops *ops = &formats[log_state.format];
	const char *key;

	r->n = 0;
	ops->head(r, e);
	while ((key = va_arg(fields, const char *)) != NULL) {
		const char *value = va_arg(fields, const char *);
		if (value != NULL && !(e->text_only && ops->skips_fields))
			ops->field(r, key, value);
	}
	put_tail(r, ops->end);
}

__attribute__((sentinel)) static void
format_record_of(struct record *r, const struct entry *e, ...)
{
	va_list ap;

	va_start(ap, e);
	format_record(r, e, ap);
	va_end(ap);
}

/* What was lost is told before the next record. */
static bool
write_losses(struct record *r)
{
	char count[16];
	unsigned dropped = atomic_exchange(&log_state.dropped, 0);

	if (atomic_exchange(&log_state.cut, false) && !write_record("\n", 1)) {
		atomic_store(&log_state.cut, true);
		atomic_fetch_add(&log_state.dropped, dropped);
		return false;
	}
	if (dropped == 0)
		return true;
	(void)snprintf(count, sizeof count, "%u", dropped); /* fits */
	struct entry e = { .level = LOG_LEVEL_WARNING, .msg = "log records dropped" };
	format_record_of(r, &e, "count", count, NULL);
	if (write_record(r->text, r->n))
		return true;
	atomic_fetch_add(&log_state.dropped, dropped);
	return false;
}

static void
log_entry(const struct entry *e, va_list fields)
{
	struct record r;

	if (e->level > log_state.level)
		return;
	if (!write_losses(&r)) {
		atomic_fetch_add(&log_state.dropped, 1);
		return;
	}
	format_record(&r, e, fields);
	if (!write_record(r.text, r.n))
		atomic_fetch_add(&log_state.dropped, 1);
}

/* -- the functions of log.h -- */

/*
 * A description of our own, so that O_NONBLOCK does not become everybody's. Where that is refused,
 * asking first must do.
 */
static void
open_stderr(void)
{
	struct stat st;

	if (log_state.fd != STDERR_FILENO)
		(void)close(log_state.fd); /* nothing is buffered in it */
	log_state.fd = STDERR_FILENO;
	log_state.way = WAY_ASK;
	if (fstat(STDERR_FILENO, &st) == -1)
		return;
	if (S_ISSOCK(st.st_mode))
		log_state.way = WAY_SEND;
	if (S_ISREG(st.st_mode))
		log_state.way = WAY_WRITE;
	if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode))
		return;
	int fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | O_APPEND);
	if (fd == -1)
		return;
	log_state.fd = fd;
	log_state.way = WAY_WRITE;
}

void
log_setup(const char *who, enum log_level level, enum log_format format)
{
	(void)snprintf(log_state.who, sizeof log_state.who, "%s", who); /* a longer name is cut */
	log_state.level = level;
	log_state.format = format;
	open_stderr();
}

void
log_set_level(enum log_level level)
{
	log_state.level = level;
}

enum log_level
log_get_level(void)
{
	return log_state.level;
}

bool
log_level_parse(const char *name, enum log_level *out)
{
	for (size_t i = 0; i < ARRAY_LEN(level_names); i++) {
		if (strcmp(name, level_names[i]) == 0) {
			*out = (enum log_level)i;
			return true;
		}
	}
	return false;
}

void
log_kv(enum log_level level, const char *msg, ...)
{
	struct entry e = { .level = level, .msg = msg };
	va_list ap;

	va_start(ap, msg);
	log_entry(&e, ap);
	va_end(ap);
}

void
log_text(enum log_level level, const char *msg, ...)
{
	struct entry e = { .level = level, .msg = msg, .text_only = true };
	va_list ap;

	va_start(ap, msg);
	log_entry(&e, ap);
	va_end(ap);
}

static void
log_formatted(enum log_level level, const char *fmt, va_list ap)
{
	char msg[2 * HINNY_ERROR_TEXT];

	if (level > log_state.level)
		return;
	(void)vsnprintf(msg, sizeof msg, fmt, ap); /* a longer text is cut */
	log_kv(level, msg, NULL);
}

void
log_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_formatted(LOG_LEVEL_ERROR, fmt, ap);
	va_end(ap);
}

void
log_warning(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_formatted(LOG_LEVEL_WARNING, fmt, ap);
	va_end(ap);
}

void
log_info(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_formatted(LOG_LEVEL_INFO, fmt, ap);
	va_end(ap);
}

void
log_debug(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_formatted(LOG_LEVEL_DEBUG, fmt, ap);
	va_end(ap);
}

_Noreturn void
fatal(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_formatted(LOG_LEVEL_ERROR, fmt, ap);
	va_end(ap);
	_exit(EXIT_FATAL); /* no atexit handlers: the state of libraries is not to be trusted now */
}
