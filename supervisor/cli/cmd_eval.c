/*
 * hinny eval: the value of an expression for a message that is given on the command line, without a
 * broker. The expression is compiled as the body of a route of its own, so that it is read, and
 * refused, as in a route file. What another executable evaluates (xpath, jq) is asked of that one,
 * started for it.
 */
#include "supervisor/cli/cli.h"

#include "core/base/buf.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/config/config.h"
#include "core/lang/expression.h"
#include "supervisor/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BODY_MAX = 64 * 1024 * 1024 };

/* A route file with the expression, as JSON, which is YAML too. NULL: said. Malloc'ed. */
static char *
write_route(const char *language, const char *text)
{
	static const char pattern[] = "/hinny-eval-XXXXXX";
	const char *tmp = getenv("TMPDIR");
	struct buf name;

	buf_init(&name, 0);
	(void)buf_printf(&name, "%s%s", tmp != NULL && tmp[0] == '/' ? tmp : "/tmp", pattern);
	char *path = mem_strdup(buf_cstr(&name));
	buf_fini(&name);
	int fd = mkstemp(path);
	json_t *route = json_pack("[{s:{s:s,s:[{s:{s:s}}]}}]", "from", "uri", "direct:eval", "steps",
	    "setBody", language, text);
	if (fd == -1 || route == NULL || json_dumpfd(route, fd, 0) == -1) {
		cli_error("eval: cannot write \"%s\": %s", path,
		    route == NULL ? "the expression is no UTF-8" : strerror(errno));
		if (fd != -1)
			(void)unlink(path); /* it is the failure above that counts */
		free(path);
		path = NULL;
	}
	json_decref(route);
	if (fd != -1)
		(void)close(fd); /* bytes that are missing are found when it is read */
	return path;
}

/* What is wrong, without the place in a file that nobody has seen. */
static void
say_diagnostics(const struct diagnostics *ds, const char *language)
{
	for (size_t i = 0; i < ds->n; i++) {
		const char *text = ds->items[i].text, *colon = strstr(text, ": ");
		cli_error("eval: %s: %s", language, colon != NULL ? colon + 2 : text);
	}
}

static struct program *
compile(const struct cli_args *args, struct bundle **b, struct diagnostics *ds)
{
	char *path = write_route(args->rest[0], args->rest[1]), cwd[4096];

	*b = NULL;
	if (path == NULL)
		return NULL;
	const char *files[] = { path, NULL };
	struct bundle_options opt = { .route_files = files,
		.properties_file = "application.properties",
		.properties = args->properties,
		.cwd = getcwd(cwd, sizeof cwd),
		.run_mode = true };
	*b = bundle_read(&opt, ds);
	struct program *p = *b != NULL ? program_compile(*b, ds) : NULL;
	if (p == NULL || ds->n > 0)
		say_diagnostics(ds, args->rest[0]);
	(void)unlink(path); /* a temporary file */
	free(path);
	return p;
}

/* --body FILE; false: said. */
static bool
set_body(const struct cli_args *args, struct exchange *ex)
{
	struct buf b;
	ssize_t n = 1;

	if (args->body == NULL)
		return true;
	int fd = strcmp(args->body, "-") == 0 ? STDIN_FILENO
					      : open(args->body, O_RDONLY | O_CLOEXEC);
	if (fd == -1) {
		cli_error("eval: cannot open \"%s\": %s", args->body, strerror(errno));
		return false;
	}
	buf_init(&b, BODY_MAX);
	while (n != 0 && buf_reserve(&b, 65536) == HINNY_OK &&
	    ((n = read(fd, b.p + b.n, b.cap - b.n)) > 0 || (n == -1 && errno == EINTR)))
		b.n += n > 0 ? (size_t)n : 0;
	if (n != 0)
		cli_error("eval: cannot read \"%s\": %s", args->body,
		    n == -1 ? strerror(errno) : "it is too large");
	struct value v = value_str(arena_str(&ex->arena, (struct str){ b.p != NULL ? b.p : "", b.n }));
	v.flags = VALUE_INPUT;
	exchange_set_body(ex, v);
	buf_fini(&b);
	if (fd != STDIN_FILENO)
		(void)close(fd); /* read only */
	return n == 0;
}

static bool
set_headers(const struct cli_args *args, struct exchange *ex)
{
	for (size_t i = 0; i < args->headers_n; i++) {
		const char *eq = strchr(args->headers[i], '=');
		if (eq == NULL || eq == args->headers[i]) {
			cli_error(
			    "eval: --header: expected NAME=VALUE, got \"%s\"", args->headers[i]);
			return false;
		}
		struct str name = { args->headers[i], (size_t)(eq - args->headers[i]) };
		exchange_set_header(ex, name, value_str(str_of(eq + 1)));
	}
	return true;
}

