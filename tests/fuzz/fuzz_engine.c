/*
 * Random programs with failures, handlers, redelivery, calls and remote values, run by the engine
 * and by a small model of what it must do (written as one would in a textbook: by recursion). Both
 * must leave the same body and the same exception; the exchange must be done once. Some runs are
 * aborted at a wait.
 */
#include "tests/lib/engine_fake.h"

#include "core/base/assert.h"
#include "core/base/log.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct eip_desc setBody_eip, choice_eip, doTry_eip, filter_eip, loop_eip, stop_eip,
    to_eip, split_eip, multicast_eip;
extern const struct eip_desc deadLetterChannel_eip, defaultErrorHandler_eip;
extern const struct bean_class String_bean;

enum { STEPS_MAX = 60, DEPTH_MAX = 4, ROUTES = 3, BODY_MAX = 4000 };

static const enum exception_id classes[] = { EXCEPTION_IO, EXCEPTION_ILLEGAL_STATE,
	EXCEPTION_FILE_NOT_FOUND, EXCEPTION_EXCEPTION };

/* ---- programs from bytes ---- */

struct input {
	const uint8_t *p, *end;
	struct build *b;
	struct route *routes[ROUTES];
	int route; /* being made: it calls only later ones, which have been made */
	int steps;
};

static unsigned
pick(struct input *in, unsigned n)
{
	return in->p < in->end ? *in->p++ % n : 0;
}

static enum exception_id
pick_class(struct input *in)
{
	return classes[pick(in, ARRAY_LEN(classes))];
}

static struct expression *
pick_predicate(struct input *in)
{
	static const char *const answers[] = { "true", "false", "!bad" };
	switch (pick(in, 4)) {
	case 0:
		return build_predicate(in->b, fn_true, "");
	case 1:
		return build_predicate(in->b, fn_false, "");
	default:
		return build_remote(in->b, "xform", answers[pick(in, 3)], true);
	}
}

static void make_block(struct input *in, struct block *block, int depth);

static void
set_block(struct block *block, struct step *const *steps, uint32_t n)
{
	*block = (struct block){ .first = n ? steps[0] : NULL, .n = n };
	for (uint32_t i = 0; i < n; i++)
		steps[i]->next = i + 1 < n ? steps[i + 1] : NULL;
}

static struct step *
make_choice(struct input *in, int depth)
{
	struct step *first = build_when(in->b, pick_predicate(in), NULL, NULL),
		    *second = build_when(in->b, pick_predicate(in), NULL, NULL);
	struct step *otherwise = pick(in, 2) ? build_otherwise(in->b, NULL, NULL) : NULL;
	make_block(in, &first->block, depth + 1);
	make_block(in, &second->block, depth + 1);
	if (otherwise)
		make_block(in, &otherwise->block, depth + 1);
	return build_choice(in->b, otherwise, first, second, NULL);
}

static struct step *
make_try(struct input *in, int depth)
{
	struct expression *on_when = pick(in, 3) == 0 ? pick_predicate(in) : NULL;
	struct step *first = build_catch(in->b, pick_class(in), on_when, NULL, NULL);
	struct step *second =
	    pick(in, 2) ? build_catch(in->b, pick_class(in), NULL, NULL, NULL) : NULL;
	struct step *finally = pick(in, 2) ? build_finally(in->b, NULL, NULL) : NULL;
	struct step *st = build_try(in->b, finally, first, second, NULL, NULL);
	make_block(in, &st->block, depth + 1);
	make_block(in, &first->block, depth + 1);
	if (second)
		make_block(in, &second->block, depth + 1);
	if (finally)
		make_block(in, &finally->block, depth + 1);
	return st;
}

static struct step *
make_filter(struct input *in, int depth)
{
	struct step *st = build_step(in->b, &filter_eip);
	st->expr = pick_predicate(in);
	make_block(in, &st->block, depth + 1);
	return st;
}

static struct step *
make_loop(struct input *in, int depth)
{
	static const char *const counts[] = { "0", "1", "2" };
	struct step *st = build_step(in->b, &loop_eip);
	st->expr = build_const(in->b, counts[pick(in, 3)]);
	((struct loop_conf *)st->conf)->copy = pick(in, 2);
	make_block(in, &st->block, depth + 1);
	return st;
}

/* What the items or branches leave is put together as text, or not. */
static const struct bean *
pick_strategy(struct input *in)
{
	static const struct aggregation_text_conf conf = { .delimiter = "+" };
	static const struct bean text = { .class = &String_bean, .conf = (void *)&conf };
	return pick(in, 2) ? &text : NULL;
}

