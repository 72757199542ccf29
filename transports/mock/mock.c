/*
 * The runtime of mock. A message is kept as the JSON text in which it is asked for, which owes
 * nothing to its exchange. Mocks are found by name: all endpoints of one name share one, those that
 * are made at run time too, and a mock stays until the worker ends.
 */
#include "transports/mock/mock.h"

#include "core/base/clock.h"
#include "core/base/list.h"
#include "core/base/mem.h"
#include "core/model/json.h"
#include "workers/worker.h"

#include <stdlib.h>

struct mocks {
	struct list all; /* struct mock, in order of their first use */
	uint64_t next;   /* number of the next message */
	size_t kept, bytes;
};

struct mock {
	struct list node;
	struct mocks *mocks;
	const char *name;
	uint64_t received;
	struct list messages; /* struct message */
	size_t kept;
};

struct message {
	struct list node;
	size_t n;
	char json[];
};

static struct mocks *
mocks_of(struct worker *wk)
{
	struct mocks **at = (struct mocks **)worker_slot(wk, WORKER_SLOT_MOCKS);

	if (*at == NULL) {
		*at = MEM_NEW(struct mocks);
		list_init(&(*at)->all);
	}
	return *at;
}

static struct mock *
find_mock(struct mocks *ms, const char *name)
{
	LIST_FOREACH (&ms->all, node, tmp) {
		struct mock *m = LIST_ENTRY(node, struct mock, node);
		if (strcmp(m->name, name) == 0)
			return m;
	}
	struct mock *m = MEM_NEW(struct mock);
	m->mocks = ms;
	m->name = mem_strdup(name);
	list_init(&m->messages);
	list_append(&ms->all, &m->node);
	return m;
}

static void
drop_oldest(struct mock *m)
{
	struct message *msg = LIST_FIRST(&m->messages, struct message, node);

	list_remove(&msg->node);
	m->kept--;
	m->mocks->kept--;
	m->mocks->bytes -= msg->n;
	free(msg);
}

static void
mock_fini(struct worker *wk)
{
	struct mocks **at = (struct mocks **)worker_slot(wk, WORKER_SLOT_MOCKS);

	while (*at != NULL && !list_empty(&(*at)->all)) {
		struct mock *m = LIST_FIRST(&(*at)->all, struct mock, node);
		while (m->kept > 0)
			drop_oldest(m);
		list_remove(&m->node);
		free((char *)m->name);
		free(m);
	}
	free(*at);
	*at = NULL;
}

/* ---- a message as JSON ---- */

/* A null is null; bytes that are no UTF-8 become U+FFFD, as in Java. */
static void
print_value(struct buf *b, struct exchange *ex, const struct value *v)
{
	struct hinny_error err;
	struct value text = value_null();

	if (value_is_null(v) ||
	    value_convert(&ex->arena, v, CLASS_STRING, &text, &err) != HINNY_OK ||
	    value_is_null(&text))
		(void)buf_add_str(b, STR_LIT("null")); /* a buffer that is full is looked at later */
	else
		(void)json_print_string(b, text.u.s);
}

static void
print_entry(struct buf *b, struct exchange *ex, struct str name, const struct value *v, bool first)
{
	if (!first)
		(void)buf_add_char(b, ',');
	(void)json_print_string(b, name);
	(void)buf_add_char(b, ':');
	print_value(b, ex, v);
}

static void
print_map(struct buf *b, struct exchange *ex, const char *name, const struct value_map *map)
{
	(void)buf_printf(b, ",\"%s\":{", name);
	for (size_t i = 0; i < map->n; i++)
		print_entry(b, ex, map->entries[i].key, map->entries[i].value, i == 0);
	(void)buf_add_char(b, '}');
}

