/* Options: text to member, by type. */
#include "core/config/option.h"

#include "core/base/assert.h"
#include "core/base/error.h"
#include "core/base/units.h"
#include "core/config/compile.h"
#include "core/model/value.h"

#include <stdio.h>

/* In front of every conf structure, keeping its alignment. */
struct given {
	uint64_t bits[2];
};

void *
option_new_conf(struct arena *a, size_t size)
{
	struct given *g = arena_zalloc(a, sizeof(struct given) + (size ? size : 1));

	return g + 1;
}

static size_t
row_of(const struct option_desc *table, const struct option_desc *o)
{
	size_t i = (size_t)(o - table);

	ASSERT(i < 8 * sizeof(struct given));
	return i;
}

void
option_mark_given(void *conf, const struct option_desc *table, const struct option_desc *o)
{
	struct given *g = (struct given *)conf - 1;
	size_t i = row_of(table, o);

	g->bits[i / 64] |= (uint64_t)1 << i % 64;
}

bool
option_given(const struct option_desc *table, const void *conf, const char *name)
{
	const struct given *g = (const struct given *)conf - 1;
	const struct option_desc *o = option_find(table, str_of(name));

	if (conf == NULL || o == NULL)
		return false;
	size_t i = row_of(table, o);
	return (g->bits[i / 64] >> i % 64 & 1) != 0;
}

static bool
set_string(struct arena *a, const struct option_desc *o, void *member, struct str text)
{
	(void)o;
	*(const char **)member = text.p[text.n] == '\0' ? text.p : arena_strndup(a, text.p, text.n);
	return true;
}

static bool
set_bool(struct arena *a, const struct option_desc *o, void *member, struct str text)
{
	(void)a;
	(void)o;
	bool yes = str_caseeq(text, STR_LIT("true"));

	if (!yes && !str_caseeq(text, STR_LIT("false")))
		return false;
	*(bool *)member = yes;
	return true;
}

static bool
in_range(const struct option_desc *o, int64_t v)
{
	return (o->min == 0 && o->max == 0) || (v >= o->min && v <= o->max);
}

static bool
set_int(struct arena *a, const struct option_desc *o, void *member, struct str text)
{
	(void)a;
	int64_t v;

	if (!str_to_int64(text, &v) || !in_range(o, v))
		return false;
	*(int64_t *)member = v;
	return true;
}

static bool
set_double(struct arena *a, const struct option_desc *o, void *member, struct str text)
{
	(void)a;
	(void)o;
	return str_to_double(text, member);
}

static bool
set_duration(struct arena *a, const struct option_desc *o, void *member, struct str text)
{
	(void)a;
	int64_t v;

	if (!units_parse_duration(text, &v) || !in_range(o, v))
		return false;
	*(int64_t *)member = v;
	return true;
}

static bool
set_size(struct arena *a, const struct option_desc *o, void *member, struct str text)
{
	(void)a;
	uint64_t v;

	if (!units_parse_size(text, &v) || v > INT64_MAX || !in_range(o, (int64_t)v))
		return false;
	*(uint64_t *)member = v;
	return true;
}

static bool
set_enum(struct arena *a, const struct option_desc *o, void *member, struct str text)
{
	struct str rest = str_of(o->values), word;
	(void)a;

	for (int i = 0; str_split(&rest, '|', &word); i++) {
		if (str_caseeq(word, text) && word.n > 0) {
			*(int *)member = i;
			return true;
		}
	}
	return false;
}

static bool
set_class(struct arena *a, const struct option_desc *o, void *member, struct str text)
{
	(void)a;
	(void)o;
	enum value_class_id id = value_class_find(text);

	*(int *)member = id;
	return id != CLASS_NONE;
}

static bool
set_strings(struct arena *a, const struct option_desc *o, void *member, struct str text)
{
	struct strings *list = member;
	struct str rest = text, item;
	size_t n = 1;
	(void)o;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == ',';
	list->items = arena_alloc(a, n * sizeof(char *));
	list->n = 0;
	while (str_split(&rest, ',', &item)) {
		item = str_trim(item);
		if (item.n > 0)
			list->items[list->n++] = arena_strndup(a, item.p, item.n);
	}
	return true;
}

/* By option type; what one scalar cannot say has no row. */
static const struct scalar_type {
	bool (*set)(struct arena *a, const struct option_desc *o, void *member, struct str text);
	const char *expected;
} scalar_types[] = {
	[OPTION_STRING] = { set_string, "text" },
	[OPTION_BOOL] = { set_bool, "true or false" },
	[OPTION_INT] = { set_int, "a whole number" },
	[OPTION_DOUBLE] = { set_double, "a number" },
	[OPTION_DURATION] = { set_duration, "a duration such as \"5s\"" },
	[OPTION_SIZE] = { set_size, "a size such as \"64KiB\"" },
	[OPTION_ENUM] = { set_enum, "one of" },
	[OPTION_CLASS] = { set_class, "a type such as \"String\" or \"java.lang.Integer\"" },
	[OPTION_STRINGS] = { set_strings, "text" },
};

bool
option_is_scalar(const struct option_desc *o)
{
	return (size_t)o->type < ARRAY_LEN(scalar_types) && scalar_types[o->type].set != NULL;
}

