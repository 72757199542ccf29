/* Programs made by hand: expressions, steps, blocks, routes. */
#include "tests/lib/program_build.h"

#include "core/base/assert.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct eip_desc setBody_eip, setHeader_eip, choice_eip, when_eip, otherwise_eip,
    doTry_eip, doCatch_eip, doFinally_eip, onException_eip, redeliveryPolicy_eip, to_eip, split_eip,
    multicast_eip;

/* ---- expressions ---- */

static enum eval_rc
const_eval(const struct expression *e, struct exchange *ex, struct value *out)
{
	(void)ex;
	*out = value_str(str_of(e->text));
	return EVAL_OK;
}

struct fn_conf {
	build_fn *fn;
};

static enum eval_rc
fn_eval(const struct expression *e, struct exchange *ex, struct value *out)
{
	const struct fn_conf *conf = e->conf;
	return conf->fn(ex, e->text, out);
}

static const struct language_desc const_language = { .name = "constant", .eval = const_eval };
static const struct language_desc fn_language = { .name = "fake", .eval = fn_eval };
static const struct language_desc remote_language = { .name = "remote", .owner = "xform" };

static struct expression *
new_expression(
    struct build *b, const struct language_desc *language, const char *text, bool predicate)
{
	struct expression *e = ARENA_NEW(&b->arena, struct expression);
	e->language = language;
	e->text = arena_strdup(&b->arena, text);
	e->predicate = predicate;
	return e;
}

struct expression *
build_const(struct build *b, const char *text)
{
	return new_expression(b, &const_language, text, false);
}

struct expression *
build_expr(struct build *b, build_fn *fn, const char *arg)
{
	struct expression *e = new_expression(b, &fn_language, arg, false);
	struct fn_conf *conf = ARENA_NEW(&b->arena, struct fn_conf);
	conf->fn = fn;
	e->conf = conf;
	if (fn == fn_append)
		e->reads.flags |= ACCESS_BODY;
	return e;
}

struct expression *
build_predicate(struct build *b, build_fn *fn, const char *arg)
{
	struct expression *e = build_expr(b, fn, arg);
	e->predicate = true;
	return e;
}

struct expression *
build_remote(struct build *b, const char *owner, const char *text, bool predicate)
{
	struct expression *e = new_expression(b, &remote_language, text, predicate);
	e->owner = owner;
	e->slot = b->program.remotes_n++;
	e->reads.flags |= ACCESS_BODY;
	return e;
}

enum eval_rc
fn_append(struct exchange *ex, const char *arg, struct value *out)
{
	struct str body = value_text(&ex->arena, &ex->body);
	*out = value_str(str_of(arena_printf(&ex->arena, "%.*s%s", STR_FMT(body), arg)));
	return EVAL_OK;
}

enum eval_rc
fn_header(struct exchange *ex, const char *arg, struct value *out)
{
	const struct value *v = exchange_header(ex, str_of(arg));
	*out = v ? *v : value_null();
	return EVAL_OK;
}

enum eval_rc
fn_message(struct exchange *ex, const char *arg, struct value *out)
{
	const struct exception *e = ex->exception ? ex->exception : ex->caught;
	(void)arg;
	*out = e ? value_str(e->message) : value_null();
	return EVAL_OK;
}

enum eval_rc
fn_fail(struct exchange *ex, const char *arg, struct value *out)
{
	(void)out;
	exchange_fail(ex, EXCEPTION_ILLEGAL_STATE, "%s", arg);
	return EVAL_ERROR;
}

enum eval_rc
fn_header_is(struct exchange *ex, const char *arg, struct value *out)
{
	struct str value = str_of(arg), name;
	(void)str_split(&value, '=', &name);
	const struct value *v = exchange_header(ex, name);
	*out = value_bool(v && str_eq(value_text(&ex->arena, v), value));
	return EVAL_OK;
}

enum eval_rc
fn_true(struct exchange *ex, const char *arg, struct value *out)
{
	(void)ex;
	(void)arg;
	*out = value_bool(true);
	return EVAL_OK;
}

enum eval_rc
fn_false(struct exchange *ex, const char *arg, struct value *out)
{
	(void)ex;
	(void)arg;
	*out = value_bool(false);
	return EVAL_OK;
}

