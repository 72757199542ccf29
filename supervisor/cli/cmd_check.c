/* hinny check: everything that would be said at start or in a refused reload, without starting
 * anything but the owners in check mode. */
#include "supervisor/cli/cli.h"

#include "core/base/buf.h"
#include "core/base/str.h"
#include "core/config/config.h"
#include "core/model/descriptor.h"
#include "core/model/program.h"
#include "supervisor/check.h"

#include <stdlib.h>
#include <unistd.h>

/* "file:12:5: text" as a diagnostic; false: it is no such line. */
static bool
add_line(struct diagnostics *ds, struct str line)
{
	struct position at = { 0 };
	int64_t number, column;

	for (size_t i = 0; i + 1 < line.n; i++) {
		struct str rest = { line.p + i + 1, line.n - i - 1 }, first, second;
		if (line.p[i] != ':' || !str_split(&rest, ':', &first) ||
		    !str_split(&rest, ':', &second) || !str_to_int64(first, &number) ||
		    !str_to_int64(second, &column) || number < 1 || column < 1)
			continue;
		at.file = arena_strndup(&ds->arena, line.p, i);
		at.line = (uint32_t)number;
		at.column = (uint32_t)column;
		rest = str_trim(rest);
		diagnostics_add(ds, at, false, "%.*s", STR_FMT(rest));
		return true;
	}
	return false;
}

/* What the owners said, in lines, with what was known before; the rest of it (that one has died) is
 * left in *rest. */
static void
merge(struct diagnostics *ds, const char *owners, struct buf *rest)
{
	struct str all = str_of(owners), line;

	while (str_split(&all, '\n', &line)) {
		if (line.n > 0 && !add_line(ds, line))
			(void)buf_printf(rest, "%.*s\n", STR_FMT(line));
	}
}

static void
add_lines(json_t *problems, const char *text)
{
	struct str rest = str_of(text), line;

	while (str_split(&rest, '\n', &line)) {
		json_t *o = line.n > 0
		    ? json_pack("{s:s%, s:b}", "text", line.p, line.n, "warning", 0)
		    : NULL;
		if (o != NULL)
			(void)json_array_append_new(problems, o); /* what is lost was printed too */
	}
}

static json_t *
problems_of(const struct diagnostics *ds, const char *owners)
{
	json_t *problems = json_array();

	for (size_t i = 0; i < ds->n; i++) {
		const struct diagnostic *d = &ds->items[i];
		(void)json_array_append_new(problems,
		    json_pack("{s:s?, s:i, s:i, s:s, s:b}", "file", d->at.file, "line",
			(int)d->at.line, "column", (int)d->at.column, "text", d->text, "warning",
			d->warning));
	}
	add_lines(problems, owners);
	return problems;
}

/* Where messages count as done before they are, so that a worker that dies takes them with it. */
static json_t *
notes_of(const struct program *p)
{
	json_t *notes = json_array();

	for (uint32_t i = 0; p != NULL && i < p->steps_n; i++) {
		const struct step *st = p->steps[i];
		bool sends = st->endpoint != NULL && !st->endpoint->consumer &&
		    (st->endpoint->component->flags & COMPONENT_TAKES) != 0;
		if (!sends && (st->eip->flags & EIP_TAKES) == 0)
			continue;
		(void)json_array_append_new(notes,
		    json_pack("{s:s, s:i, s:i, s:s+}", "file", st->at.file, "line",
			(int)st->at.line, "column", (int)st->at.column, "text",
			(st->eip->flags & EIP_TAKES) != 0 ? st->eip->name
							  : st->endpoint->component->scheme,
			": what it has taken counts as done and is in memory: reloads keep it, the "
			"end of its worker loses it, and this release has nothing durable in its "
			"place"));
	}
	return notes;
}

static void
print_notes(const json_t *notes)
{
	size_t i;
	json_t *note;

	json_array_foreach(notes, i, note)
	{
		const char *file, *text;
		int line, column;
		if (json_unpack(note, "{s:s, s:i, s:i, s:s}", "file", &file, "line", &line,
			"column", &column, "text", &text) == 0)
			(void)fprintf(stderr, "%s:%d:%d: note: %s\n", file, line, column, text);
	}
}

static void
print_result(const struct diagnostics *ds, const char *owners, bool ok, const struct program *p,
    bool as_json)
{
	int routes = p != NULL ? (int)p->routes_n : 0;
	json_t *notes = notes_of(p);

	if (as_json) {
		json_t *result = json_pack("{s:b, s:i, s:o, s:O}", "ok", ok, "routes", routes,
		    "problems", problems_of(ds, owners), "notes", notes);
		cli_print_json(result);
		json_decref(result);
	} else {
		if (ds->n > 0)
			diagnostics_print(ds, stderr);
		(void)fputs(owners, stderr); /* nobody to tell when that fails */
		print_notes(notes);
		if (ok)
			(void)printf("ok: %d route%s\n", routes, routes == 1 ? "" : "s");
	}
	json_decref(notes);
}

/* What the owners find in files that are wrong elsewhere. */
static void
check_rest(struct bundle *b, FILE *to)
{
	struct diagnostics said;

	diagnostics_init(&said);
	struct program *p = program_compile_partial(b, &said); /* all errors have been said */
	if (p->kinds != 0)
		(void)check_owners(b, p, to); /* it is wrong anyway */
	program_free(p);
	diagnostics_fini(&said);
}

static int
check_bundle(const struct bundle_options *opt, bool as_json)
{
	struct diagnostics ds;
	struct program *p = NULL;
	char *owners = NULL;
	size_t owners_n;
	struct buf rest;
	bool ok = false;
	FILE *to = open_memstream(&owners, &owners_n);

	if (to == NULL)
		abort();
	diagnostics_init(&ds);
	struct bundle *b = bundle_read(opt, &ds);
	if (b != NULL)
		p = program_compile(b, &ds);
	if (p != NULL)
		ok = check_owners(b, p, to);
	else if (b != NULL)
		check_rest(b, to);
	(void)fclose(to); /* into memory */
	buf_init(&rest, 0);
	merge(&ds, owners, &rest);
	print_result(&ds, buf_cstr(&rest), ok, p, as_json);
	buf_fini(&rest);
	free(owners);
	program_free(p);
	bundle_free(b);
	diagnostics_fini(&ds);
	return ok ? EXIT_SUCCESS : CLI_FAILED;
}

static int
run(const struct cli_args *args)
{
	char *cwd = getcwd(NULL, 0);
	bool as_service = args->rest_n == 0; /* hinny.yaml alone: what hinnyd would say of it */
	struct bundle_options opt = {
		.config_file = args->config,
		.route_files = args->rest,
		.set = args->set,
		.properties = args->properties,
		.kamelets = args->kamelets,
		.properties_files = args->properties_files,
		.properties_file = as_service ? NULL : "application.properties",
		.cwd = cwd != NULL ? cwd : "/",
		.run_mode = !as_service,
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
	.options = "config set property properties kamelets json",
	.rest_max = SIZE_MAX,
	.run = run,
};