/* "A|B|C" as `"A", "B" or "C"`; empty words are defaults that cannot be written. */
static const char *
list_words(struct arena *a, const char *values)
{
	struct str rest = str_of(values), word;
	const char *text = NULL;

	while (str_split(&rest, '|', &word)) {
		if (word.n == 0)
			continue;
		bool last = rest.n == 0;
		text = text == NULL
		    ? arena_printf(a, "\"%.*s\"", STR_FMT(word))
		    : arena_printf(a, "%s%s\"%.*s\"", text, last ? " or " : ", ", STR_FMT(word));
	}
	return text != NULL ? text : "";
}

static const char *
bound(struct arena *a, enum option_type type, int64_t v)
{
	char text[64];

	if (type == OPTION_DURATION)
		return arena_strdup(a, units_format_duration(v, text, sizeof text));
	if (type == OPTION_SIZE)
		return arena_strdup(a, units_format_size((uint64_t)v, text, sizeof text));
	return arena_printf(a, "%lld", (long long)v);
}

const char *
option_expected(struct arena *a, const struct option_desc *o)
{
	static const char *const others[] = {
		[OPTION_EXPRESSION] = "a map with one language",
		[OPTION_PREDICATE] = "a map with one language",
		[OPTION_STEPS] = "a list of steps",
		[OPTION_URI] = "a uri",
		[OPTION_CLASSES] = "a list of exception classes",
		[OPTION_NODES] = "a list",
		[OPTION_NODE] = "a map",
		[OPTION_PAIRS] = "a list of {key, value}",
		[OPTION_BRANCHES] = "a list of steps",
		[OPTION_BEAN] = "a bean such as \"#class:NAME\"",
	};

	if (!option_is_scalar(o))
		return others[o->type];
	if (o->type == OPTION_ENUM)
		return arena_printf(a, "one of %s", list_words(a, o->values));
	if (o->min == 0 && o->max == 0)
		return scalar_types[o->type].expected;
	if (o->max == INT64_MAX || (o->type == OPTION_INT && o->max == INT32_MAX))
		return arena_printf(
		    a, "%s, %s or more", scalar_types[o->type].expected, bound(a, o->type, o->min));
	return arena_printf(a, "%s from %s to %s", scalar_types[o->type].expected,
	    bound(a, o->type, o->min), bound(a, o->type, o->max));
}

enum hinny_rc
option_set_text(struct arena *a, const struct option_desc *o, void *conf, struct str text,
    struct hinny_error *err)
{
	ASSERT(option_is_scalar(o));
	if (scalar_types[o->type].set(a, o, (char *)conf + o->offset, text))
		return HINNY_OK;
	const char *near = "";
	if (o->type == OPTION_ENUM) {
		const char *words[65] = { NULL };
		struct str rest = str_of(o->values), word;
		for (size_t i = 0; i < ARRAY_LEN(words) - 1 && str_split(&rest, '|', &word); i++)
			words[i] = arena_strndup(a, word.p, word.n);
		near = option_did_you_mean(a, str_nearest(text, words));
	}
	return hinny_error_set(err, HINNY_EINVAL, "expected %s, got \"%.*s\"%s",
	    option_expected(a, o), STR_FMT(text), near);
}

void
option_set_default(struct arena *a, const struct option_desc *o, void *conf)
{
	struct hinny_error err;

	if (o->dflt == NULL || !option_is_scalar(o))
		return;
	enum hinny_rc rc = option_set_text(a, o, conf, str_of(o->dflt), &err);
	ASSERT(rc == HINNY_OK);
}

/* Is "parallel-processing" the option "parallelProcessing"? */
static bool
kebab_equal(struct str kebab, const char *name)
{
	size_t j = 0, n = strlen(name);

	for (size_t i = 0; i < kebab.n; i++, j++) {
		char want = kebab.p[i];
		if (want == '-' && i + 1 < kebab.n && kebab.p[i + 1] >= 'a' &&
		    kebab.p[i + 1] <= 'z')
			want = (char)(kebab.p[++i] - 'a' + 'A');
		if (j == n || name[j] != want)
			return false;
	}
	return j == n;
}

const struct option_desc *
option_find(const struct option_desc *table, struct str name)
{
	bool kebab = name.n > 0 && memchr(name.p, '-', name.n) != NULL;

	for (const struct option_desc *o = table; o != NULL && o->name != NULL; o++) {
		if (str_eq(name, str_of(o->name)) || (kebab && kebab_equal(name, o->name)))
			return o;
	}
	return NULL;
}

const char *
option_nearest(
    struct arena *a, const struct option_desc *table, const char *const *more, struct str name)
{
	size_t n = 1;

	for (const struct option_desc *o = table; o != NULL && o->name != NULL; o++)
		n++;
	for (const char *const *m = more; m != NULL && *m != NULL; m++)
		n++;
	const char **names = arena_alloc(a, n * sizeof(char *));
	n = 0;
	for (const struct option_desc *o = table; o != NULL && o->name != NULL; o++)
		names[n++] = o->name;
	for (const char *const *m = more; m != NULL && *m != NULL; m++)
		names[n++] = *m;
	names[n] = NULL;
	return str_nearest(name, names);
}

const char *
option_did_you_mean(struct arena *a, const char *near)
{
	return near == NULL ? "" : arena_printf(a, ", did you mean \"%s\"", near);
}

struct str
option_camel_case(struct arena *a, struct str s)
{
	char *p = arena_alloc(a, s.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '-' && i + 1 < s.n && s.p[i + 1] >= 'a' && s.p[i + 1] <= 'z')
			p[n++] = (char)(s.p[++i] - 'a' + 'A');
		else
			p[n++] = s.p[i];
	}
	p[n] = '\0';
	return (struct str){ p, n };
}
