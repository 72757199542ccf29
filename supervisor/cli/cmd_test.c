/*
 * hinny test: unit tests of routes. Each test has a broker of its own, so that none sees what
 * another has left: the real supervisor and its workers, on the routes as they are but for what the
 * test file replaces in them.
 */
#include "supervisor/cli/cli.h"

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "supervisor/cli/test_check.h"
#include "supervisor/cli/test_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { QUIET_MS = 1000 };

static void
pause_ms(long ms)
{
	const struct timespec t = { .tv_nsec = ms * 1000000 };

	(void)nanosleep(&t, NULL);
}

/* ---- one test ---- */

static void
send_all(struct test_broker *tb, const struct test_case *tc, struct test_failures *f)
{
	for (const struct test_send *s = tc->sends; s != NULL; s = s->next) {
		for (int64_t i = 0; i < s->times; i++) {
			char *why = NULL;
			struct test_answer *a = test_broker_send(tb, s, &why);
			if (a != NULL)
				test_check_answer(s, a, f);
			else
				test_fail(f, s->at, "send: %s", why);
			test_answer_free(a);
			free(why);
		}
	}
}

/* What is not as expected now; empty: nothing. */
static void
look(struct test_broker *tb, const struct test_case *tc, struct test_failures *f)
{
	size_t log_n;
	char *log = test_broker_log(tb, &log_n);
	json_t *mocks = test_broker_mocks(tb);

	if (mocks == NULL)
		test_fail(f, tc->at, "the broker does not tell what its mocks have received");
	test_check_expects(tc, mocks, (struct str){ log, log_n }, f);
	json_decref(mocks);
	free(log);
}

static bool
is_fine(struct test_broker *tb, const struct test_case *tc)
{
	struct test_failures f;

	test_failures_init(&f);
	look(tb, tc, &f);
	bool fine = test_failures_text(&f)[0] == '\0';
	test_failures_fini(&f);
	return fine;
}

/* Nothing has been under way at two times, one after the other. */
static void
wait_quiet(struct test_broker *tb)
{
	struct monotime began = monotime_now();

	for (int quiet = 0; quiet < 2 && monotime_ms_between(began, monotime_now()) < QUIET_MS;) {
		quiet = test_broker_is_quiet(tb) ? quiet + 1 : 0;
		pause_ms(2);
	}
}

/* Until all is as expected, and stays so when everything has ended; or until time is up. */
static void
check_all(struct test_broker *tb, const struct test_case *tc, struct test_failures *f)
{
	struct monotime began = monotime_now();
	long wait = 1;

	if (tc->expects == NULL)
		return;
	while (!is_fine(tb, tc) && monotime_ms_between(began, monotime_now()) < tc->within_ms) {
		pause_ms(wait);
		wait = wait < 50 ? wait * 2 : 50;
	}
	wait_quiet(tb);
	look(tb, tc, f);
}

/* What failed, malloc'ed; NULL: nothing. */
static char *
run_case(struct test_file *tf, const struct test_case *tc)
{
	struct test_broker tb;
	struct test_failures f;
	char *why = NULL;

	test_failures_init(&f);
	if (test_broker_start(&tb, tf, &why)) {
		send_all(&tb, tc, &f);
		check_all(&tb, tc, &f);
	} else {
		test_fail(&f, tc->at, "the broker does not start: %s", why);
	}
	free(why);
	test_broker_stop(&tb);
	const char *text = test_failures_text(&f);
	char *failure = text[0] != '\0' ? mem_strdup(text) : NULL;
	test_failures_fini(&f);
	return failure;
}

/* ---- files ---- */

/* Are the routes right, with all that is replaced in them? Says what is wrong. */
static bool
check_routes(struct test_file *tf, struct diagnostics *ds)
{
	struct bundle_options opt = test_bundle_options(tf);
	struct bundle *b = bundle_read(&opt, ds);
	struct program *p = b != NULL ? program_compile(b, ds) : NULL;
	bool ok = p != NULL && ds->errors == 0;

	program_free(p);
	bundle_free(b);
	return ok;
}

/* NULL: it is wrong, which has been said. */
static struct test_file *
read_one(const char *name)
{
	struct diagnostics ds;

	diagnostics_init(&ds);
	struct test_file *tf = test_file_read(name, &ds);
	if (tf != NULL && !check_routes(tf, &ds)) {
		test_file_free(tf);
		tf = NULL;
	}
	if (ds.n > 0)
		diagnostics_print(&ds, stderr);
	diagnostics_fini(&ds);
	return tf;
}

static void
run_files(struct test_file *const *files, size_t n, struct test_report *rp)
{
	size_t tests = 0;

	for (size_t i = 0; i < n; i++)
		tests += files[i]->cases_n;
	test_report_begin(rp, tests);
	for (size_t i = 0; i < n; i++) {
		for (const struct test_case *tc = files[i]->cases; tc != NULL; tc = tc->next) {
			struct monotime began = monotime_now();
			char *failure = run_case(files[i], tc);
			test_report_add(rp, files[i]->file, tc->name, tc->at.line,
			    monotime_ms_between(began, monotime_now()), failure);
		}
	}
	test_report_end(rp);
}

static int
run(const struct cli_args *args)
{
	struct test_file **files = mem_zalloc((args->rest_n + 1) * sizeof(*files));
	struct test_report rp;
	int status = EXIT_SUCCESS;

	for (size_t i = 0; i < args->rest_n; i++) {
		files[i] = read_one(args->rest[i]);
		if (files[i] == NULL)
			status = CLI_USAGE;
	}
	if (status == EXIT_SUCCESS) {
		run_files(files, args->rest_n, &rp);
		if (rp.failed > 0)
			status = CLI_FAILED;
		if (args->junit != NULL && !test_report_junit(&rp, args->junit)) {
			cli_error("test: cannot write \"%s\": %s", args->junit, strerror(errno));
			status = CLI_FAILED;
		}
		test_report_fini(&rp);
	}
	for (size_t i = 0; i < args->rest_n; i++)
		test_file_free(files[i]);
	free(files);
	return status;
}

const struct cli_command cli_test = {
	.name = "test",
	.arguments = "FILE…",
	.help = "run tests of routes; TAP on the standard output",
	.options = "junit",
	.rest_min = 1,
	.rest_max = SIZE_MAX,
	.run = run,
};
