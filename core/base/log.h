/*
 * One line a record to stderr: logfmt, JSON or plain. Levels: error = someone must act, warning =
 * someone may, info = state changed, debug = off. Nothing per message at info, no payloads, no
 * secrets (the `log` step prints what the route's author asked for). A record that cannot be
 * written at once (a full pipe) is counted and dropped, and the count is logged when writing works
 * again: a logger that blocks would stop the bus.
 */
#ifndef HINNY_BASE_LOG_H
#define HINNY_BASE_LOG_H

#include "core/base/error.h"

#include <stdbool.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };
enum log_format { LOG_FORMAT_LOGFMT, LOG_FORMAT_JSON, LOG_FORMAT_PLAIN };

/* The process's log settings are the one thing that is global: a failing assert needs them too. */
/* who: "hinnyd", "http.0" …; copied */
void log_setup(const char *who, enum log_level level, enum log_format format);
void log_set_level(enum log_level level);
enum log_level log_get_level(void);
bool log_level_parse(const char *name, enum log_level *out); /* error warning info debug */

/*
 * Fields follow as pairs of const char *, ended by NULL: log_kv(LOG_LEVEL_INFO, "worker ready",
 * "kind", "http", NULL). A field whose value is NULL is left out.
 */
void log_kv(enum log_level level, const char *msg, ...) __attribute__((sentinel));
/* As log_kv, but the plain format prints the message alone: for the `log` step. */
void log_text(enum log_level level, const char *msg, ...) __attribute__((sentinel));
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Logs and exits with status 70. For what cannot go on. */
_Noreturn void fatal(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
