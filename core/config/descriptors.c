/* The lists of descriptors: one row each in a .def file, and nothing else knows which there are.
 * Those of languages are in core/lang. */
#include "core/model/program.h"

#include "core/base/assert.h"

#define COMPONENT(name) extern const struct component_desc name##_component;
#include "transports/transports.def"
#undef COMPONENT
#define EIP(name) extern const struct eip_desc name##_eip;
#include "core/eip/eips.def"
#undef EIP

#define BEAN(name) extern const struct bean_class name##_bean;
#include "core/eip/beans.def"
#undef BEAN

static const struct component_desc *const components[] = {
#define COMPONENT(name) &name##_component,
#include "transports/transports.def"
#undef COMPONENT
};

static const struct eip_desc *const eips[] = {
#define EIP(name) &name##_eip,
#include "core/eip/eips.def"
#undef EIP
};

static const struct bean_class *const bean_classes[] = {
#define BEAN(name) &name##_bean,
#include "core/eip/beans.def"
#undef BEAN
};

static const struct kind_desc kinds[] = {
#define KIND(name, file, bits, text)                                                               \
	{ .kind = #name, .executable = file, .flags = bits, .help = text },
#include "workers/kinds.def"
#undef KIND
};

static bool
is_called(struct str name, const char *first, const char *const *aliases)
{
	if (str_eq(name, str_of(first)))
		return true;
	for (; aliases != NULL && *aliases != NULL; aliases++) {
		if (str_eq(name, str_of(*aliases)))
			return true;
	}
	return false;
}

const struct component_desc *
component_find(struct str scheme)
{
	for (size_t i = 0; i < ARRAY_LEN(components); i++) {
		if (is_called(scheme, components[i]->scheme, components[i]->aliases))
			return components[i];
	}
	return NULL;
}

const struct component_desc *const *
component_all(size_t *n)
{
	*n = ARRAY_LEN(components);
	return components;
}

const struct eip_desc *
eip_find(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(eips); i++) {
		if (is_called(name, eips[i]->name, eips[i]->aliases))
			return eips[i];
	}
	return NULL;
}

const struct eip_desc *const *
eip_all(size_t *n)
{
	*n = ARRAY_LEN(eips);
	return eips;
}

int
kind_index(struct str kind)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (str_eq(kind, str_of(kinds[i].kind)))
			return (int)i;
	}
	return -1;
}

const struct kind_desc *
kind_find(struct str kind)
{
	int i = kind_index(kind);

	return i >= 0 ? &kinds[i] : NULL;
}

const struct kind_desc *
kind_at(int index)
{
	ASSERT(index >= 0 && (size_t)index < ARRAY_LEN(kinds));
	return &kinds[index];
}

int
kind_count(void)
{
	return (int)ARRAY_LEN(kinds);
}

const struct bean_class *
bean_class_find(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(bean_classes); i++) {
		if (str_eq(name, str_of(bean_classes[i]->name)))
			return bean_classes[i];
	}
	return NULL;
}

const struct bean_class *const *
bean_class_all(size_t *n)
{
	*n = ARRAY_LEN(bean_classes);
	return bean_classes;
}
