/* Names and options that Camel has and this release does not: refused.def. Read only where
 * something was not found, so a search through the words will do. */
#include "core/config/compile_priv.h"

#include "core/base/assert.h"

static const char *const words[] = {
#define WORDS(kind, names) [REFUSED_##kind] = names,
#define ALTERNATIVE(kind, name, other)
#define OPTIONS(kind, owner, names)
#include "core/config/refused.def"
#undef WORDS
#undef ALTERNATIVE
#undef OPTIONS
};

static const struct alternative {
	enum refused_kind kind;
	const char *name, *other;
} alternatives[] = {
#define WORDS(kind, names)
#define ALTERNATIVE(kind, name, other) { REFUSED_##kind, name, other },
#define OPTIONS(kind, owner, names)
#include "core/config/refused.def"
#undef WORDS
#undef ALTERNATIVE
#undef OPTIONS
};

static const struct owner {
	enum refused_kind kind;
	const char *name, *options;
} owners[] = {
#define WORDS(kind, names)
#define ALTERNATIVE(kind, name, other)
#define OPTIONS(kind, owner, names) { REFUSED_##kind, owner, names },
#include "core/config/refused.def"
#undef WORDS
#undef ALTERNATIVE
#undef OPTIONS
};

static bool
has_word(const char *list, struct str word)
{
	struct str rest = str_of(list), item;

	while (str_split(&rest, ' ', &item)) {
		if (str_eq(item, word))
			return true;
	}
	return false;
}

bool
refused_find(enum refused_kind kind, struct str name, const char **alternative)
{
	*alternative = NULL;
	for (size_t i = 0; i < ARRAY_LEN(alternatives); i++) {
		if (alternatives[i].kind == kind && str_eq(name, str_of(alternatives[i].name)))
			*alternative = alternatives[i].other;
	}
	return name.n > 0 && has_word(words[kind], name);
}

const char *
refused_names(enum refused_kind kind)
{
	return words[kind];
}

const char *
refused_options(enum refused_kind kind, const char *owner)
{
	for (size_t i = 0; i < ARRAY_LEN(owners); i++) {
		if (owners[i].kind == kind && strcmp(owners[i].name, owner) == 0)
			return owners[i].options;
	}
	return NULL;
}

bool
refused_option(enum refused_kind kind, const char *owner, struct str option)
{
	const char *options = refused_options(kind, owner);

	return options != NULL && option.n > 0 && has_word(options, option);
}
