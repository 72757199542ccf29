/* A message put aside: body and headers as the engine keeps them, properties and variables besides. */
#include "core/eip/kept.h"

#include "core/eip/engine_priv.h"

#include <string.h>

typedef void set_fn(struct exchange *ex, struct str name, struct value v);

static void
keep_map(struct exchange *ex, struct value_map *to, const struct value_map *from)
{
	if (from->n == 0)
		return;
	struct value *values = arena_alloc(&ex->arena, from->n * sizeof(values[0]));
	to->entries = arena_alloc(&ex->arena, from->n * sizeof(to->entries[0]));
	to->n = from->n;
	for (size_t i = 0; i < from->n; i++) {
		values[i] = *from->entries[i].value;
		to->entries[i] = (struct value_entry){ from->entries[i].key, &values[i] };
	}
}

static void
give_back(
    struct exchange *ex, const struct value_map *now, const struct value_map *kept, set_fn *set)
{
	for (size_t i = now->n; i-- > 0;)
		if (i < now->n && value_map_find(kept, now->entries[i].key) == NULL)
			set(ex, now->entries[i].key, value_null());
	for (size_t i = 0; i < kept->n; i++) {
		const struct value *v = value_map_find(now, kept->entries[i].key);
		if (v == NULL || memcmp(v, kept->entries[i].value, sizeof(*v)) != 0)
			set(ex, kept->entries[i].key, *kept->entries[i].value);
	}
}

void
kept_take(struct exchange *ex, struct kept *kept)
{
	snapshot_take(ex, &kept->message);
	keep_map(ex, &kept->properties, &ex->properties);
	keep_map(ex, &kept->variables, &ex->variables);
	kept->caught = ex->caught;
}

void
kept_restore(struct exchange *ex, const struct kept *kept)
{
	snapshot_restore(ex, kept->message);
	give_back(ex, &ex->properties, &kept->properties, exchange_set_property);
	give_back(ex, &ex->variables, &kept->variables, exchange_set_variable);
	ex->caught = kept->caught;
}
