/* Values as text, for tables of cases. */
#include "tests/lib/value_case.h"

#include "core/model/json.h"
#include "tests/lib/unit.h"

#include <stdlib.h>
#include <string.h>

static struct value
parts_value(struct arena *a, const char *rest, bool map)
{
	struct value v = map ? value_new_map(a, 0, false) : value_new_list(a, 0);
	struct str text = str_of(rest), item;

	while (text.n > 0 && str_split(&text, '|', &item)) {
		if (!map) {
			value_list_add(a, v.u.list, value_str(item));
			continue;
		}
		struct str key;
		assert_true(str_split(&item, '=', &key));
		value_map_set(a, v.u.map, key, value_str(item));
	}
	return v;
}

static struct value
make_int(const char *rest, unsigned flags)
{
	struct value v = value_int(strtoll(rest, NULL, 10));
	v.flags = (uint8_t)flags;
	return v;
}

static struct value
make_xml(const char *spec, const char *rest)
{
	struct value v = { .type = VALUE_XML, .u.s = str_of(rest) };

	if (spec[1] != ':') {
		v.flags = VALUE_NODESET;
		v.aux = (uint32_t)(spec[1] - '0');
	}
	return v;
}

static struct value
make_json(struct arena *a, const char *rest)
{
	const struct json_node *root;
	struct hinny_error err;

	if (json_parse(a, str_of(rest), &root, &err) != HINNY_OK)
		fail_msg("%s", err.text);
	return (struct value){ .type = VALUE_JSON, .u.json = root };
}

struct value
value_case(struct arena *a, const char *spec)
{
	const char *rest = strchr(spec, ':') + 1;
	struct value v;

	switch (spec[0]) {
	case 'b':
		return value_bool(strcmp(rest, "true") == 0);
	case 'i':
		return make_int(rest, 0);
	case 'l':
		return make_int(rest, VALUE_LONG);
	case 't':
		return make_int(rest, VALUE_DATE);
	case 'd':
		return value_double(strtod(rest, NULL));
	case 'f':
		v = value_double((double)strtof(rest, NULL));
		v.flags = VALUE_FLOAT;
		return v;
	case 'N':
		return (struct value){ .type = VALUE_DECIMAL, .u.s = str_of(rest) };
	case 's':
		return value_str(str_of(rest));
	case 'c':
		v = value_str(str_of(rest));
		v.flags = VALUE_INPUT;
		return v;
	case 'y':
		return value_bytes(str_of(rest));
	case 'j':
		return make_json(a, rest);
	case 'x':
		return make_xml(spec, rest);
	case 'L':
		return parts_value(a, rest, false);
	case 'A':
		v = parts_value(a, rest, false);
		v.flags = VALUE_ARRAY;
		return v;
	case 'M':
		return parts_value(a, rest, true);
	default:
		return value_null();
	}
}

struct value
value_case_flags(struct value v, unsigned flags, uint32_t aux)
{
	v.flags = (uint8_t)flags;
	v.aux = aux;
	return v;
}

struct value
value_case_list(struct arena *a)
{
	struct value v = value_new_list(a, 0), inner = value_new_map(a, 0, true);

	value_map_set(a, inner.u.map, STR_LIT("Key"), value_int(5));
	value_list_add(a, v.u.list, value_str(STR_LIT("x")));
	value_list_add(a, v.u.list, inner);
	value_list_add(a, v.u.list, value_null());
	value_list_add(a, v.u.list, make_json(a, "{\"a\":[1,2]}"));
	return v;
}

struct value
value_case_long(struct arena *a, unsigned type, size_t n)
{
	char *p = arena_alloc(a, n);

	memset(p, 'x', n);
	return (struct value){ .type = (uint8_t)type, .u.s = { p, n } };
}
