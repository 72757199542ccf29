/* Commands that do something. Those that only tell are in admin_status.c. */
#include "supervisor/admin_priv.h"

#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/base/str.h"
#include "supervisor/generation.h"
#include "supervisor/supervisor_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An argument that is absent is false; anything but a truth value is an error (answered). */
static bool
get_flag(struct admin_conn *c, json_t *request, const char *key, bool *out)
{
	json_t *v = json_object_get(request, key);

	*out = json_is_true(v);
	if (v == NULL || json_is_boolean(v))
		return true;
	admin_fail(c, "argument \"%s\": expected true or false", key);
	return false;
}

void
admin_version(struct admin_conn *c, json_t *request)
{
	(void)request;
	admin_reply(c, json_pack("{s:s}", "version", HINNY_VERSION));
}

/* The connection stays open until the broker has gone: its end tells the client. */
void
admin_stop(struct admin_conn *c, json_t *request)
{
	struct supervisor *sv = c->sv;
	bool now;

	if (!get_flag(c, request, "now", &now))
		return;
	admin_reply(c, json_pack("{s:b}", "ending", 1));
	supervisor_end(sv, now);
}

void
admin_drain(struct admin_conn *c, json_t *request)
{
	(void)request;
	if (c->sv->phase != SUPERVISOR_SERVING && c->sv->phase != SUPERVISOR_DRAINED) {
		admin_fail(c, "cannot drain: the broker is %s", supervisor_phase_name(c->sv));
		return;
	}
	if (c->sv->starting != NULL) {
		admin_fail(c, "cannot drain: a reload is under way");
		return;
	}
	supervisor_drain(c->sv);
	admin_reply(c, json_pack("{s:b}", "draining", 1));
}

void
admin_log_level(struct admin_conn *c, json_t *request)
{
	const char *name = json_string_value(json_object_get(request, "level"));
	struct control_message m = { .type = FRAME_LOG_LEVEL, .fd = -1 };
	enum log_level level;

	if (name == NULL || !log_level_parse(name, &level)) {
		admin_fail(c, "argument \"level\": expected error, warning, info or debug");
		return;
	}
	log_set_level(level);
	c->sv->log_level = (int)level;
	m.log_level.level = (uint8_t)level;
	LIST_FOREACH (&c->sv->generations, node, tmp) {
		struct generation *gen = LIST_ENTRY(node, struct generation, node);
		for (size_t i = 0; i < gen->n; i++) {
			if (process_is_up(gen->processes[i]))
				process_send(gen->processes[i], &m);
		}
	}
	admin_reply(c, json_pack("{s:s}", "level", name));
}

/* -- reload -- */

static void
on_reloaded(struct reload_waiter *w, bool ok, const char *text)
{
	struct admin_conn *c = CONTAINER_OF(w, struct admin_conn, waiter);

	if (ok)
		admin_reply(c,
		    json_pack("{s:s, s:I}", "text", text, "generation",
			(json_int_t)c->sv->serving->number));
	else
		admin_fail(c, "%s", text);
}

void
admin_reload(struct admin_conn *c, json_t *request)
{
	bool wait;

	if (c->sv->phase == SUPERVISOR_ENDING) {
		admin_fail(c, "cannot reload: the broker is ending");
		return;
	}
	if (!get_flag(c, request, "wait", &wait))
		return;
	if (wait) {
		c->waiter.done = on_reloaded;
		(void)reload_request(c->sv, &c->waiter); /* it answers, maybe from inside */
		return;
	}
	const char *why = reload_request(c->sv, NULL);
	admin_reply(c, json_pack("{s:s?}", "waits", why));
}

/* -- send -- */

/* Where an endpoint can be sent to: the worker that has its transport, or any that is home to
 * exchanges. */
static struct process *
find_home(const struct supervisor *sv, const char *endpoint)
{
	const char *colon = strchr(endpoint, ':');
	const struct component_desc *component = colon != NULL
	    ? component_find((struct str){ endpoint, (size_t)(colon - endpoint) })
	    : NULL;
	const char *owner = component != NULL ? component->owner : NULL;
	struct process *any = NULL;

	for (size_t i = 0; sv->serving != NULL && i < sv->serving->n; i++) {
		struct process *pr = sv->serving->processes[i];
		if (pr->state != PROCESS_SERVING || (pr->kind->flags & KIND_STATELESS) != 0)
			continue;
		if (owner != NULL && strcmp(owner, pr->kind->kind) == 0)
			return pr;
		if (any == NULL)
			any = pr;
	}
	return any;
}

/* NULL when they are not strings (answered); "" when there are none. Malloc'ed otherwise. */
static char *
get_headers(struct admin_conn *c, json_t *request)
{
	json_t *headers = json_object_get(request, "headers"), *value;
	const char *key;

	if (headers == NULL)
		return strdup("");
	json_object_foreach(headers, key, value)
	{
		if (!json_is_string(value))
			headers = NULL;
		if (headers == NULL)
			break;
	}
	if (!json_is_object(headers)) {
		admin_fail(c, "argument \"headers\": expected an object of strings");
		return NULL;
	}
	return json_dumps(headers, JSON_COMPACT);
}

void
admin_send(struct admin_conn *c, json_t *request)
{
	const char *endpoint = json_string_value(json_object_get(request, "endpoint"));
	struct control_message m = { .type = FRAME_SEND, .fd = c->fd.fd };

	if (endpoint == NULL) {
		admin_fail(c, "argument \"endpoint\": expected a uri such as \"direct:orders\"");
		return;
	}
	struct process *home = find_home(c->sv, endpoint);
	if (home == NULL) {
		admin_fail(c, "no worker can send to \"%s\" now", endpoint);
		return;
	}
	char *headers = get_headers(c, request);
	if (headers == NULL)
		return;
	m.send.endpoint = str_of(endpoint);
	m.send.headers = str_of(headers);
	if (c->in.n > 0) {
		admin_fail(c, "wait for the answer before you send the body");
	} else {
		admin_reply(c, json_pack("{s:s}", "home", home->name));
		if (!c->closed && c->out.n == 0)
			process_send(home, &m);
		admin_conn_close(c); /* the worker has a descriptor of its own now */
	}
	free(headers);
}
