/* An engine over ops that tests steer. */
#include "tests/lib/engine_fake.h"

#include "core/base/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- ops ---- */

static struct fake *
fake_of(struct engine *en)
{
	return en->owner;
}

/* Something that is answered later. */
static struct fake_asked *
ask(struct fake *f, enum fake_pending kind, struct exchange *ex)
{
	ASSERT(f->queue_n < FAKE_PENDING_MAX);
	struct fake_asked *asked = &f->queue[f->queue_n++];
	*asked = (struct fake_asked){ .kind = kind, .ex = ex };
	f->pending = kind;
	return asked;
}

static struct fake_asked
take_asked(struct fake *f, int i)
{
	struct fake_asked asked = f->queue[i];
	memmove(&f->queue[i], &f->queue[i + 1], (size_t)(--f->queue_n - i) * sizeof(f->queue[0]));
	f->pending = f->queue_n ? f->queue[0].kind : PENDING_NOTHING;
	return asked;
}

/* Does the run of a call: each step leaves a "C". */
static void
answer_call(struct exchange *ex, const struct step *st)
{
	struct value v;
	for (uint32_t i = 0; i < st->call_run; i++) {
		const struct step *at = st;
		for (uint32_t k = 0; k < i; k++)
			at = at->next;
		if (at->expr && strcmp(at->expr->text, "!") == 0) {
			exchange_fail(ex, EXCEPTION_WORKER_LOST, "lost");
			engine_call_done(ex, false, at);
			return;
		}
		(void)fn_append(ex, "C", &v);
		exchange_set_body(ex, v);
	}
	engine_call_done(ex, true, NULL);
}

static void
op_call(struct engine *en, struct exchange *ex, const struct step *st)
{
	struct fake *f = fake_of(en);
	f->calls++;
	f->called = st;
	if (f->call_mode == FAKE_LATER) {
		ask(f, PENDING_CALL, ex)->called = st;
	} else if (f->call_mode == FAKE_FAIL) {
		exchange_fail(ex, EXCEPTION_WORKER_LOST, "lost");
		engine_call_done(ex, false, f->call_failed);
	} else {
		answer_call(ex, st);
	}
}

/* Serves the operation as its owner would. */
static void
answer_state(struct exchange *ex, struct state_node *node, unsigned op, const struct value *arg)
{
	struct value out = value_null();
	bool ok = node->desc->serve(node, ex, op, arg, &out);
	engine_state_done(ex, ok ? out : value_null(), ok ? NULL : ex->exception);
}

static void
op_state(struct engine *en, struct exchange *ex, struct state_node *node, unsigned op,
    const struct value *arg)
{
	struct fake *f = fake_of(en);
	f->states++;
	if (f->state_mode == FAKE_LATER) {
		struct fake_asked *asked = ask(f, PENDING_STATE, ex);
		asked->node = node;
		asked->op = op;
		asked->arg = *arg;
	} else if (f->state_mode == FAKE_FAIL) {
		engine_state_done(ex, value_null(),
		    exception_new(&ex->arena, EXCEPTION_WORKER_LOST, "the owner is lost"));
	} else {
		answer_state(ex, node, op, arg);
	}
}

static void
op_state_note(struct engine *en, struct exchange *ex, struct state_node *node, unsigned op,
    const struct value *arg)
{
	struct exception *before = ex->exception;
	struct value out = value_null();
	fake_of(en)->notes++;
	(void)node->desc->serve(node, ex, op, arg, &out);
	ex->exception = before;
}

/* The value of NAME among "NAME=VALUE" lines. */
static bool
find_line(const char *lines, const char *name, struct str *value)
{
	struct str rest = str_of(lines), line, key;
	while (str_split(&rest, '\n', &line)) {
		(void)str_split(&line, '=', &key);
		if (str_eq(key, str_of(name))) {
			*value = line;
			return true;
		}
	}
	return false;
}

