/* hinny doc: reference text of a component, EIP, language or hinny.yaml, from the descriptors. */
#include "supervisor/cli/cli.h"

#include "core/config/doc.h"

#include <stdlib.h>

static int
run(const struct cli_args *args)
{
	const char *name = args->rest_n > 0 ? args->rest[0] : NULL;

	if (args->table) {
		doc_table(stdout);
		return EXIT_SUCCESS;
	}
	if (doc_print(stdout, name) == 0)
		return EXIT_SUCCESS;
	const char *near = doc_nearest(name);
	if (near != NULL)
		cli_error("doc: nothing is called \"%s\", did you mean \"%s\"?", name, near);
	else
		cli_error("doc: nothing is called \"%s\"; hinny doc lists what there is", name);
	return CLI_FAILED;
}

const struct cli_command cli_doc = {
	.name = "doc",
	.arguments = "[NAME]",
	.help = "a component, step, language, function, option, or hinny.yaml",
	.options = "table",
	.rest_max = 1,
	.run = run,
};
