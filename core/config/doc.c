/* Descriptors as text for people. */
#include "core/config/doc.h"

#include "core/config/compile_priv.h"
#include "core/config/doc_priv.h"
#include "core/config/roots.h"

#include <stdlib.h>

static const char *
type_name(const struct option_desc *o)
{
	static const char *const names[] = {
		[OPTION_STRING] = "text",
		[OPTION_BOOL] = "true or false",
		[OPTION_INT] = "whole number",
		[OPTION_DOUBLE] = "number",
		[OPTION_DURATION] = "duration",
		[OPTION_SIZE] = "size",
		[OPTION_ENUM] = "word",
		[OPTION_EXPRESSION] = "expression",
		[OPTION_PREDICATE] = "predicate",
		[OPTION_STEPS] = "steps",
		[OPTION_URI] = "uri",
		[OPTION_STRINGS] = "list of texts",
		[OPTION_CLASSES] = "exception classes",
		[OPTION_NODES] = "list",
		[OPTION_NODE] = "map",
		[OPTION_PAIRS] = "list of key and value",
		[OPTION_CLASS] = "type",
		[OPTION_BRANCHES] = "steps",
		[OPTION_BEAN] = "bean",
	};

	if (o->flags & OPTION_TEMPLATE)
		return "text or Simple";
	return names[o->type];
}

void
doc_print_option(FILE *to, const struct option_desc *o, const char *prefix)
{
	(void)fprintf(to, "  %s%s (%s", prefix, o->name, type_name(o));
	if (o->type == OPTION_ENUM)
		(void)fprintf(to, ": %s", o->values[0] == '|' ? o->values + 1 : o->values);
	if (o->flags & OPTION_REQUIRED)
		(void)fputs(", required", to);
	else if (o->dflt != NULL)
		(void)fprintf(to, ", default %s", o->dflt);
	if (o->flags & OPTION_PATH)
		(void)fputs(", path", to);
	if ((o->flags & (OPTION_CONSUMER | OPTION_PRODUCER)) == OPTION_CONSUMER)
		(void)fputs(", from", to);
	if ((o->flags & (OPTION_CONSUMER | OPTION_PRODUCER)) == OPTION_PRODUCER)
		(void)fputs(", to", to);
	(void)fprintf(to, ")\n      %s\n", o->help != NULL ? o->help : "");
}

static void
print_options(FILE *to, const struct option_desc *options)
{
	for (const struct option_desc *o = options; o != NULL && o->name != NULL; o++)
		doc_print_option(to, o, "");
}

static void
print_aliases(FILE *to, const char *const *aliases)
{
	for (size_t i = 0; aliases != NULL && aliases[i] != NULL; i++)
		(void)fprintf(to, "%s%s", i == 0 ? "also: " : ", ", aliases[i]);
	if (aliases != NULL && aliases[0] != NULL)
		(void)fputc('\n', to);
}

static bool
print_component(FILE *to, struct str name)
{
	const struct component_desc *desc = component_find(name);

	if (desc == NULL)
		return false;
	(void)fprintf(to, "component %s: %s\nsyntax: %s\n", desc->scheme, desc->help, desc->syntax);
	print_aliases(to, desc->aliases);
	(void)fprintf(to, "used in: %s%s%s\n", desc->flags & COMPONENT_CONSUMER ? "from" : "",
	    desc->flags & COMPONENT_CONSUMER && desc->flags & COMPONENT_PRODUCER ? ", " : "",
	    desc->flags & COMPONENT_PRODUCER ? "to" : "");
	if (desc->owner != NULL)
		(void)fprintf(to, "runs in: hinny-%s\n", desc->owner);
	print_options(to, desc->options);
	return true;
}

static bool
print_eip(FILE *to, struct str name)
{
	const struct eip_desc *desc = eip_find(name);

	if (desc == NULL)
		return false;
	(void)fprintf(to, "%s %s: %s\n",
	    desc->flags & (EIP_CHILD | EIP_NOT_A_STEP) ? "part" : "step", desc->name, desc->help);
	print_aliases(to, desc->aliases);
	if (desc->flags & EIP_EXPRESSION)
		(void)fprintf(to, "takes: one language as %s\n",
		    desc->flags & EIP_PREDICATE ? "predicate" : "expression");
	if (desc->flags & EIP_FORMAT)
		(void)fputs("takes: one data format\n", to);
	if (desc->flags & EIP_STEPS)
		(void)fputs("takes: steps\n", to);
	print_options(to, desc->options);
	return true;
}

static bool
print_root(FILE *to, struct str name)
{
	const struct root_desc *desc = root_find(name);

	if (desc == NULL)
		return false;
	(void)fprintf(to, "root %s: %s\ntakes: %s\n", desc->name, desc->help, desc->more);
	print_options(to, desc->options);
	return true;
}

