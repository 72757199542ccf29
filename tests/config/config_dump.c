/*
 * For tests/config/run.sh: reads route files as `hinny check` does and prints the program, or what
 * is wrong. The program is also compiled from the saved bundle, as a worker does: it must be the
 * same.
 *
 *   config_dump [-c hinny.yaml] [--set KEY=VALUE] [--property K=V] [--properties FILE] [--copy]
 * FILE…
 */
#include "core/config/config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *
dump(const struct program *p)
{
	char *text;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (f == NULL)
		exit(2);
	program_dump(p, f);
	if (fclose(f) != 0)
		exit(2);
	return text;
}

/* As a worker would. */
static int
check_saved(const struct bundle *b, const char *expected)
{
	struct diagnostics ds;
	struct hinny_error err;
	struct bundle *loaded;
	int fd;

	if (bundle_save(b, &fd, &err) != HINNY_OK || bundle_load(fd, &loaded, &err) != HINNY_OK) {
		(void)fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	(void)close(fd);
	diagnostics_init(&ds);
	struct program *p = program_compile(loaded, &ds);
	char *text = p != NULL ? dump(p) : strdup("");
	int rc = strcmp(text, expected) == 0 ? 0 : 2;
	if (rc != 0)
		(void)fprintf(stderr, "the program of the saved bundle differs:\n%s", text);
	if (p == NULL)
		diagnostics_print(&ds, stderr);
	free(text);
	program_free(p);
	bundle_free(loaded);
	diagnostics_fini(&ds);
	return rc;
}

static int
copy_files(const struct program *p)
{
	char dir[] = "/tmp/hinny-dump-XXXXXX", command[64];
	struct diagnostics ds;

	diagnostics_init(&ds);
	if (mkdtemp(dir) == NULL)
		return 2;
	FILE *f = fopen(dir, "r"); /* a folder opens for reading */
	int rc = f == NULL ? 2 : bundle_copy_files(p, fileno(f), &ds) == HINNY_OK ? 0 : 1;
	diagnostics_print(&ds, stdout);
	diagnostics_fini(&ds);
	if (f != NULL)
		(void)fclose(f);
	(void)snprintf(command, sizeof command, "rm -rf %s", dir);
	return system(command) == 0 ? rc : 2;
}

static int
run(const struct bundle_options *opt, int copy)
{
	struct diagnostics ds;
	int rc = 1;

	diagnostics_init(&ds);
	struct bundle *b = bundle_read(opt, &ds);
	struct program *p = b != NULL ? program_compile(b, &ds) : NULL;
	diagnostics_print(&ds, stdout);
	if (p != NULL) {
		char *text = dump(p);
		rc = copy ? copy_files(p) : 0;
		if (rc == 0) {
			(void)fputs(text, stdout);
			rc = check_saved(b, text);
		}
		free(text);
	}
	program_free(p);
	bundle_free(b);
	diagnostics_fini(&ds);
	return rc;
}

int
main(int argc, char **argv)
{
	enum { MANY = 64 };
	const char *set[MANY] = { NULL }, *properties[MANY] = { NULL }, *files[MANY] = { NULL };
	struct bundle_options opt = { .set = set,
		.properties = properties,
		.route_files = files,
		.cwd = ".",
		.run_mode = true };
	size_t sets = 0, props = 0, n = 0;
	int copy = 0;

	for (int i = 1; i < argc && i < MANY; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";
		if (strcmp(argv[i], "--copy") == 0)
			copy = 1;
		else if (argv[i][0] != '-')
			files[n++] = argv[i];
		else if (i++ && strcmp(argv[i - 1], "-c") == 0)
			opt.config_file = value;
		else if (strcmp(argv[i - 1], "--set") == 0)
			set[sets++] = value;
		else if (strcmp(argv[i - 1], "--property") == 0)
			properties[props++] = value;
		else if (strcmp(argv[i - 1], "--properties") == 0)
			opt.properties_file = value;
	}
	return run(&opt, copy);
}
