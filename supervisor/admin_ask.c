/*
 * Commands that workers answer by themselves: they get the client's connection. The broker says
 * nothing on it but an error; what a worker writes has the form of any answer.
 */
#include "supervisor/admin_priv.h"

#include "supervisor/generation.h"
#include "supervisor/supervisor_priv.h"

#include <string.h>

static struct process *
find_kind(const struct supervisor *sv, const char *kind)
{
	for (size_t i = 0; sv->serving != NULL && i < sv->serving->n; i++) {
		struct process *pr = sv->serving->processes[i];
		if (pr->state == PROCESS_SERVING && strcmp(pr->kind->kind, kind) == 0)
			return pr;
	}
	return NULL;
}

/* The worker has a descriptor of its own now. */
static void
give(struct admin_conn *c, struct process *pr, struct control_message *m)
{
	m->fd = c->fd.fd;
	if (c->out.n == 0)
		process_send(pr, m);
}

/* Can the generation that serves have a mock? Names of dynamic ones are known to its worker alone. */
static bool
may_have_mocks(const struct supervisor *sv)
{
	const struct program *p = sv->serving != NULL ? sv->serving->program : NULL;
	const struct component_desc *mock = component_find(STR_LIT("mock"));

	for (uint32_t i = 0; p != NULL && i < p->endpoints_n; i++) {
		if (p->endpoints[i]->component == mock)
			return true;
	}
	for (uint32_t i = 0; p != NULL && i < p->steps_n; i++) {
		if (p->steps[i]->endpoint == NULL && p->steps[i]->effect)
			return true;
	}
	return false;
}

void
admin_mocks(struct admin_conn *c, json_t *request)
{
	const char *name = json_string_value(json_object_get(request, "name"));
	struct control_message m = { .type = FRAME_QUESTION };
	struct process *pr = may_have_mocks(c->sv) ? find_kind(c->sv, "flow") : NULL;

	if (pr == NULL) {
		admin_reply(c, json_pack("{s:[]}", "mocks"));
		return;
	}
	m.question.name = STR_LIT("mock");
	m.question.argument = str_of(name != NULL ? name : "");
	give(c, pr, &m);
	admin_conn_close(c);
}

/* ---- trace ---- */

static bool
has_route(const struct supervisor *sv, const char *id)
{
	const struct program *p = sv->serving != NULL ? sv->serving->program : NULL;

	for (uint32_t i = 0; p != NULL && i < p->routes_n; i++) {
		if (strcmp(p->routes[i]->id, id) == 0)
			return true;
	}
	return false;
}

/* 0 when it is absent; anything but a whole number is an error (answered). */
static bool
get_number(struct admin_conn *c, json_t *request, const char *key, uint32_t *out)
{
	json_t *v = json_object_get(request, key);
	json_int_t n = json_integer_value(v);

	*out = (uint32_t)n;
	if (v == NULL || (json_is_integer(v) && n >= 0 && n <= UINT32_MAX))
		return true;
	admin_fail(c, "argument \"%s\": expected a whole number", key);
	return false;
}

void
admin_trace(struct admin_conn *c, json_t *request)
{
	const char *route = json_string_value(json_object_get(request, "route"));
	struct control_message m = { .type = FRAME_TRACE };
	size_t homes = 0;

	if (route != NULL && !has_route(c->sv, route)) {
		admin_fail(c, "there is no route \"%s\"", route);
		return;
	}
	if (!get_number(c, request, "every", &m.trace.every) ||
	    !get_number(c, request, "count", &m.trace.most))
		return;
	m.trace.route = str_of(route != NULL ? route : "");
	m.trace.body = json_is_true(json_object_get(request, "body"));
	for (size_t i = 0; c->sv->serving != NULL && i < c->sv->serving->n; i++) {
		struct process *pr = c->sv->serving->processes[i];
		if (pr->state != PROCESS_SERVING || (pr->kind->flags & KIND_STATELESS) != 0)
			continue;
		give(c, pr, &m);
		homes++;
	}
	if (homes == 0)
		admin_fail(c, "no worker serves now");
	else
		admin_conn_close(c);
}
