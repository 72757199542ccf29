/* The message that cases of Simple work on. */
#include "tests/lib/simple_case.h"

struct value
simple_case_text(struct lang_case *lc, const char *text)
{
	return value_str(lang_case_text(lc, text));
}

static struct value
list_value(struct lang_case *lc)
{
	struct arena *a = &lc->ex->arena;
	struct value list = value_new_list(a, 3);
	value_list_add(a, list.u.list, value_str(STR_LIT("a")));
	value_list_add(a, list.u.list, value_str(STR_LIT("b")));
	value_list_add(a, list.u.list, value_str(STR_LIT("c")));
	return list;
}

void
simple_case_message(struct lang_case *lc)
{
	struct value map = value_new_map(&lc->ex->arena, 1, false), bday = value_int(1714557600000);
	value_map_set(&lc->ex->arena, map.u.map, STR_LIT("k"), value_str(STR_LIT("v")));
	bday.flags = VALUE_DATE | VALUE_LONG;
	const struct {
		const char *name;
		struct value v;
	} headers[] = {
		{ "foo", simple_case_text(lc, "abc") },
		{ "num", simple_case_text(lc, "42") },
		{ "int", value_int(42) },
		{ "seven", value_int(7) },
		{ "zero", value_int(0) },
		{ "neg", value_int(-5) },
		{ "dbl", value_double(3.5) },
		{ "flag", value_bool(true) },
		{ "sflag", simple_case_text(lc, "true") },
		{ "title", simple_case_text(lc, "Camel in Action") },
		{ "medal", simple_case_text(lc, "gold") },
		{ "empty", simple_case_text(lc, "") },
		{ "ver", simple_case_text(lc, "10") },
		{ "zero7", simple_case_text(lc, "007") },
		{ "t35", simple_case_text(lc, "3.5") },
		{ "lines", simple_case_text(lc, "a\nb") },
		{ "bytes", value_bytes(lang_case_text(lc, "bytes")) },
		{ "list", list_value(lc) },
		{ "map", map },
		{ "bday", bday },
		{ "json", simple_case_text(lc, "{\"id\":7}") },
		{ "which", simple_case_text(lc, "foo") },
		{ "a.b", simple_case_text(lc, "dotted") },
		{ "X-Trace-Id", simple_case_text(lc, "t-9") },
	};
	for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
		lang_case_header(lc, headers[i].name, headers[i].v);
	exchange_set_property(lc->ex, STR_LIT("prop"), simple_case_text(lc, "pv"));
	exchange_set_variable(lc->ex, STR_LIT("v1"), simple_case_text(lc, "var"));
	exchange_set_variable(lc->ex, STR_LIT("vn"), value_int(5));
	lang_case_body(lc, "Hello World");
	compile_fake_property(&lc->c, "app.name", "n1");
}
