/* What `hinny doc` knows beside descriptors by their own names: functions of Simple, options by
 * name, built-in classes, and what is refused. */
#include "core/config/doc_priv.h"

#include "core/config/compile_priv.h"

#include "core/base/assert.h"

#include <string.h>

/* ---- functions of Simple ---- */

static const struct function {
	const char *name, *syntax; /* syntax NULL: see args */
	const char *args, *help, *refused;
} functions[] = {
#define SIMPLE_FORM(name, syntax, help) { name, syntax, NULL, help, NULL },
#define SIMPLE_FUNCTION(name, form, min, max, args, pure, reads, fn, help)                         \
	{ name, NULL, #form, help, NULL },
#define SIMPLE_REFUSED(name, why) { name, NULL, NULL, NULL, why },
#include "core/lang/simple_functions.def"
#undef SIMPLE_FORM
#undef SIMPLE_FUNCTION
#undef SIMPLE_REFUSED
};

/* "env:" is called env. */
static bool
is_called(const struct function *f, struct str name)
{
	struct str own = str_of(f->name);

	return str_eq(name, own) ||
	    (str_ends(own, ":") && str_eq(name, (struct str){ own.p, own.n - 1 }));
}

bool
doc_print_function(FILE *to, struct str name)
{
	bool found = false;

	if (name.n > 3 && str_starts(name, "${") && name.p[name.n - 1] == '}')
		name = (struct str){ name.p + 2, name.n - 3 };
	for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
		const struct function *f = &functions[i];
		if (!is_called(f, name))
			continue;
		found = true;
		if (f->refused != NULL)
			(void)fprintf(to, "function %s of Simple is not available: %s\n", f->name,
			    f->refused);
		else if (f->syntax != NULL)
			(void)fprintf(to, "function of Simple %s: %s\n", f->syntax, f->help);
		else
			(void)fprintf(to, "function of Simple ${%s%s}: %s\n", f->name,
			    strcmp(f->args, "PREFIX") == 0       ? "NAME"
				: strcmp(f->args, "PARENS") == 0 ? "(…)"
				: strcmp(f->args, "EITHER") == 0 ? "} or ${…(…)"
								 : "",
			    f->help);
	}
	return found;
}

void
doc_print_functions(FILE *to)
{
	(void)fputs("functions of Simple:", to);
	for (size_t i = 0; i < ARRAY_LEN(functions); i++)
		if (functions[i].refused == NULL)
			(void)fprintf(to, " %s", functions[i].name);
	(void)fputc('\n', to);
}

/* ---- options ---- */

struct wanted {
	FILE *to;
	struct str owner, option; /* owner empty: any */
	bool found;
};

static void
look_at(struct wanted *w, const char *kind, const char *name, const struct option_desc *options)
{
	const struct option_desc *o = option_find(options, w->option);

	if (o == NULL || (w->owner.n > 0 && !str_eq(w->owner, str_of(name))))
		return;
	(void)fprintf(w->to, "option of %s %s:\n", kind, name);
	doc_print_option(w->to, o, "");
	w->found = true;
}

/* "completionSize", or "aggregate.completionSize". */
bool
doc_print_options_named(FILE *to, struct str name)
{
	const char *dot = memchr(name.p, '.', name.n);
	size_t before = dot != NULL ? (size_t)(dot - name.p) : 0, n;
	struct wanted w = { .to = to, .owner = { name.p, before }, .option = name };

	if (dot != NULL)
		w.option = (struct str){ dot + 1, name.n - before - 1 };
	for (size_t i = 0; i < (component_all(&n), n); i++)
		look_at(&w, "component", component_all(&n)[i]->scheme, component_all(&n)[i]->options);
	for (size_t i = 0; i < (eip_all(&n), n); i++)
		look_at(&w, "step", eip_all(&n)[i]->name, eip_all(&n)[i]->options);
	for (size_t i = 0; i < (language_all(&n), n); i++)
		look_at(&w, "language", language_all(&n)[i]->name, language_all(&n)[i]->options);
	for (size_t i = 0; i < (format_all(&n), n); i++)
		look_at(&w, "data format", format_all(&n)[i]->name, format_all(&n)[i]->options);
	return w.found;
}

/* ---- classes, and what there is not ---- */

bool
doc_print_class(FILE *to, struct str name)
{
	size_t n;
	bool found = false;

	for (size_t i = 0; i < (bean_class_all(&n), n); i++) {
		const struct bean_class *class = bean_class_all(&n)[i];
		const char *dot = strrchr(class->name, '.');
		if (!str_eq(name, str_of(class->name)) &&
		    (dot == NULL || !str_eq(name, str_of(dot + 1))))
			continue;
		(void)fprintf(to, "class %s (%s): %s\n", class->name, class->role, class->help);
		for (const struct option_desc *o = class->options; o != NULL && o->name != NULL; o++)
			doc_print_option(to, o, "");
		found = true;
	}
	return found;
}

bool
doc_print_refused(FILE *to, struct str name)
{
	static const struct {
		enum refused_kind kind;
		const char *what;
	} kinds[] = {
		{ REFUSED_STEP, "step" },
		{ REFUSED_LANGUAGE, "language" },
		{ REFUSED_COMPONENT, "component" },
		{ REFUSED_DATAFORMAT, "data format" },
	};
	const char *other;
	bool found = false;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (!refused_find(kinds[i].kind, name, &other))
			continue;
		(void)fprintf(to, "%s %.*s is not implemented in this release%s%s\n", kinds[i].what,
		    STR_FMT(name), other != NULL ? "; the nearest is " : "",
		    other != NULL ? other : "");
		found = true;
	}
	return found;
}
