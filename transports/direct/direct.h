/* direct at run time. The engine runs a route that a direct endpoint names by itself; what is left
 * is an endpoint that no route consumes. */
#ifndef HINNY_TRANSPORTS_DIRECT_H
#define HINNY_TRANSPORTS_DIRECT_H

#include "workers/component.h"

extern const struct component_ops direct_ops;

#endif
