/* status, routes, workers, version: what the broker tells. */
#include "supervisor/cli/cli.h"

#include "core/base/clock.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 64 };

static const char *
text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s != NULL ? s : "-";
}

static long long
number_of(const json_t *o, const char *key)
{
	return (long long)json_integer_value(json_object_get(o, key));
}

static void
add_number(struct cli_table *t, const json_t *o, const char *key)
{
	if (json_is_null(json_object_get(o, key)))
		cli_table_add(t, "-");
	else
		cli_table_add(t, "%lld", number_of(o, key));
}

static void
finish_table(struct cli_table *t)
{
	cli_table_print(t, stdout);
	cli_table_free(t);
}

/* Asks and prints: as JSON, or by `print`. */
static int
show(const struct cli_args *args, const char *command, void (*print)(const json_t *result))
{
	json_t *result = cli_result(args, json_pack("{s:s}", "command", command));

	if (result == NULL)
		return CLI_FAILED;
	if (args->json)
		cli_print_json(result);
	else
		print(result);
	json_decref(result);
	return EXIT_SUCCESS;
}

/* -- workers -- */

static void
print_workers(const json_t *result)
{
	static const char *const titles[] = { "WORKER", "STATE", "GEN", "PID", "UP", "MEMORY",
		"IN FLIGHT", "CONNECTIONS", "REQUESTS", "CALLS", "DEATHS", "LAST WORDS" };
	struct cli_table *t = cli_table_new(sizeof titles / sizeof titles[0], titles);
	char up[TEXT_SIZE], memory[TEXT_SIZE];
	size_t i;
	json_t *w;

	json_array_foreach(json_object_get(result, "workers"), i, w)
	{
		bool alive = !json_is_null(json_object_get(w, "pid"));
		cli_table_add(t, "%s", text_of(w, "name"));
		cli_table_add(t, "%s", text_of(w, "state"));
		add_number(t, w, "generation");
		add_number(t, w, "pid");
		cli_table_add(
		    t, "%s", alive ? cli_duration(number_of(w, "uptime_ms"), up, sizeof up) : "-");
		cli_table_add(t, "%s",
		    alive ? cli_bytes(number_of(w, "resident_bytes"), memory, sizeof memory) : "-");
		add_number(t, w, "exchanges");
		add_number(t, w, "connections");
		add_number(t, w, "requests");
		add_number(t, w, "calls_done");
		add_number(t, w, "deaths");
		cli_table_add(t, "%s", text_of(w, "last_words"));
	}
	finish_table(t);
}

static int
run_workers(const struct cli_args *args)
{
	return show(args, "workers", print_workers);
}

const struct cli_command cli_workers = {
	.name = "workers",
	.arguments = "",
	.help = "the worker processes",
	.options = "json dir socket",
	.run = run_workers,
};

/* -- routes -- */

static void
print_routes(const json_t *result)
{
	static const char *const titles[] = { "ROUTE", "FROM", "HOME", "STARTED", "COMPLETED",
		"FAILED", "IN FLIGHT", "MEAN us", "P99 us" };
	struct cli_table *t = cli_table_new(sizeof titles / sizeof titles[0], titles);
	size_t i;
	json_t *r;

	json_array_foreach(json_object_get(result, "routes"), i, r)
	{
		cli_table_add(t, "%s", text_of(r, "id"));
		cli_table_add(t, "%s", text_of(r, "from"));
		cli_table_add(t, "%s", text_of(r, "home"));
		add_number(t, r, "started");
		add_number(t, r, "completed");
		add_number(t, r, "failed");
		add_number(t, r, "in_flight");
		add_number(t, r, "mean_us");
		add_number(t, r, "p99_us");
	}
	finish_table(t);
}

static int
run_routes(const struct cli_args *args)
{
	return show(args, "routes", print_routes);
}

const struct cli_command cli_routes = {
	.name = "routes",
	.arguments = "",
	.help = "the routes and their counters",
	.options = "json dir socket",
	.run = run_routes,
};

/* -- status -- */

static void
print_head(const json_t *s)
{
	char up[TEXT_SIZE];
	size_t i;
	json_t *at;

	(void)printf("hinny %s, %s, pid %lld, up %s, run folder %s\n", text_of(s, "version"),
	    text_of(s, "phase"), number_of(s, "pid"),
	    cli_duration(number_of(s, "uptime_ms"), up, sizeof up), text_of(s, "run_dir"));
	json_array_foreach(json_object_get(s, "listen"), i, at)(void)
	    printf("%s%s", i == 0 ? "listening on " : ", ", json_string_value(at));
	if (json_array_size(json_object_get(s, "listen")) > 0)
		(void)printf("\n");
}

