/* Levels of routes (Camel's) and of the log (Hinny's). */
#ifndef HINNY_EIP_LOG_LEVEL_H
#define HINNY_EIP_LOG_LEVEL_H

#include "core/base/log.h"

#include <stdbool.h>

/* Hinny's level for an enum route_log_level; false when nothing is to be logged: OFF, or finer than
 * the log's level now. */
bool route_log_level(int route_level, enum log_level *out);

#endif
