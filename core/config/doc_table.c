/* What of the YAML DSL is there, as one table in Markdown: docs/dsl.md. */
#include "core/config/doc.h"

#include "core/base/assert.h"
#include "core/base/buf.h"
#include "core/config/compile_priv.h"
#include "core/config/roots.h"

static bool
is_word(const char *list, struct str word)
{
	struct str rest = str_of(list), item;

	while (list != NULL && str_split(&rest, ' ', &item)) {
		if (str_eq(item, word))
			return true;
	}
	return false;
}

/* One cell: names, with commas. */
struct cell {
	struct buf b;
};

static void
cell_add(struct cell *cell, struct str name)
{
	(void)buf_printf(
	    &cell->b, "%s`%.*s`", cell->b.n > 0 ? ", " : "", STR_FMT(name)); /* a long one is cut */
}

static void
cell_print(FILE *to, struct cell *cell)
{
	(void)fprintf(to, " | %.*s", (int)cell->b.n, cell->b.p ? cell->b.p : "");
	buf_fini(&cell->b);
}

/* What a construct takes. `more` are names beside its options, apart by blanks, or NULL. */
struct taken {
	const char *name;
	const char *const *aliases;
	const struct option_desc *options;
	const char *more;
	enum refused_kind kind; /* of the table of refused options */
};

static void
print_row(FILE *to, const struct taken *t)
{
	struct cell there, label, refused;
	struct str rest = str_of(refused_options(t->kind, t->name)), more = str_of(t->more), item;

	buf_init(&there.b, 0);
	buf_init(&label.b, 0);
	buf_init(&refused.b, 0);
	while (t->more != NULL && str_split(&more, ' ', &item))
		cell_add(&there, item);
	for (const struct option_desc *o = t->options; o != NULL && o->name != NULL; o++)
		cell_add(o->flags & OPTION_LABEL ? &label : &there, str_of(o->name));
	while (rest.n > 0 && str_split(&rest, ' ', &item)) {
		if (option_find(t->options, item) == NULL && !is_word(t->more, item))
			cell_add(&refused, item);
	}
	(void)fprintf(to, "| `%s`", t->name);
	for (size_t i = 0; t->aliases != NULL && t->aliases[i] != NULL; i++)
		(void)fprintf(to, ", `%s`", t->aliases[i]);
	cell_print(to, &there);
	cell_print(to, &label);
	cell_print(to, &refused);
	(void)fputs(" |\n", to);
}

static void
print_head(FILE *to, const char *title, const char *text)
{
	(void)fprintf(to,
	    "\n## %s\n\n%s\n\n| | implemented | accepted, without meaning here | refused by name "
	    "|\n"
	    "|---|---|---|---|\n",
	    title, text);
}

/* Names that are refused as a whole: those that Camel has and no descriptor here. */
static void
print_refused(FILE *to, enum refused_kind kind, bool (*is_there)(struct str name))
{
	struct str rest = str_of(refused_names(kind)), item;
	bool any = false;

	(void)fputs("\nRefused by name:", to);
	while (str_split(&rest, ' ', &item)) {
		if (item.n == 0 || is_there(item))
			continue;
		(void)fprintf(to, "%s `%.*s`", any ? "," : "", STR_FMT(item));
		any = true;
	}
	(void)fputs(any ? ".\n" : " none.\n", to);
}

static bool
is_root(struct str name)
{
	const struct eip_desc *eip = eip_find(name);

	return root_find(name) != NULL || (eip != NULL && (eip->flags & EIP_ROOT));
}

static bool
is_step(struct str name)
{
	return eip_find(name) != NULL;
}

static bool
is_language(struct str name)
{
	return language_find(name) != NULL;
}

static bool
is_format(struct str name)
{
	return format_find(name) != NULL;
}

static bool
is_component(struct str name)
{
	return component_find(name) != NULL;
}

/* ---- the parts ---- */

static void
print_roots(FILE *to)
{
	size_t n;
	const struct root_desc *const *all = root_all(&n);

	print_head(to, "Root of a file",
	    "Beside these: the steps that may stand at the root (`onException`, `errorHandler`, "
	    "`intercept` …), which are below.");
	for (size_t i = 0; i < n; i++)
		print_row(to,
		    &(struct taken){
			all[i]->name, NULL, all[i]->options, all[i]->more, REFUSED_STEP });
	print_refused(to, REFUSED_ROOT, is_root);
}

