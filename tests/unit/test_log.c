/* core/base/log, assert, mem */
#include "core/base/log.h"

#include "core/base/assert.h"
#include "core/base/mem.h"
#include "tests/lib/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* What goes to stderr between begin and end is kept; nothing may be asserted in between. */
static struct {
	int saved, reader;
	char text[256 * 1024];
	size_t n;
} capture;

static void
capture_begin_with(int reader, int writer)
{
	capture.saved = dup(STDERR_FILENO);
	capture.reader = reader;
	capture.n = 0;
	(void)dup2(writer, STDERR_FILENO);
	close(writer);
}

static void
capture_begin(void)
{
	int fds[2];

	if (pipe(fds) == -1)
		abort();
	(void)fcntl(fds[1], F_SETPIPE_SZ, 128 * 1024);
	capture_begin_with(fds[0], fds[1]);
}

/* Takes what is there now. */
static void
capture_drain(void)
{
	(void)fcntl(capture.reader, F_SETFL, O_NONBLOCK);
	for (;;) {
		size_t room = sizeof capture.text - 1 - capture.n;
		ssize_t k = read(capture.reader, capture.text + capture.n, room);
		if (k <= 0)
			break;
		capture.n += (size_t)k;
	}
	capture.text[capture.n] = '\0';
}

static const char *
capture_end(void)
{
	capture_drain();
	(void)dup2(capture.saved, STDERR_FILENO);
	close(capture.saved);
	close(capture.reader);
	log_setup("test", LOG_LEVEL_INFO, LOG_FORMAT_LOGFMT);
	return capture.text;
}

/* The record without its time, whose form is checked. */
static const char *
behind_time(const char *line, const char *before)
{
	int year, month, day, hour, minute, second, ms, end = 0;
	size_t n = strlen(before);

	assert_memory_equal(line, before, n);
	assert_int_equal(sscanf(line + n, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n", &year, &month, &day,
			     &hour, &minute, &second, &ms, &end),
	    7);
	assert_true(year >= 2024 && month >= 1 && month <= 12 && day >= 1 && day <= 31);
	return line + n + end;
}

static const struct format_row {
	const char *label;
	enum log_format format;
	enum log_level level;
	const char *msg, *value;
	const char *before, *text;
} formats[] = {
	{ "logfmt", LOG_FORMAT_LOGFMT, LOG_LEVEL_INFO, "ready", "http",
	    "time=", " level=info who=test msg=ready kind=http\n" },
	{ "logfmt quotes", LOG_FORMAT_LOGFMT, LOG_LEVEL_ERROR, "not ready", "a=\"b\"\n",
	    "time=", " level=error who=test msg=\"not ready\" kind=\"a=\\\"b\\\"\\n\"\n" },
	{ "logfmt empty value", LOG_FORMAT_LOGFMT, LOG_LEVEL_INFO, "x", "",
	    "time=", " level=info who=test msg=x kind=\"\"\n" },
	{ "logfmt no value", LOG_FORMAT_LOGFMT, LOG_LEVEL_INFO, "x", NULL,
	    "time=", " level=info who=test msg=x\n" },
	{ "JSON", LOG_FORMAT_JSON, LOG_LEVEL_WARNING, "slow", "http", "{\"time\":\"",
	    "\",\"level\":\"warning\",\"who\":\"test\",\"msg\":\"slow\",\"kind\":\"http\"}\n" },
	{ "JSON escapes", LOG_FORMAT_JSON, LOG_LEVEL_INFO, "a\"b\\c\td\x01", "\xC3\xA4\xFFz",
	    "{\"time\":\"",
	    "\",\"level\":\"info\",\"who\":\"test\",\"msg\":\"a\\\"b\\\\c\\td\\u0001\","
	    "\"kind\":\"\xC3\xA4\\ufffdz\"}\n" },
	{ "JSON cut sequence", LOG_FORMAT_JSON, LOG_LEVEL_INFO, "\xE2\x82", "", "{\"time\":\"",
	    "\",\"level\":\"info\",\"who\":\"test\",\"msg\":\"\\ufffd\\ufffd\",\"kind\":\"\"}\n" },
};

static void
check_format(void **state)
{
	const struct format_row *r = *state;

	capture_begin();
	log_setup("test", LOG_LEVEL_INFO, r->format);
	log_kv(r->level, r->msg, "kind", r->value, NULL);
	assert_string_equal(behind_time(capture_end(), r->before), r->text);
}

static void
test_plain(void **state)
{
	(void)state;
	capture_begin();
	log_setup("test", LOG_LEVEL_INFO, LOG_FORMAT_PLAIN);
	log_kv(LOG_LEVEL_INFO, "worker ready", "kind", "http", NULL);
	log_kv(LOG_LEVEL_WARNING, "worker slow", NULL);
	log_text(LOG_LEVEL_WARNING, "got\n${body}", "route", "r1", NULL);
	assert_string_equal(
	    capture_end(), "worker ready kind=http\nwarning: worker slow\ngot\n${body}\n");
}

