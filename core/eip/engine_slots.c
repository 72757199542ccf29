/*
 * Remote values: a step that cannot go on without the value of an expression that another worker
 * evaluates, or without the body of a stream. The values are put into ex->slots, and the step runs
 * again from its start. What is asked for together is what the step is known to want in any case.
 */
#include "core/eip/engine_priv.h"

#include <string.h>

/* An unfilled slot for e; one that is there is used again. */
static struct eval_slot *
slot_add(struct exchange *ex, const struct expression *e)
{
	struct engine_run *run = ex->run;
	struct eval_slot *slot = expression_slot(ex, e);
	if (slot == NULL) {
		if (ex->slots_n == run->slots_cap) {
			uint32_t cap = run->slots_cap ? run->slots_cap * 2 : 4;
			struct eval_slot *slots = arena_alloc(&ex->arena, cap * sizeof(slots[0]));
			if (ex->slots_n)
				memcpy(slots, ex->slots, ex->slots_n * sizeof(slots[0]));
			ex->slots = slots;
			run->slots_cap = cap;
		}
		slot = &ex->slots[ex->slots_n++];
	}
	*slot = (struct eval_slot){ .e = e };
	return slot;
}

static bool
is_filled(const struct exchange *ex, const struct expression *e)
{
	const struct eval_slot *slot = expression_slot(ex, e);
	return slot && slot->filled;
}

static bool
same_owner(const struct expression *a, const struct expression *b)
{
	return a->owner == b->owner || (a->owner && b->owner && strcmp(a->owner, b->owner) == 0);
}

/* How many of the step's remote expressions from i on can be asked for together. */
static uint32_t
group_size(const struct exchange *ex, const struct step *st, uint32_t i, bool first_match)
{
	uint32_t n = 1;
	while (i + n < st->remotes_n) {
		const struct expression *e = st->remotes[i + n];
		if (!same_owner(e, st->remotes[i]) || is_filled(ex, e))
			break;
		if (first_match && !e->predicate)
			break;
		n++;
	}
	return n;
}

static void
ask_values(struct exchange *ex, const struct expression *e)
{
	struct engine *en = ex->engine;
	struct engine_run *run = ex->run;
	const struct step *st = run->op == OP_STEP ? ex->top->at : NULL;
	uint32_t i = 0, n = 1;
	bool first_match = false;
	while (st && i < st->remotes_n && st->remotes[i] != e)
		i++;
	if (st && i < st->remotes_n) {
		first_match = (st->eip->flags & EIP_FIRST_MATCH) && e->predicate;
		n = group_size(ex, st, i, first_match);
		for (uint32_t k = 0; k < n; k++)
			slot_add(ex, st->remotes[i + k]);
		en->ops->evaluate(en, ex, st->remotes + i, n, first_match && n > 1);
		return;
	}
	slot_add(ex, e);
	en->ops->evaluate(en, ex, &run->one, 1, false);
}

void
engine_ask(struct exchange *ex)
{
	struct engine *en = ex->engine;
	struct engine_run *run = ex->run;
	const struct expression *e = ex->need;
	ex->need = NULL;
	run->asked = e;
	run->aside = ex->exception; /* so that one of the answer can be told from it */
	ex->exception = NULL;
	if (e == NULL) {
		run->wait = WAIT_COLLECT;
		en->ops->collect(en, ex);
		return;
	}
	run->wait = WAIT_EVALUATE;
	run->one =
	    (struct expression *)e; /* the interface wants an array of them; it is not changed */
	ask_values(ex, e);
}

void
engine_slot_fill(
    struct exchange *ex, const struct expression *e, struct value v, struct exception *exception)
{
	struct eval_slot *slot = expression_slot(ex, e);
	if (slot == NULL)
		return; /* the answer of a worker that was not asked for it */
	slot->value = v;
	slot->exception = exception;
	slot->filled = true;
}

bool
engine_take_answer(struct exchange *ex)
{
	struct engine_run *run = ex->run;
	struct exception *failure = ex->exception;
	ex->exception = run->aside;
	run->aside = NULL;
	if (run->asked == NULL) {
		if (failure == NULL && ex->body.type == VALUE_STREAM)
			failure = exception_new(
			    &ex->arena, EXCEPTION_CAMEL_EXCHANGE, "the body could not be read");
		if (failure)
			ex->exception = failure;
		return failure == NULL;
	}
	if (failure == NULL && !is_filled(ex, run->asked))
		failure = exception_new(&ex->arena, EXCEPTION_EXPRESSION_EVALUATION,
		    "an expression was left without a value");
	if (failure) /* surfaces when the value is read */
		engine_slot_fill(ex, run->asked, value_null(), failure);
	return true;
}