static bool
print_language(FILE *to, struct str name)
{
	const struct language_desc *desc = language_find(name);

	if (desc == NULL)
		return false;
	(void)fprintf(to, "language %s: %s\n", desc->name, desc->help);
	print_aliases(to, desc->aliases);
	if (desc->owner != NULL)
		(void)fprintf(to, "runs in: hinny-%s\n", desc->owner);
	print_options(to, desc->options);
	return true;
}

static bool
print_format(FILE *to, struct str name)
{
	const struct format_desc *desc = format_find(name);

	if (desc == NULL)
		return false;
	(void)fprintf(to, "data format %s: %s\n", desc->name, desc->help);
	print_options(to, desc->options);
	return true;
}

/* "http" prints "http.listen" and its like; "" prints all. */
static bool
print_settings(FILE *to, const char *name, const struct option_desc *rows, const char *prefix)
{
	size_t skip = strlen(prefix), n = strlen(name);
	bool found = false;

	if (n > 0 && strncmp(name, prefix, n < skip ? n : skip) != 0)
		return false;
	for (const struct option_desc *o = rows; o->name != NULL; o++) {
		const char *rest = n > skip ? name + skip : "";
		size_t length = strlen(rest);
		if (length > 0 &&
		    (strncmp(o->name, rest, length) != 0 ||
			(o->name[length] != '.' && o->name[length] != '\0')))
			continue;
		if (!found)
			(void)fprintf(to, "hinny.yaml%s%s:\n", n > 0 ? ", " : "", name);
		found = true;
		doc_print_option(to, o, prefix);
	}
	return found;
}

static void
print_names(FILE *to)
{
	size_t n;

	(void)fputs("roots:", to);
	for (size_t i = 0; i < (root_all(&n), n); i++)
		(void)fprintf(to, " %s", root_all(&n)[i]->name);
	(void)fputs("\ncomponents:", to);
	for (size_t i = 0; i < (component_all(&n), n); i++)
		(void)fprintf(to, " %s", component_all(&n)[i]->scheme);
	(void)fputs("\nsteps:", to);
	for (size_t i = 0; i < (eip_all(&n), n); i++)
		(void)fprintf(to, " %s", eip_all(&n)[i]->name);
	(void)fputs("\nlanguages:", to);
	for (size_t i = 0; i < (language_all(&n), n); i++)
		(void)fprintf(to, " %s", language_all(&n)[i]->name);
	(void)fputs("\ndata formats:", to);
	for (size_t i = 0; i < (format_all(&n), n); i++)
		(void)fprintf(to, " %s", format_all(&n)[i]->name);
	(void)fputs("\n", to);
	doc_print_functions(to);
	(void)fputs("configuration: hinny.yaml\n", to);
}

int
doc_print(FILE *to, const char *name)
{
	bool all = name != NULL && strcmp(name, "hinny.yaml") == 0;
	int found = 0;

	if (name == NULL) {
		print_names(to);
		return 0;
	}
	found |= print_root(to, str_of(name));
	found |= print_component(to, str_of(name));
	found |= print_eip(to, str_of(name));
	found |= print_language(to, str_of(name));
	found |= print_format(to, str_of(name));
	found |= doc_print_function(to, str_of(name));
	found |= doc_print_class(to, str_of(name));
	found |= doc_print_options_named(to, str_of(name));
	if (!found)
		found |= doc_print_refused(to, str_of(name));
	if (all || name[0] != '\0')
		found |= print_settings(to, all ? "" : name, settings_rows(), "");
	if (all || strncmp(name, "workers", 7) == 0)
		found |= print_settings(to, "", settings_worker_rows(), "workers.KIND.");
	return found ? 0 : -1;
}

const char *
doc_nearest(const char *name)
{
	size_t roots, components, eips, languages, formats, n = 0;
	const struct root_desc *const *r = root_all(&roots);
	const struct component_desc *const *c = component_all(&components);
	const struct eip_desc *const *e = eip_all(&eips);
	const struct language_desc *const *l = language_all(&languages);
	const struct format_desc *const *f = format_all(&formats);
	const char **names =
	    malloc((roots + components + eips + languages + formats + 2) * sizeof(char *));

	if (names == NULL)
		return NULL;
	for (size_t i = 0; i < roots; i++)
		names[n++] = r[i]->name;
	for (size_t i = 0; i < components; i++)
		names[n++] = c[i]->scheme;
	for (size_t i = 0; i < eips; i++)
		names[n++] = e[i]->name;
	for (size_t i = 0; i < languages; i++)
		names[n++] = l[i]->name;
	for (size_t i = 0; i < formats; i++)
		names[n++] = f[i]->name;
	names[n++] = "hinny.yaml";
	names[n] = NULL;
	const char *near = str_nearest(str_of(name), names);
	free(names);
	return near;
}