static struct step *
make_split(struct input *in, int depth)
{
	static const char *const texts[] = { "", "1", "1,2", "1,2,3" };
	struct step *st = build_split(in->b, build_const(in->b, texts[pick(in, 4)]), NULL, NULL);
	((struct split_conf *)st->conf)->fan_out.strategy = pick_strategy(in);
	make_block(in, &st->block, depth + 1);
	return st;
}

static struct step *make_step(struct input *in, int depth);

static struct step *
make_multicast(struct input *in, int depth)
{
	struct step *first = make_step(in, depth + 1), *second = make_step(in, depth + 1);
	struct step *st = build_multicast(in->b, first, second, NULL);
	((struct multicast_conf *)st->conf)->fan_out.strategy = pick_strategy(in);
	return st;
}

static struct step *
make_call(struct input *in)
{
	struct step *st = build_append(in->b, pick(in, 4) == 0 ? "!" : "c");
	st->owner = "xform";
	st->call_run = 1;
	return st;
}

static struct step *
make_to(struct input *in)
{
	int target = in->route + 1 + (int)pick(in, ROUTES);
	if (target >= ROUTES)
		return build_to(in->b, build_endpoint(in->b, "fake:x", COMPONENT_PRODUCER));
	return build_to(in->b, build_direct(in->b, "r", in->routes[target]));
}

static struct step *
make_step(struct input *in, int depth)
{
	unsigned kind = pick(in, depth < DEPTH_MAX ? 16 : 6);
	in->steps++;
	switch (kind) {
	case 0:
		return build_append(in->b, "a");
	case 1:
		return build_boom(in->b, pick_class(in), "boom", (int)pick(in, 4));
	case 2:
		return make_call(in);
	case 3:
	case 4:
		return make_to(in);
	case 5:
		return pick(in, 4) == 0 ? build_step(in->b, &stop_eip) : build_append(in->b, "b");
	case 6:
		return make_filter(in, depth);
	case 7:
		return make_loop(in, depth);
	case 8:
	case 9:
		return make_choice(in, depth);
	case 10:
	case 11:
		return make_split(in, depth);
	case 12:
		return make_multicast(in, depth);
	default:
		return make_try(in, depth);
	}
}

static void
make_block(struct input *in, struct block *block, int depth)
{
	struct step *steps[4] = { NULL };
	uint32_t n = 0, most = pick(in, 5);
	while (n < most && in->steps < STEPS_MAX)
		steps[n++] = make_step(in, depth);
	set_block(block, steps, n);
	/* steps of one owner that stand together go in one call */
	for (uint32_t i = n; i-- > 1;)
		if (steps[i]->owner && steps[i - 1]->owner)
			steps[i - 1]->call_run = steps[i]->call_run + 1;
}

static void
make_handler(struct input *in, struct route *route)
{
	struct step *st = build_on_exception(in->b, pick_class(in), NULL, NULL);
	struct on_exception_conf *conf = build_on_exception_conf(st);
	unsigned outcome = pick(in, 3), redeliveries = pick(in, 3);
	make_block(in, &st->block, 2);
	if (outcome == 1)
		conf->handled = build_predicate(in->b, fn_true, "");
	if (outcome == 2)
		conf->continued = build_predicate(in->b, fn_true, "");
	if (redeliveries)
		build_redelivery(in->b, st, redeliveries, pick(in, 2) * 10);
	build_handler(in->b, route, st, pick(in, 2));
}

static void
make_error_handler(struct input *in, struct route *route)
{
	unsigned kind = pick(in, 5), redeliveries = pick(in, 3);
	route->no_error_handler = kind == 1;
	if (kind != 2 && kind != 3)
		return;
	struct step *st =
	    build_step(in->b, kind == 2 ? &defaultErrorHandler_eip : &deadLetterChannel_eip);
	struct error_handler_kind_conf *conf = st->conf;
	if (redeliveries)
		build_redelivery(in->b, st, redeliveries, 0);
	if (kind == 3) {
		struct step *dead = make_step(in, 2);
		set_block(&st->block, &dead, 1);
		conf->on.dead_letter = true;
		conf->on.handles_new = pick(in, 2);
	}
	route->error_handler = st;
}

static void
make_program(struct input *in)
{
	for (in->route = ROUTES - 1; in->route >= 0; in->route--) {
		struct block block;
		in->steps = 0;
		make_block(in, &block, 0);
		struct route *route = build_route(in->b, "r", NULL, NULL);
		build_route_block(route, &block);
		in->routes[in->route] = route;
		for (unsigned n = pick(in, 3); n > 0; n--)
			make_handler(in, route);
		make_error_handler(in, route);
	}
}

