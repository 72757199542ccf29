/* Starting and stopping the consumers of the routes whose home this worker is, and the exchanges that they make. */
#include "workers/worker_priv.h"

#include "core/base/log.h"

#include <string.h>

static bool
route_is_here(struct worker *wk, const struct route *route)
{
	return route->home != NULL && strcmp(route->home, wk->kind->kind) == 0;
}

void
consumers_start(struct worker *wk, bool exclusive)
{
	struct hinny_error err;
	for (uint32_t i = 0; i < wk->program->routes_n; i++) {
		const struct route *route = wk->program->routes[i];
		struct endpoint *ep = route->from;
		bool is_exclusive = (ep->component->flags & COMPONENT_EXCLUSIVE) != 0;
		if (!route_is_here(wk, route) || !route->auto_startup || is_exclusive != exclusive || ep->ops == NULL ||
		    ep->ops->start == NULL)
			continue;
		if (ep->ops->start(wk, ep, route, &err) != HINNY_OK)
			log_error("cannot start route %s: %s", route->id, err.text);
	}
	if (exclusive)
		wk->exclusive_started = true;
}

void
consumers_stop(struct worker *wk)
{
	for (uint32_t i = 0; i < wk->program->routes_n; i++) {
		struct endpoint *ep = wk->program->routes[i]->from;
		if (route_is_here(wk, wk->program->routes[i]) && ep->ops != NULL && ep->ops->stop != NULL)
			ep->ops->stop(wk, ep);
	}
	wk->exclusive_started = false;
}

void
worker_source_stopping(struct worker *wk)
{
	wk->sources_stopping++;
}

void
worker_source_stopped(struct worker *wk)
{
	wk->sources_stopping--;
	control_say_stopped(wk);
}

void
endpoints_release(struct worker *wk)
{
	if (wk->program == NULL)
		return;
	for (uint32_t i = 0; i < wk->program->endpoints_n; i++) {
		struct endpoint *ep = wk->program->endpoints[i];
		if (ep->ops != NULL && ep->ops->release != NULL)
			ep->ops->release(wk, ep);
	}
}

/* ---- exchanges ---- */

struct exchange *
worker_exchange_new(struct worker *wk, const struct route *route)
{
	struct exchange *ex = exchange_new(&wk->pool);
	ex->from_route = route;
	ex->route = route;
	ex->started = loop_now(&wk->lp);
	return ex;
}

static void
count_start(struct worker *wk, struct exchange *ex)
{
	struct page_route *count = &wk->page->routes[ex->from_route->index];
	PAGE_ADD(count->started, 1);
	PAGE_ADD(count->inflight, 1);
	wk->inflight++;
	PAGE_SET(wk->page->exchanges, wk->inflight);
	ex->counted = true;
	if (wk->traces_n > 0)
		trace_begin(wk, ex);
}

void
worker_exchange_start(struct worker *wk, struct exchange *ex)
{
	count_start(wk, ex);
	engine_start(&wk->engine, ex, ex->from_route);
}

void
worker_exchange_start_failed(struct worker *wk, struct exchange *ex)
{
	count_start(wk, ex);
	engine_start_failed(&wk->engine, ex, ex->from_route);
}

void
worker_exchange_free(struct worker *wk, struct exchange **ex)
{
	struct exchange *e = *ex;
	if (e->traced)
		trace_done(wk, e);
	if (e->counted) {
		struct page_route *count = &wk->page->routes[e->from_route->index];
		if (e->exception != NULL)
			PAGE_ADD(count->failed, 1);
		else
			PAGE_ADD(count->completed, 1);
		PAGE_ADD(count->inflight, (uint64_t)-1);
		page_latency(count, (uint64_t)(loop_now(&wk->lp).ns - e->started.ns) / 1000);
		wk->inflight--;
		PAGE_SET(wk->page->exchanges, wk->inflight);
		e->counted = false;
	}
	exchange_free(&wk->pool, ex);
}

uint32_t
worker_inflight(struct worker *wk)
{
	return wk->inflight;
}

struct collect_limits
worker_collect_limits(struct worker *wk)
{
	const struct settings *set = wk->program->settings;
	return (struct collect_limits){ .memory = set->spool_memory, .max = set->http.max_body, .spool_dir = -1 };
}
