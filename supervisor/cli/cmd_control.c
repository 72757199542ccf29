/* reload, drain, stop, log-level: what the broker is told. */
#include "supervisor/cli/cli.h"

#include <stdlib.h>

static int
finish(const struct cli_args *args, json_t *result, const char *text)
{
	if (result == NULL)
		return CLI_FAILED;
	if (args->json)
		cli_print_json(result);
	else
		(void)printf("%s\n", text); /* to whoever asked */
	json_decref(result);
	return EXIT_SUCCESS;
}

/* -- reload -- */

static int
run_reload(const struct cli_args *args)
{
	json_t *result =
	    cli_result(args, json_pack("{s:s, s:b}", "command", "reload", "wait", args->wait));
	const char *text = json_string_value(json_object_get(result, "text"));
	const char *waits = json_string_value(json_object_get(result, "waits"));
	char line[256];

	(void)snprintf(line, sizeof line, "%s%s", waits != NULL ? "the reload waits: " : "",
	    waits != NULL      ? waits
		: text != NULL ? text
			       : "reloading");
	return finish(args, result, line);
}

const struct cli_command cli_reload = {
	.name = "reload",
	.arguments = "",
	.help = "read the configuration again; with --wait exit status 1 when it is refused",
	.options = "wait json dir socket",
	.run = run_reload,
};

/* -- drain -- */

static int
run_drain(const struct cli_args *args)
{
	return finish(args, cli_result(args, json_pack("{s:s}", "command", "drain")),
	    "draining; hinny reload brings it back");
}

const struct cli_command cli_drain = {
	.name = "drain",
	.arguments = "",
	.help = "take nothing new in and finish what is there; the broker stays",
	.options = "json dir socket",
	.run = run_drain,
};

/* -- stop: ends when the broker has ended -- */

static int
run_stop(const struct cli_args *args)
{
	struct cli_client cl;

	if (!cli_connect(args, &cl))
		return CLI_FAILED;
	json_t *answer = cli_ask(&cl, json_pack("{s:s, s:b}", "command", "stop", "now", args->now));
	if (answer != NULL && json_is_true(json_object_get(answer, "ok")))
		cli_wait_end(&cl);
	else if (answer != NULL)
		cli_error("%s", json_string_value(json_object_get(answer, "error")));
	int status = json_is_true(json_object_get(answer, "ok")) ? EXIT_SUCCESS : CLI_FAILED;
	if (status == EXIT_SUCCESS)
		(void)printf(
		    args->json ? "{\"stopped\":true}\n" : "stopped\n"); /* to whoever asked */
	json_decref(answer);
	cli_disconnect(&cl);
	return status;
}

const struct cli_command cli_stop = {
	.name = "stop",
	.arguments = "",
	.help = "finish what is in flight and end the broker; returns when it has ended",
	.options = "now json dir socket",
	.run = run_stop,
};

/* -- log-level -- */

static int
run_log_level(const struct cli_args *args)
{
	json_t *result = cli_result(
	    args, json_pack("{s:s, s:s}", "command", "log-level", "level", args->rest[0]));

	return finish(args, result, args->rest[0]);
}

const struct cli_command cli_log_level = {
	.name = "log-level",
	.arguments = "error|warning|info|debug",
	.help = "set what the supervisor and all workers log",
	.options = "json dir socket",
	.rest_min = 1,
	.rest_max = 1,
	.run = run_log_level,
};
