/* Commands that tell: everything is read from the supervisor's own objects and the shared pages, no
 * worker is asked. */
#include "supervisor/admin_priv.h"

#include "core/base/clock.h"
#include "core/config/settings.h"
#include "supervisor/generation.h"
#include "supervisor/supervisor_priv.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static json_t *
number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

/* json_object_set_new frees the value when it fails; an answer that lacks a member tells of it by
 * itself. */
static void
set(json_t *object, const char *key, json_t *value)
{
	(void)json_object_set_new(object, key, value);
}

static json_t *
text_or_null(const char *s)
{
	json_t *v = s != NULL && s[0] != '\0' ? json_string(s) : NULL;

	return v != NULL ? v : json_null();
}

/* -- counters -- */

struct totals {
	uint64_t started, completed, failed, inflight, redelivered, bytes_in, bytes_out,
	    latency_sum;
	uint64_t latency[PAGE_BUCKETS];
};

static void
add_route(struct totals *t, const struct page_route *r)
{
	t->started += PAGE_GET(r->started);
	t->completed += PAGE_GET(r->completed);
	t->failed += PAGE_GET(r->failed);
	t->inflight += PAGE_GET(r->inflight);
	t->redelivered += PAGE_GET(r->redelivered);
	t->bytes_in += PAGE_GET(r->bytes_in);
	t->bytes_out += PAGE_GET(r->bytes_out);
	t->latency_sum += PAGE_GET(r->latency_us_sum);
	for (int i = 0; i < PAGE_BUCKETS; i++)
		t->latency[i] += PAGE_GET(r->latency[i]);
}

static void
add_generation(struct totals *t, const struct generation *gen, uint32_t route)
{
	for (size_t i = 0; i < gen->n; i++)
		add_route(t, &gen->processes[i]->page->routes[route]);
}

static void
set_totals(json_t *o, const struct totals *t)
{
	uint64_t ended = t->completed + t->failed;

	set(o, "started", number(t->started));
	set(o, "completed", number(t->completed));
	set(o, "failed", number(t->failed));
	set(o, "in_flight", number(t->inflight));
	set(o, "redelivered", number(t->redelivered));
	set(o, "mean_us", number(ended > 0 ? t->latency_sum / ended : 0));
	set(o, "p50_us", number(page_quantile(t->latency, 0.5)));
	set(o, "p99_us", number(page_quantile(t->latency, 0.99)));
}

/* -- routes -- */

static json_t *
describe_route(const struct generation *gen, const struct route *r)
{
	struct totals t = { 0 };
	json_t *o = json_object();

	set(o, "id", text_or_null(r->id));
	set(o, "from", text_or_null(r->from->uri));
	set(o, "home", text_or_null(r->home));
	set(o, "file", text_or_null(r->at.file));
	set(o, "line", number(r->at.line));
	add_generation(&t, gen, r->index);
	set_totals(o, &t);
	return o;
}

void
admin_routes(struct admin_conn *c, json_t *request)
{
	const struct generation *gen = c->sv->serving;
	json_t *list = json_array();

	(void)request;
	for (uint32_t i = 0; gen != NULL && i < gen->program->routes_n; i++)
		(void)json_array_append_new(list, describe_route(gen, gen->program->routes[i]));
	admin_reply(c,
	    json_pack("{s:I, s:o}", "generation", (json_int_t)(gen != NULL ? gen->number : 0),
		"routes", list));
}

/* -- workers -- */

