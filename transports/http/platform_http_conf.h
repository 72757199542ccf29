/* The options of a platform-http endpoint as the compiler leaves them. Rows: platform_http_desc.c.
 */
#ifndef HINNY_HTTP_PLATFORM_HTTP_CONF_H
#define HINNY_HTTP_PLATFORM_HTTP_CONF_H

#include <stdbool.h>

struct platform_http_conf {
	const char *path;     /* "/users/{id}" */
	const char *methods;  /* "GET,POST"; NULL: all */
	const char *consumes; /* "text/plain,application/json"; NULL: all */
	const char *produces;
	bool prefix;
	bool mute_exception;
	bool populate_form;
	bool return_request_headers;
	bool use_streaming;
};

#endif