void
fake_answer_evaluate(struct fake *f, struct exchange *ex)
{
	for (uint32_t i = 0; i < f->asked_n; i++) {
		const struct expression *e = f->asked[i];
		struct str text;
		struct value v = value_null();
		struct exception *exception = NULL;
		if (f->answers == NULL)
			text = str_of(e->text);
		else if (!find_line(f->answers, e->text, &text))
			continue;
		if (str_starts(text, "!"))
			exception = exception_new(&ex->arena, EXCEPTION_XPATH_EXPRESSION, "%.*s",
			    (int)text.n - 1, text.p + 1);
		else if (str_eq(text, STR_LIT("true")) || str_eq(text, STR_LIT("false")))
			v = value_bool(text.p[0] == 't');
		else
			v = value_str(text);
		engine_slot_fill(ex, e, v, exception);
		if (f->asked_first_match && v.type == VALUE_BOOL && v.u.b)
			break;
	}
	engine_evaluate_done(ex);
}

static void
op_evaluate(struct engine *en, struct exchange *ex, struct expression *const *e, uint32_t n,
    bool first_match)
{
	struct fake *f = fake_of(en);
	f->evaluates++;
	f->asked = e;
	f->asked_n = n;
	f->asked_first_match = first_match;
	if (f->evaluate_mode == FAKE_LATER) {
		struct fake_asked *asked = ask(f, PENDING_EVALUATE, ex);
		asked->asked = e;
		asked->asked_n = n;
		asked->first_match = first_match;
		return;
	}
	if (f->evaluate_mode == FAKE_FAIL) {
		exchange_fail(ex, EXCEPTION_WORKER_LOST, "lost");
		engine_evaluate_done(ex);
		return;
	}
	fake_answer_evaluate(f, ex);
}

/* A send leaves an "S". */
static void
answer_send(struct exchange *ex)
{
	struct value v;
	if (ex->body.type == VALUE_STREAM) {
		stream_cancel(ex->body.u.stream);
		ex->body = value_null();
	}
	(void)fn_append(ex, "S", &v);
	exchange_set_body(ex, v);
}

static enum step_rc
op_send(struct engine *en, struct exchange *ex, const struct step *st, struct endpoint *ep)
{
	struct fake *f = fake_of(en);
	(void)st;
	f->sends++;
	if (f->send_mode == FAKE_LATER) {
		(void)ask(f, PENDING_SEND, ex);
		return STEP_PENDING;
	}
	if (f->send_mode == FAKE_FAIL) {
		exchange_fail(ex, EXCEPTION_CONNECT, "no %s", ep->uri);
		return STEP_FAILED;
	}
	answer_send(ex);
	return STEP_DONE;
}

static struct endpoint *
op_endpoint(struct engine *en, struct exchange *ex, const struct step *st, struct str uri)
{
	struct fake *f = fake_of(en);
	(void)st;
	if (!str_starts(uri, "fake:")) {
		exchange_fail(ex, EXCEPTION_NO_SUCH_ENDPOINT, "%.*s", STR_FMT(uri));
		return NULL;
	}
	return build_endpoint(f->b, arena_strndup(&ex->arena, uri.p, uri.n), COMPONENT_PRODUCER);
}

static void
op_wait(struct engine *en, struct exchange *ex, int64_t ms)
{
	struct fake *f = fake_of(en);
	if (f->waits_n < (int)ARRAY_LEN(f->waits))
		f->waits[f->waits_n] = ms;
	f->waits_n++;
	if (f->wakes)
		engine_wake(ex);
	else
		(void)ask(f, PENDING_WAIT, ex);
}

/* The oldest that is due. */
static int
next_asked(const struct fake *f)
{
	for (int i = 0; i < f->queue_n; i++)
		if (f->queue[i].kind != PENDING_TIMER || f->queue[i].ms == 0)
			return i;
	return 0;
}

struct engine_timer {
	engine_timer_fn *fn;
	void *arg;
};

static void
fire(struct engine_timer *timer)
{
	engine_timer_fn *fn = timer->fn;
	void *arg = timer->arg;
	free(timer);
	fn(arg);
}

