/*
 * The command hinny: a table of commands, each a descriptor that names its options. Options are one
 * table for all commands (options.c), so that --dir is the same everywhere.
 */
#ifndef HINNY_SUPERVISOR_CLI_CLI_H
#define HINNY_SUPERVISOR_CLI_CLI_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Exit statuses beside 0. */
enum { CLI_FAILED = 1, CLI_USAGE = 2 };

/* What the options set. Lists are NULL-ended. */
struct cli_args {
	const char *config, *dir, *socket, *body, *junit;
	const char **set, **properties, **headers, **kamelets, **properties_files, **rest;
	size_t set_n, properties_n, headers_n, kamelets_n, properties_files_n, rest_n;
	int64_t port, every, count;
	bool bodies, json, table, wait, now, no_watch, help;
};

struct cli_command {
	const char *name;
	const char *arguments; /* for people: "[FILE|-]" */
	const char *help;      /* one line */
	const char *options;   /* names, apart by blanks */
	size_t rest_min, rest_max;
	int (*run)(const struct cli_args *args);
};

#define COMMAND(identifier) extern const struct cli_command cli_##identifier;
#include "supervisor/cli/commands.def"
#undef COMMAND

/* NULL-ended. */
extern const struct cli_command *const cli_commands[];

/* Parses what follows the command's name. 0, or an exit status (the fault has been said). */
int cli_parse(const struct cli_command *cmd, int argc, char **argv, struct cli_args *out);
void cli_args_free(struct cli_args *args);
/* Usage of a command with its options. */
void cli_print_usage(const struct cli_command *cmd, FILE *to);

/* hinny: text */
void cli_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* -- the admin socket -- */

struct cli_client {
	int fd;
	char *path;
	char *in; /* bytes read beyond the last line */
	size_t in_n, in_cap;
};
/* Finds the broker (--socket, --dir, $HINNY_DIR, the system's, or the only `hinny run` of this
 * user) and connects; false: said. */
bool cli_connect(const struct cli_args *args, struct cli_client *cl);
void cli_disconnect(struct cli_client *cl);
/* One request; the reference of `request` is taken. The whole answer, or NULL: said. */
json_t *cli_ask(struct cli_client *cl, json_t *request);
/* Connects, asks, and takes the result out: NULL when it failed (said; with --json as JSON on
 * stdout too). */
json_t *cli_result(const struct cli_args *args, json_t *request);
/* Sends a request without waiting for an answer; false: said. Takes the reference of `request`. */
bool cli_say(struct cli_client *cl, json_t *request);
/* The same of a question that a worker answers: NULL when it has not within a second (not said). */
json_t *cli_ask_worker(const struct cli_args *args, json_t *request);
/* Waits until the other side has closed. */
void cli_wait_end(struct cli_client *cl);
/* A line without its end, malloc'ed; NULL at the end. */
char *cli_read_line(struct cli_client *cl);

/* -- printing -- */

void cli_print_json(const json_t *value);
/* A table: columns are as wide as their widest text, numbers lie at the right. */
struct cli_table;
struct cli_table *cli_table_new(size_t columns, const char *const *titles);
void cli_table_add(struct cli_table *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3))); /* next cell */
void cli_table_print(const struct cli_table *t, FILE *to);
void cli_table_free(struct cli_table *t);
/* "3d 4h", "5m 12s", "1.5s", "80ms" */
const char *cli_duration(int64_t ms, char *buf, size_t size);
/* "12.5 MiB" */
const char *cli_bytes(int64_t bytes, char *buf, size_t size);

#endif
