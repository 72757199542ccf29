/* Levels of routes and of the log. */
#include "core/eip/log_level.h"

#include "core/eip/on_exception.h"

bool
route_log_level(int route_level, enum log_level *out)
{
	static const enum log_level levels[] = {
		[ROUTE_LOG_TRACE] = LOG_LEVEL_DEBUG,
		[ROUTE_LOG_DEBUG] = LOG_LEVEL_DEBUG,
		[ROUTE_LOG_INFO] = LOG_LEVEL_INFO,
		[ROUTE_LOG_WARN] = LOG_LEVEL_WARNING,
		[ROUTE_LOG_ERROR] = LOG_LEVEL_ERROR,
	};
	if (route_level < 0 || route_level >= ROUTE_LOG_OFF)
		return false;
	*out = levels[route_level];
	return *out <= log_get_level();
}