static void
test_levels(void **state)
{
	enum log_level level;

	(void)state;
	capture_begin();
	log_setup("test", LOG_LEVEL_WARNING, LOG_FORMAT_PLAIN);
	log_error("e%d", 1);
	log_warning("w%d", 1);
	log_info("i%d", 1);
	log_set_level(LOG_LEVEL_DEBUG);
	log_debug("d%d", 1);
	assert_string_equal(capture_end(), "error: e1\nwarning: w1\ndebug: d1\n");
	assert_true(log_level_parse("debug", &level));
	assert_int_equal(level, LOG_LEVEL_DEBUG);
	assert_false(log_level_parse("Debug", &level));
	assert_int_equal(log_get_level(), LOG_LEVEL_INFO);
}

static void
test_long_records_are_cut(void **state)
{
	char *big = mem_alloc(200001);

	(void)state;
	memset(big, '\n', 200000);
	big[200000] = '\0';
	capture_begin();
	log_setup("test", LOG_LEVEL_INFO, LOG_FORMAT_JSON);
	log_kv(LOG_LEVEL_INFO, "big", "value", big, "more", big, NULL);
	const char *text = capture_end();
	size_t n = strlen(text);
	free(big);
	assert_true(n > 60000 && n <= 65536);
	assert_string_equal(text + n - 5, "\\n\"}\n");
}

static void
test_a_full_pipe_loses_records_and_counts_them(void **state)
{
	int fds[2], lost = 0;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	(void)fcntl(fds[1], F_SETPIPE_SZ, 4096);
	capture_begin_with(fds[0], fds[1]);
	log_setup("test", LOG_LEVEL_INFO, LOG_FORMAT_PLAIN);
	for (int i = 0; i < 1000; i++)
		log_info("record %d of a thousand", i);
	capture_drain();
	size_t kept = 0;
	for (size_t i = 0; i < capture.n; i++)
		kept += capture.text[i] == '\n';
	capture.n = 0;
	log_info("after");
	const char *text = capture_end();
	const char *at = strstr(text, "warning: log records dropped count=");
	assert_non_null(at);
	assert_int_equal(sscanf(at, "warning: log records dropped count=%d", &lost), 1);
	assert_true(kept > 0 && lost > 0);
	assert_int_equal((int)kept + lost, 1000);
	assert_non_null(strstr(text, "\nafter\n"));
}

static void
test_a_socket_never_blocks(void **state)
{
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	capture_begin_with(fds[0], fds[1]);
	log_setup("test", LOG_LEVEL_INFO, LOG_FORMAT_PLAIN);
	for (int i = 0; i < 20000; i++)
		log_info("record %d that nobody reads", i);
	capture_drain();
	log_info("after");
	assert_non_null(strstr(capture_end(), "log records dropped count="));
}

static void
test_stderr_keeps_its_flags(void **state)
{
	(void)state;
	capture_begin();
	log_setup("test", LOG_LEVEL_INFO, LOG_FORMAT_PLAIN);
	int flags = fcntl(STDERR_FILENO, F_GETFL);
	(void)capture_end();
	assert_int_equal(flags & O_NONBLOCK, 0);
}

static int
status_of_child(void (*fn)(void))
{
	int status;

	capture_begin();
	pid_t pid = fork();
	if (pid == 0) {
		log_setup("child", LOG_LEVEL_INFO, LOG_FORMAT_LOGFMT);
		fn();
		_exit(0);
	}
	(void)waitpid(pid, &status, 0);
	(void)capture_end();
	return status;
}

static void
die_of_bug(void)
{
	(void)signal(SIGABRT, SIG_DFL);
	ASSERT(1 + 1 == 3);
}

static void
die_of_need(void)
{
	fatal("cannot go on: %s", "no reason");
}

static void
test_assert_aborts_with_file_and_line(void **state)
{
	int status = status_of_child(die_of_bug);

	(void)state;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_non_null(strstr(capture.text, "msg=\"assertion failed\""));
	assert_non_null(strstr(capture.text, "test_log.c:"));
	assert_non_null(strstr(capture.text, "condition=\"1 + 1 == 3\""));
}

static void
test_fatal_exits_with_70(void **state)
{
	int status = status_of_child(die_of_need);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 70);
	assert_non_null(
	    strstr(capture.text, "level=error who=child msg=\"cannot go on: no reason\""));
}

static void
test_mem(void **state)
{
	(void)state;
	char *p = mem_strndup("hinny", 3);
	assert_string_equal(p, "hin");
	p = mem_realloc(p, 100);
	assert_string_equal(p, "hin");
	free(p);
	p = mem_strdup("");
	assert_string_equal(p, "");
	free(p);
	p = mem_zalloc(3);
	assert_memory_equal(p, "\0\0\0", 3);
	free(p);
}

int
main(void)
{
	UNIT_TABLE("format", formats, check_format);
	UNIT_CASE(test_plain);
	UNIT_CASE(test_levels);
	UNIT_CASE(test_long_records_are_cut);
	UNIT_CASE(test_a_full_pipe_loses_records_and_counts_them);
	UNIT_CASE(test_a_socket_never_blocks);
	UNIT_CASE(test_stderr_keeps_its_flags);
	UNIT_CASE(test_assert_aborts_with_file_and_line);
	UNIT_CASE(test_fatal_exits_with_70);
	UNIT_CASE(test_mem);
	return unit_run("log");
}
