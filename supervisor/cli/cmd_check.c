/* hinny check: everything that would be said at start or in a refused reload, without starting anything but the owners in check mode. */
#include "supervisor/cli/cli.h"

#include "core/config/config.h"
#include "supervisor/check.h"

#include <stdlib.h>
#include <unistd.h>

static int
check_bundle(const struct bundle_options *opt, bool json)
{
	struct diagnostics ds;
	struct program *p = NULL;
	bool ok = false;

	diagnostics_init(&ds);
	struct bundle *b = bundle_read(opt, &ds);
	if (b != NULL)
		p = program_compile(b, &ds);
	if (ds.n > 0)
		diagnostics_print(&ds, stderr);
	if (p != NULL)
		ok = check_owners(b, p, stderr);
	if (ok && json)
		(void)printf("{\"ok\":true,\"routes\":%u}\n", (unsigned)p->routes_n); /* to whoever asked */
	else if (ok)
		(void)printf("ok: %u route%s\n", (unsigned)p->routes_n, p->routes_n == 1 ? "" : "s");
	else if (json)
		(void)printf("{\"ok\":false}\n");
	program_free(p);
	bundle_free(b);
	diagnostics_fini(&ds);
	return ok ? EXIT_SUCCESS : CLI_FAILED;
}

static int
run(const struct cli_args *args)
{
	char *cwd = getcwd(NULL, 0);
	struct bundle_options opt = {
		.config_file = args->config,
		.route_files = args->rest,
		.set = args->set,
		.properties = args->properties,
		.properties_file = "application.properties",
		.cwd = cwd != NULL ? cwd : "/",
		.run_mode = true,
	};

	if (args->rest_n == 0 && args->config == NULL) {
		cli_error("check: expected route files or folders, or --config FILE");
		free(cwd);
		return CLI_USAGE;
	}
	int status = check_bundle(&opt, args->json);
	free(cwd);
	return status;
}

const struct cli_command cli_check = {
	.name = "check",
	.arguments = "FILE|DIR…",
	.help = "check route files and hinny.yaml; exit status 1 when something is wrong",
	.options = "config set property json",
	.rest_max = SIZE_MAX,
	.run = run,
};