static uint64_t
resident_bytes(pid_t pid)
{
	char path[64], text[128];
	unsigned long long size, pages = 0;

	(void)snprintf(path, sizeof path, "/proc/%ld/statm", (long)pid); /* fits */
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return 0;
	ssize_t n = read(fd, text, sizeof text - 1);
	(void)close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	if (sscanf(text, "%llu %llu", &size, &pages) != 2)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static json_t *
describe_process(const struct process *pr)
{
	const struct page *pg = pr->page;
	json_t *o = json_object();

	set(o, "name", json_string(pr->name));
	set(o, "kind", json_string(pr->kind->kind));
	set(o, "index", number(pr->index));
	set(o, "generation", number(pr->gen->number));
	set(o, "state", json_string(process_table_state_name(pr->state)));
	set(o, "pid", pr->pid != 0 ? number((uint64_t)pr->pid) : json_null());
	set(o, "incarnation", number(pr->incarnation));
	set(o, "uptime_ms",
	    pr->pid != 0 ? number((uint64_t)monotime_ms_between(pr->spawned, monotime_now()))
			 : json_null());
	set(o, "resident_bytes", pr->pid != 0 ? number(resident_bytes(pr->pid)) : json_null());
	set(o, "deaths", number(pr->deaths));
	set(o, "last_words", text_or_null(pr->last_words));
	set(o, "exchanges", number(PAGE_GET(pg->exchanges)));
	set(o, "calls_out", number(PAGE_GET(pg->calls_out)));
	set(o, "calls_done", number(PAGE_GET(pg->calls_done)));
	set(o, "calls_failed", number(PAGE_GET(pg->calls_failed)));
	set(o, "connections", number(PAGE_GET(pg->connections)));
	set(o, "requests", number(PAGE_GET(pg->requests)));
	set(o, "held", number(pr->held));
	return o;
}

static json_t *
describe_processes(const struct supervisor *sv)
{
	json_t *list = json_array();

	LIST_FOREACH (&sv->generations, node, tmp) {
		const struct generation *gen = LIST_ENTRY(node, struct generation, node);
		for (size_t i = 0; i < gen->n; i++)
			(void)json_array_append_new(list, describe_process(gen->processes[i]));
	}
	return list;
}

void
admin_workers(struct admin_conn *c, json_t *request)
{
	(void)request;
	admin_reply(c, json_pack("{s:o}", "workers", describe_processes(c->sv)));
}

/* -- sources: partitions that are read from -- */

static json_t *
offset_or_null(uint64_t offset)
{
	return offset <= INT64_MAX ? number(offset) : json_null();
}

static json_t *
describe_source(const struct process *pr, const struct page_source *ps)
{
	const struct program *p = pr->gen->program;
	uint64_t route = PAGE_GET(ps->route), next = PAGE_GET(ps->next), end = PAGE_GET(ps->end);
	char topic[PAGE_NAME_WORDS * 8 + 1];
	json_t *o = json_object();

	page_source_name(ps, topic);
	set(o, "route", text_or_null(route < p->routes_n ? p->routes[route]->id : NULL));
	set(o, "topic", text_or_null(topic));
	set(o, "partition", number(PAGE_GET(ps->partition)));
	set(o, "worker", json_string(pr->name));
	set(o, "generation", number(pr->gen->number));
	set(o, "next", offset_or_null(next));
	set(o, "committed", offset_or_null(PAGE_GET(ps->committed)));
	set(o, "end", offset_or_null(end));
	set(o, "lag",
	    next <= INT64_MAX && end <= INT64_MAX ? number(end > next ? end - next : 0)
						  : json_null());
	set(o, "in_flight", number(PAGE_GET(ps->inflight)));
	return o;
}

static json_t *
describe_sources(const struct supervisor *sv)
{
	json_t *list = json_array();

	LIST_FOREACH (&sv->generations, node, tmp) {
		const struct generation *gen = LIST_ENTRY(node, struct generation, node);
		for (size_t i = 0; i < gen->n; i++) {
			const struct process *pr = gen->processes[i];
			for (int k = 0; k < PAGE_SOURCES && pr->pid != 0; k++) {
				const struct page_source *ps = &pr->page->sources[k];
				if (atomic_load_explicit(&ps->used, memory_order_acquire) == 2)
					(void)json_array_append_new(list, describe_source(pr, ps));
			}
		}
	}
	return list;
}

/* -- status -- */

static json_t *
describe_generation(const struct generation *gen)
{
	struct totals t = { 0 };
	uint64_t alive = 0, connections = 0;
	json_t *o = json_object();

	for (size_t i = 0; i < gen->n; i++) {
		alive += gen->processes[i]->pid != 0;
		connections += PAGE_GET(gen->processes[i]->page->connections);
	}
	for (uint32_t i = 0; i < gen->program->routes_n; i++)
		add_generation(&t, gen, i);
	set(o, "number", number(gen->number));
	set(o, "state", json_string(generation_state_name(gen)));
	set(o, "routes", number(gen->program->routes_n));
	set(o, "workers", number(alive));
	set(o, "connections", number(connections));
	set_totals(o, &t);
	return o;
}

static json_t *
describe_generations(const struct supervisor *sv)
{
	json_t *list = json_array();

	LIST_FOREACH (&sv->generations, node, tmp)
		(void)json_array_append_new(
		    list, describe_generation(LIST_ENTRY(node, struct generation, node)));
	return list;
}

static json_t *
describe_kinds(const struct generation *gen)
{
	json_t *o = json_object();

	for (int k = 0; gen != NULL && k < kind_count(); k++) {
		uint64_t serving = 0, degraded = 0, deaths = 0;
		size_t n = generation_count_kind(gen, k);
		for (size_t i = 0; i < gen->n; i++) {
			const struct process *pr = gen->processes[i];
			if (pr->kind_index != k)
				continue;
			serving += pr->state == PROCESS_SERVING;
			degraded += pr->state == PROCESS_DEGRADED;
			deaths += pr->deaths;
		}
		if (n > 0)
			set(o, kind_at(k)->kind,
			    json_pack("{s:I, s:I, s:I, s:I}", "instances", (json_int_t)n, "serving",
				(json_int_t)serving, "degraded", (json_int_t)degraded, "deaths",
				(json_int_t)deaths));
	}
	return o;
}

static void
add_address(void *arg, const char *text)
{
	(void)json_array_append_new(arg, json_string(text));
}

static json_t *
describe_reload(const struct reload *rl)
{
	if (rl->last_wall_ms == 0)
		return json_null();
	return json_pack("{s:b, s:I, s:s?}", "ok", rl->last_ok, "at_ms",
	    (json_int_t)rl->last_wall_ms, "text", rl->last_text);
}

void
admin_status(struct admin_conn *c, json_t *request)
{
	const struct supervisor *sv = c->sv;
	json_t *o = json_object(), *listen = json_array();

	(void)request;
	listeners_each(&sv->listeners, add_address, listen);
	set(o, "version", json_string(HINNY_VERSION));
	set(o, "phase", json_string(supervisor_phase_name(sv)));
	set(o, "pid", number((uint64_t)getpid()));
	set(o, "started_ms", number((uint64_t)sv->started_wall_ms));
	set(o, "uptime_ms", number((uint64_t)monotime_ms_between(sv->started, monotime_now())));
	set(o, "run_dir", json_string(sv->run.path));
	set(o, "generation", sv->serving != NULL ? number(sv->serving->number) : json_null());
	set(o, "listen", listen);
	set(o, "kinds", describe_kinds(sv->serving));
	set(o, "generations", describe_generations(sv));
	set(o, "workers", describe_processes(sv));
	set(o, "sources", describe_sources(sv));
	set(o, "reload_waits", json_boolean(sv->reload.pending));
	set(o, "last_reload", describe_reload(&sv->reload));
	set(o, "resident_bytes", number(resident_bytes(getpid())));
	admin_reply(c, o);
}
