/* hinny trace: what exchanges do, step by step, as their workers tell it. */
#include "supervisor/cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static const char *
text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s != NULL ? s : "";
}

static void
print_headers(const json_t *line)
{
	const char *key, *sep = "    ";
	json_t *value;

	json_object_foreach(json_object_get(line, "headers"), key, value)
	{
		(void)printf("%s%s=%s", sep, key,
		    json_string_value(value) ? json_string_value(value) : "");
		sep = ", ";
	}
	if (*sep == ',')
		(void)printf("\n");
}

/* Line ends of a body would look like lines of the trace. */
static void
print_body(const json_t *line)
{
	const char *body = json_string_value(json_object_get(line, "body"));

	if (body == NULL)
		return;
	(void)printf("    ");
	for (; *body != '\0'; body++)
		(void)(*body == '\n' ? fputs("\\n", stdout) : fputc(*body, stdout));
	if (json_object_get(line, "body_length") != NULL)
		(void)printf("… (%lld bytes)",
		    (long long)json_integer_value(json_object_get(line, "body_length")));
	(void)printf("\n");
}

static void
print_line(const json_t *line)
{
	const char *event = text_of(line, "event"), *endpoint = text_of(line, "endpoint"),
		   *exception = text_of(line, "exception");
	double ms = (double)json_integer_value(json_object_get(line, "us")) / 1000;

	(void)printf("%s %-8s %10.3f ms  ", text_of(line, "exchange"), text_of(line, "worker"), ms);
	if (strcmp(event, "begin") == 0)
		(void)printf("%s from %s", text_of(line, "route"), text_of(line, "from"));
	else if (strcmp(event, "step") == 0)
		(void)printf("%s %s%s%s  %s:%lld", text_of(line, "route"), text_of(line, "step"),
		    endpoint[0] != '\0' ? " " : "", endpoint, text_of(line, "file"),
		    (long long)json_integer_value(json_object_get(line, "line")));
	else if (exception[0] != '\0')
		(void)printf("%s failed: %s: %s", text_of(line, "route"), exception,
		    text_of(line, "error"));
	else
		(void)printf("%s done", text_of(line, "route"));
	if (json_object_get(line, "try") != NULL)
		(void)printf("  (try %lld)",
		    (long long)json_integer_value(json_object_get(line, "try")));
	(void)printf("\n");
	print_headers(line);
	print_body(line);
	if (json_object_get(line, "dropped") != NULL)
		(void)printf("… %lld lines before this one were lost\n",
		    (long long)json_integer_value(json_object_get(line, "dropped")));
}

/* How many of the exchanges that have begun here have ended? Children have a parent. */
static bool
is_end(const json_t *line)
{
	return strcmp(text_of(line, "event"), "end") == 0 && json_object_get(line, "parent") == NULL;
}

static int
show(struct cli_client *cl, const struct cli_args *args)
{
	int64_t ended = 0;
	char *text;

	while ((args->count == 0 || ended < args->count) && (text = cli_read_line(cl)) != NULL) {
		json_error_t err;
		json_t *line = json_loads(text, 0, &err);
		if (json_object_get(line, "ok") != NULL && !json_is_true(json_object_get(line, "ok"))) {
			cli_error("%s", text_of(line, "error"));
			json_decref(line);
			free(text);
			return CLI_FAILED;
		}
		if (args->json)
			(void)printf("%s\n", text);
		else if (line != NULL)
			print_line(line);
		(void)fflush(stdout); /* whoever reads along */
		ended += is_end(line);
		json_decref(line);
		free(text);
	}
	if (args->count == 0 || ended < args->count)
		cli_error("trace: the workers have ended; trace again to see those that followed");
	return EXIT_SUCCESS;
}

static int
run(const struct cli_args *args)
{
	struct cli_client cl;

	if (!cli_connect(args, &cl))
		return CLI_FAILED;
	json_t *request = json_pack("{s:s, s:I, s:I, s:b}", "command", "trace", "every",
	    (json_int_t)(args->every > 0 ? args->every : 1), "count", (json_int_t)args->count,
	    "body", args->bodies);
	if (args->rest_n > 0)
		(void)json_object_set_new(request, "route", json_string(args->rest[0]));
	int status = cli_say(&cl, request) ? show(&cl, args) : CLI_FAILED;
	cli_disconnect(&cl);
	return status;
}

const struct cli_command cli_trace = {
	.name = "trace",
	.arguments = "[ROUTE]",
	.help = "what exchanges do, step by step",
	.options = "every count bodies json dir socket",
	.rest_max = 1,
	.run = run,
};
