/*
 * The head of an HTTP/1 message: found in a buffer, parsed, and held against RFC 9112 and 9110
 * before anything believes it.
 *
 * http_parser tells fields apart; what it lets pass is refused here: bare CR or LF, folded lines, a
 * blank before the colon, blanks too many in the request line, control characters, a Content-Length
 * that is no number or comes twice or beside Transfer-Encoding, codings other than chunked, a
 * missing or second Host. All slices lie in the parsed bytes.
 */
#ifndef HINNY_HTTP_HEAD_H
#define HINNY_HTTP_HEAD_H

#include "core/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTTP_FIELDS_MAX = 200, HTTP_TARGET_MAX = 16 * 1024 };

/* Names that the engine itself acts on; HTTP_FIELD_OTHER: all others. */
enum http_field_id {
	HTTP_FIELD_OTHER,
	HTTP_FIELD_CONNECTION,
	HTTP_FIELD_CONTENT_LENGTH,
	HTTP_FIELD_CONTENT_TYPE,
	HTTP_FIELD_EXPECT,
	HTTP_FIELD_HOST,
	HTTP_FIELD_KEEP_ALIVE,
	HTTP_FIELD_TE,
	HTTP_FIELD_TRAILER,
	HTTP_FIELD_TRANSFER_ENCODING,
	HTTP_FIELD_UPGRADE,
	HTTP_FIELD_PROXY_CONNECTION,
};

struct http_field {
	struct str name, value;
	enum http_field_id id;
};

enum http_framing {
	HTTP_NO_BODY,
	HTTP_LENGTH, /* head.length bytes follow */
	HTTP_CHUNKED,
	HTTP_UNTIL_EOF, /* answers only */
};

struct http_head {
	struct http_field fields[HTTP_FIELDS_MAX];
	unsigned fields_n;
	bool response;
	unsigned minor;  /* HTTP/1.minor: 0 or 1 */
	bool keep_alive; /* as version and Connection say */
	enum http_framing framing;
	uint64_t length;         /* HTTP_LENGTH */
	struct str content_type; /* n 0: none */
	struct str connection;   /* of the only Connection field, or the fields' values are to be
	                            looked through: see http_head_is_hop */
	unsigned connections_n;
	/* request */
	struct str method, target, path, query; /* query without "?"; p NULL: there is no "?" */
	struct str host;
	bool expect_continue;
	bool empty_body; /* Content-Length: 0 */
	/* response */
	int status;
	struct str reason;
	int64_t keep_alive_ms; /* Keep-Alive: timeout=N; -1: not given */
};

/* Looks for the end of a head. State is kept in *scanned (0 at the start), so that no byte is
 * looked at twice. */
enum http_scan {
	HTTP_SCAN_MORE, /* not there yet */
	HTTP_SCAN_DONE, /* *scanned is the head's length, the empty line included */
	HTTP_SCAN_BAD /* a line feed without carriage return, or a carriage return without line feed
	               */
};
enum http_scan http_head_scan(const char *p, size_t n, size_t *scanned);

/*
 * Parses a whole head of n bytes, as http_head_scan has found it. Returns 0, or the status to
 * refuse a request with: 400, 414 (target), 417 (Expect), 431 (too many fields), 501 (method
 * CONNECT), 505 (version); for an answer any nonzero result means that it cannot be understood.
 * *why is a text for the log.
 */
int http_head_parse_request(struct http_head *h, const char *p, size_t n, const char **why);
/* `to_head`: the request was HEAD, so there is no body whatever the head says. */
int http_head_parse_response(
    struct http_head *h, const char *p, size_t n, bool to_head, const char **why);

/* Does the field belong to this one connection (RFC 9110 7.6.1): Connection itself, what it names,
 * Keep-Alive, TE, Transfer-Encoding …? */
bool http_head_is_hop(const struct http_head *h, const struct http_field *f);

/* Is `item` one of the elements of a comma-separated list (without letter case)? */
bool http_list_has(struct str list, struct str item);
bool http_is_token(struct str s);  /* RFC 9110 5.6.2; not empty */
bool http_is_target(struct str s); /* may stand in a request line as it is */
bool http_is_value(struct str s);  /* may stand as a field's value: no control characters but tab */

#endif
