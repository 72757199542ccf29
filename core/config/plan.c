/*
 * What follows from a program: what each step reads and writes, who runs it, which remote values it
 * needs, which kinds of worker must be started. Children have higher numbers than their parents, so
 * one pass from the last step to the first sees a step's parts before the step.
 */
#include "core/config/plan_priv.h"

#include "core/base/assert.h"

/* ---- the parts of a step ---- */

void
plan_each_child(const struct step *st, plan_child_fn *fn, void *arg)
{
	for (const struct option_desc *o = st->eip->options; o != NULL && o->name != NULL; o++) {
		if (o->type == OPTION_NODE && OPTION_AT(st->conf, o, struct step *) != NULL)
			fn(arg, OPTION_AT(st->conf, o, struct step *));
		if (o->type != OPTION_NODES)
			continue;
		const struct step_list *list = &OPTION_AT(st->conf, o, struct step_list);
		for (size_t i = 0; i < list->n; i++)
			fn(arg, list->items[i]);
	}
}

static bool
is_expression(const struct option_desc *o)
{
	return o->type == OPTION_EXPRESSION || o->type == OPTION_PREDICATE ||
	    (o->flags & OPTION_TEMPLATE);
}

static void
each_own(const struct step *st, plan_expression_fn *fn, void *arg)
{
	if (st->expr != NULL)
		fn(arg, st->expr);
	for (const struct option_desc *o = st->eip->options; o != NULL && o->name != NULL; o++) {
		if (is_expression(o) && OPTION_AT(st->conf, o, struct expression *) != NULL)
			fn(arg, OPTION_AT(st->conf, o, struct expression *));
	}
}

struct each {
	plan_expression_fn *fn;
	void *arg;
};

static void
each_of_child(void *arg, struct step *child)
{
	const struct each *e = arg;

	each_own(child, e->fn, e->arg);
}

void
plan_each_expression(const struct step *st, plan_expression_fn *fn, void *arg)
{
	struct each e = { fn, arg };

	each_own(st, fn, arg);
	plan_each_child(st, each_of_child, &e);
}

void *
plan_option(const struct step *st, const char *name, enum option_type type)
{
	const struct option_desc *o = option_find(st->eip->options, str_of(name));

	return o != NULL && o->type == type ? (char *)st->conf + o->offset : NULL;
}

static const struct expression *
uri_template(const struct step *st)
{
	const struct option_desc *o = option_find(st->eip->options, STR_LIT("uri"));

	if (st->eip->flags & EIP_POLL)
		return st->expr;
	return o != NULL && (o->flags & OPTION_TEMPLATE)
	    ? OPTION_AT(st->conf, o, struct expression *)
	    : NULL;
}

const struct component_desc *
plan_component(const struct step *st, bool *dynamic)
{
	const struct expression *uri = uri_template(st);

	*dynamic = uri != NULL;
	if (st->endpoint != NULL)
		return st->endpoint->component;
	if (uri == NULL)
		return NULL;
	const char *colon = strchr(uri->text, ':'), *dollar = strchr(uri->text, '$');
	if (colon == NULL || (dollar != NULL && dollar < colon))
		return NULL;
	return component_find((struct str){ uri->text, (size_t)(colon - uri->text) });
}

/* ---- reads and writes ---- */

struct merging {
	struct compile *c;
	struct step *st;
};

static void
merge_child(void *arg, struct step *child)
{
	const struct merging *m = arg;

	access_merge(m->c, &m->st->reads, &child->reads);
	access_merge(m->c, &m->st->writes, &child->writes);
}

static void
merge_block(struct compile *c, struct step *st, const struct block *b)
{
	struct merging m = { c, st };

	for (struct step *s = b->first; s != NULL; s = s->next)
		merge_child(&m, s);
}

static void
merge_expression(void *arg, struct expression *e)
{
	const struct merging *m = arg;

	access_merge(m->c, &m->st->reads, &e->reads);
}

/* An endpoint may look at everything but the body that its component says it does not read. */
static void
merge_endpoint(struct step *st)
{
	bool dynamic;
	const struct component_desc *desc = plan_component(st, &dynamic);

	if (desc == NULL && !dynamic)
		return;
	if (desc == NULL ||
	    (desc->flags & COMPONENT_CONSUMER &&
		desc->owner == NULL)) { /* any endpoint, or a route */
		st->reads.flags |= ACCESS_ALL;
		st->writes.flags |= ACCESS_ALL;
		return;
	}
	st->reads.flags |= ACCESS_HEADERS_ALL | ACCESS_PROPERTIES_ALL | ACCESS_VARIABLES_ALL;
	if (!(desc->flags & COMPONENT_READS_NO_BODY))
		st->reads.flags |= ACCESS_BODY;
	st->writes.flags |= ACCESS_HEADERS_ALL;
	if (!(desc->flags & COMPONENT_KEEPS_BODY))
		st->writes.flags |= ACCESS_BODY;
}

/* ---- remote values ---- */

struct listing {
	struct expression **items;
	uint32_t n;
	bool count; /* only counts */
};

static void
list_remote(void *arg, struct expression *e)
{
	struct listing *l = arg;

	for (uint32_t i = 0; i < e->parts_n; i++)
		list_remote(arg, e->parts[i]);
	if (e->owner == NULL)
		return;
	if (!l->count)
		l->items[l->n] = e;
	l->n++;
}

static void
set_remotes(struct compile *c, struct step *st)
{
	struct listing l = { .count = true };

	plan_each_expression(st, list_remote, &l);
	if (l.n == 0)
		return;
	l = (struct listing){ .items = arena_alloc(c->arena, l.n * sizeof(struct expression *)) };
	plan_each_expression(st, list_remote, &l);
	st->remotes = l.items;
	st->remotes_n = l.n;
}

