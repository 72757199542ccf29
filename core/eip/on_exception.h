/* What the options of onException and its redeliveryPolicy fill: the engine's error handler works
 * by them. */
#ifndef HINNY_EIP_ON_EXCEPTION_H
#define HINNY_EIP_ON_EXCEPTION_H

#include "core/model/descriptor.h"

#include <stdbool.h>
#include <stdint.h>

/* Levels of the log steps and options, in the order of LOG_LEVELS. */
#define LOG_LEVELS "TRACE|DEBUG|INFO|WARN|ERROR|OFF"
enum route_log_level {
	ROUTE_LOG_TRACE,
	ROUTE_LOG_DEBUG,
	ROUTE_LOG_INFO,
	ROUTE_LOG_WARN,
	ROUTE_LOG_ERROR,
	ROUTE_LOG_OFF
};

/* One piece of a delayPattern: from the redelivery `from` on, wait so long. */
struct delay_group {
	int64_t from, delay_ms;
};

struct redelivery_conf {
	int64_t maximum_redeliveries; /* -1: for ever */
	int64_t redelivery_delay_ms;
	bool exponential;
	double multiplier;
	int64_t maximum_delay_ms;
	bool collision_avoidance;
	double collision_factor;
	const char *delay_pattern;
	bool disable;
	int exhausted_level, retry_level; /* enum route_log_level */
	int64_t retry_log_interval;
	bool log_retry, log_handled, log_continued, log_exhausted, log_new;
	bool while_stopping; /* allowRedeliveryWhileStopping */
	bool log_history, log_body; /* accepted */
	bool log_stack, log_retry_stack; /* accepted: there is no stack */
	bool async_delayed;              /* accepted: waiting never holds a thread */
	/* from delay_pattern */
	struct delay_group *groups;
	size_t groups_n;
};

/* What holds where nothing is given. */
extern const struct redelivery_conf redelivery_default;

struct on_exception_conf {
	struct classes exception;
	struct expression *on_when, *retry_while, *handled, *continued;
	struct step *redelivery_policy; /* its conf is a struct redelivery_conf; NULL: the default,
	                                   no redelivery */
	bool use_original_message, use_original_body;
	/* of a deadLetterChannel, which is a handler for what no onException takes */
	bool dead_letter; /* its block sends the message there, and the exception is handled */
	bool handles_new; /* a failure to do so is handled too */
	const char *log_name; /* of an errorHandler: the logger of its lines; NULL: the route's id */
	int level;            /* accepted */
};

/* deadLetterChannel, defaultErrorHandler, noErrorHandler */
struct error_handler_kind_conf {
	struct on_exception_conf on; /* first: they are handlers like onException */
	struct endpoint *dead_letter_uri;
};

/* errorHandler: one is given */
struct error_handler_conf {
	struct step *dead_letter, *standard, *none;
};

#endif