void
fake_answer(struct fake *f, struct exchange *ex)
{
	(void)ex;
	ASSERT(f->queue_n > 0);
	struct fake_asked asked = take_asked(f, next_asked(f));
	switch (asked.kind) {
	case PENDING_CALL:
		answer_call(asked.ex, asked.called);
		return;
	case PENDING_EVALUATE:
		f->asked = asked.asked;
		f->asked_n = asked.asked_n;
		f->asked_first_match = asked.first_match;
		fake_answer_evaluate(f, asked.ex);
		return;
	case PENDING_SEND:
		answer_send(asked.ex);
		engine_resume(asked.ex);
		return;
	case PENDING_WAIT:
		engine_wake(asked.ex);
		return;
	case PENDING_TIMER:
		f->now_ms += asked.ms;
		fire(asked.timer);
		return;
	case PENDING_STATE:
		answer_state(asked.ex, asked.node, asked.op, &asked.arg);
		return;
	case PENDING_NOTHING:
		break;
	}
	UNREACHABLE();
}

static struct engine_timer *
op_timer_start(struct engine *en, int64_t ms, engine_timer_fn *fn, void *arg)
{
	struct fake_asked *asked = ask(fake_of(en), PENDING_TIMER, NULL);
	asked->ms = ms;
	asked->timer = malloc(sizeof(*asked->timer));
	ASSERT(asked->timer);
	*asked->timer = (struct engine_timer){ fn, arg };
	return asked->timer;
}

static void
op_timer_cancel(struct engine *en, struct engine_timer *timer)
{
	struct fake *f = fake_of(en);
	for (int i = 0; i < f->queue_n; i++)
		if (f->queue[i].timer == timer) {
			(void)take_asked(f, i);
			free(timer);
			return;
		}
	UNREACHABLE();
}

static int64_t
op_now_ms(struct engine *en)
{
	return fake_of(en)->now_ms;
}

static struct exchange *
op_child_new(struct engine *en, bool detached)
{
	(void)detached;
	return exchange_new(&fake_of(en)->pool);
}

static void
op_child_free(struct engine *en, struct exchange **child)
{
	struct fake *f = fake_of(en);
	for (int i = f->queue_n - 1; i >= 0; i--)
		if (f->queue[i].ex == *child) /* it was aborted */
			(void)take_asked(f, i);
	exchange_free(&f->pool, child);
}

static bool
op_is_local(struct engine *en, const char *kind)
{
	(void)kind;
	return fake_of(en)->local;
}

static void
op_log(struct engine *en, enum log_level level, const char *logger, struct str text,
    struct exchange *ex)
{
	struct fake *f = fake_of(en);
	size_t n = strlen(f->log);
	(void)ex;
	(void)snprintf(f->log + n, sizeof(f->log) - n, "%d %s %.*s\n", (int)level, logger,
	    STR_FMT(text)); /* cut is fine */
}

static void
op_collect(struct engine *en, struct exchange *ex)
{
	struct fake *f = fake_of(en);
	f->collects++;
	if (f->collect_mode == FAKE_LATER)
		return;
	if (f->collect_mode == FAKE_FAIL) {
		exchange_fail(ex, EXCEPTION_IO, "broken");
		engine_fail(ex);
		return;
	}
	ex->body = value_str(STR_LIT("collected"));
	engine_wake(ex);
}

static void
op_redelivered(struct engine *en, struct exchange *ex, const struct step *st)
{
	(void)ex;
	(void)st;
	fake_of(en)->redelivered++;
}

static const struct engine_ops fake_ops = {
	.call = op_call,
	.evaluate = op_evaluate,
	.send = op_send,
	.endpoint = op_endpoint,
	.wait = op_wait,
	.is_local = op_is_local,
	.log = op_log,
	.collect = op_collect,
	.redelivered = op_redelivered,
	.child_new = op_child_new,
	.child_free = op_child_free,
	.timer_start = op_timer_start,
	.timer_cancel = op_timer_cancel,
	.now_ms = op_now_ms,
	.state = op_state,
	.state_note = op_state_note,
};