/* Steps proper, or the parts of steps. */
static void
print_steps(FILE *to, bool parts)
{
	size_t n;
	const struct eip_desc *const *all = eip_all(&n);

	for (size_t i = 0; i < n; i++) {
		const struct eip_desc *eip = all[i];
		bool part = (eip->flags & (EIP_CHILD | EIP_NOT_A_STEP)) != 0;
		char more[64];
		if (part != parts || strcmp(eip->name, "fromReceive") == 0)
			continue; /* the compiler makes that one, nobody writes it */
		(void)snprintf(more, sizeof more, "%s%s%s%s",
		    eip->flags & EIP_EXPRESSION ? "<language> " : "",
		    eip->flags & EIP_FORMAT ? "<dataformat> " : "",
		    option_find(eip->options, STR_LIT("uri")) != NULL ? "parameters " : "",
		    eip->flags & EIP_STEPS ? "steps " : ""); /* fits */
		size_t length = strlen(more);
		if (length > 0)
			more[length - 1] = '\0';
		print_row(to,
		    &(struct taken){ eip->name, eip->aliases, eip->options,
			length > 0 ? more : NULL, REFUSED_STEP });
	}
}

static void
print_languages(FILE *to)
{
	size_t n;
	const struct language_desc *const *all = language_all(&n);

	print_head(to, "Languages",
	    "Every language also takes `expression`, `id`, `trim`, `resultType`; "
	    "`language: {language: …, expression: …}` is another way to write any of them.");
	for (size_t i = 0; i < n; i++)
		print_row(to,
		    &(struct taken){
			all[i]->name, all[i]->aliases, all[i]->options, NULL, REFUSED_LANGUAGE });
	print_refused(to, REFUSED_LANGUAGE, is_language);
}

static void
print_formats(FILE *to)
{
	size_t n;
	const struct format_desc *const *all = format_all(&n);

	print_head(to, "Data formats", "Every data format also takes `id`.");
	for (size_t i = 0; i < n; i++)
		print_row(to,
		    &(struct taken){
			all[i]->name, NULL, all[i]->options, NULL, REFUSED_DATAFORMAT });
	print_refused(to, REFUSED_DATAFORMAT, is_format);
}

static void
print_components(FILE *to)
{
	size_t n;
	const struct component_desc *const *all = component_all(&n);

	print_head(to, "Components",
	    "`hinny doc NAME` says what each option does, and where it may stand.");
	for (size_t i = 0; i < n; i++)
		print_row(to,
		    &(struct taken){ all[i]->scheme, all[i]->aliases, all[i]->options, NULL,
			REFUSED_COMPONENT });
	print_refused(to, REFUSED_COMPONENT, is_component);
}

static void
print_beans(FILE *to)
{
	size_t n;
	const struct bean_class *const *all = bean_class_all(&n);

	(void)fputs("\n## Classes of beans\n\nThere is no Java: these are built in, all others are "
		    "refused by name.\n\n| class | for | |\n|---|---|---|\n",
	    to);
	for (size_t i = 0; i < n; i++)
		(void)fprintf(to, "| `%s` | %s | %s |\n", all[i]->name, all[i]->role, all[i]->help);
}

void
doc_table(FILE *to)
{
	(void)fputs(
	    "# What of the YAML DSL is there\n\n"
	    "Made from the descriptors by `hinny doc --table`; `make check` fails when this file "
	    "is "
	    "not what that prints.\n"
	    "Names are those of Apache Camel 4.22. What stands nowhere here is refused as unknown, "
	    "with the nearest name.\n"
	    "Every refusal names file, line and column, and all of a file are said in one run.\n",
	    to);
	print_roots(to);
	print_head(to, "Steps",
	    "Every step also takes `id`, `description`, `note`, `disabled`. `<language>` stands "
	    "for one "
	    "of the languages, or `expression` around it.");
	print_steps(to, false);
	print_refused(to, REFUSED_STEP, is_step);
	print_head(to, "Parts of steps", "They stand only in the step that names them.");
	print_steps(to, true);
	print_languages(to);
	print_formats(to);
	print_components(to);
	print_beans(to);
}
