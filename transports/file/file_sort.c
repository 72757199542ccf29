/* The order in which the files of a poll are read. */
#include "transports/file/file_priv.h"

#include "core/lang/expression.h"

#include <ctype.h>
#include <stdlib.h>

struct sort_item {
	struct file_found found;
	struct value keys[FILE_SORTS_MAX];
};

struct sort_order {
	const struct file_conf *conf;
	struct arena *arena;
};

static struct str
lower(struct arena *a, struct str s)
{
	char *out = arena_alloc(a, s.n + 1);

	for (size_t i = 0; i < s.n; i++)
		out[i] = (char)tolower((unsigned char)s.p[i]);
	return (struct str){ out, s.n };
}

static int
compare_text(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int order = n > 0 ? memcmp(a.p, b.p, n) : 0;

	return order != 0 ? order : (a.n > b.n) - (a.n < b.n);
}

static int
compare_keys(const struct value *a, const struct value *b)
{
	if (a->type == VALUE_INT && b->type == VALUE_INT)
		return (a->u.i > b->u.i) - (a->u.i < b->u.i);
	if (!value_has_text(a) || !value_has_text(b))
		return value_has_text(a) - value_has_text(b);
	return compare_text(a->u.s, b->u.s);
}

static int
compare_items(const void *x, const void *y, void *arg)
{
	const struct sort_item *a = x, *b = y;
	const struct sort_order *order = arg;

	for (unsigned i = 0; i < order->conf->sorts_n; i++) {
		int n = compare_keys(&a->keys[i], &b->keys[i]);
		if (n != 0)
			return order->conf->sorts[i].reverse ? -n : n;
	}
	return strcmp(a->found.rel, b->found.rel);
}

/* Numbers stay numbers; all else is text, in the arena of the poll. */
static struct value
evaluate_key(const struct file_sort *sort, struct exchange *ex, struct arena *a)
{
	struct value v;

	if (expression_eval(sort->key, ex, &v) != EVAL_OK) {
		ex->exception = NULL; /* a file without the key is the first */
		return value_null();
	}
	if (v.type == VALUE_INT)
		return v;
	struct str text = value_text(&ex->arena, &v);
	return value_str(sort->ignore_case ? lower(a, text) : arena_str(a, text));
}

void
file_sort(struct file_state *fs, const struct route *route, const struct file_conf *conf,
    struct arena *a, struct file_found *items, size_t n)
{
	struct sort_item *sorted = arena_alloc(a, (n + 1) * sizeof *sorted);
	struct sort_order order = { conf, a };

	for (size_t i = 0; i < n; i++) {
		sorted[i].found = items[i];
		if (conf->sorts_n == 0)
			continue;
		struct exchange *ex = worker_exchange_new(fs->wk, route);
		ex->engine = worker_engine(fs->wk);
		file_headers(ex, conf, &items[i], fs->cwd);
		for (unsigned k = 0; k < conf->sorts_n; k++)
			sorted[i].keys[k] = evaluate_key(&conf->sorts[k], ex, a);
		worker_exchange_free(fs->wk, &ex);
	}
	qsort_r(sorted, n, sizeof *sorted, compare_items, &order);
	for (size_t i = 0; i < n; i++)
		items[i] = sorted[i].found;
}

void
file_shuffle(struct file_found *items, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = (size_t)random() % i;
		struct file_found f = items[i - 1];
		items[i - 1] = items[j];
		items[j] = f;
	}
}
