/* Options: one table for all commands. --name VALUE, --name=VALUE, -n VALUE; "--" ends them; they
 * may stand behind other arguments. */
#include "supervisor/cli/cli.h"

#include "core/base/assert.h"
#include "core/base/mem.h"
#include "core/base/str.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum option_type { OPTION_FLAG, OPTION_TEXT, OPTION_LIST, OPTION_PORT, OPTION_NUMBER };

static const struct option_row {
	const char *name;
	char letter;
	uint8_t type;
	uint16_t offset, count; /* in struct cli_args */
	const char *value;
	const char *help;
} options[] = {
#define FLAG(name, letter, member, help)                                                           \
	{                                                                                          \
		name, letter, OPTION_FLAG, offsetof(struct cli_args, member), 0, NULL, help        \
	}
#define TEXT(name, letter, member, value, help)                                                    \
	{                                                                                          \
		name, letter, OPTION_TEXT, offsetof(struct cli_args, member), 0, value, help       \
	}
#define LIST(name, letter, member, value, help)                                                    \
	{                                                                                          \
		name, letter, OPTION_LIST, offsetof(struct cli_args, member),                      \
		    offsetof(struct cli_args, member##_n), value, help                             \
	}
	TEXT("body", 'b', body, "FILE", "the body of the message; - is the standard input"),
	FLAG("bodies", 0, bodies, "show headers and bodies too"),
	TEXT("config", 'c', config, "FILE", "hinny.yaml"),
	{ "count", 'n', OPTION_NUMBER, offsetof(struct cli_args, count), 0, "N",
	    "end after so many exchanges" },
	TEXT("dir", 0, dir, "RUN", "run folder of the broker"),
	{ "every", 0, OPTION_NUMBER, offsetof(struct cli_args, every), 0, "N",
	    "one exchange of so many" },
	LIST("header", 'H', headers, "NAME=VALUE", "a header of the message"),
	FLAG("help", 'h', help, "this text"),
	FLAG("json", 0, json, "print JSON"),
	TEXT("junit", 0, junit, "FILE", "write the results as JUnit XML too"),
	LIST("kamelets", 'k', kamelets, "DIR", "a folder of Kamelets"),
	FLAG("no-watch", 0, no_watch, "do not reload when a file has changed"),
	FLAG("now", 0, now, "at once, whatever is in flight"),
	{ "port", 'p', OPTION_PORT, offsetof(struct cli_args, port), 0, "N",
	    "listen on 127.0.0.1:N" },
	LIST("properties", 0, properties_files, "FILE",
	    "a properties file; without it application.properties beside the route files"),
	LIST("property", 'P', properties, "NAME=VALUE", "what {{NAME}} stands for"),
	LIST("set", 's', set, "KEY=VALUE",
	    "any key of hinny.yaml, such as workers.http.instances=1"),
	TEXT("socket", 0, socket, "PATH", "admin socket of the broker"),
	FLAG("table", 0, table, "all of the YAML DSL as a table in Markdown"),
	FLAG("wait", 'w', wait, "until the new generation serves or is refused"),
#undef FLAG
#undef TEXT
#undef LIST
};

void
cli_error(const char *fmt, ...)
{
	va_list ap;

	(void)fputs("hinny: ", stderr); /* nobody to tell when that fails */
	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void)fputc('\n', stderr);
}

static bool
takes(const struct cli_command *cmd, const char *name)
{
	struct str rest = str_of(cmd->options), item;

	if (strcmp(name, "help") == 0)
		return true;
	while (str_split(&rest, ' ', &item)) {
		if (str_eq(item, str_of(name)))
			return true;
	}
	return false;
}

static const struct option_row *
find_option(const struct cli_command *cmd, struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		if (str_eq(name, str_of(options[i].name)) && takes(cmd, options[i].name))
			return &options[i];
	}
	return NULL;
}

static const struct option_row *
find_letter(const struct cli_command *cmd, char letter)
{
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		if (options[i].letter == letter && takes(cmd, options[i].name))
			return &options[i];
	}
	return NULL;
}

static int
unknown_option(const struct cli_command *cmd, const char *text, struct str name)
{
	const char *names[ARRAY_LEN(options) + 1];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		if (takes(cmd, options[i].name))
			names[n++] = options[i].name;
	}
	names[n] = NULL;
	const char *near = str_nearest(name, names);
	if (near != NULL)
		cli_error(
		    "%s: unknown option \"%s\", did you mean \"--%s\"?", cmd->name, text, near);
	else
		cli_error("%s: unknown option \"%s\"; hinny %s --help lists them", cmd->name, text,
		    cmd->name);
	return CLI_USAGE;
}

static int
set_option(const struct cli_command *cmd, const struct option_row *o, const char *value,
    struct cli_args *out)
{
	char *at = (char *)out + o->offset;
	int64_t port;

