/*
 * Which steps go in one call: from a step with an owner on, the following ones of that owner and
 * the home-steps between them, as long as these only change the message. A run stays in its block,
 * so it never spans a doTry or a handler; a step with an effect ends it, so it has one at most and
 * nothing is done behind it that the home has not seen.
 */
#include "core/config/plan_priv.h"

/* Languages whose value depends on nothing but the message, so that another process finds the same.
 */
static bool
is_portable(const struct expression *e, const char *owner)
{
	static const char *const names[] = { "constant", "exchangeProperty", "header", "variable",
		NULL };

	if (e->owner != NULL)
		return strcmp(e->owner, owner) == 0;
	for (const char *const *name = names; *name != NULL; name++) {
		if (strcmp(e->language->name, *name) == 0)
			return true;
	}
	return false;
}

struct portability {
	const char *owner;
	bool ok;
};

static void
check_expression(void *arg, struct expression *e)
{
	struct portability *p = arg;

	p->ok = p->ok && is_portable(e, p->owner);
}

/* May the step, which is the home's, run in a call to `owner`? */
static bool
may_go_along(const struct step *st, const char *owner)
{
	struct portability p = { owner, true };

	if ((st->reads.flags | st->writes.flags) & ACCESS_STATE)
		return false;
	if (!(st->eip->flags & EIP_PLAIN) || st->endpoint != NULL || st->effect)
		return false;
	plan_each_expression(st, check_expression, &p);
	return p.ok;
}

static bool
same_owner(const struct step *a, const struct step *b)
{
	return a->owner != NULL && b->owner != NULL && strcmp(a->owner, b->owner) == 0;
}

static bool
ends_call(const struct step *st)
{
	return st->effect || (st->endpoint != NULL && st->endpoint->after_call);
}

static uint32_t
run_length(const struct step *st)
{
	uint32_t run = 1, n = 1;

	for (const struct step *s = st->next; !ends_call(st) && s != NULL; s = s->next) {
		n++;
		if (same_owner(st, s)) {
			run = n;
			if (ends_call(s))
				break;
		} else if (s->owner != NULL || !may_go_along(s, st->owner)) {
			break;
		}
	}
	return run;
}

void
plan_calls(struct program *p)
{
	for (uint32_t i = 0; i < p->steps_n; i++) {
		if (p->steps[i]->owner != NULL)
			p->steps[i]->call_run = run_length(p->steps[i]);
	}
}