/* ---- exchanges ---- */

static void
see(char out[256], struct exchange *ex, const struct value *v)
{
	out[0] = 0;
	if (v) {
		struct str text = value_is_null(v) ? STR_LIT("null") : value_text(&ex->arena, v);
		(void)snprintf(out, 256, "%.*s", STR_FMT(text)); /* cut is fine */
	}
}

static void
exchange_done(struct exchange *ex)
{
	struct fake *f = ex->owner;
	f->done++;
	f->failed = ex->exception != NULL;
	f->body[0] = f->exception[0] = 0;
	if (ex->body.type == VALUE_STREAM) {
		(void)snprintf(f->body, sizeof(f->body), "(stream)");
	} else if (value_is_null(&ex->body)) {
		(void)snprintf(f->body, sizeof(f->body), "(null)");
	} else {
		struct str text = value_text(&ex->arena, &ex->body);
		(void)snprintf(f->body, sizeof(f->body), "%.*s", STR_FMT(text)); /* cut is fine */
	}
	if (ex->exception) {
		const char *name = strrchr(exception_class(ex->exception->id)->name, '.') + 1;
		(void)snprintf(f->exception, sizeof(f->exception), "%s: %.*s", name,
		    STR_FMT(ex->exception->message));
	}
	for (int i = 0; f->headers && i < FAKE_SEEN_MAX && f->headers[i]; i++)
		see(f->seen[i], ex, exchange_header(ex, str_of(f->headers[i])));
	for (int i = 0; f->properties && i < FAKE_SEEN_MAX && f->properties[i]; i++)
		see(f->seen[FAKE_SEEN_MAX + i], ex,
		    exchange_property(ex, str_of(f->properties[i])));
	op_child_free(ex->engine, &ex);
}

void
fake_watch(struct fake *f, const char *const *headers, const char *const *properties)
{
	f->headers = headers;
	f->properties = properties;
}

const char *
fake_seen(const struct fake *f, const char *name)
{
	for (int i = 0; f->headers && f->headers[i]; i++)
		if (strcmp(f->headers[i], name) == 0)
			return f->seen[i];
	for (int i = 0; f->properties && f->properties[i]; i++)
		if (strcmp(f->properties[i], name) == 0)
			return f->seen[FAKE_SEEN_MAX + i];
	UNREACHABLE();
}

void
fake_init(struct fake *f, struct build *b)
{
	memset(f, 0, sizeof(*f));
	f->b = b;
	f->wakes = true;
	exchange_pool_init(&f->pool, 4);
	engine_init(&f->en, &fake_ops, f, &b->program);
	f->en.shared = f->shared = calloc(1, b->program.shared_size + 1);
	ASSERT(f->shared);
}

void
fake_fini(struct fake *f)
{
	engine_fini(&f->en);
	exchange_pool_fini(&f->pool);
	free(f->shared);
}

struct exchange *
fake_exchange(struct fake *f, const char *body)
{
	struct exchange *ex = exchange_new(&f->pool);
	ex->owner = f;
	ex->done = exchange_done;
	ex->pattern = PATTERN_IN_OUT;
	if (body)
		exchange_set_body(ex, value_str(str_of(arena_strdup(&ex->arena, body))));
	return ex;
}

struct exchange *
fake_start(struct fake *f, const struct route *route, const char *body)
{
	struct exchange *ex = fake_exchange(f, body);
	engine_start(&f->en, ex, route);
	return ex;
}

/* ---- streams ---- */

static void
fs_nothing(struct stream *s)
{
	(void)s;
}

static void
fs_cancel(struct stream *s)
{
	CONTAINER_OF(s, struct fake_stream, stream)->cancelled++;
}

static const struct stream_ops fs_ops = {
	.attach = fs_nothing, .pause = fs_nothing, .resume = fs_nothing, .cancel = fs_cancel
};

void
fake_stream_init(struct fake_stream *fs)
{
	*fs = (struct fake_stream){ .stream = { .ops = &fs_ops, .length = -1 } };
}