static void
print_reload(const json_t *s)
{
	const json_t *r = json_object_get(s, "last_reload");
	char ago[TEXT_SIZE];

	if (json_is_true(json_object_get(s, "reload_waits")))
		(void)printf("a reload waits for old generations to drain\n");
	if (json_is_null(r))
		return;
	(void)printf("last reload %s ago: %s\n",
	    cli_duration(walltime_ms() - number_of(r, "at_ms"), ago, sizeof ago),
	    json_is_true(json_object_get(r, "ok")) ? "done" : "refused");
	if (json_is_string(json_object_get(r, "text")))
		(void)printf("%s\n", text_of(r, "text"));
}

static void
print_generations(const json_t *s)
{
	static const char *const titles[] = { "GENERATION", "STATE", "ROUTES", "WORKERS",
		"CONNECTIONS", "IN FLIGHT", "COMPLETED", "FAILED" };
	struct cli_table *t = cli_table_new(sizeof titles / sizeof titles[0], titles);
	size_t i;
	json_t *g;

	json_array_foreach(json_object_get(s, "generations"), i, g)
	{
		add_number(t, g, "number");
		cli_table_add(t, "%s", text_of(g, "state"));
		add_number(t, g, "routes");
		add_number(t, g, "workers");
		add_number(t, g, "connections");
		add_number(t, g, "in_flight");
		add_number(t, g, "completed");
		add_number(t, g, "failed");
	}
	finish_table(t);
}

static void
print_mocks(const json_t *s)
{
	static const char *const titles[] = { "MOCK", "RECEIVED", "KEPT" };
	const json_t *mocks = json_object_get(s, "mocks");
	size_t i;
	json_t *m;

	if (json_array_size(mocks) == 0)
		return;
	struct cli_table *t = cli_table_new(sizeof titles / sizeof titles[0], titles);
	json_array_foreach(mocks, i, m)
	{
		cli_table_add(t, "%s", text_of(m, "name"));
		add_number(t, m, "received");
		add_number(t, m, "kept");
	}
	(void)printf("\n");
	finish_table(t);
}

static void
print_sources(const json_t *s)
{
	static const char *const titles[] = { "ROUTE", "TOPIC", "PARTITION", "WORKER", "GEN", "NEXT",
		"COMMITTED", "END", "LAG", "IN FLIGHT" };
	const json_t *sources = json_object_get(s, "sources");
	size_t i;
	json_t *o;

	if (json_array_size(sources) == 0)
		return;
	struct cli_table *t = cli_table_new(sizeof titles / sizeof titles[0], titles);
	json_array_foreach(sources, i, o)
	{
		cli_table_add(t, "%s", text_of(o, "route"));
		cli_table_add(t, "%s", text_of(o, "topic"));
		add_number(t, o, "partition");
		cli_table_add(t, "%s", text_of(o, "worker"));
		add_number(t, o, "generation");
		add_number(t, o, "next");
		add_number(t, o, "committed");
		add_number(t, o, "end");
		add_number(t, o, "lag");
		add_number(t, o, "in_flight");
	}
	(void)printf("\n");
	finish_table(t);
}

static void
print_status(const json_t *s)
{
	print_head(s);
	print_reload(s);
	(void)printf("\n");
	print_generations(s);
	(void)printf("\n");
	print_workers(s);
	print_mocks(s);
	print_sources(s);
}

/* The broker knows all but the mocks, which a worker is asked for. One that does not answer keeps
 * nobody from the rest. */
static int
run_status(const struct cli_args *args)
{
	json_t *result = cli_result(args, json_pack("{s:s}", "command", "status"));

	if (result == NULL)
		return CLI_FAILED;
	json_t *mocks = cli_ask_worker(args, json_pack("{s:s}", "command", "mocks"));
	if (mocks != NULL)
		(void)json_object_update(result, mocks); /* what is not there is not shown */
	if (args->json)
		cli_print_json(result);
	else
		print_status(result);
	json_decref(mocks);
	json_decref(result);
	return EXIT_SUCCESS;
}

const struct cli_command cli_status = {
	.name = "status",
	.arguments = "",
	.help = "what the broker is doing",
	.options = "json dir socket",
	.run = run_status,
};

/* -- version: of this command; with --dir or --socket of that broker too -- */

static int
run_version(const struct cli_args *args)
{
	bool ask = args->dir != NULL || args->socket != NULL;
	json_t *result =
	    ask ? cli_result(args, json_pack("{s:s}", "command", "version")) : json_object();

	if (result == NULL)
		return CLI_FAILED;
	const char *broker = json_string_value(json_object_get(result, "version"));
	if (args->json && ask)
		(void)printf("{\"version\":\"" HINNY_VERSION "\",\"broker\":\"%s\"}\n", broker);
	else if (args->json)
		(void)printf("{\"version\":\"" HINNY_VERSION "\"}\n");
	else
		(void)printf("hinny " HINNY_VERSION "\n");
	if (!args->json && ask)
		(void)printf("broker %s\n", broker);
	json_decref(result);
	return EXIT_SUCCESS;
}

const struct cli_command cli_version = {
	.name = "version",
	.arguments = "",
	.help = "version of this command, and of the broker that --dir or --socket names",
	.options = "json dir socket",
	.run = run_version,
};