enum eval_rc
fn_counter_below(struct exchange *ex, const char *arg, struct value *out)
{
	const struct value *v = exchange_header(ex, STR_LIT("CamelRedeliveryCounter"));
	*out = value_bool(v && v->u.i < atoi(arg));
	return EVAL_OK;
}

/* ---- steps ---- */

void
build_init(struct build *b)
{
	memset(b, 0, sizeof(*b));
	arena_init(&b->arena);
	b->program.routes = b->routes;
}

void
build_fini(struct build *b)
{
	arena_fini(&b->arena);
}

static int
enum_position(const char *values, const char *name)
{
	struct str rest = str_of(values), item;
	for (int i = 0; str_split(&rest, '|', &item); i++)
		if (str_caseeq(item, str_of(name)))
			return i;
	UNREACHABLE();
}

static void
set_default(const struct option_desc *opt, char *conf)
{
	void *at = conf + opt->offset;
	switch (opt->type) {
	case OPTION_BOOL:
		*(bool *)at = strcmp(opt->dflt, "true") == 0;
		break;
	case OPTION_STRING:
		*(const char **)at = opt->dflt;
		break;
	case OPTION_INT:
	case OPTION_DURATION:
		*(int64_t *)at = strtoll(opt->dflt, NULL, 10);
		break;
	case OPTION_DOUBLE:
		*(double *)at = strtod(opt->dflt, NULL);
		break;
	case OPTION_ENUM:
		*(int *)at = enum_position(opt->values, opt->dflt);
		break;
	default:
		UNREACHABLE();
	}
}

struct step *
build_step(struct build *b, const struct eip_desc *eip)
{
	struct step *st = ARENA_NEW(&b->arena, struct step);
	st->eip = eip;
	st->index = b->program.steps_n++;
	st->id = arena_printf(&b->arena, "%s%u", eip->name, st->index);
	if (eip->conf_size)
		st->conf = arena_zalloc(&b->arena, eip->conf_size);
	for (const struct option_desc *opt = eip->options; opt && opt->name; opt++)
		if (opt->dflt)
			set_default(opt, st->conf);
	return st;
}

struct step *
build_set_body(struct build *b, const char *text)
{
	struct step *st = build_step(b, &setBody_eip);
	st->expr = build_const(b, text);
	return st;
}

struct step *
build_append(struct build *b, const char *text)
{
	struct step *st = build_step(b, &setBody_eip);
	st->expr = build_expr(b, fn_append, text);
	return st;
}

struct step *
build_set_header(struct build *b, const char *name, const char *text)
{
	struct step *st = build_step(b, &setHeader_eip);
	struct set_conf *conf = st->conf;
	conf->name = build_const(b, name);
	conf->fixed = str_of(conf->name->text);
	st->expr = build_const(b, text);
	return st;
}

struct step *
build_set(struct build *b, const struct eip_desc *eip, const char *name, struct expression *e)
{
	struct step *st = build_step(b, eip);
	struct set_conf *conf = st->conf;
	conf->name = build_const(b, name);
	conf->fixed = str_of(conf->name->text);
	st->expr = e;
	return st;
}

struct expression *
build_null(struct build *b)
{
	return build_expr(b, fn_header, "absent");
}

static enum step_rc
boom_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	struct boom_conf *conf = st->conf;
	struct value v;
	(void)en;
	conf->run++;
	(void)fn_append(ex, ".", &v);
	exchange_set_body(ex, v); /* so that a failed try leaves a trace */
	if (conf->times > 0 && conf->run > conf->times)
		return STEP_DONE;
	exchange_fail(ex, conf->id, "%s", conf->message);
	return STEP_FAILED;
}

const struct eip_desc boom_eip = {
	.name = "boom", .conf_size = sizeof(struct boom_conf), .run = boom_run
};

struct step *
build_boom(struct build *b, enum exception_id id, const char *message, int times)
{
	struct step *st = build_step(b, &boom_eip);
	*(struct boom_conf *)st->conf =
	    (struct boom_conf){ .id = id, .message = message, .times = times };
	return st;
}

struct step *
build_to(struct build *b, struct endpoint *ep)
{
	struct step *st = build_step(b, &to_eip);
	st->endpoint = ((struct to_conf *)st->conf)->endpoint = ep;
	return st;
}

struct run_conf {
	build_run_fn *run;
};

static enum step_rc
fn_run(struct engine *en, struct exchange *ex, const struct step *st)
{
	return ((struct run_conf *)st->conf)->run(en, ex, st);
}

