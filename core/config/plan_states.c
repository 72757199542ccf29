/*
 * States: which there are, and which process owns each. That is the one process in which all
 * exchanges are at home that can reach it, or `flow`. Any process may ask any owner, so where an
 * exchange turns out to be at home elsewhere (hinny send, an address that only the message names)
 * that is slower and no less right.
 *
 * An exchange is at home where its route's consumer runs; in a direct route, where its callers are;
 * in the block of a step that runs it in the owner of its state, there.
 */
#include "core/config/plan_priv.h"

#include "core/base/assert.h"

/* Where something stands that uses a state. */
struct place {
	const struct route *route; /* NULL: outside of routes, so in any of them */
	const struct step *within; /* innermost step that it stands in, or NULL */
};

struct planned {
	struct state_node node;
	struct place *users;
	uint32_t users_n, users_cap;
};

static struct planned *
planned_of(struct state_node *node)
{
	return CONTAINER_OF(node, struct planned, node);
}

/* ---- making ---- */

static struct state_node *
add_node(struct compile *c, const struct state_desc *desc)
{
	struct program *p = c->program;
	struct planned *pl = ARENA_NEW(c->arena, struct planned);

	ASSERT(desc->ops > 0 && desc->ops <= 32 && desc->open != NULL && desc->close != NULL &&
	    desc->serve != NULL && (desc->save == NULL) == (desc->load == NULL));
	compile_grow((void **)&p->states, p->states_n, &c->states_cap, sizeof(*p->states));
	pl->node.desc = desc;
	pl->node.index = p->states_n;
	pl->node.route_id = pl->node.node_id = "";
	p->states[p->states_n++] = &pl->node;
	return &pl->node;
}

static void
add_user(struct compile *c, struct state_node *node, struct place place)
{
	struct planned *pl = planned_of(node);

	for (uint32_t i = 0; i < pl->users_n; i++) {
		if (pl->users[i].route == place.route && pl->users[i].within == place.within)
			return;
	}
	if (pl->users_n == pl->users_cap) {
		uint32_t cap = pl->users_cap ? 2 * pl->users_cap : 2;
		struct place *users = arena_alloc(c->arena, cap * sizeof(struct place));
		if (pl->users_n > 0)
			memcpy(users, pl->users, pl->users_n * sizeof(struct place));
		pl->users = users;
		pl->users_cap = cap;
	}
	pl->users[pl->users_n++] = place;
}

struct state_node *
compile_state(struct compile *c, struct step *st, const struct state_desc *desc)
{
	struct state_node *node = add_node(c, desc);

	ASSERT(st->state == NULL);
	node->step = st;
	st->state = node;
	add_user(c, node, (struct place){ st->route, st->parent });
	return node;
}

struct state_node *
compile_state_shared(struct compile *c, const char *name, const struct state_desc *desc)
{
	struct program *p = c->program;
	struct state_node *node = NULL;

	for (uint32_t i = 0; i < p->states_n && node == NULL; i++) {
		if (p->states[i]->step == NULL && strcmp(p->states[i]->node_id, name) == 0)
			node = p->states[i];
	}
	if (c->ds == NULL) /* at run time */
		return node;
	if (node == NULL) {
		node = add_node(c, desc);
		node->node_id = arena_strdup(c->arena, name);
	}
	add_user(c, node, (struct place){ c->route, c->parent });
	return node;
}

/* ---- homes: sets of kinds ---- */

struct homes {
	const struct program *p;
	uint64_t *routes; /* by route.index */
	bool grew;
};

static uint64_t
kind_bit(const char *kind)
{
	int i = kind_index(str_of(kind));

	ASSERT(i >= 0); /* a descriptor names a kind that there is */
	return (uint64_t)1 << i;
}

/* Is there never more than one process of the kind? */
static bool
is_one_process(const struct program *p, int kind)
{
	int64_t given = p->settings->workers[kind].instances;

	return given == 1 || (given == 0 && (kind_at(kind)->flags & KIND_SCALES) == 0);
}

static uint64_t place_homes(const struct homes *h, struct place place);

/* All places that use it. */
static uint64_t
node_homes(const struct homes *h, const struct planned *pl)
{
	uint64_t set = 0;

	for (uint32_t i = 0; i < pl->users_n; i++)
		set |= place_homes(h, pl->users[i]);
	return set;
}

/* The kind that owns the node as far as homes are known. */
static int
node_owner(const struct homes *h, struct state_node *node)
{
	uint64_t set = node_homes(h, planned_of(node));

	for (int k = 0; k < kind_count(); k++) {
		if (set == (uint64_t)1 << k && is_one_process(h->p, k))
			return k;
	}
	return kind_index(STR_LIT("flow"));
}

static uint64_t
place_homes(const struct homes *h, struct place place)
{
	uint64_t all = 0;

	for (const struct step *st = place.within; st != NULL; st = st->parent) {
		if (st->state != NULL && st->state->desc->runs_block)
			return (uint64_t)1 << node_owner(h, st->state);
	}
	if (place.route != NULL)
		return h->routes[place.route->index];
	for (uint32_t i = 0; i < h->p->routes_n; i++)
		all |= h->routes[i];
	return all;
}

static void
add_homes(struct homes *h, const struct route *r, uint64_t set)
{
	h->grew = h->grew || (set & ~h->routes[r->index]) != 0;
	h->routes[r->index] |= set;
}

/* What a step sends to in place runs where the step does. */
static void
spread(struct homes *h, const struct step *st)
{
	bool dynamic;
	const struct component_desc *desc = plan_component(st, &dynamic);
	uint64_t set;

	if (desc != NULL && desc->owner != NULL)
		return;
	if (st->endpoint == NULL && !dynamic)
		return;
	set = place_homes(h, (struct place){ st->route, st->parent });
	if (st->endpoint != NULL) {
		if (st->endpoint->target != NULL)
			add_homes(h, st->endpoint->target, set);
		return;
	}
	for (uint32_t i = 0; i < h->p->routes_n; i++) { /* whichever the message names */
		if (h->p->routes[i]->home == NULL)
			add_homes(h, h->p->routes[i], set);
	}
}

static void
set_owner(const struct homes *h, struct state_node *node)
{
	node->owner = kind_at(node_owner(h, node))->kind;
	if (node->step != NULL) {
		node->node_id = node->step->id;
		node->route_id = node->step->route != NULL ? node->step->route->id : "";
	}
}

/* Hidden steps that found no place: a branch is one step. */
static void
check_hidden(struct compile *c)
{
	for (uint32_t i = 0; i < c->program->steps_n; i++) {
		const struct step *st = c->program->steps[i];
		if (st->lead != NULL || st->trail != NULL)
			compile_error(c, st->at,
			    "%s: variableSend and variableReceive of variables that all exchanges "
			    "share need a list of steps around it: write {pipeline: {steps: […]}}",
			    st->eip->name);
	}
}

void
plan_states(struct compile *c)
{
	struct program *p = c->program;
	struct homes h = { .p = p };

	if (p->states_n == 0)
		return;
	check_hidden(c);
	h.routes = arena_zalloc(&p->arena, (p->routes_n + 1) * sizeof(uint64_t));
	for (uint32_t i = 0; i < p->routes_n; i++) {
		if (p->routes[i]->home != NULL)
			h.routes[i] = kind_bit(p->routes[i]->home);
	}
	do { /* sets only grow, so this ends */
		h.grew = false;
		for (uint32_t i = 0; i < p->steps_n; i++)
			spread(&h, p->steps[i]);
	} while (h.grew);
	for (uint32_t i = 0; i < p->states_n; i++)
		set_owner(&h, p->states[i]);
}