/* ---- the model ---- */

enum status { OK, FAIL, STOP, ENDED };

struct model {
	char body[BODY_MAX * 2];
	int exception; /* -1: none */
	bool failed_over;
	int runs[4096]; /* of boom steps, by index */
};

static enum status model_steps(
    struct model *m, const struct step *first, const struct route *route);

static void
model_append(struct model *m, const char *text)
{
	if (strlen(m->body) < BODY_MAX)
		strcat(m->body, text);
}

static enum status
model_fail(struct model *m, enum exception_id id)
{
	m->exception = (int)id;
	return FAIL;
}

static enum status
model_test(struct model *m, const struct expression *e, bool *holds)
{
	if (e->owner && e->text[0] == '!')
		return model_fail(m, EXCEPTION_XPATH_EXPRESSION);
	*holds = e->owner ? strcmp(e->text, "true") == 0 : *(build_fn **)e->conf == fn_true;
	return OK;
}

static enum status
model_choice(struct model *m, const struct step *st, const struct route *route)
{
	const struct choice_conf *conf = st->conf;
	for (size_t i = 0; i < conf->when.n; i++) {
		bool holds;
		if (model_test(m, conf->when.items[i]->expr, &holds) != OK)
			return FAIL;
		if (holds)
			return model_steps(m, conf->when.items[i]->block.first, route);
	}
	return conf->otherwise ? model_steps(m, conf->otherwise->block.first, route) : OK;
}

static enum status
model_catch(struct model *m, const struct do_try_conf *conf)
{
	for (size_t i = 0; i < conf->catches.n; i++) {
		const struct step *catch = conf->catches.items[i];
		const struct do_catch_conf *cc = catch->conf;
		bool holds = true;
		if (!exception_is_a(
			(enum exception_id)m->exception, (enum exception_id)cc->exception.ids[0]))
			continue;
		if (cc->on_when && model_test(m, cc->on_when, &holds) != OK)
			return FAIL;
		if (!holds)
			continue;
		m->exception = -1;
		m->failed_over = false;
		return model_steps(m, catch->block.first, NULL);
	}
	return FAIL;
}

static enum status
model_try(struct model *m, const struct step *st)
{
	const struct do_try_conf *conf = st->conf;
	enum status s = model_steps(m, st->block.first, NULL);
	if (s == FAIL)
		s = model_catch(m, conf);
	if (s == STOP || conf->finally == NULL)
		return s;
	int exception = m->exception;
	bool failed_over = m->failed_over;
	if (s == FAIL) {
		m->exception = -1;
		m->failed_over = false;
	}
	enum status f = model_steps(m, conf->finally->block.first, NULL);
	if (s == FAIL) {
		m->exception = exception;
		m->failed_over = failed_over;
		return f == STOP ? STOP : FAIL;
	}
	return f == OK ? s : f;
}

static enum status
model_loop(struct model *m, const struct step *st, const struct route *route)
{
	char before[sizeof(m->body)];
	strcpy(before, m->body);
	for (int n = atoi(st->expr->text), i = 0; i < n; i++) {
		if (i > 0 && ((const struct loop_conf *)st->conf)->copy)
			strcpy(m->body, before);
		enum status s = model_steps(m, st->block.first, route);
		if (s != OK)
			return s;
	}
	return OK;
}

static enum status model_step(struct model *m, const struct step *st, const struct route *route);

/* What has come of the branches so far. */
struct found_steps {
	char before[BODY_MAX * 2], text[BODY_MAX * 2], latest[BODY_MAX * 2];
	int exception, n;
	bool failed_over;
	enum status status; /* of the branch whose message is the result */
};

/* A branch has ended. */
static void
model_gather(
    struct model *m, struct found_steps *g, const struct bean *strategy, enum status status)
{
	bool stays = g->status == ENDED && m->exception < 0 && g->exception < 0;
	if (!stays)
		strcpy(g->latest, m->body);
	if (strategy ? g->n == 0 : !stays)
		g->status = status;
	if (m->exception >= 0 && (strategy == NULL || g->n == 0)) {
		g->exception = m->exception;
		g->failed_over = m->failed_over;
	}
	m->exception = -1;
	m->failed_over = false;
	if (strategy && g->n > 0 && strlen(g->text) < BODY_MAX)
		strcat(g->text, "+");
	if (strategy && strlen(g->text) + strlen(m->body) < sizeof(g->text))
		strcat(g->text, m->body);
	g->n++;
}