static const struct eip_desc run_eip = {
	.name = "run", .conf_size = sizeof(struct run_conf), .run = fn_run
};

struct step *
build_run(struct build *b, build_run_fn *run)
{
	struct step *st = build_step(b, &run_eip);
	((struct run_conf *)st->conf)->run = run;
	return st;
}

/* ---- blocks ---- */

static void
vblock(struct block *block, struct step *first, va_list ap)
{
	*block = (struct block){ .first = first };
	for (struct step *st = first; st; block->n++) {
		st->next = va_arg(ap, struct step *);
		st = st->next;
	}
}

void
build_block(struct block *block, struct step *first, ...)
{
	va_list ap;
	va_start(ap, first);
	vblock(block, first, ap);
	va_end(ap);
}

static void
list_add(struct build *b, struct step_list *list, struct step *st)
{
	struct step **items = arena_alloc(&b->arena, (list->n + 1) * sizeof(items[0]));
	if (list->n)
		memcpy(items, list->items, list->n * sizeof(items[0]));
	items[list->n++] = st;
	list->items = items;
}

struct step *
build_when(struct build *b, struct expression *predicate, struct step *first, ...)
{
	struct step *st = build_step(b, &when_eip);
	va_list ap;
	st->expr = predicate;
	va_start(ap, first);
	vblock(&st->block, first, ap);
	va_end(ap);
	return st;
}

struct step *
build_otherwise(struct build *b, struct step *first, ...)
{
	struct step *st = build_step(b, &otherwise_eip);
	va_list ap;
	va_start(ap, first);
	vblock(&st->block, first, ap);
	va_end(ap);
	return st;
}

/* Remote predicates are the choice's, as the planner has it. */
static void
add_remote(struct build *b, struct step *st, struct expression *e)
{
	if (e == NULL || e->owner == NULL)
		return;
	struct expression **remotes =
	    arena_alloc(&b->arena, (st->remotes_n + 1) * sizeof(remotes[0]));
	if (st->remotes_n)
		memcpy(remotes, st->remotes, st->remotes_n * sizeof(remotes[0]));
	remotes[st->remotes_n++] = e;
	st->remotes = remotes;
}

struct step *
build_choice(struct build *b, struct step *otherwise, struct step *when, ...)
{
	struct step *st = build_step(b, &choice_eip);
	struct choice_conf *conf = st->conf;
	va_list ap;
	conf->otherwise = otherwise;
	va_start(ap, when);
	for (struct step *w = when; w; w = va_arg(ap, struct step *)) {
		list_add(b, &conf->when, w);
		add_remote(b, st, w->expr);
	}
	va_end(ap);
	return st;
}

struct step *
build_split(struct build *b, struct expression *e, struct step *first, ...)
{
	struct step *st = build_step(b, &split_eip);
	va_list ap;
	st->expr = e;
	va_start(ap, first);
	vblock(&st->block, first, ap);
	va_end(ap);
	add_remote(b, st, e);
	return st;
}

struct step *
build_multicast(struct build *b, struct step *first, ...)
{
	struct step *st = build_step(b, &multicast_eip);
	struct multicast_conf *conf = st->conf;
	va_list ap;
	va_start(ap, first);
	for (struct step *s = first; s; s = va_arg(ap, struct step *))
		list_add(b, &conf->branches, s);
	va_end(ap);
	return st;
}

static struct classes
one_class(struct build *b, enum exception_id id)
{
	struct classes classes = { .ids = arena_alloc(&b->arena, sizeof(int)), .n = 1 };
	classes.ids[0] = (int)id;
	return classes;
}

struct step *
build_catch(
    struct build *b, enum exception_id id, struct expression *on_when, struct step *first, ...)
{
	struct step *st = build_step(b, &doCatch_eip);
	struct do_catch_conf *conf = st->conf;
	va_list ap;
	conf->exception = one_class(b, id);
	conf->on_when = on_when;
	va_start(ap, first);
	vblock(&st->block, first, ap);
	va_end(ap);
	return st;
}

struct step *
build_finally(struct build *b, struct step *first, ...)
{
	struct step *st = build_step(b, &doFinally_eip);
	va_list ap;
	va_start(ap, first);
	vblock(&st->block, first, ap);
	va_end(ap);
	return st;
}

