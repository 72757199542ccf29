/* Functions of Simple on the exchange as a whole, on the route it is in, and on the process. */
#include "core/lang/simple_fn.h"

#include "core/eip/engine.h"

#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { CLIP = 10000 };

static enum eval_rc
give_text(struct value *out, const char *s)
{
	*out = s != NULL ? value_str(str_of(s)) : value_null();
	return EVAL_OK;
}

/* ---- the process ---- */

enum eval_rc
simple_fn_camel_version(struct simple_call *call, struct value *out)
{
	(void)call;
	return give_text(out, HINNY_VERSION);
}

enum eval_rc
simple_fn_thread_id(struct simple_call *call, struct value *out)
{
	(void)call;
	*out = value_int(gettid());
	out->flags = VALUE_LONG;
	return EVAL_OK;
}

enum eval_rc
simple_fn_thread_name(struct simple_call *call, struct value *out)
{
	char name[17] = "";

	(void)prctl(PR_GET_NAME, name); /* it cannot fail for this */
	return give_text(out, arena_strdup(simple_arena(call), name));
}

/* ---- the exchange ---- */

enum eval_rc
simple_fn_exchange(struct simple_call *call, struct value *out)
{
	return give_text(out,
	    arena_printf(simple_arena(call), "Exchange[%.*s]", STR_FMT(exchange_id(call->ex))));
}

enum eval_rc
simple_fn_exchange_created(struct simple_call *call, struct value *out)
{
	*out = value_int(call->ex->created_ms);
	out->flags = VALUE_LONG;
	return EVAL_OK;
}

static const char *
pattern_name(const struct exchange *ex)
{
	return ex->pattern == PATTERN_IN_OUT ? "InOut" : "InOnly";
}

enum eval_rc
simple_fn_exchange_pattern(struct simple_call *call, struct value *out)
{
	return give_text(out, pattern_name(call->ex));
}

enum eval_rc
simple_fn_step_id(struct simple_call *call, struct value *out)
{
	struct value *found = exchange_property(call->ex, STR_LIT("CamelStepId"));

	*out = found != NULL ? *found : value_null();
	return EVAL_OK;
}

enum eval_rc
simple_fn_original_body(struct simple_call *call, struct value *out)
{
	const struct value *found = engine_original_body(call->ex);

	if (found != NULL)
		*out = *found;
	return EVAL_OK;
}

/* ---- texts about it ---- */

static void
put_short_class(struct buf *b, const struct value *v)
{
	const char *name = value_is_null(v) ? "null" : value_class(v), *dot = strrchr(name, '.');

	(void)buf_add_str(b, str_of(dot != NULL ? dot + 1 : name)); /* no bound */
}

/* As the log component writes it. */
static void
put_exchange(struct buf *b, struct exchange *ex)
{
	struct str body = value_is_null(&ex->body) ? STR_LIT("[Body is null]")
						   : value_text(&ex->arena, &ex->body);
	const char *sep = "";

	(void)buf_printf(b, "Exchange[Id: %.*s, ExchangePattern: %s, Headers: {",
	    STR_FMT(exchange_id(ex)), pattern_name(ex)); /* no bound */
	HEADERS_FOREACH (&ex->headers, h) {
		(void)buf_printf(b, "%s%.*s=", sep, STR_FMT(h->name));
		if (value_is_null(&h->value))
			(void)buf_add_str(b, STR_LIT("null"));
		else
			(void)value_print(b, &h->value);
		sep = ", ";
	}
	(void)buf_add_str(b, STR_LIT("}, BodyType: "));
	put_short_class(b, &ex->body);
	(void)buf_printf(b, ", Body: %.*s]", (int)(body.n < CLIP ? body.n : CLIP), body.p);
}

static enum eval_rc
give_buf(struct simple_call *call, struct buf *b, struct value *out)
{
	*out = value_str(arena_str(simple_arena(call), (struct str){ b->p, b->n }));
	buf_fini(b);
	return EVAL_OK;
}

enum eval_rc
simple_fn_log_exchange(struct simple_call *call, struct value *out)
{
	struct buf b;

	buf_init(&b, 0);
	put_exchange(&b, call->ex);
	return give_buf(call, &b, out);
}

static void
put_row(struct buf *b, const char *id, const char *processor, int64_t ms)
{
	char elapsed[24] = "Elapsed (ms)";

	if (ms >= 0)
		(void)snprintf(elapsed, sizeof elapsed, "%lld", (long long)ms);
	(void)buf_printf(b, "%-40s %-30s %-50s %12s\n", ms >= 0 ? "" : "Source", id, processor,
	    elapsed); /* no bound */
}

/* What Camel gives when message history is off, as it is by default: where the exchange began, and
 * the step in which it is. */
enum eval_rc
simple_fn_message_history(struct simple_call *call, struct value *out)
{
	static const char line[] =
	    "---------------------------------------------------------------------------------------"
	    "------------------------------------------------\n";
	struct exchange *ex = call->ex;
	struct arena *a = simple_arena(call);
	const struct step *at = ex->top != NULL ? ex->top->at : NULL;
	const char *route = ex->route != NULL ? ex->route->id : "";
	bool with_exchange = true;
	struct buf b;

	if (simple_arg_given(call, 0)) {
		enum eval_rc rc = simple_arg_truth(call, 0, &with_exchange);
		if (rc != EVAL_OK)
			return rc;
	}
	buf_init(&b, 0);
	(void)buf_printf(&b,
	    "\nMessage History (complete message history is disabled)\n%s",
	    line); /* no bound */
	put_row(&b, "ID", "Processor", -1);
	if (ex->from_route != NULL && ex->from_route->from != NULL)
		put_row(&b, arena_printf(a, "%s/%s", ex->from_route->id, ex->from_route->id),
		    arena_printf(a, "from[%s]", ex->from_route->from->uri),
		    monotime_ms_between(ex->started, monotime_now()));
	if (at != NULL) {
		(void)buf_add_str(&b, STR_LIT("\t...\n"));
		put_row(&b, arena_printf(a, "%s/%s", route, at->id != NULL ? at->id : ""),
		    at->eip->name, 0);
	}
	if (with_exchange) {
		(void)buf_printf(&b, "\nExchange\n%s", line);
		put_exchange(&b, ex);
		(void)buf_add_char(&b, '\n');
	}
	return give_buf(call, &b, out);
}
