/*
 * The broker that a test runs against: a supervisor of its own, in a process of its own, with its
 * workers, run folder and port. Blocking: there is nothing else to do.
 */
#ifndef HINNY_SUPERVISOR_CLI_TEST_RUN_H
#define HINNY_SUPERVISOR_CLI_TEST_RUN_H

#include "core/base/str.h"
#include "supervisor/cli/cli.h"
#include "supervisor/cli/test_file.h"

#include <sys/types.h>

struct test_broker {
	pid_t pid;
	char dir[64]; /* run folder */
	int log;      /* what it and its workers said, one JSON object a line */
	struct cli_args args; /* for the admin socket */
};

/* What one message came to. */
struct test_answer {
	bool ok;
	json_t *head; /* "exception", "error", "headers" */
	char *body;   /* as long as the answer lives */
	size_t body_n;
};

/* What the options of bundles are for this file; the texts live as long as it. */
struct bundle_options test_bundle_options(struct test_file *tf);
/* Starts it and waits until it serves. False: why is in *why (malloc'ed). */
bool test_broker_start(struct test_broker *tb, struct test_file *tf, char **why);
/* SIGTERM, and SIGKILL to whoever is left after ten seconds. The run folder goes. */
void test_broker_stop(struct test_broker *tb);
/* Sends one message; NULL: no answer came, why is in *why (malloc'ed). */
struct test_answer *test_broker_send(
    struct test_broker *tb, const struct test_send *s, char **why);
void test_answer_free(struct test_answer *a);
/* What the mocks have received, as the admin command "mocks" gives it; NULL: no answer. */
json_t *test_broker_mocks(struct test_broker *tb);
/* Is nothing under way in any worker? */
bool test_broker_is_quiet(struct test_broker *tb);
/* All that was logged so far. Malloc'ed. */
char *test_broker_log(struct test_broker *tb, size_t *n);

#endif
