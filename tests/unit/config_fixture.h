/* For tests of core/config: a folder of files, diagnostics as text, a bundle and program of them.
 */
#ifndef HINNY_TESTS_CONFIG_FIXTURE_H
#define HINNY_TESTS_CONFIG_FIXTURE_H

#include "core/config/config.h"

#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A temporary folder. */
struct config_fixture {
	char dir[64];
	struct arena arena;
	struct diagnostics ds;
};

static inline void
fixture_init(struct config_fixture *fx)
{
	strcpy(fx->dir, "/tmp/hinny-config-XXXXXX");
	assert_non_null(mkdtemp(fx->dir));
	arena_init(&fx->arena);
	diagnostics_init(&fx->ds);
}

static inline void
fixture_fini(struct config_fixture *fx)
{
	char command[128];

	(void)snprintf(command, sizeof command, "rm -rf %s", fx->dir);
	assert_int_equal(system(command), 0);
	diagnostics_fini(&fx->ds);
	arena_fini(&fx->arena);
}

/* Writes dir/name, folders included. */
static inline void
fixture_file(struct config_fixture *fx, const char *name, const char *text)
{
	char *path = arena_printf(&fx->arena, "%s/%s", fx->dir, name);

	for (char *slash = strchr(path + strlen(fx->dir) + 1, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0755);
		*slash = '/';
	}
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static inline const char *
fixture_text(struct config_fixture *fx)
{
	return diagnostics_text(&fx->ds, &fx->arena);
}

static inline struct bundle *
fixture_read(struct config_fixture *fx, const char *const *route_files)
{
	struct bundle_options opt = { .route_files = route_files,
		.properties_file = "application.properties",
		.cwd = fx->dir,
		.run_mode = true };

	return bundle_read(&opt, &fx->ds);
}

/* One route file with this text; the program, or NULL with the diagnostics. The caller frees both.
 */
static inline struct program *
fixture_compile(struct config_fixture *fx, const char *text, struct bundle **b)
{
	static const char *const files[] = { "r.yaml", NULL };

	fixture_file(fx, "r.yaml", text);
	*b = fixture_read(fx, files);
	assert_non_null(*b);
	return program_compile(*b, &fx->ds);
}

#endif
