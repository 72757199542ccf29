/* Variables that all exchanges of the program share: a table of values, in one process. */
#include "core/eip/variables.h"

#include "core/base/hash.h"
#include "core/base/list.h"
#include "core/base/mem.h"
#include "core/config/compile.h"
#include "core/eip/state.h"

#include <stdlib.h>

#define STATE_NAME "variables"

struct variable {
	struct list node;
	struct arena arena; /* name and value are in it */
	struct str name;
	struct value value;
	size_t size;
};

struct variables {
	struct hash names;
	struct list all;
	size_t bytes;
};

/* ---- the owner ---- */

static void *
variables_open(struct state_node *node)
{
	struct variables *vs = MEM_NEW(struct variables);
	(void)node;
	hash_init(&vs->names, false);
	list_init(&vs->all);
	return vs;
}

static void
drop(struct variables *vs, struct variable *v)
{
	(void)hash_remove(&vs->names, v->name); /* it is v, or not there yet */
	list_remove(&v->node);
	vs->bytes -= v->size;
	arena_fini(&v->arena);
	free(v);
}

static void
variables_close(struct state_node *node)
{
	struct variables *vs = node->state;
	LIST_FOREACH (&vs->all, it, next)
		drop(vs, LIST_ENTRY(it, struct variable, node));
	hash_fini(&vs->names);
	free(vs);
}

static size_t
blob_size(const struct value *v)
{
	return v->blob && value_has_text(v) ? v->u.s.n : 0;
}

/* NULL: there is no room; *err says why. */
static struct variable *
make(struct variables *vs, struct str name, const struct value *value, struct hinny_error *err)
{
	const struct variable *old = hash_find(&vs->names, name);
	struct variable *v = MEM_NEW(struct variable);
	list_init(&v->node);
	arena_init(&v->arena);
	v->name = arena_str(&v->arena, name);
	v->value = value_share(&v->arena, value);
	v->size = v->arena.used + blob_size(value);
	size_t others = vs->bytes - (old ? old->size : 0);
	if (v->size <= VARIABLES_VALUE_MAX && others + v->size <= VARIABLES_BYTES_MAX &&
	    (old || vs->names.count < VARIABLES_MAX))
		return v;
	(void)hinny_error_set(err, HINNY_ELIMIT,
	    "variable %.*s: %zu bytes are too many: one may have %d, all %d variables together %d",
	    STR_FMT(name), v->size, (int)VARIABLES_VALUE_MAX, (int)VARIABLES_MAX,
	    (int)VARIABLES_BYTES_MAX);
	arena_fini(&v->arena);
	free(v);
	return NULL;
}

static bool
set(struct variables *vs, struct str name, const struct value *value, struct hinny_error *err)
{
	struct variable *v = NULL, *old = hash_find(&vs->names, name);
	if (!value_is_null(value) && (v = make(vs, name, value, err)) == NULL)
		return false;
	if (old)
		drop(vs, old);
	if (v) {
		(void)hash_put(&vs->names, v->name, v);
		list_append(&vs->all, &v->node);
		vs->bytes += v->size;
	}
	return true;
}

static void
remove_named(struct variables *vs, struct str name)
{
	bool all = name.n > 0 && name.p[name.n - 1] == '*';
	if (!all) {
		struct variable *v = hash_find(&vs->names, name);
		if (v)
			drop(vs, v);
		return;
	}
	LIST_FOREACH (&vs->all, it, next) {
		struct variable *v = LIST_ENTRY(it, struct variable, node);
		if (v->name.n >= name.n - 1 && memcmp(v->name.p, name.p, name.n - 1) == 0)
			drop(vs, v);
	}
}

/* [name, value, …] */
static bool
set_pairs(struct variables *vs, const struct value *arg, struct hinny_error *err)
{
	size_t n = arg->type == VALUE_LIST ? arg->u.list->n : 1;
	for (size_t i = 0; i + 1 < n; i += 2) {
		const struct value *items = arg->u.list->items + i;
		if (items[0].type != VALUE_STRING)
			n = 1;
		else if (!set(vs, items[0].u.s, &items[1], err))
			return false;
	}
	if (n % 2 != 0)
		(void)hinny_error_set(err, HINNY_EINVAL, "no names and values");
	return n % 2 == 0;
}

