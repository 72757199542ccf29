/*
 * The memory repository of idempotent consumers: its keys, in the one process that owns them. What
 * an exchange has added it holds until it is done; when its process dies the keys that it held are
 * given back, so that a record that comes again is not taken for a duplicate.
 */
#include "core/eip/idempotent.h"

#include "core/base/mem.h"
#include "core/eip/key_table.h"
#include "core/eip/state.h"
#include "core/eip/steps.h"

#include <stddef.h>
#include <stdlib.h>

enum { KEYS_IN_RECORD = 64, LOST_MAX = 64 };

struct repository {
	struct key_table keys;
	/* processes that died: what comes from a former owner may still name them */
	uint64_t lost[LOST_MAX];
	unsigned lost_n;
};

static void *
keys_open(struct state_node *node)
{
	const struct memory_repository_conf *conf = node->conf;
	struct repository *r = MEM_NEW(struct repository);
	key_table_init(&r->keys, (size_t)conf->cache_size);
	return r;
}

static void
keys_close(struct state_node *node)
{
	struct repository *r = node->state;
	key_table_fini(&r->keys);
	free(r);
}

/* ---- operations ---- */

/* [key, holder] */
static bool
pair(const struct value *v, struct str *key, uint64_t *holder)
{
	if (v->type != VALUE_LIST || v->u.list->n != 2 ||
	    v->u.list->items[0].type != VALUE_STRING || v->u.list->items[1].type != VALUE_INT)
		return false;
	*key = v->u.list->items[0].u.s;
	*holder = (uint64_t)v->u.list->items[1].u.i;
	return true;
}

static bool
single(const struct value *v, struct str *key)
{
	*key = v->u.s;
	return v->type == VALUE_STRING;
}

static void
keys_home_lost(struct state_node *node, uint64_t home)
{
	struct repository *r = node->state;
	r->lost[r->lost_n++ % LOST_MAX] = home;
	key_table_lose(&r->keys, home);
}

/* Is the key held by a process that has just died? Then it is given back before that is told. */
static void
look_at_holder(struct state_node *node, struct exchange *ex, struct str key)
{
	struct repository *r = node->state;
	uint64_t home = key_table_home(&r->keys, key);
	if (home != 0 && home != state_home(ex) && !state_home_lives(node, home))
		keys_home_lost(node, home);
}

static bool
keys_serve(struct state_node *node, struct exchange *ex, unsigned op, const struct value *arg,
    struct value *out)
{
	struct key_table *keys = &((struct repository *)node->state)->keys;
	uint64_t holder = 0;
	struct str key;
	bool pairs = op == KEYS_ADD || op == KEYS_GIVE_BACK;
	if (!(pairs ? pair(arg, &key, &holder) : single(arg, &key))) {
		exchange_fail(ex, EXCEPTION_ILLEGAL_ARGUMENT, "idempotentConsumer: no key");
		return false;
	}
	switch (op) {
	case KEYS_ADD:
		look_at_holder(node, ex, key);
		*out = value_bool(key_table_add(keys, key, state_home(ex), holder));
		break;
	case KEYS_HAS:
		*out = value_bool(key_table_has(keys, key));
		break;
	case KEYS_PUT:
		(void)key_table_add(keys, key, 0, 0); /* it may be there */
		key_table_confirm(keys, key);
		break;
	case KEYS_CONFIRM:
		key_table_confirm(keys, key);
		break;
	case KEYS_REMOVE:
		key_table_remove(keys, key);
		break;
	default:
		key_table_give_back(keys, key, state_home(ex), holder);
		break;
	}
	return true;
}

static uint64_t
keys_count(const struct state_node *node)
{
	return ((const struct repository *)node->state)->keys.keys.count;
}

/* ---- the hand-over ---- */

/* A record is a list of key, home, holder, key, home … */
static void
keys_save(struct state_node *node, struct state_writer *w)
{
	struct repository *r = node->state;
	struct arena a;
	struct value list = value_null();
	arena_init(&a);
	LIST_FOREACH (&r->keys.order, it, next) {
		const struct seen_key *k = LIST_ENTRY(it, struct seen_key, node);
		if (value_is_null(&list))
			list = value_new_list(&a, (size_t)3 * KEYS_IN_RECORD);
		value_list_add(&a, list.u.list, value_str((struct str){ k->text, k->n }));
		value_list_add(&a, list.u.list, value_int((int64_t)k->home));
		value_list_add(&a, list.u.list, value_int((int64_t)k->holder));
		if (list.u.list->n == (size_t)3 * KEYS_IN_RECORD || next == &r->keys.order) {
			state_put(w, &list, NULL);
			list = value_null();
			arena_reset(&a);
		}
	}
	arena_fini(&a);
}

static bool
was_lost(const struct repository *r, uint64_t home)
{
	for (unsigned i = 0; i < r->lost_n && i < LOST_MAX; i++)
		if (r->lost[i] == home)
			return true;
	return false;
}

static bool
keys_load(struct state_node *node, struct state_record *record, struct hinny_error *err)
{
	struct repository *r = node->state;
	const struct value *v = &record->value;
	size_t n = v->type == VALUE_LIST ? v->u.list->n : 1;
	for (size_t i = 0; i + 2 < n; i += 3) {
		const struct value *item = v->u.list->items + i;
		if (item[0].type != VALUE_STRING || item[1].type != VALUE_INT ||
		    item[2].type != VALUE_INT)
			n = 1;
		else if (item[1].u.i == 0 || !was_lost(r, (uint64_t)item[1].u.i))
			(void)key_table_add(
			    &r->keys, item[0].u.s, (uint64_t)item[1].u.i, (uint64_t)item[2].u.i);
	}
	if (n % 3 == 0)
		return true;
	(void)hinny_error_set(err, HINNY_EINVAL, "no list of keys");
	return false;
}

const struct state_desc idempotent_keys = {
	.name = "keys",
	.ops = KEYS_OPS,
	.read_ops = 1u << KEYS_HAS,
	.open = keys_open,
	.close = keys_close,
	.serve = keys_serve,
	.home_lost = keys_home_lost,
	.save = keys_save,
	.load = keys_load,
	.count = keys_count,
};

/* ---- the class ---- */

static const struct option_desc options[] = {
	{ .name = "cacheSize",
	    .type = OPTION_INT,
	    .dflt = "1000",
	    .min = 1,
	    .max = 10000000,
	    .offset = offsetof(struct memory_repository_conf, cache_size),
	    .help = "how many keys are kept; beyond that the oldest is forgotten" },
	OPTIONS_END,
};

const struct bean_class MemoryIdempotent_bean = {
	.name = "org.apache.camel.support.processor.idempotent.MemoryIdempotentRepository",
	.role = "IdempotentRepository",
	.options = options,
	.conf_size = sizeof(struct memory_repository_conf),
	.help = "keys of idempotent consumers, in memory; kept over reloads, not over restarts",
};