struct step *
build_try(struct build *b, struct step *finally, struct step *catch1, struct step *catch2,
    struct step *first, ...)
{
	struct step *st = build_step(b, &doTry_eip);
	struct do_try_conf *conf = st->conf;
	va_list ap;
	conf->finally = finally;
	if (catch1)
		list_add(b, &conf->catches, catch1);
	if (catch2)
		list_add(b, &conf->catches, catch2);
	va_start(ap, first);
	vblock(&st->block, first, ap);
	va_end(ap);
	return st;
}

struct step *
build_on_exception(struct build *b, enum exception_id id, struct step *first, ...)
{
	struct step *st = build_step(b, &onException_eip);
	va_list ap;
	build_on_exception_conf(st)->exception = one_class(b, id);
	va_start(ap, first);
	vblock(&st->block, first, ap);
	va_end(ap);
	return st;
}

struct on_exception_conf *
build_on_exception_conf(struct step *st)
{
	return st->conf;
}

struct redelivery_conf *
build_redelivery(struct build *b, struct step *on_exception, int64_t maximum, int64_t delay_ms)
{
	struct step *st = build_step(b, &redeliveryPolicy_eip);
	struct redelivery_conf *conf = st->conf;
	build_on_exception_conf(on_exception)->redelivery_policy = st;
	conf->maximum_redeliveries = maximum;
	conf->redelivery_delay_ms = delay_ms;
	return conf;
}

/* ---- routes and endpoints ---- */

static void adopt_block(struct block *block, const struct route *route);

static void
adopt(struct step *st, const struct route *route)
{
	st->route = route;
	adopt_block(&st->block, route);
	for (const struct option_desc *opt = st->eip->options; opt && opt->name; opt++) {
		char *at = (char *)st->conf + opt->offset;
		if (opt->type == OPTION_NODES || opt->type == OPTION_BRANCHES) {
			struct step_list *list = (struct step_list *)(void *)at;
			for (size_t i = 0; i < list->n; i++)
				adopt(list->items[i], route);
		} else if (opt->type == OPTION_NODE && *(struct step **)(void *)at) {
			adopt(*(struct step **)(void *)at, route);
		}
	}
}

static void
adopt_block(struct block *block, const struct route *route)
{
	for (struct step *st = block->first; st; st = st->next)
		adopt(st, route);
}

struct route *
build_route(struct build *b, const char *id, struct step *first, ...)
{
	struct route *route = ARENA_NEW(&b->arena, struct route);
	va_list ap;
	route->id = id;
	route->index = b->program.routes_n;
	route->from =
	    build_endpoint(b, arena_printf(&b->arena, "fake:from-%s", id), COMPONENT_CONSUMER);
	va_start(ap, first);
	vblock(&route->block, first, ap);
	va_end(ap);
	adopt_block(&route->block, route);
	ASSERT(b->program.routes_n < ARRAY_LEN(b->routes));
	b->routes[b->program.routes_n++] = route;
	return route;
}

void
build_route_block(struct route *route, const struct block *block)
{
	route->block = *block;
	adopt_block(&route->block, route);
}

void
build_handler(struct build *b, struct route *route, struct step *on_exception, bool own)
{
	const struct step **handlers =
	    arena_alloc(&b->arena, (route->handlers_n + 1) * sizeof(struct step *));
	for (uint32_t i = 0; i < route->handlers_n; i++)
		handlers[i] = route->handlers[i];
	handlers[route->handlers_n++] = on_exception;
	route->handlers = handlers;
	adopt(on_exception, own ? route : NULL);
}

static struct component_desc *
new_component(struct build *b, const char *scheme, unsigned flags)
{
	struct component_desc *component = ARENA_NEW(&b->arena, struct component_desc);
	component->scheme = scheme;
	component->flags = flags;
	return component;
}

struct endpoint *
build_endpoint(struct build *b, const char *uri, unsigned component_flags)
{
	struct endpoint *ep = ARENA_NEW(&b->arena, struct endpoint);
	ep->component = new_component(b, "fake", component_flags);
	ep->uri = ep->key = arena_strdup(&b->arena, uri);
	return ep;
}

struct endpoint *
build_direct(struct build *b, const char *name, const struct route *target)
{
	struct endpoint *ep =
	    build_endpoint(b, arena_printf(&b->arena, "direct://%s", name), COMPONENT_PRODUCER);
	ep->target = target;
	return ep;
}
