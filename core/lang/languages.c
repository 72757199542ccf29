/* The list of languages, of languages.def. */
#include "core/base/assert.h"
#include "core/model/program.h"

#define LANGUAGE(name) extern const struct language_desc name##_language;
#include "core/lang/languages.def"
#undef LANGUAGE

static const struct language_desc *const languages[] = {
#define LANGUAGE(name) &name##_language,
#include "core/lang/languages.def"
#undef LANGUAGE
};

static bool
is_named(const struct language_desc *language, struct str name)
{
	if (str_eq(name, str_of(language->name)))
		return true;
	for (const char *const *alias = language->aliases; alias != NULL && *alias != NULL; alias++)
		if (str_eq(name, str_of(*alias)))
			return true;
	return false;
}

const struct language_desc *
language_find(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(languages); i++)
		if (is_named(languages[i], name))
			return languages[i];
	return NULL;
}

const struct language_desc *const *
language_all(size_t *n)
{
	*n = ARRAY_LEN(languages);
	return languages;
}