	switch (o->type) {
	case OPTION_FLAG:
		*(bool *)(void *)at = true;
		return 0;
	case OPTION_TEXT:
		*(const char **)(void *)at = value;
		return 0;
	case OPTION_LIST:
		(*(const char ***)(void *)at)[(*(size_t *)(void *)((char *)out + o->count))++] =
		    value;
		return 0;
	case OPTION_PORT:
		if (!str_to_int64(str_of(value), &port) || port < 1 || port > 65535) {
			cli_error("%s: --%s: expected a port from 1 to 65535, got \"%s\"",
			    cmd->name, o->name, value);
			return CLI_USAGE;
		}
		out->port = port;
		return 0;
	case OPTION_NUMBER:
		if (!str_to_int64(str_of(value), (int64_t *)(void *)at) ||
		    *(int64_t *)(void *)at < 1 || *(int64_t *)(void *)at > UINT32_MAX) {
			cli_error("%s: --%s: expected a whole number from 1 on, got \"%s\"",
			    cmd->name, o->name, value);
			return CLI_USAGE;
		}
		return 0;
	}
	UNREACHABLE();
}

/* argv[*i] is an option; moves *i over its value. */
static int
parse_option(const struct cli_command *cmd, int argc, char **argv, int *i, struct cli_args *out)
{
	const char *text = argv[*i], *value = NULL;
	bool is_long = text[1] == '-';
	struct str name = str_of(text + 2);
	const struct option_row *o;

	if (is_long && memchr(name.p, '=', name.n) != NULL) {
		value = strchr(name.p, '=') + 1;
		name.n = (size_t)(value - 1 - name.p);
	}
	o = is_long ? find_option(cmd, name) : find_letter(cmd, text[1]);
	if (!is_long && text[2] != '\0')
		value = text + 2;
	if (o == NULL)
		return unknown_option(cmd, text, is_long ? name : str_of(text + 1));
	if (o->type == OPTION_FLAG && value != NULL) {
		cli_error("%s: option --%s takes no value", cmd->name, o->name);
		return CLI_USAGE;
	}
	if (o->type != OPTION_FLAG && value == NULL) {
		if (*i + 1 >= argc) {
			cli_error("%s: option --%s needs a value: --%s %s", cmd->name, o->name,
			    o->name, o->value);
			return CLI_USAGE;
		}
		value = argv[++*i];
	}
	return set_option(cmd, o, value, out);
}

static int
check_rest(const struct cli_command *cmd, const struct cli_args *a)
{
	if (a->help || (a->rest_n >= cmd->rest_min && a->rest_n <= cmd->rest_max))
		return 0;
	if (a->rest_n < cmd->rest_min)
		cli_error("%s: expected %s", cmd->name, cmd->arguments);
	else
		cli_error("%s: unexpected argument \"%s\"", cmd->name, a->rest[cmd->rest_max]);
	(void)fprintf(stderr, "usage: hinny %s %s\n", cmd->name, cmd->arguments);
	return CLI_USAGE;
}

int
cli_parse(const struct cli_command *cmd, int argc, char **argv, struct cli_args *out)
{
	size_t room = ((size_t)argc + 1) * sizeof(char *);
	bool options_end = false;

	*out = (struct cli_args){
		.set = mem_zalloc(room),
		.properties = mem_zalloc(room),
		.headers = mem_zalloc(room),
		.properties_files = mem_zalloc(room),
		.kamelets = mem_zalloc(room),
		.rest = mem_zalloc(room),
	};
	for (int i = 0; i < argc; i++) {
		const char *text = argv[i];
		if (!options_end && strcmp(text, "--") == 0) {
			options_end = true;
		} else if (!options_end && text[0] == '-' && text[1] != '\0') {
			int status = parse_option(cmd, argc, argv, &i, out);
			if (status != 0)
				return status;
		} else {
			out->rest[out->rest_n++] = text;
		}
	}
	return check_rest(cmd, out);
}

void
cli_args_free(struct cli_args *args)
{
	free(args->set);
	free(args->properties);
	free(args->headers);
	free(args->properties_files);
	free(args->kamelets);
	free(args->rest);
	*args = (struct cli_args){ 0 };
}

void
cli_print_usage(const struct cli_command *cmd, FILE *to)
{
	char left[64], letter[8];

	(void)fprintf(to, "usage: hinny %s [options] %s\n%s\n\n", cmd->name, cmd->arguments,
	    cmd->help); /* nobody to tell when printing fails */
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		const struct option_row *o = &options[i];
		if (!takes(cmd, o->name))
			continue;
		(void)snprintf(
		    letter, sizeof letter, o->letter != 0 ? "-%c," : "   ", o->letter); /* fits */
		(void)snprintf(left, sizeof left, "%s --%s%s%s", letter, o->name,
		    o->value != NULL ? " " : "", o->value != NULL ? o->value : "");
		(void)fprintf(to, "  %-28s %s\n", left, o->help);
	}
}
