/* hinny: finds the command, parses its options, runs it. */
#include "supervisor/cli/cli.h"

#include "core/base/assert.h"
#include "core/base/str.h"

#include <stdlib.h>
#include <string.h>

const struct cli_command *const cli_commands[] = {
#define COMMAND(identifier) &cli_##identifier,
#include "supervisor/cli/commands.def"
#undef COMMAND
	NULL,
};

static const struct cli_command *
find_command(const char *name)
{
	for (size_t i = 0; cli_commands[i] != NULL; i++) {
		if (strcmp(cli_commands[i]->name, name) == 0)
			return cli_commands[i];
	}
	return NULL;
}

static const char *
nearest_command(const char *name)
{
	const char *names[ARRAY_LEN(cli_commands)];

	for (size_t i = 0; i < ARRAY_LEN(cli_commands); i++)
		names[i] = cli_commands[i] != NULL ? cli_commands[i]->name : NULL;
	return str_nearest(str_of(name), names);
}

static void
print_commands(FILE *to)
{
	(void)fputs("usage: hinny COMMAND [options]\n\n", to);
	for (size_t i = 0; cli_commands[i] != NULL; i++)
		(void)fprintf(to, "  %-10s %s\n", cli_commands[i]->name, cli_commands[i]->help);
	(void)fputs(
	    "\nhinny COMMAND --help has the options of each. hinny(1) is the manual.\n", to);
}

static int
run_help(const struct cli_args *args)
{
	if (args->rest_n == 0) {
		print_commands(stdout);
		return EXIT_SUCCESS;
	}
	const struct cli_command *cmd = find_command(args->rest[0]);
	if (cmd == NULL) {
		cli_error("unknown command \"%s\"", args->rest[0]);
		return CLI_USAGE;
	}
	cli_print_usage(cmd, stdout);
	return EXIT_SUCCESS;
}

const struct cli_command cli_help = {
	.name = "help",
	.arguments = "[COMMAND]",
	.help = "this list, or the options of a command",
	.options = "",
	.rest_max = 1,
	.run = run_help,
};

static int
unknown_command(const char *name)
{
	const char *near = nearest_command(name);

	if (near != NULL)
		cli_error("unknown command \"%s\", did you mean \"%s\"?", name, near);
	else
		cli_error("unknown command \"%s\"; hinny help lists them", name);
	return CLI_USAGE;
}

static int
run_command(const struct cli_command *cmd, int argc, char **argv)
{
	struct cli_args args = { 0 };
	int status = cli_parse(cmd, argc, argv, &args);

	if (status == 0 && args.help)
		cli_print_usage(cmd, stdout);
	else if (status == 0)
		status = cmd->run(&args);
	cli_args_free(&args);
	return status;
}

int
main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	if (name == NULL) {
		print_commands(stderr);
		return CLI_USAGE;
	}
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		name = "help";
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		name = "version";
	const struct cli_command *cmd = find_command(name);
	if (cmd == NULL)
		return unknown_command(name);
	return run_command(cmd, argc - 2, argv + 2);
}
