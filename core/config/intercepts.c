/* Puts interceptors into routes: interceptFrom before the first step, intercept before each. What
 * is put in is a copy of the interceptor's step, with its block. */
#include "core/config/compile_priv.h"

static struct step *
copy_of(struct compile *c, const struct step *interceptor, struct step *next)
{
	struct step *st = step_new(c, interceptor->eip, interceptor->at);
	uint32_t index = st->index;

	*st = *interceptor;
	st->index = index;
	st->hidden = true;
	st->route = c->route;
	st->parent = interceptor; /* whose id it has */
	st->next = next;
	st->reads.flags |= ACCESS_ALL; /* its block was planned with the interceptor */
	st->writes.flags |= ACCESS_ALL;
	return st;
}

/* The interceptors, then the step. */
static struct step *
put_before(struct compile *c, const struct step *const *list, uint32_t n, struct step *st)
{
	for (uint32_t i = n; i > 0; i--)
		st = copy_of(c, list[i - 1], st);
	return st;
}

static void put_into(
    struct compile *c, const struct step *const *list, uint32_t n, struct block *b);

/* A branch stays one step: a pipeline of the interceptors and what it was. */
static struct step *
wrap(struct compile *c, const struct step *const *list, uint32_t n, struct step *branch)
{
	const struct eip_desc *pipeline = eip_find(STR_LIT("pipeline"));
	struct step *st = step_new(c, pipeline, branch->at);

	st->hidden = true;
	st->parent = branch;
	st->block = (struct block){ put_before(c, list, n, branch), n + 1 };
	st->reads.flags |= ACCESS_ALL;
	st->writes.flags |= ACCESS_ALL;
	return st;
}

static void
put_into_parts(struct compile *c, const struct step *const *list, uint32_t n, struct step *st)
{
	put_into(c, list, n, &st->block);
	for (const struct option_desc *o = st->eip->options; o != NULL && o->name != NULL; o++) {
		struct step_list *parts = &OPTION_AT(st->conf, o, struct step_list);
		if (o->type == OPTION_NODE && OPTION_AT(st->conf, o, struct step *) != NULL)
			put_into(c, list, n, &OPTION_AT(st->conf, o, struct step *)->block);
		for (size_t i = 0; o->type == OPTION_NODES && i < parts->n; i++)
			put_into(c, list, n, &parts->items[i]->block);
		for (size_t i = 0; o->type == OPTION_BRANCHES && i < parts->n; i++) {
			put_into_parts(c, list, n, parts->items[i]);
			parts->items[i] = wrap(c, list, n, parts->items[i]);
		}
	}
}

static void
put_into(struct compile *c, const struct step *const *list, uint32_t n, struct block *b)
{
	struct step **at = &b->first;

	while (*at != NULL) {
		struct step *st = *at;
		put_into_parts(c, list, n, st);
		if (st->eip != eip_find(STR_LIT("doTry"))) { /* only what is in it */
			*at = put_before(c, list, n, st);
			b->n += n;
		}
		at = &st->next;
	}
}

void
intercept_apply(struct compile *c, struct route *r, const struct step *const *each, uint32_t each_n,
    const struct step *const *from, uint32_t from_n)
{
	if (each_n > 0)
		put_into(c, each, each_n, &r->block);
	r->block.first = put_before(c, from, from_n, r->block.first);
	r->block.n += from_n;
}
