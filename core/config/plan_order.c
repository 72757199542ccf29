/*
 * What keeps the order of a source that has several messages in flight (COMPONENT_ORDERED: kafka):
 * which steps ask before they run, which topics each sends to in place, and which may still be sent
 * to behind it. A message sends to a topic when none before it can send there any more, so what is
 * sent leaves in the order of the source although messages overlap; behind its last send it holds
 * up nobody while it waits for the acknowledgement.
 *
 * A topic is a bit: an endpoint's uri without its options. What only the message names may be any.
 * An error mark on the safe side (a bit too many in order_left) costs time, never the order.
 */
#include "core/config/plan_priv.h"

enum { TOPICS_MAX = 63, TOPIC_OTHER = 63, VISITS_MAX = 50000 };
#define ANY_TOPIC (~(uint64_t)0)

struct order_plan {
	struct compile *c;
	const struct route *root;
	struct str topics[TOPICS_MAX];
	uint32_t topics_n, visits;
	const struct step **hidden; /* by step.index: what compile_send made for it */
	bool *entered;              /* by route.index: it is being visited */
	bool unclear; /* routes that call one another in a ring, interceptors of sends */
};

static uint64_t visit_step(struct order_plan *op, struct step *st, uint64_t rest);
static uint64_t visit_route(struct order_plan *op, const struct route *r, uint64_t rest);

/* ---- the step itself ---- */