static enum status
model_gathered(struct model *m, const struct found_steps *g, const char *body)
{
	if (body != m->body && strlen(body) < sizeof(m->body))
		strcpy(m->body, body);
	m->exception = g->exception;
	m->failed_over = g->exception >= 0 && g->failed_over;
	if (g->exception >= 0)
		return FAIL;
	return g->status == STOP || g->status == ENDED ? g->status : OK;
}

static enum status
model_split(struct model *m, const struct step *st, const struct route *route)
{
	const struct bean *strategy = ((const struct split_conf *)st->conf)->fan_out.strategy;
	struct str rest = str_of(st->expr->text), item;
	struct found_steps *g = calloc(1, sizeof(*g));
	ASSERT(g);
	g->exception = -1;
	strcpy(g->before, m->body);
	while (rest.n > 0 && str_split(&rest, ',', &item)) {
		(void)snprintf(m->body, sizeof(m->body), "%.*s", STR_FMT(item));
		model_gather(m, g, strategy, model_steps(m, st->block.first, route));
	}
	if (strategy == NULL) /* the message as it was: what ended an item ended it alone */
		g->status = OK;
	enum status s = model_gathered(m, g, strategy && g->n > 0 ? g->text : g->before);
	free(g);
	return s;
}

static enum status
model_multicast(struct model *m, const struct step *st, const struct route *route)
{
	const struct multicast_conf *conf = st->conf;
	struct found_steps *g = calloc(1, sizeof(*g));
	ASSERT(g);
	g->exception = -1;
	strcpy(g->before, m->body);
	for (size_t i = 0; i < conf->branches.n; i++) {
		strcpy(m->body, g->before);
		enum status s = model_step(m, conf->branches.items[i], route);
		model_gather(m, g, conf->fan_out.strategy, s);
	}
	enum status s = model_gathered(m, g, conf->fan_out.strategy ? g->text : g->latest);
	free(g);
	return s;
}

/* A step, without the error handler. */
static enum status
model_raw(struct model *m, const struct step *st, const struct route *route)
{
	bool holds;
	if (st->eip == &boom_eip) {
		const struct boom_conf *conf = st->conf;
		model_append(m, ".");
		m->runs[st->index]++;
		return conf->times > 0 && m->runs[st->index] > conf->times
		    ? OK
		    : model_fail(m, conf->id);
	}
	if (st->eip == &setBody_eip) {
		if (st->owner && st->expr->text[0] == '!')
			return model_fail(m, EXCEPTION_WORKER_LOST);
		model_append(m, st->owner ? "C" : st->expr->text);
		return OK;
	}
	if (st->eip == &filter_eip) {
		if (model_test(m, st->expr, &holds) != OK)
			return FAIL;
		return holds ? model_steps(m, st->block.first, route) : OK;
	}
	if (st->eip == &to_eip) {
		if (st->endpoint->target)
			return model_steps(
			    m, st->endpoint->target->block.first, st->endpoint->target);
		model_append(m, "S");
		return OK;
	}
	if (st->eip == &stop_eip)
		return STOP;
	if (st->eip == &split_eip)
		return model_split(m, st, route);
	if (st->eip == &multicast_eip)
		return model_multicast(m, st, route);
	return st->eip == &choice_eip ? model_choice(m, st, route)
	    : st->eip == &doTry_eip   ? model_try(m, st)
				      : model_loop(m, st, route);
}

static const struct step *
model_search(const struct model *m, const struct route *route)
{
	const struct step *best = NULL;
	int least = 1000;
	for (int own = 1; own >= 0 && least > 0; own--)
		for (uint32_t i = 0; i < route->handlers_n; i++) {
			const struct step *st = route->handlers[i];
			int id = build_on_exception_conf((struct step *)st)->exception.ids[0];
			int distance = exception_distance(
			    (enum exception_id)m->exception, (enum exception_id)id);
			bool again = best && distance == least && (best->route == route) == own &&
			    build_on_exception_conf((struct step *)best)->exception.ids[0] == id;
			if ((st->route == route) == own && distance >= 0 &&
			    (distance < least || again)) {
				best = st;
				least = distance;
			}
		}
	return best;
}

