/*
 * Values made of any bytes: comparison, conversion to every class, text of markup, name patterns.
 * The input is two texts, parted by its first NUL; two bytes in front say of which types they are.
 */
#include "core/model/headers.h"
#include "core/model/value.h"

#include "core/base/assert.h"
#include "core/model/value_priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct value
make(uint8_t kind, struct str s)
{
	struct value v = value_str(s);
	double d;
	int64_t i;

	switch (kind % 8) {
	case 0:
		v.type = VALUE_BYTES;
		break;
	case 1:
		v.type = VALUE_XML;
		break;
	case 2:
		v.flags = VALUE_INPUT;
		break;
	case 3:
		if (value_is_digits(s) || str_to_double(s, &d))
			v.type = VALUE_DECIMAL;
		break;
	case 4:
		if (str_to_double(s, &d))
			v = value_double(d);
		break;
	case 5:
		if (str_to_int64(s, &i))
			v = value_int(i);
		break;
	default:
		break;
	}
	return v;
}

static int
sign(int n)
{
	return (n > 0) - (n < 0);
}

/* Decimals are ordered: one way round as the other, and as doubles where these differ clearly. */
static void
check_decimals(struct str l, struct str r)
{
	double x, y;

	if (!str_to_double(l, &x) || !str_to_double(r, &y))
		return;
	int order = sign(value_compare_decimals(l, r));
	ASSERT(order == -sign(value_compare_decimals(r, l)));
	ASSERT(value_compare_decimals(l, l) == 0);
	if (x != y)
		ASSERT(order == (x > y ? 1 : -1));
}

static void
check_conversions(struct arena *a, const struct value *v)
{
	struct hinny_error err;
	struct value out, again;

	for (int id = CLASS_NONE; id <= CLASS_ITERATOR; id++) {
		if (value_convert(a, v, (enum value_class_id)id, &out, &err) != HINNY_OK)
			continue;
		(void)value_text(a, &out);
		/* what it became, it stays, but for one element becoming a list of one */
		ASSERT(value_convert(a, &out, (enum value_class_id)id, &again, &err) == HINNY_OK);
		if (id == CLASS_STRING)
			ASSERT(str_utf8_valid(out.u.s) || v->type == VALUE_XML ||
			    v->type == VALUE_DECIMAL);
	}
}

static void
check_pattern(struct arena *a, struct str text, struct str name)
{
	struct hinny_error err;
	struct pattern *p;

	if (text.n > 200 || pattern_compile(a, text, true, &p, &err) != HINNY_OK)
		return;
	ASSERT(pattern_match(p, text));
	(void)pattern_match(p, name);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a;
	int order;

	if (size < 2)
		return 0;
	struct str l, r = { (const char *)data + 2, size - 2 };
	if (!str_split(&r, '\0', &l) || r.p == NULL)
		r = l;
	arena_init(&a);
	struct value lv = make(data[0], l), rv = make(data[1], r);
	(void)value_equal(&a, &lv, &rv, false);
	(void)value_equal(&a, &lv, &rv, true);
	if (value_compare(&a, &lv, &lv, &order))
		ASSERT(order == 0);
	(void)value_compare(&a, &lv, &rv, &order);
	(void)value_truth(&lv);
	ASSERT(value_xml_text(&a, l).n <= l.n);
	check_decimals(l, r);
	check_conversions(&a, &lv);
	check_pattern(&a, l, r);
	arena_fini(&a);
	return 0;
}