static bool
variables_serve(struct state_node *node, struct exchange *ex, unsigned op, const struct value *arg,
    struct value *out)
{
	struct variables *vs = node->state;
	struct hinny_error err;
	if (op == VARIABLES_SET) {
		if (set_pairs(vs, arg, &err))
			return true;
		exchange_fail(ex, EXCEPTION_ILLEGAL_STATE, "%s", err.text);
		return false;
	}
	if (arg->type != VALUE_STRING) {
		exchange_fail(ex, EXCEPTION_ILLEGAL_ARGUMENT, "no name of a variable");
		return false;
	}
	const struct variable *v = hash_find(&vs->names, arg->u.s);
	if (op == VARIABLES_REMOVE)
		remove_named(vs, arg->u.s);
	else if (v)
		*out = value_share(&ex->arena, &v->value);
	return true;
}

static void
variables_save(struct state_node *node, struct state_writer *w)
{
	struct variables *vs = node->state;
	LIST_FOREACH (&vs->all, it, next) {
		const struct variable *v = LIST_ENTRY(it, struct variable, node);
		struct arena a;
		arena_init(&a);
		struct value list = value_new_list(&a, 2);
		value_list_add(&a, list.u.list, value_str(v->name));
		value_list_add(&a, list.u.list, v->value);
		state_put(w, &list, NULL);
		arena_fini(&a);
	}
}

static bool
variables_load(struct state_node *node, struct state_record *record, struct hinny_error *err)
{
	return set_pairs(node->state, &record->value, err);
}

const struct state_desc variables_state = {
	.name = STATE_NAME,
	.ops = VARIABLES_OPS,
	.read_ops = 1u << VARIABLES_GET,
	.open = variables_open,
	.close = variables_close,
	.serve = variables_serve,
	.save = variables_save,
	.load = variables_load,
};

/* ---- those that use them ---- */

bool
variables_is_shared(struct str name)
{
	return str_starts(name, "global:") || str_starts(name, "route:");
}

void
variables_use(struct compile *c)
{
	(void)compile_state_shared(c, STATE_NAME, &variables_state);
}

bool
variables_is_whole(struct str name)
{
	struct str rest = name, scope, id;
	(void)str_split(&rest, ':', &scope);
	if (str_eq(scope, STR_LIT("route")) && (!str_split(&rest, ':', &id) || id.n == 0))
		return false;
	return rest.n > 0;
}

int
variables_check(struct compile *c, struct position at, const char *option, struct str name)
{
	if (variables_is_whole(name))
		return 0;
	return compile_error(c, at, "%s: expected global:NAME or route:ROUTEID:NAME, got \"%.*s\"",
	    option, STR_FMT(name));
}

/* NULL with the exception set: no route of the program was seen to use any. */
static struct state_node *
find_node(struct exchange *ex)
{
	const struct program *p = ex->engine ? ex->engine->program : NULL;
	for (uint32_t i = 0; p && i < p->states_n; i++)
		if (p->states[i]->desc == &variables_state)
			return p->states[i];
	exchange_fail(ex, EXCEPTION_ILLEGAL_STATE, "there are no shared variables here");
	return NULL;
}

enum eval_rc
variables_ask(struct exchange *ex, unsigned op, const struct value *arg, struct value *out)
{
	struct state_node *node = find_node(ex);
	*out = value_null();
	return node ? engine_state(ex, node, op, arg, out) : EVAL_ERROR;
}

enum eval_rc
variables_get(struct exchange *ex, struct str name, struct value *out)
{
	struct value arg = value_str(name);
	return variables_ask(ex, VARIABLES_GET, &arg, out);
}

enum eval_rc
variables_set(struct exchange *ex, struct str name, struct value v)
{
	struct value list = value_new_list(&ex->arena, 2), none;
	value_list_add(&ex->arena, list.u.list, value_str(name));
	value_list_add(&ex->arena, list.u.list, v);
	return variables_ask(ex, VARIABLES_SET, &list, &none);
}