/* What the steps of a handler make of the exception. */
static enum status
model_handle(struct model *m, const struct step *handler)
{
	const struct on_exception_conf *conf = handler->conf;
	int exception = m->exception;
	m->exception = -1;
	enum status s = model_steps(m, handler->block.first, NULL);
	if (conf->dead_letter && (s == OK || (s == FAIL && conf->handles_new))) {
		m->exception = -1;
		return ENDED;
	}
	if (s == ENDED)
		return ENDED;
	if (s == STOP) {
		if (!conf->handled && !conf->continued && !conf->dead_letter)
			m->exception = exception;
		return STOP;
	}
	if (s == OK && conf->continued)
		return OK;
	if (s == OK && conf->handled)
		return ENDED;
	if (s == OK)
		m->exception = exception;
	m->failed_over = true;
	return FAIL;
}

static int64_t
model_redeliveries(const struct step *handler, const struct route *route)
{
	const struct on_exception_conf *conf = handler->conf;
	if (conf->redelivery_policy == NULL && handler->block.first == NULL && route->error_handler)
		conf = route->error_handler->conf;
	return conf->redelivery_policy == NULL
	    ? 0
	    : ((const struct redelivery_conf *)conf->redelivery_policy->conf)->maximum_redeliveries;
}

/* One that has nothing to do leaves it to a dead letter channel. */
static const struct step *
model_last_handler(const struct step *handler, const struct route *route)
{
	const struct on_exception_conf *conf = handler->conf;
	const struct step *outer = route->error_handler;
	return handler->block.first == NULL && !conf->continued && outer &&
		((const struct on_exception_conf *)outer->conf)->dead_letter
	    ? outer
	    : handler;
}

/* A step, with the error handler of the route (NULL: off). */
static enum status
model_step(struct model *m, const struct step *st, const struct route *route)
{
	char before[sizeof(m->body)];
	strcpy(before, m->body);
	for (int64_t tries = 0;; tries++) {
		enum status s = model_raw(m, st, route);
		if (s != FAIL || route == NULL || m->failed_over || st->eip == &doTry_eip ||
		    route->no_error_handler)
			return s;
		const struct step *handler = model_search(m, route);
		if (handler == NULL)
			handler = route->error_handler;
		if (handler == NULL) {
			m->failed_over = true;
			return FAIL;
		}
		if (tries >= model_redeliveries(handler, route))
			return model_handle(m, model_last_handler(handler, route));
		strcpy(m->body, before);
		m->exception = -1;
	}
}

static enum status
model_steps(struct model *m, const struct step *first, const struct route *route)
{
	for (const struct step *st = first; st; st = st->next) {
		enum status s = model_step(m, st, route);
		if (s != OK)
			return s;
	}
	return OK;
}

/* ---- both ---- */

static void
compare(const struct fake *f, const struct model *m)
{
	char name[sizeof(f->exception)];
	strcpy(name, f->exception);
	name[strcspn(name, ":")] = 0;
	const char *expected = "";
	if (m->exception >= 0)
		expected = strrchr(exception_class((enum exception_id)m->exception)->name, '.') + 1;
	if (strlen(m->body) >= BODY_MAX)
		return; /* too long for either */
	if (strcmp(f->body, m->body) != 0 || strcmp(name, expected) != 0) {
		(void)fprintf(
		    stderr, "engine: %s [%s]\nmodel:  %s [%s]\n", f->body, name, m->body, expected);
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct model m;
	struct build b;
	struct fake f;
	struct input in = { .p = data, .end = data + size, .b = &b };
	unsigned mode = pick(&in, 32), aborts = pick(&in, 40);
	build_init(&b);
	make_program(&in);
	fake_init(&f, &b);
	f.call_mode = mode & 1 ? FAKE_LATER : FAKE_NOW;
	f.evaluate_mode = mode & 2 ? FAKE_LATER : FAKE_NOW;
	f.send_mode = mode & 4 ? FAKE_LATER : FAKE_NOW;
	f.wakes = !(mode & 8);
	log_set_level(mode & 16 ? LOG_LEVEL_ERROR : LOG_LEVEL_INFO);
	struct exchange *ex = fake_start(&f, in.routes[0], "x");
	bool aborted = false;
	for (unsigned waits = 1; f.done == 0; waits++) {
		aborted = waits == aborts;
		if (aborted)
			engine_abort(ex, EXCEPTION_REJECTED_EXECUTION, "stop");
		else
			fake_answer(&f, ex);
	}
	ASSERT(f.done == 1 && f.pool.live == 0);
	memset(&m, 0, sizeof(m));
	strcpy(m.body, "x");
	m.exception = -1;
	if (!aborted) {
		(void)model_steps(
		    &m, in.routes[0]->block.first, in.routes[0]); /* what it left is compared */
		compare(&f, &m);
	}
	fake_fini(&f);
	build_fini(&b);
	return 0;
}