static bool
is_one_of(const char *name, const char *const *names)
{
	for (; *names != NULL; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

static uint64_t
topic_bit(struct order_plan *op, const struct endpoint *ep)
{
	struct str uri = str_of(ep->key);
	const char *options = memchr(uri.p, '?', uri.n);

	if (options != NULL)
		uri.n = (size_t)(options - uri.p);
	for (uint32_t i = 0; i < op->topics_n; i++)
		if (str_eq(op->topics[i], uri))
			return (uint64_t)1 << i;
	if (op->topics_n == TOPICS_MAX)
		return (uint64_t)1 << TOPIC_OTHER;
	op->topics[op->topics_n] = uri;
	return (uint64_t)1 << op->topics_n++;
}

static bool
is_in_place(const struct order_plan *op, const struct component_desc *desc)
{
	return desc != NULL && (desc->flags & COMPONENT_ORDERED) && desc->owner != NULL &&
	    strcmp(desc->owner, op->root->home) == 0;
}

static uint64_t
own_sends(struct order_plan *op, const struct step *st)
{
	bool dynamic;
	const struct component_desc *desc = plan_component(st, &dynamic);

	if (st->endpoint != NULL)
		return st->endpoint->target == NULL && is_in_place(op, desc)
		    ? topic_bit(op, st->endpoint)
		    : 0;
	if (!dynamic || (st->eip->flags & EIP_POLL))
		return 0;
	return desc == NULL || is_in_place(op, desc) ? ANY_TOPIC : 0;
}

/* Its copy goes its own way and asks nobody: it asks for it. */
static bool
is_tap(const struct step *st)
{
	return strcmp(st->eip->name, "wireTap") == 0;
}

/* What somebody could see happen in another order. */
static bool
own_effect(const struct step *st)
{
	if (st->endpoint != NULL && st->endpoint->target != NULL)
		return false; /* the steps of that route ask */
	return st->effect || st->shared_size > 0 || st->state != NULL;
}

/* Its one effect is a send that is known to be in place. */
static bool
only_sends(struct order_plan *op, const struct step *st)
{
	bool dynamic;

	if (is_tap(st) && op->hidden[st->index] != NULL)
		st = op->hidden[st->index];
	return is_in_place(op, plan_component(st, &dynamic));
}

static void
mark(struct order_plan *op, struct step *st, uint64_t sends, uint64_t left)
{
	bool by_key = own_effect(st) && !only_sends(op, st);

	const struct step *s = st->next;
	for (uint32_t i = 1; i < st->call_run && s != NULL; i++, s = s->next)
		by_key = by_key || own_effect(s); /* it goes along in the same call */
	st->order_by_key = st->order_by_key || by_key;
	st->ordered = st->order_by_key || sends != 0;
	st->order_sends |= sends;
	st->order_left |= left;
}

/* ---- its parts ---- */

struct part {
	struct step *first;
	bool chain; /* the steps behind it are part of it */
};

struct parts {
	struct part *items; /* NULL: they are counted */
	uint32_t n;
};

static void
add_part(struct parts *p, struct step *first, bool chain)
{
	if (first == NULL)
		return;
	if (p->items != NULL)
		p->items[p->n] = (struct part){ first, chain };
	p->n++;
}

static void
add_child(void *arg, struct step *child)
{
	add_part(arg, child, false);
}

static void
list_parts(struct order_plan *op, const struct step *st, struct parts *p)
{
	add_part(p, st->block.first, true);
	for (const struct option_desc *o = st->eip->options; o != NULL && o->name != NULL; o++) {
		const struct step_list *branches = &OPTION_AT(st->conf, o, struct step_list);
		for (size_t i = 0; o->type == OPTION_BRANCHES && i < branches->n; i++)
			add_part(p, branches->items[i], false);
		if (o->type == OPTION_STEPS && OPTION_AT(st->conf, o, struct block *) != NULL)
			add_part(p, OPTION_AT(st->conf, o, struct block *)->first, true);
	}
	plan_each_child(st, add_child, p);
	add_part(p, (struct step *)op->hidden[st->index], false);
}

static struct parts
parts_of(struct order_plan *op, const struct step *st)
{
	struct parts p = { 0 };

	list_parts(op, st, &p);
	if (p.n == 0)
		return p;
	p.items = arena_alloc(op->c->arena, p.n * sizeof p.items[0]);
	p.n = 0;
	list_parts(op, st, &p);
	return p;
}

/* Each of the steps, from the last to the first, with what comes behind it. */
static uint64_t
visit_chain(struct order_plan *op, struct step *first, uint64_t rest)
{
	uint32_t n = 0;

	for (const struct step *st = first; st != NULL; st = st->next)
		n++;
	struct step **all = arena_alloc(op->c->arena, n * sizeof all[0] + 1);
	n = 0;
	for (struct step *st = first; st != NULL; st = st->next)
		all[n++] = st;
	while (n > 0)
		rest = visit_step(op, all[--n], rest);
	return rest;
}

static uint64_t
visit_part(struct order_plan *op, const struct part *p, uint64_t rest)
{
	return p->chain ? visit_chain(op, p->first, rest) : visit_step(op, p->first, rest);
}

enum parts_kind { PARTS_ALTERNATIVE, PARTS_IN_TURN, PARTS_REPEATED };

static enum parts_kind
kind_of_parts(const struct step *st)
{
	static const char *const alternative[] = { "choice", "filter", "when", "otherwise", NULL };
	static const char *const in_turn[] = { "circuitBreaker", "doCatch", "doFinally", "doTry",
		"intercept", "interceptFrom", "multicast", "onFallback", "pipeline", "step",
		"throttle", NULL };
	const bool *parallel = plan_option(st, "parallelProcessing", OPTION_BOOL);

	if (is_one_of(st->eip->name, alternative))
		return PARTS_ALTERNATIVE;
	return is_one_of(st->eip->name, in_turn) && (parallel == NULL || !*parallel)
	    ? PARTS_IN_TURN
	    : PARTS_REPEATED; /* split, loop, whatever is not understood */
}

static uint64_t
visit_parts(struct order_plan *op, const struct step *st, uint64_t rest)
{
	struct parts p = parts_of(op, st);
	enum parts_kind kind = kind_of_parts(st);
	uint64_t sends = 0, behind = rest;

	/* the second time round it is known what the parts send to themselves */
	for (int round = 0; round < (kind == PARTS_REPEATED ? 2 : 1); round++) {
		behind |= sends;
		for (uint32_t i = p.n; i > 0; i--) {
			sends |= visit_part(op, &p.items[i - 1], behind);
			if (kind == PARTS_IN_TURN)
				behind |= sends;
		}
	}
	return sends;
}

static uint64_t
visit_step(struct order_plan *op, struct step *st, uint64_t rest)
{
	if (++op->visits > VISITS_MAX) {
		op->unclear = true;
		return ANY_TOPIC;
	}
	uint64_t sends = own_sends(op, st), inner;

	if (is_tap(st) && op->hidden[st->index] != NULL) {
		sends |= own_sends(op, op->hidden[st->index]);
		inner = 0;
	} else if (st->endpoint != NULL && st->endpoint->target != NULL) {
		inner = visit_route(op, st->endpoint->target, rest);
	} else {
		inner = visit_parts(op, st, rest);
	}
	mark(op, st, sends, inner | rest);
	return sends | inner | rest;
}

/* ---- routes ---- */

/* What handles a failure may come after any step, and any step after it (continued). */
static uint64_t
visit_handlers(struct order_plan *op, const struct route *r, uint64_t rest)
{
	uint64_t sends = rest;

	for (uint32_t i = 0; i < r->handlers_n; i++)
		sends |= visit_chain(op, r->handlers[i]->block.first, rest);
	if (r->error_handler != NULL)
		sends |= visit_chain(op, r->error_handler->block.first, rest);
	for (uint32_t i = 0; i < r->completions_n; i++)
		sends |= visit_chain(op, r->completions[i]->block.first, rest);
	return sends;
}

static uint64_t
visit_route(struct order_plan *op, const struct route *r, uint64_t rest)
{
	if (op->entered[r->index] || r->interceptors_n > 0) {
		op->unclear = true;
		return ANY_TOPIC;
	}
	op->entered[r->index] = true;
	uint64_t handlers = visit_handlers(op, r, rest);
	uint64_t sends = visit_chain(op, r->block.first, handlers);
	if (handlers != rest) /* once more, with what the route sends to */
		(void)visit_handlers(op, r, sends);
	op->entered[r->index] = false;
	return sends;
}

/* Nothing is known of what comes behind a step: a message waits until those before it are done. */
static void
mark_unclear(struct order_plan *op)
{
	struct program *p = op->c->program;

	for (uint32_t i = 0; i < p->steps_n; i++)
		mark(op, p->steps[i], own_sends(op, p->steps[i]), ANY_TOPIC);
}

static void
find_hidden(struct order_plan *op)
{
	struct program *p = op->c->program;

	for (uint32_t i = 0; i < p->steps_n; i++) {
		const struct step *st = p->steps[i];
		bool sends = strcmp(st->eip->name, "to") == 0 || strcmp(st->eip->name, "toD") == 0;
		if (st->hidden && st->parent != NULL && sends && st->parent->block.first != st)
			op->hidden[st->parent->index] = st;
	}
}

void
plan_order(struct compile *c)
{
	struct program *p = c->program;
	struct order_plan op = { .c = c };

	for (uint32_t i = 0; i < p->routes_n; i++) {
		struct route *r = p->routes[i];
		if (!(r->from->component->flags & COMPONENT_ORDERED) || r->home == NULL)
			continue;
		if (op.hidden == NULL) {
			op.hidden = arena_zalloc(c->arena, p->steps_n * sizeof op.hidden[0]);
			op.entered = arena_zalloc(c->arena, p->routes_n * sizeof op.entered[0]);
			find_hidden(&op);
		}
		op.root = r;
		op.visits = 0;
		op.unclear = false;
		r->order_sends = visit_route(&op, r, 0);
		if (op.unclear) {
			r->order_sends = ANY_TOPIC;
			mark_unclear(&op);
		}
	}
}
