/* hinny run: the supervisor in the foreground on the route files given, in this process. */
#include "supervisor/cli/cli.h"

#include "supervisor/supervisor.h"

#include <stdlib.h>
#include <unistd.h>

static int
run(const struct cli_args *args)
{
	char *cwd = getcwd(NULL, 0);
	struct supervisor_options opt = {
		.bundle = {
			.config_file = args->config,
			.route_files = args->rest,
			.set = args->set,
			.properties = args->properties,
			.kamelets = args->kamelets,
			.properties_files = args->properties_files,
			.properties_file = "application.properties",
			.cwd = cwd != NULL ? cwd : "/",
			.run_mode = true,
			.port = args->port,
		},
		.run_dir = args->dir,
		.foreground = true,
		.watch = !args->no_watch,
	};

	if (args->rest_n == 0 && args->config == NULL) {
		cli_error("run: expected route files, or --config with routes in it");
		free(cwd);
		return CLI_USAGE;
	}
	int status = supervisor_main(&opt);
	free(cwd);
	return status;
}

const struct cli_command cli_run = {
	.name = "run",
	.arguments = "FILE…",
	.help = "run route files in the foreground",
	.options = "config set port property properties kamelets dir no-watch",
	.rest_max = SIZE_MAX,
	.run = run,
};
