/* hinnyd: the supervisor as a service. */
#include "supervisor/supervisor.h"

#include "core/base/mem.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { EXIT_USAGE = 2 };

static const char usage_text[] =
    "usage: hinnyd [-c FILE] [--dir RUN] [--set KEY=VALUE]... [--property NAME=VALUE]...\n"
    "              [--properties FILE]...\n"
    "\n"
    "  -c, --config FILE    hinny.yaml; default " HINNY_SYSCONFDIR_DEFAULT "/hinny.yaml\n"
    "      --dir RUN        run folder; default: run_dir of hinny.yaml\n"
    "      --set KEY=VALUE  any key of hinny.yaml, such as workers.http.instances=1\n"
    "      --properties F   a properties file; without it application.properties beside the "
    "routes\n"
    "      --property N=V   what {{N}} stands for\n"
    "  -V, --version\n"
    "  -h, --help\n"
    "\n"
    "SIGHUP reloads, SIGTERM finishes what is in flight and ends, a second one ends at once.\n";

static const struct option long_options[] = {
	{ "config", required_argument, NULL, 'c' },
	{ "dir", required_argument, NULL, 'd' },
	{ "set", required_argument, NULL, 's' },
	{ "properties", required_argument, NULL, 'f' },
	{ "property", required_argument, NULL, 'p' },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

struct arguments {
	struct supervisor_options opt;
	const char **set, **properties, **files; /* NULL-ended */
	size_t set_n, properties_n, files_n;
};

/* One option. Returns an exit status, or -1 to go on. */
static int
take_option(struct arguments *a, int option)
{
	switch (option) {
	case 'c':
		a->opt.bundle.config_file = optarg;
		return -1;
	case 'd':
		a->opt.run_dir = optarg;
		return -1;
	case 's':
		a->set[a->set_n++] = optarg;
		return -1;
	case 'f':
		a->files[a->files_n++] = optarg;
		return -1;
	case 'p':
		a->properties[a->properties_n++] = optarg;
		return -1;
	case 'V':
		(void)printf("hinnyd " HINNY_VERSION "\n"); /* to whoever asked */
		return EXIT_SUCCESS;
	case 'h':
		(void)fputs(usage_text, stdout);
		return EXIT_SUCCESS;
	default: /* getopt_long has said what is wrong */
		(void)fputs("try hinnyd --help\n", stderr);
		return EXIT_USAGE;
	}
}

int
main(int argc, char **argv)
{
	struct arguments a = {
		.opt.bundle.config_file = HINNY_SYSCONFDIR_DEFAULT "/hinny.yaml",
		.set = mem_zalloc(((size_t)argc + 1) * sizeof(char *)),
		.properties = mem_zalloc(((size_t)argc + 1) * sizeof(char *)),
		.files = mem_zalloc(((size_t)argc + 1) * sizeof(char *)),
	};
	int option, status = -1;

	while (status == -1 && (option = getopt_long(argc, argv, "c:hV", long_options, NULL)) != -1)
		status = take_option(&a, option);
	if (status == -1 && optind < argc) {
		(void)fprintf(stderr,
		    "hinnyd: unexpected argument \"%s\"; route files are named by routes: in "
		    "hinny.yaml, or given to hinny run\n",
		    argv[optind]);
		status = EXIT_USAGE;
	}
	char *cwd = getcwd(NULL, 0);
	a.opt.bundle.cwd = cwd != NULL ? cwd : "/";
	a.opt.bundle.set = a.set;
	a.opt.bundle.properties = a.properties;
	a.opt.bundle.properties_files = a.files;
	if (status == -1)
		status = supervisor_main(&a.opt);
	free(cwd);
	free(a.set);
	free(a.properties);
	free(a.files);
	return status;
}
