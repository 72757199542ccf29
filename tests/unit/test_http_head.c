/* transports/http/head: what is a message and what is refused. */
#include "transports/http/head.h"

#include "tests/lib/unit.h"

#include <stdio.h>
#include <string.h>

#define LINE "GET /a HTTP/1.1\r\n"
#define HOST "Host: x\r\n"

/* status 0: good. Each text is a whole head, or one whose line ends are wrong. */
static const struct request_row {
	const char *label, *text;
	int status;
	enum http_framing framing;
	uint64_t length;
	bool keep_alive;
} requests[] = {
	{ "plain", LINE HOST "\r\n", 0, HTTP_NO_BODY, 0, true },
	{ "close", LINE HOST "Connection: close\r\n\r\n", 0, HTTP_NO_BODY, 0, false },
	{ "close in a list", LINE HOST "Connection: x, CLOSE\r\n\r\n", 0, HTTP_NO_BODY, 0, false },
	{ "close in a second field", LINE HOST "Connection: x\r\nConnection: close\r\n\r\n", 0,
	    HTTP_NO_BODY, 0, false },
	{ "HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", 0, HTTP_NO_BODY, 0, false },
	{ "HTTP/1.0 keep-alive", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 0,
	    HTTP_NO_BODY, 0, true },
	{ "HTTP/1.2 is taken as 1.1", "GET / HTTP/1.2\r\n" HOST "\r\n", 0, HTTP_NO_BODY, 0, true },
	{ "length", "POST / HTTP/1.1\r\n" HOST "Content-Length: 12\r\n\r\n", 0, HTTP_LENGTH, 12,
	    true },
	{ "length 0", "POST / HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n", 0, HTTP_NO_BODY, 0,
	    true },
	{ "GET with a body", LINE HOST "Content-Length: 3\r\n\r\n", 0, HTTP_LENGTH, 3, true },
	{ "chunked", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n", 0,
	    HTTP_CHUNKED, 0, true },
	{ "Chunked", "POST / HTTP/1.1\r\n" HOST "transfer-encoding: Chunked \r\n\r\n", 0,
	    HTTP_CHUNKED, 0, true },
	{ "absolute target", "GET http://h:80/p?q HTTP/1.1\r\n" HOST "\r\n", 0, HTTP_NO_BODY, 0,
	    true },
	{ "OPTIONS *", "OPTIONS * HTTP/1.1\r\n" HOST "\r\n", 0, HTTP_NO_BODY, 0, true },
	{ "empty Host", LINE "Host:\r\n\r\n", 0, HTTP_NO_BODY, 0, true },
	{ "IPv6 Host", LINE "Host: [::1]:80\r\n\r\n", 0, HTTP_NO_BODY, 0, true },
	{ "port left out", LINE "Host: a:\r\n\r\n", 0, HTTP_NO_BODY, 0, true },
	{ "empty value", LINE HOST "X:\r\n\r\n", 0, HTTP_NO_BODY, 0, true },
	{ "bytes beyond ASCII in a value", LINE HOST "X: \xc3\xa9\r\n\r\n", 0, HTTP_NO_BODY, 0,
	    true },
	{ "tab in a value", LINE HOST "X: a\tb\r\n\r\n", 0, HTTP_NO_BODY, 0, true },
	/* smuggling */
	{ .label = "length and chunked",
	    .text = "POST / HTTP/1.1\r\n" HOST
		    "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
	    .status = 400 },
	{ .label = "chunked and length",
	    .text = "POST / HTTP/1.1\r\n" HOST
		    "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
	    .status = 400 },
	{ .label = "length twice, same",
	    .text = "POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\nContent-Length: 3\r\n\r\n",
	    .status = 400 },
	{ .label = "length twice, differing",
	    .text = "POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\nContent-Length: 4\r\n\r\n",
	    .status = 400 },
	{ .label = "length list",
	    .text = "POST / HTTP/1.1\r\n" HOST "Content-Length: 3, 3\r\n\r\n",
	    .status = 400 },
	{ .label = "length with sign",
	    .text = "POST / HTTP/1.1\r\n" HOST "Content-Length: +3\r\n\r\n",
	    .status = 400 },
	{ .label = "length negative",
	    .text = "POST / HTTP/1.1\r\n" HOST "Content-Length: -3\r\n\r\n",
	    .status = 400 },
	{ .label = "length hex",
	    .text = "POST / HTTP/1.1\r\n" HOST "Content-Length: 0x3\r\n\r\n",
	    .status = 400 },
	{ .label = "length empty",
	    .text = "POST / HTTP/1.1\r\n" HOST "Content-Length:\r\n\r\n",
	    .status = 400 },
	{ .label = "length too large",
	    .text = "POST / HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999\r\n\r\n",
	    .status = 400 },
	{ .label = "length with blank inside",
	    .text = "POST / HTTP/1.1\r\n" HOST "Content-Length: 1 2\r\n\r\n",
	    .status = 400 },
	{ .label = "identity",
	    .text = "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: identity\r\n\r\n",
	    .status = 400 },
	{ .label = "gzip, chunked",
	    .text = "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n",
	    .status = 400 },
	{ .label = "chunked, gzip",
	    .text = "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked, gzip\r\n\r\n",
	    .status = 400 },
	{ .label = "xchunked",
	    .text = "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: xchunked\r\n\r\n",
	    .status = 400 },
	{ .label = "chunked twice",
	    .text = "POST / HTTP/1.1\r\n" HOST
		    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
	    .status = 400 },
	{ .label = "chunked, chunked",
	    .text = "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked, chunked\r\n\r\n",
	    .status = 400 },
	{ .label = "coding with vertical tab",
	    .text = "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: \vchunked\r\n\r\n",
	    .status = 400 },
	{ .label = "coding in HTTP/1.0",
	    .text = "POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n",
	    .status = 400 },
	/* lines */
	{ .label = "folded line", .text = LINE HOST "X: a\r\n b\r\n\r\n", .status = 400 },
	{ .label = "folded with tab", .text = LINE HOST "X: a\r\n\tb\r\n\r\n", .status = 400 },
	{ .label = "folded behind nothing", .text = LINE HOST "X:\r\n b\r\n\r\n", .status = 400 },
	{ .label = "folded framing",
	    .text = "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding:\r\n chunked\r\n\r\n",
	    .status = 400 },
	{ .label = "folded blank line", .text = LINE HOST "X: a\r\n \r\n\r\n", .status = 400 },
	{ .label = "port of Host", .text = LINE "Host: a:b\r\n\r\n", .status = 400 },
	{ .label = "address without brackets", .text = LINE "Host: ::1\r\n\r\n", .status = 400 },
	{ .label = "bracket left open", .text = LINE "Host: [::1\r\n\r\n", .status = 400 },
	{ .label = "bracket and rest", .text = LINE "Host: [::1]x\r\n\r\n", .status = 400 },
	{ .label = "nothing in brackets", .text = LINE "Host: []\r\n\r\n", .status = 400 },
	{ .label = "authority with a bracket left open",
	    .text = "GET http://[::1/a HTTP/1.1\r\n" HOST "\r\n",
	    .status = 400 },
	{ .label = "folded first line", .text = LINE " X: a\r\n" HOST "\r\n", .status = 400 },
	{ .label = "blank before colon", .text = LINE HOST "X : a\r\n\r\n", .status = 400 },
	{ .label = "tab before colon", .text = LINE HOST "X\t: a\r\n\r\n", .status = 400 },
	{ .label = "blank before colon of length",
	    .text = "POST / HTTP/1.1\r\n" HOST "Content-Length : 3\r\n\r\n",
	    .status = 400 },
	{ .label = "blank in a name", .text = LINE HOST "X Y: a\r\n\r\n", .status = 400 },
	{ .label = "no colon", .text = LINE HOST "X\r\n\r\n", .status = 400 },
	{ .label = "empty name", .text = LINE HOST ": a\r\n\r\n", .status = 400 },
	{ .label = "control character in a name",
	    .text = LINE HOST "X\x01: a\r\n\r\n",
	    .status = 400 },
	{ .label = "control character in a value",
	    .text = LINE HOST "X: a\x01\r\n\r\n",
	    .status = 400 },
	{ .label = "DEL in a value", .text = LINE HOST "X: a\x7f\r\n\r\n", .status = 400 },
	{ .label = "byte beyond ASCII in a name",
	    .text = LINE HOST "X\xc3: a\r\n\r\n",
	    .status = 400 },
	/* request line */
	{ .label = "two blanks", .text = "GET  / HTTP/1.1\r\n" HOST "\r\n", .status = 400 },
	{ .label = "two blanks before the version",
	    .text = "GET /  HTTP/1.1\r\n" HOST "\r\n",
	    .status = 400 },
	{ .label = "blank at the end", .text = "GET / HTTP/1.1 \r\n" HOST "\r\n", .status = 400 },
	{ .label = "blank at the start", .text = " GET / HTTP/1.1\r\n" HOST "\r\n", .status = 400 },
	{ .label = "tab", .text = "GET\t/ HTTP/1.1\r\n" HOST "\r\n", .status = 400 },
	{ .label = "no target", .text = "GET HTTP/1.1\r\n" HOST "\r\n", .status = 400 },
	{ .label = "no version", .text = "GET /\r\n" HOST "\r\n", .status = 400 },
	{ .label = "unknown method", .text = "FOO / HTTP/1.1\r\n" HOST "\r\n", .status = 501 },
	{ .label = "small letters", .text = "get / HTTP/1.1\r\n" HOST "\r\n", .status = 501 },
	{ .label = "target without slash",
	    .text = "GET a HTTP/1.1\r\n" HOST "\r\n",
	    .status = 400 },
	{ .label = "target with fragment",
	    .text = "GET /a#b HTTP/1.1\r\n" HOST "\r\n",
	    .status = 400 },
	{ .label = "target beyond ASCII",
	    .text = "GET /\xc3\xa9 HTTP/1.1\r\n" HOST "\r\n",
	    .status = 400 },
	{ .label = "target with control character",
	    .text = "GET /\x01 HTTP/1.1\r\n" HOST "\r\n",
	    .status = 400 },
	{ .label = "star for GET", .text = "GET * HTTP/1.1\r\n" HOST "\r\n", .status = 400 },
	{ .label = "ftp target", .text = "GET ftp://h/ HTTP/1.1\r\n" HOST "\r\n", .status = 400 },
	{ .label = "absolute without host",
	    .text = "GET http:///p HTTP/1.1\r\n" HOST "\r\n",
	    .status = 400 },
	{ .label = "CONNECT", .text = "CONNECT h:80 HTTP/1.1\r\n" HOST "\r\n", .status = 501 },
	{ .label = "HTTP/2.0", .text = "GET / HTTP/2.0\r\n" HOST "\r\n", .status = 505 },
	{ .label = "HTTP/0.9", .text = "GET / HTTP/0.9\r\n" HOST "\r\n", .status = 400 },
	{ .label = "http small", .text = "GET / http/1.1\r\n" HOST "\r\n", .status = 400 },
	{ .label = "version with more digits",
	    .text = "GET / HTTP/1.10\r\n" HOST "\r\n",
	    .status = 400 },
	/* Host */
	{ .label = "no Host", .text = LINE "\r\n", .status = 400 },
	{ .label = "two Hosts", .text = LINE HOST HOST "\r\n", .status = 400 },
	{ .label = "Host with path", .text = LINE "Host: x/y\r\n\r\n", .status = 400 },
	{ .label = "Host with user", .text = LINE "Host: u@x\r\n\r\n", .status = 400 },
	{ .label = "Host with blank", .text = LINE "Host: x y\r\n\r\n", .status = 400 },
	/* Expect */
	{ .label = "other expectation", .text = LINE HOST "Expect: 200-ok\r\n\r\n", .status = 417 },
};

