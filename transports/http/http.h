/* The http worker: platform-http (server) and http (client). */
#ifndef HINNY_HTTP_HTTP_H
#define HINNY_HTTP_HTTP_H

#include "workers/component.h"
#include "workers/worker.h"

extern const struct component_ops platform_http_ops;
extern const struct component_ops http_ops;
extern const struct worker_kind http_kind;

#endif
