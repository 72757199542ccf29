/*
 * Which bodies are used once, so that they may stream: a direct proxy then never holds a whole one.
 * Worked out from the end of a route to its start:
 *
 *   DEAD     nobody reads the body that is there now
 *   STREAM   it is read once at most, by something that can take a stream
 *   KEPT     anything else, and whatever is not understood
 *
 * An error mark on the safe side costs memory, never a message: a step that reads a stream all the
 * same has it collected first.
 */
#include "core/config/plan_priv.h"

enum liveness { DEAD, STREAM, KEPT };

struct streams {
	enum liveness end;     /* behind the last step of the route */
	enum liveness failure; /* what error handlers do with the body of a failed step */
	bool redelivers;       /* a failed step may run again, with the body as it was */
	bool mark;             /* write the results into the steps */
	bool *taken;           /* set when a step takes the body as a stream */
};

static enum liveness
worse(enum liveness a, enum liveness b)
{
	return a > b ? a : b;
}

static enum liveness before_steps(const struct streams *s, struct step *first, enum liveness after);

static void
note_body(void *arg, struct expression *e)
{
	bool *reads = arg;

	if (e->reads.flags & ACCESS_BODY)
		*reads = true;
}

static bool
own_expressions_read_body(const struct step *st)
{
	bool reads = false;

	plan_each_expression(st, note_body, &reads);
	return reads;
}

/* ---- steps that hold others ---- */

struct branches {
	const struct streams *s;
	enum liveness after, all;
};

static void
add_branch(void *arg, struct step *child)
{
	struct branches *b = arg;

	b->all = worse(b->all, before_steps(b->s, child->block.first, b->after));
}

/* choice: one of its children, or none. filter: its block, or not. */
static enum liveness
before_branches(const struct streams *s, struct step *st, enum liveness after)
{
	struct branches b = { s, after, after };

	if (st->eip->flags & EIP_FIRST_MATCH)
		plan_each_child(st, add_branch, &b);
	else
		add_branch(&b, st);
	return own_expressions_read_body(st) ? KEPT : b.all;
}

static bool
is_branch(const struct step *st)
{
	return !(st->eip->flags & EIP_CATCHES) &&
	    ((st->eip->flags & EIP_FIRST_MATCH) ||
		(st->eip->flags & (EIP_PREDICATE | EIP_STEPS)) == (EIP_PREDICATE | EIP_STEPS));
}

static void
note_child(void *arg, struct step *child)
{
	(void)child;
	*(bool *)arg = true;
}

static bool
has_parts(const struct step *st)
{
	bool has = st->block.n > 0 || (st->eip->flags & EIP_STEPS);

	plan_each_child(st, note_child, &has);
	return has;
}

/* ---- steps that send ---- */

static bool
is_set(const struct step *st, const char *option)
{
	const char **text = plan_option(st, option, OPTION_STRING);

	return text != NULL && *text != NULL;
}

/* A component that takes the body and leaves another. */
static enum liveness
before_exchange(const struct streams *s, struct step *st, const struct component_desc *desc,
    enum liveness after)
{
	bool once = (desc->flags & COMPONENT_STREAM_IN) && s->failure == DEAD && !s->redelivers &&
	    !own_expressions_read_body(st);

	if (s->mark) {
		st->body_once = once;
		st->reply_streams = (desc->flags & COMPONENT_STREAM_OUT) && after == STREAM;
	}
	if (once && s->taken != NULL)
		*s->taken = true;
	return once ? STREAM : KEPT;
}

static enum liveness
before_send(const struct streams *s, struct step *st, const struct component_desc *desc,
    enum liveness after)
{
	if (desc == NULL || is_set(st, "variableSend") || is_set(st, "variableReceive"))
		return KEPT;
	if (desc->owner == NULL && (desc->flags & COMPONENT_CONSUMER))
		return KEPT; /* a route, which other routes may call as well */
	if (desc->flags & COMPONENT_KEEPS_BODY)
		return (desc->flags & COMPONENT_READS_NO_BODY) && !own_expressions_read_body(st)
		    ? after
		    : KEPT;
	return before_exchange(s, st, desc, after);
}

/* ---- all steps ---- */

static enum liveness
before_step(const struct streams *s, struct step *st, enum liveness after)
{
	bool dynamic;
	const struct component_desc *desc = plan_component(st, &dynamic);

	if (is_branch(st))
		return before_branches(s, st, after);
	if (has_parts(st))
		return st->reads.flags & ACCESS_BODY || st->writes.flags & ACCESS_BODY ? KEPT
										       : after;
	if (desc != NULL || dynamic)
		return before_send(s, st, desc, after);
	if (st->reads.flags & ACCESS_BODY)
		return KEPT;
	return st->writes.flags & ACCESS_BODY ? DEAD : after;
}

static enum liveness
before_steps(const struct streams *s, struct step *first, enum liveness after)
{
	if (first == NULL)
		return after;
	enum liveness behind = before_steps(s, first->next, after);
	return worse(before_step(s, first, behind), s->failure);
}

/* ---- routes ---- */

static bool
is_true(const struct step *st, const char *option)
{
	const bool *on = plan_option(st, option, OPTION_BOOL);

	return on != NULL && *on;
}

static void
note_redeliveries(void *arg, struct step *child)
{
	const int64_t *n = plan_option(child, "maximumRedeliveries", OPTION_INT);
	bool *redelivers = arg;

	if (n != NULL && *n != 0)
		*redelivers = true;
}

static void
add_handler(struct streams *s, const struct step *handler)
{
	struct streams inside = { .end = s->end };
	struct expression **retry = plan_option(handler, "retryWhile", OPTION_PREDICATE);
	struct expression **continued = plan_option(handler, "continued", OPTION_PREDICATE);

	if (retry != NULL && *retry != NULL)
		s->redelivers = true;
	plan_each_child(handler, note_redeliveries, &s->redelivers);
	if (own_expressions_read_body(handler) || is_true(handler, "useOriginalMessage") ||
	    is_true(handler, "useOriginalBody") ||
	    (continued != NULL && *continued != NULL)) /* the route goes on with the body */
		s->failure = KEPT;
	else
		s->failure = worse(s->failure, before_steps(&inside, handler->block.first, s->end));
}

/* A body that nothing takes but the answer is collected: a client that reads no answer before it
 * has sent all of its request would wait for ever. */
static void
plan_route(const struct program *p, struct route *r)
{
	bool streams = (r->from->component->flags & COMPONENT_STREAM_OUT) != 0, taken = false;
	struct streams s = { .end = streams ? STREAM : KEPT, .mark = true, .taken = &taken };

	for (uint32_t i = 0; i < r->handlers_n; i++)
		add_handler(&s, r->handlers[i]);
	if (r->error_handler != NULL)
		add_handler(&s, r->error_handler);
	if (r->completions_n > 0)
		s.end = s.failure = KEPT;
	enum liveness entry = before_steps(&s, r->block.first, s.end);
	r->body_streams = streams && taken && entry == STREAM && !p->keeps_original;
}

void
plan_streams(struct program *p)
{
	for (uint32_t i = 0; i < p->routes_n; i++)
		plan_route(p, p->routes[i]);
}