static struct http_head head;

static void
check_request(void **state)
{
	const struct request_row *r = *state;
	const char *why = NULL;
	size_t scanned = 0, n = strlen(r->text);

	enum http_scan scan = http_head_scan(r->text, n, &scanned);
	if (scan == HTTP_SCAN_DONE)
		assert_int_equal(scanned, n);
	int status = http_head_parse_request(&head, r->text, n, &why);
	if (scan == HTTP_SCAN_BAD)
		status = 400;
	assert_int_equal(status, r->status);
	if (status != 0) {
		assert_non_null(why);
		return;
	}
	assert_int_equal(head.framing, r->framing);
	assert_int_equal(head.length, r->length);
	assert_int_equal(head.keep_alive, r->keep_alive);
}

/* The end of the head: byte by byte as well as in one piece. */
static const struct scan_row {
	const char *label, *text;
	enum http_scan want;
	size_t at;
} scans[] = {
	{ "whole", "GET / HTTP/1.1\r\n\r\nrest", HTTP_SCAN_DONE, 18 },
	{ "with field", "a\r\nb\r\n\r\n", HTTP_SCAN_DONE, 8 },
	{ "not yet", "GET / HTTP/1.1\r\n", HTTP_SCAN_MORE, 0 },
	{ "half an end", "a\r\n\r", HTTP_SCAN_MORE, 0 },
	{ "bare line feed", "GET / HTTP/1.1\nHost: x\n\n", HTTP_SCAN_BAD, 0 },
	{ "bare line feed at the end", "a\r\nb\n\r\n", HTTP_SCAN_BAD, 0 },
	{ "bare carriage return", "a\rb\r\n\r\n", HTTP_SCAN_BAD, 0 },
	{ "blank at the start of a line", "a\r\nb:\r\n c\r\n\r\n", HTTP_SCAN_BAD, 0 },
	{ "two carriage returns", "a\r\r\n\r\n", HTTP_SCAN_BAD, 0 },
	{ "empty line at once", "\r\n", HTTP_SCAN_DONE, 2 },
};