/* False: it is larger than all that may be kept. */
static bool
print_message(struct buf *b, struct exchange *ex, uint64_t number)
{
	const char *type = value_class(&ex->body);
	bool first = true;

	(void)buf_printf(b, "{\"number\":%llu,\"time\":%lld,\"pattern\":\"%s\",\"body\":",
	    (unsigned long long)number, (long long)walltime_ms(),
	    ex->pattern == PATTERN_IN_OUT ? "InOut" : "InOnly");
	print_value(b, ex, &ex->body);
	(void)buf_add_str(b, STR_LIT(",\"type\":"));
	(void)(type != NULL ? json_print_string(b, str_of(type)) : buf_add_str(b, STR_LIT("null")));
	(void)buf_add_str(b, STR_LIT(",\"headers\":{"));
	HEADERS_FOREACH (&ex->headers, h) {
		print_entry(b, ex, h->name, &h->value, first);
		first = false;
	}
	(void)buf_add_char(b, '}');
	print_map(b, ex, "properties", &ex->properties);
	print_map(b, ex, "variables", &ex->variables);
	return buf_add_char(b, '}') == HINNY_OK;
}

/* ---- what is sent ---- */

static bool
is_full(const struct mocks *ms, size_t more)
{
	return ms->kept >= MOCK_MESSAGES_MAX || ms->bytes + more > MOCK_BYTES_MAX;
}

static void
keep(struct mock *m, const struct mock_conf *conf, struct str json)
{
	struct mocks *ms = m->mocks;
	bool first = conf->retain_first >= 0;

	if (first && m->kept >= (uint64_t)conf->retain_first)
		return;
	while (conf->retain_last >= 0 && m->kept > 0 && m->kept >= (uint64_t)conf->retain_last)
		drop_oldest(m);
	if (conf->retain_last == 0)
		return;
	while (!first && m->kept > 0 && is_full(ms, json.n))
		drop_oldest(m);
	if (is_full(ms, json.n))
		return;
	struct message *msg = mem_alloc(sizeof(*msg) + json.n);
	msg->n = json.n;
	memcpy(msg->json, json.p, json.n);
	list_append(&m->messages, &msg->node);
	m->kept++;
	ms->kept++;
	ms->bytes += json.n;
}

static enum step_rc
mock_send(struct worker *wk, struct exchange *ex, const struct step *st, struct endpoint *ep)
{
	const struct mock_conf *conf = ep->conf;
	struct mocks *ms = mocks_of(wk);
	struct mock *m = find_mock(ms, conf->name);
	struct buf b;
	(void)st;

	m->received++;
	buf_init(&b, MOCK_BYTES_MAX);
	if (print_message(&b, ex, ms->next++))
		keep(m, conf, (struct str){ b.p, b.n });
	buf_fini(&b);
	if (conf->log) {
		struct str body = value_text(&ex->arena, &ex->body);
		const char *text = arena_printf(&ex->arena, "mock:%s received #%llu -> %.*s",
		    conf->name, (unsigned long long)m->received, STR_FMT(body));
		ex->engine->ops->log(
		    ex->engine, LOG_LEVEL_INFO, "mock", str_of(text), ex);
	}
	return STEP_DONE;
}

/* ---- what is asked ---- */

/* All mocks with their counts; of the one that is named the messages too. */
static void
mock_question(struct worker *wk, struct str name, struct buf *out)
{
	struct mocks *ms = mocks_of(wk);
	const char *sep = "[";

	(void)buf_add_str(out, STR_LIT("{\"mocks\":")); /* the buffer has no bound */
	LIST_FOREACH (&ms->all, node, tmp) {
		struct mock *m = LIST_ENTRY(node, struct mock, node);
		(void)buf_printf(out, "%s{\"name\":", sep);
		(void)json_print_string(out, str_of(m->name));
		(void)buf_printf(out, ",\"received\":%llu,\"kept\":%zu",
		    (unsigned long long)m->received, m->kept);
		sep = ",";
		if (!str_eq(name, str_of(m->name)) && !str_eq(name, STR_LIT("*"))) {
			(void)buf_add_char(out, '}');
			continue;
		}
		(void)buf_add_str(out, STR_LIT(",\"messages\":["));
		for (struct list *at = m->messages.next; at != &m->messages; at = at->next) {
			struct message *msg = LIST_ENTRY(at, struct message, node);
			if (at != m->messages.next)
				(void)buf_add_char(out, ',');
			(void)buf_add(out, msg->json, msg->n);
		}
		(void)buf_add_str(out, STR_LIT("]}"));
	}
	(void)buf_add_str(out, *sep == '[' ? STR_LIT("[]}") : STR_LIT("]}"));
}

const struct component_ops mock_ops = {
	.scheme = "mock",
	.send = mock_send,
	.question = mock_question,
	.fini = mock_fini,
};
