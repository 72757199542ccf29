/* Between the files of platform-http. */
#ifndef HINNY_HTTP_PLATFORM_HTTP_H
#define HINNY_HTTP_PLATFORM_HTTP_H

#include "transports/http/http.h"
#include "transports/http/http_state.h"

/* What the route table leads to. */
struct served {
	const struct route *route;
	const struct endpoint *ep;
};

/* The exchange of a request is done: its message is the answer. */
void platform_http_done(struct exchange *ex);

#endif
