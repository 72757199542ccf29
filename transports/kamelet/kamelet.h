/* kamelet at run time. The engine runs the route that an endpoint stands for by itself; what is
 * left is kamelet:sink where nobody waits behind it, and a name that came with a message. */
#ifndef HINNY_TRANSPORTS_KAMELET_H
#define HINNY_TRANSPORTS_KAMELET_H

#include "workers/component.h"

extern const struct component_ops kamelet_ops;

#endif