static int
print_value(const struct cli_args *args, struct exchange *ex, const struct value *v)
{
	struct str text = value_is_null(v) ? STR_LIT("null") : value_text(&ex->arena, v);

	if (args->json) {
		const char *class = value_class(v);
		json_t *value =
		    value_is_null(v) ? json_null() : json_stringn_nocheck(text.p, text.n);
		json_t *o = json_pack("{s:o,s:s?}", "value", value, "type", class);
		if (o != NULL)
			cli_print_json(o);
		json_decref(o);
		return EXIT_SUCCESS;
	}
	(void)fwrite(text.p, 1, text.n, stdout);
	(void)fputc('\n', stdout);
	return fflush(stdout) == 0 ? EXIT_SUCCESS : CLI_FAILED;
}

/* What the owner said of a program that it refuses: the text alone. */
static void
say_refusal(const char *language, const char *text)
{
	const char *colon = strchr(text, '\n') != NULL ? strstr(text, ": ") : NULL;
	size_t skip = strlen(language);

	text = colon != NULL ? colon + 2 : text;
	if (strncmp(text, language, skip) == 0 && text[skip] == ':')
		text += skip + 2;
	cli_error("eval: %s: %.*s", language, (int)strcspn(text, "\n"), text);
}

/* One expression, or part, in its owner's executable; its outcome is found in a slot, as in a
 * broker. False: said. */
static bool
ask_owner(struct bundle *b, const struct program *p, const struct expression *e,
    struct exchange *ex, struct eval_slot *slot)
{
	struct check_question q = { .e = e, .ex = ex };
	char *said = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&said, &n);

	bool ok = to != NULL && check_evaluate(b, p, &q, to);
	if (to != NULL)
		(void)fclose(to); /* memory */
	if (!ok)
		say_refusal(e->language->name, said != NULL ? said : "out of memory\n");
	free(said);
	*slot = (struct eval_slot){ .e = e, .filled = true, .value = q.value };
	if (ok && q.exception != NULL) {
		int id = exception_find(str_of(q.exception));
		exchange_fail(ex, id >= 0 ? (enum exception_id)id : EXCEPTION_RUNTIME_CAMEL, "%s",
		    q.text);
		slot->exception = ex->exception;
		ex->exception = NULL;
	}
	return ok;
}

static bool
ask_owners(struct bundle *b, const struct program *p, const struct expression *e,
    struct exchange *ex)
{
	uint32_t n = e->parts_n + 1;

	ex->slots = arena_zalloc(&ex->arena, n * sizeof *ex->slots);
	for (uint32_t i = 0; i < n; i++) {
		const struct expression *part = i < e->parts_n ? e->parts[i] : e;
		if (part->owner != NULL && !ask_owner(b, p, part, ex, &ex->slots[ex->slots_n++]))
			return false;
	}
	return true;
}

static int
evaluate(const struct cli_args *args, struct bundle *b, const struct program *p)
{
	const struct expression *e = p->routes[0]->block.first->expr;
	struct exchange_pool pool;
	struct value v;
	int status = CLI_FAILED;

	exchange_pool_init(&pool, 1);
	struct exchange *ex = exchange_new(&pool);
	ex->from_route = ex->route = p->routes[0];
	if (!set_body(args, ex) || !set_headers(args, ex) || !ask_owners(b, p, e, ex))
		;
	else if (expression_eval(e, ex, &v) == EVAL_OK)
		status = print_value(args, ex, &v);
	else
		cli_error("eval: %s: %.*s", exception_class(ex->exception->id)->name,
		    STR_FMT(ex->exception->message));
	exchange_free(&pool, &ex);
	exchange_pool_fini(&pool);
	return status;
}

static int
run(const struct cli_args *args)
{
	struct diagnostics ds;
	struct bundle *b;
	int status = CLI_FAILED;

	if (language_find(str_of(args->rest[0])) == NULL) {
		cli_error("eval: \"%s\" is no language; hinny doc lists them", args->rest[0]);
		return CLI_FAILED;
	}
	log_set_level(LOG_LEVEL_ERROR);
	diagnostics_init(&ds);
	struct program *p = compile(args, &b, &ds);
	if (p != NULL) {
		status = evaluate(args, b, p);
		program_free(p);
	}
	if (b != NULL)
		bundle_free(b);
	diagnostics_fini(&ds);
	return status;
}

const struct cli_command cli_eval = {
	.name = "eval",
	.arguments = "LANGUAGE EXPRESSION",
	.help = "the value of an expression for a message",
	.options = "body header json property",
	.rest_min = 2,
	.rest_max = 2,
	.run = run,
};