/* ---- kinds ---- */

static void
need_kind(struct program *p, const char *kind)
{
	if (kind == NULL)
		return;
	int i = kind_index(str_of(kind));
	ASSERT(i >= 0); /* a descriptor names a kind that there is */
	p->kinds |= (uint64_t)1 << i;
}

/* What only the message names is taken to be an HTTP address. */
static const char *
dynamic_owner(void)
{
	const struct component_desc *http = component_find(STR_LIT("http"));

	return http != NULL ? http->owner : NULL;
}

static void
find_kinds(struct program *p)
{
	for (uint32_t i = 0; i < p->states_n; i++)
		need_kind(p, p->states[i]->owner);
	for (uint32_t i = 0; i < p->endpoints_n; i++)
		need_kind(p, p->endpoints[i]->component->owner);
	for (uint32_t i = 0; i < p->remotes_n; i++)
		need_kind(p, p->remotes[i]->owner);
	for (uint32_t i = 0; i < p->steps_n; i++) {
		bool dynamic;
		const struct component_desc *desc = plan_component(p->steps[i], &dynamic);
		if (desc != NULL)
			need_kind(p, desc->owner);
		else if (dynamic)
			need_kind(p, dynamic_owner());
	}
}

void
plan_owners(struct program *p)
{
	p->states_n = 0; /* whose they are is not known */
	for (uint32_t i = 0; i < p->endpoints_n; i++)
		need_kind(p, p->endpoints[i]->component->owner);
	for (uint32_t i = 0; i < p->remotes_n; i++)
		need_kind(p, p->remotes[i]->owner);
	for (int k = 0; k < kind_count(); k++) {
		if (!(kind_at(k)->flags & KIND_STATELESS))
			p->kinds &= ~((uint64_t)1 << k);
	}
}

/* ---- all of it ---- */

static void
plan_step(struct compile *c, struct step *st)
{
	struct merging m = { c, st };
	bool dynamic;
	const struct component_desc *desc = plan_component(st, &dynamic);

	plan_each_expression(st, merge_expression, &m);
	plan_each_child(st, merge_child, &m);
	merge_block(c, st, &st->block);
	for (const struct option_desc *o = st->eip->options; o != NULL && o->name != NULL; o++) {
		const struct step_list *branches = &OPTION_AT(st->conf, o, struct step_list);
		for (size_t k = 0; o->type == OPTION_BRANCHES && k < branches->n; k++)
			merge_child(&m, branches->items[k]);
		if (o->type == OPTION_STEPS && OPTION_AT(st->conf, o, struct block *) != NULL)
			merge_block(c, st, OPTION_AT(st->conf, o, struct block *));
	}
	merge_endpoint(st);
	set_remotes(c, st);
	bool intercepted = st->route != NULL && st->route->interceptors_n > 0;
	if (st->endpoint != NULL &&
	    !intercepted) /* else it begins at home, and is sent from there */
		st->owner = desc->owner;
	st->effect =
	    st->endpoint != NULL ? st->endpoint->effect : dynamic || (st->eip->flags & EIP_EFFECT);
	st->call_run = st->owner != NULL ? 1 : 0;
}

/* ---- items that may overlap ---- */

struct purity {
	bool pure, asks; /* asks: another worker */
};

static void check_purity(struct purity *p, const struct step *first);

static void
check_part(void *arg, struct step *child)
{
	check_purity(arg, child->block.first);
}

/* What only changes the message, branches of such, and calls without an effect. */
static void
check_purity(struct purity *p, const struct step *first)
{
	for (const struct step *st = first; st != NULL && p->pure; st = st->next) {
		unsigned flags = st->eip->flags;
		p->asks = p->asks || st->owner != NULL || st->remotes_n > 0;
		if (st->endpoint != NULL)
			p->pure = st->owner != NULL && !st->effect && !st->endpoint->after_call;
		else if (flags & EIP_FIRST_MATCH)
			plan_each_child(st, check_part, p);
		else if ((flags & EIP_PREDICATE) && (flags & EIP_STEPS) && !(flags & EIP_CATCHES) &&
		    st->eip->after == NULL)
			check_purity(p, st->block.first);
		else
			p->pure = (flags & EIP_PLAIN) != 0 &&
			    !((st->reads.flags | st->writes.flags) & ACCESS_STATE);
	}
}

static void
find_overlaps(struct program *p)
{
	for (uint32_t i = 0; i < p->steps_n; i++) {
		struct step *st = p->steps[i];
		struct purity purity = { .pure = st->block.n > 0 };
		check_purity(&purity, st->block.first);
		st->overlaps = purity.pure && purity.asks;
	}
}

/* The state that all workers share, a cache line or more a step. */
static void
place_shared(struct program *p)
{
	for (uint32_t i = 0; i < p->steps_n; i++) {
		p->steps[i]->shared_at = p->shared_size;
		p->shared_size += (p->steps[i]->shared_size + 63) & ~63u;
	}
}

void
plan_program(struct compile *c)
{
	struct program *p = c->program;

	for (uint32_t i = p->steps_n; i > 0; i--)
		plan_step(c, p->steps[i - 1]);
	for (uint32_t i = 0; i < p->routes_n; i++)
		p->routes[i]->home = p->routes[i]->from->component->owner;
	plan_states(c);
	find_kinds(p);
	place_shared(p);
	find_overlaps(p);
	plan_calls(p);
	plan_streams(p);
	plan_order(c);
}
