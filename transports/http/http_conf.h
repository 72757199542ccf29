/* The options of an http endpoint as the compiler leaves them. Rows: http_desc.c. */
#ifndef HINNY_HTTP_HTTP_CONF_H
#define HINNY_HTTP_HTTP_CONF_H

#include "core/model/program.h"

#include <stdbool.h>
#include <stdint.h>

/* In the order of the descriptor's "values". */
enum http_method_option {
	HTTP_METHOD_UNSET,
	HTTP_METHOD_GET,
	HTTP_METHOD_POST,
	HTTP_METHOD_PUT,
	HTTP_METHOD_DELETE,
	HTTP_METHOD_HEAD,
	HTTP_METHOD_OPTIONS,
	HTTP_METHOD_TRACE,
	HTTP_METHOD_PATCH
};
enum http_auth_option { HTTP_AUTH_NONE, HTTP_AUTH_BASIC, HTTP_AUTH_BEARER };

struct http_conf {
	const char *uri; /* what stands behind "http:" without the query */
	bool bridge_endpoint;
	bool throw_on_failure;
	const char *ok_status; /* "200-299" or "200,204,300-399" */
	int method;            /* enum http_method_option */
	bool copy_headers;
	bool connection_close;
	bool preserve_host;
	const char *custom_host;
	const char *user_agent;
	bool get_with_body, delete_with_body;
	bool skip_request_headers, skip_response_headers, skip_control_headers;
	bool ignore_response_body;
	bool follow_redirects;
	int64_t connect_timeout, so_timeout, response_timeout,
	    connection_request_timeout; /* ms; 0: as hinny.yaml says */
	int auth_method;                /* enum http_auth_option */
	const char *auth_username, *auth_password, *auth_token;
	/* accepted with their default alone */
	bool disable_stream_cache, lazy_start, content_type_charset, clear_expired_cookies;
};

/* Is `status` in a list such as "200-299,304"? Items that are no numbers match nothing. */
bool http_status_in(const char *ranges, int status);
/* HINNY_EINVAL when it is no such list. */
enum hinny_rc http_status_check(const char *ranges, struct hinny_error *err);

#endif
