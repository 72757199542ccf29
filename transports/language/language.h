/* The language component at run time, in every worker. */
#ifndef HINNY_TRANSPORTS_LANGUAGE_LANGUAGE_H
#define HINNY_TRANSPORTS_LANGUAGE_LANGUAGE_H

#include "workers/component.h"

extern const struct component_ops language_ops;

#endif
