/* What the options of the log component fill, and its text. */
#ifndef HINNY_TRANSPORTS_LOG_CONF_H
#define HINNY_TRANSPORTS_LOG_CONF_H

#include "core/base/buf.h"
#include "core/model/exchange.h"

#include <stdbool.h>
#include <stdint.h>

enum log_style { LOG_STYLE_DEFAULT, LOG_STYLE_TAB, LOG_STYLE_FIXED };

struct log_endpoint_conf {
	const char *logger;
	int level; /* enum route_log_level */
	const char *marker;
	bool plain, multiline;
	int64_t max_chars; /* 0: no bound */
	bool show_all, show_all_properties;
	bool show_id, show_route_group, show_route_id, show_pattern, show_properties,
	    show_variables, show_headers;
	bool show_body_type, show_body;
	bool show_exception, show_caught;
	bool skip_line_separator;
	/* accepted */
	bool show_streams, show_cached_streams, show_files, show_future, lazy_start, show_stack;
	bool mask;
	int style;                 /* enum log_style */
	int64_t group_size;        /* 0: a line for each message */
	int64_t group_interval_ms; /* 0: none */
	int64_t group_delay_ms;
	bool group_active_only;
};

#endif