static void
check_scan(void **state)
{
	const struct scan_row *r = *state;
	size_t n = strlen(r->text), scanned = 0;

	enum http_scan got = http_head_scan(r->text, n, &scanned);
	assert_int_equal(got, r->want);
	if (got == HTTP_SCAN_DONE)
		assert_int_equal(scanned, r->at);
	got = HTTP_SCAN_MORE;
	scanned = 0;
	for (size_t i = 1; i <= n && got == HTTP_SCAN_MORE; i++)
		got = http_head_scan(r->text, i, &scanned);
	assert_int_equal(got, r->want);
	if (got == HTTP_SCAN_DONE)
		assert_int_equal(scanned, r->at);
}

static const struct response_row {
	const char *label, *text;
	bool to_head, ok;
	int status;
	enum http_framing framing;
	uint64_t length;
	bool keep_alive;
	int64_t keep_alive_ms;
} responses[] = {
	{ "length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", false, true, 200, HTTP_LENGTH,
	    5, true, -1 },
	{ "no reason", "HTTP/1.1 200\r\nContent-Length: 5\r\n\r\n", false, true, 200, HTTP_LENGTH,
	    5, true, -1 },
	{ "until the end", "HTTP/1.1 200 OK\r\n\r\n", false, true, 200, HTTP_UNTIL_EOF, 0, false,
	    -1 },
	{ "chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", false, true, 200,
	    HTTP_CHUNKED, 0, true, -1 },
	{ "to HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", true, true, 200, HTTP_NO_BODY,
	    5, true, -1 },
	{ "204", "HTTP/1.1 204 No Content\r\n\r\n", false, true, 204, HTTP_NO_BODY, 0, true, -1 },
	{ "304 chunked", "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", false,
	    true, 304, HTTP_NO_BODY, 0, true, -1 },
	{ "100", "HTTP/1.1 100 Continue\r\n\r\n", false, true, 100, HTTP_NO_BODY, 0, true, -1 },
	{ "keep-alive timeout", "HTTP/1.1 204 x\r\nKeep-Alive: timeout=5, max=10\r\n\r\n", false,
	    true, 204, HTTP_NO_BODY, 0, true, 5000 },
	{ "close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n", false, true,
	    200, HTTP_LENGTH, 1, false, -1 },
	{ "HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n", false, true, 200, HTTP_LENGTH,
	    1, false, -1 },
	{ .label = "length and chunked",
	    .text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" },
	{ .label = "two lengths",
	    .text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n" },
	{ .label = "gzip coding", .text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n" },
	{ .label = "folded", .text = "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n" },
	{ .label = "folded behind nothing", .text = "HTTP/1.1 200 OK\r\nX:\r\n b\r\n\r\n" },
	{ .label = "no HTTP", .text = "SSH-2.0-x\r\n\r\n" },
	{ .label = "HTTP/2", .text = "HTTP/2.0 200 OK\r\n\r\n" },
	{ .label = "status of two digits", .text = "HTTP/1.1 20 OK\r\n\r\n" },
	{ .label = "status of four digits", .text = "HTTP/1.1 2000 OK\r\n\r\n" },
};

static void
check_response(void **state)
{
	const struct response_row *r = *state;
	const char *why = "";
	size_t scanned = 0, n = strlen(r->text);

	bool bad = http_head_scan(r->text, n, &scanned) == HTTP_SCAN_BAD;
	int rc = http_head_parse_response(&head, r->text, n, r->to_head, &why);
	assert_int_equal(rc == 0 && !bad, r->ok);
	if (!r->ok)
		return;
	assert_int_equal(head.status, r->status);
	assert_int_equal(head.framing, r->framing);
	assert_int_equal(head.length, r->length);
	assert_int_equal(head.keep_alive, r->keep_alive);
	assert_int_equal(head.keep_alive_ms, r->keep_alive_ms);
}

static void
assert_str(struct str s, const char *want)
{
	assert_int_equal(s.n, strlen(want));
	assert_memory_equal(s.p, want, s.n);
}

static void
test_slices(void **state)
{
	static const char text[] = "POST /p%20q?a=b?c HTTP/1.1\r\nHost: h:1\r\nX-A:  v w "
	                           "\t\r\nx-a:2\r\nContent-Type: t/u\r\n\r\n";
	const char *why;

	(void)state;
	assert_int_equal(http_head_parse_request(&head, text, sizeof text - 1, &why), 0);
	assert_str(head.method, "POST");
	assert_str(head.target, "/p%20q?a=b?c");
	assert_str(head.path, "/p%20q");
	assert_str(head.query, "a=b?c");
	assert_str(head.host, "h:1");
	assert_str(head.content_type, "t/u");
	assert_int_equal(head.fields_n, 4);
	assert_str(head.fields[1].name, "X-A");
	assert_str(head.fields[1].value, "v w");
	assert_str(head.fields[2].value, "2");
}

static void
test_absolute_target_names_the_host(void **state)
{
	static const char text[] = "GET http://real:81?q HTTP/1.1\r\nHost: other\r\n\r\n";
	const char *why;

	(void)state;
	assert_int_equal(http_head_parse_request(&head, text, sizeof text - 1, &why), 0);
	assert_str(head.host, "real:81");
	assert_str(head.path, "/");
	assert_str(head.query, "q");
}

static void
test_hop_fields(void **state)
{
	static const char text[] =
	    "GET / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, X-Trace-Hop\r\nX-Trace-Hop: 1\r\n"
	    "Keep-Alive: timeout=5\r\nTE: trailers\r\nX-Ok: 2\r\nConnection: Other\r\nother: "
	    "3\r\n\r\n";
	static const bool hop[] = { false, true, true, true, true, false, true, true };
	const char *why;

	(void)state;
	assert_int_equal(http_head_parse_request(&head, text, sizeof text - 1, &why), 0);
	assert_int_equal(head.fields_n, 8);
	for (unsigned i = 0; i < head.fields_n; i++)
		assert_int_equal(http_head_is_hop(&head, &head.fields[i]), hop[i]);
}

static void
test_many_fields_are_431(void **state)
{
	char text[8192];
	const char *why;
	int n = sprintf(text, LINE HOST);

	(void)state;
	for (int i = 0; i < HTTP_FIELDS_MAX - 1; i++)
		n += sprintf(text + n, "X: %d\r\n", i);
	int end = n + sprintf(text + n, "\r\n");
	assert_int_equal(http_head_parse_request(&head, text, (size_t)end, &why), 0);
	end = n + sprintf(text + n, "X: 1\r\n\r\n");
	assert_int_equal(http_head_parse_request(&head, text, (size_t)end, &why), 431);
}

static void
test_zero_byte_is_refused(void **state)
{
	static const char text[] = "GET / HTTP/1.1\r\nHost: h\r\nX: a\0b\r\n\r\n",
			  target[] = "GET /\0 HTTP/1.1\r\nHost: h\r\n\r\n";
	const char *why;

	(void)state;
	assert_int_equal(http_head_parse_request(&head, text, sizeof text - 1, &why), 400);
	assert_int_equal(http_head_parse_request(&head, target, sizeof target - 1, &why), 400);
}

int
main(void)
{
	UNIT_TABLE("request", requests, check_request);
	UNIT_TABLE("scan", scans, check_scan);
	UNIT_TABLE("response", responses, check_response);
	UNIT_CASE(test_slices);
	UNIT_CASE(test_absolute_target_names_the_host);
	UNIT_CASE(test_hop_fields);
	UNIT_CASE(test_many_fields_are_431);
	UNIT_CASE(test_zero_byte_is_refused);
	return unit_run("http_head");
}
