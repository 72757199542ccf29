/*
 * Prepares and evaluates jq programs. They are compiled once, before READY. One output is the
 * value, several are a list, none is null. What a program may take of time and memory is held from
 * outside: by the supervisor (xform.time_limit) and the process's limit (jq_kind.c).
 */
#include "transformers/jq/jq_impl.h"

#include "core/base/mem.h"
#include "transformers/jq/jq_priv.h"
#include "workers/worker.h"

#include <stdlib.h>

struct jq_runtime *
jq_runtime_new(uint64_t max_output)
{
	struct jq_runtime *rt = MEM_NEW(struct jq_runtime);

	list_init(&rt->programs);
	rt->max_output = max_output;
	return rt;
}

void
jq_runtime_free(struct jq_runtime *rt)
{
	LIST_FOREACH (&rt->programs, node, tmp)
		jq_program_free(LIST_ENTRY(node, struct jq_program, node));
	free(rt);
}

static enum hinny_rc
jq_prepare(void *owner, struct expression *e, struct hinny_error *err)
{
	struct jq_program *p = NULL;
	enum hinny_rc rc = jq_program_new(worker_data(owner), e, &p, err);

	e->impl = p;
	return rc;
}

/* ---- what Camel's functions find ---- */

static jv
key_of(struct str name, bool nocase)
{
	jv key = jv_string_sized(name.p, (int)name.n);

	if (!nocase)
		return key;
	char *lower = mem_strndup(name.p, name.n);
	for (size_t i = 0; i < name.n; i++)
		lower[i] = (char)(lower[i] >= 'A' && lower[i] <= 'Z' ? lower[i] + 32 : lower[i]);
	jv_free(key);
	key = jv_string_sized(lower, (int)name.n);
	free(lower);
	return key;
}

static jv
headers_of(struct exchange *ex, const struct access *reads)
{
	jv out = jv_object();

	if (reads->flags & ACCESS_HEADERS_ALL) {
		HEADERS_FOREACH (&ex->headers, h)
			out = jv_object_set(
			    out, key_of(h->name, true), jq_value_text(ex, &h->value));
		return out;
	}
	for (size_t i = 0; i < reads->headers.n; i++) {
		struct str name = str_of(reads->headers.items[i]);
		out = jv_object_set(
		    out, key_of(name, true), jq_value_text(ex, exchange_header(ex, name)));
	}
	return out;
}

static jv
map_of(struct exchange *ex, const struct value_map *m, const struct strings *names, bool all)
{
	jv out = jv_object();

	for (size_t i = 0; all && i < m->n; i++)
		out = jv_object_set(out, key_of(m->entries[i].key, false),
		    jq_value_text(ex, m->entries[i].value));
	for (size_t i = 0; !all && i < names->n; i++) {
		struct str name = str_of(names->items[i]);
		out = jv_object_set(
		    out, key_of(name, false), jq_value_text(ex, value_map_find(m, name)));
	}
	return out;
}

static jv
message_of(struct exchange *ex, const struct expression *e)
{
	const struct access *reads = &e->reads;
	const struct jq_code *code = e->code;
	jv out = jv_object();

	out = jv_object_set(out, jv_string("h"), headers_of(ex, reads));
	out = jv_object_set(out, jv_string("p"),
	    map_of(ex, &ex->properties, &reads->properties,
		(reads->flags & ACCESS_PROPERTIES_ALL) != 0));
	out = jv_object_set(out, jv_string("v"),
	    map_of(ex, &ex->variables, &reads->variables,
		(reads->flags & ACCESS_VARIABLES_ALL) != 0));
	return code->body ? jv_object_set(out, jv_string("b"), jq_value_text(ex, &ex->body)) : out;
}

/* ---- evaluation ---- */

static enum eval_rc
too_large(struct exchange *ex, const struct expression *e)
{
	exchange_fail(ex, EXCEPTION_BODY_TOO_LARGE,
	    "jq %s: the result is larger than jq.max_output, or nested too deep", e->text);
	return EVAL_ERROR;
}

/* What error(…) and libjq's own errors say. Consumes message. */
static enum eval_rc
failed(struct exchange *ex, const struct expression *e, jv message)
{
	jv text = jv_get_kind(message) == JV_KIND_STRING ? message : jv_dump_string(message, 0);

	exchange_fail(ex, EXCEPTION_RUNTIME_CAMEL, "jq %s: %s", e->text, jv_string_value(text));
	jv_free(text);
	return EVAL_ERROR;
}

/* All outputs. */
static enum eval_rc
run(const struct jq_program *p, const struct expression *e, struct exchange *ex, struct value *out)
{
	uint64_t left = p->runtime->max_output != 0 ? p->runtime->max_output : UINT64_MAX;
	struct value list = value_null();
	size_t n = 0;

	*out = value_null();
	jv j;
	for (; jv_is_valid(j = jq_next(p->state)); n++) {
		struct value v;
		if (!jq_value_give(&ex->arena, j, &left, &v))
			return too_large(ex, e);
		if (n == 1) {
			list = value_new_list(&ex->arena, 8);
			value_list_add(&ex->arena, list.u.list, *out);
		}
		if (n > 0)
			value_list_add(&ex->arena, list.u.list, v);
		*out = n > 0 ? list : v;
	}
	jv message = jv_invalid_get_msg(j);
	if (jv_get_kind(message) != JV_KIND_NULL)
		return failed(ex, e, message);
	jv_free(message);
	return EVAL_OK;
}

/* As Camel makes a Boolean of a node: true is true, several results are, all else is not. */
static struct value
predicate_of(const struct value *v)
{
	if (v->type == VALUE_STRING)
		return value_bool(str_caseeq(v->u.s, STR_LIT("true")));
	return v->type == VALUE_BOOL || v->type == VALUE_LIST ? *v : value_bool(false);
}

static enum eval_rc
jq_eval(const struct expression *e, struct exchange *ex, struct value *out)
{
	const struct jq_program *p = e->impl;
	const struct jq_conf *conf = e->conf;
	const struct value *v = source_value(&conf->source, ex), none = value_null();
	jv input;

	if (!jq_value_read(ex, v != NULL ? v : &none, &input))
		return EVAL_ERROR;
	if (p->message)
		input = JV_ARRAY(input, message_of(ex, e));
	jq_start(p->state, input, 0);
	enum eval_rc rc = run(p, e, ex, out);
	if (rc == EVAL_OK && e->predicate)
		*out = predicate_of(out);
	return rc;
}

const struct language_impl jq_impl = {
	.name = "jq",
	.prepare = jq_prepare,
	.eval = jq_eval,
};
