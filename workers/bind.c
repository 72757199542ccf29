/*
 * Binds what the program names to what this executable can run. An endpoint or expression that its owner cannot prepare (a stylesheet with an error) refuses the
 * generation, with the position in the route file.
 */
#include "workers/worker_priv.h"

#include <string.h>

static const struct component_ops *
find_in(const struct component_ops *const *list, const char *scheme)
{
	for (; list != NULL && *list != NULL; list++)
		if (strcmp((*list)->scheme, scheme) == 0)
			return *list;
	return NULL;
}

const struct component_ops *
bind_find_component(struct worker *wk, const struct component_desc *desc)
{
	const struct component_ops *ops = find_in(wk->kind->components, desc->scheme);
	return ops != NULL ? ops : find_in(worker_common_components, desc->scheme);
}

static const struct language_impl *
find_language(struct worker *wk, const char *name)
{
	for (const struct language_impl *const *l = wk->kind->languages; l != NULL && *l != NULL; l++)
		if (strcmp((*l)->name, name) == 0)
			return *l;
	return NULL;
}

bool
bind_is_mine(const struct worker *wk, const char *owner)
{
	return owner == NULL || strcmp(owner, wk->kind->kind) == 0;
}

/* Where it stands, and for a route of a template where that is used. */
static void
report(struct worker *wk, struct diagnostics *ds, struct position at, const char *what, const char *text)
{
	const char *origin = bundle_origin(wk->bundle, at.file);
	diagnostics_add(ds, at, false, "%s: %s%s%s%s", what, text, origin ? " (" : "", origin ? origin : "", origin ? ")" : "");
}

static void
bind_endpoint(struct worker *wk, struct endpoint *ep, struct diagnostics *ds)
{
	struct hinny_error err;
	ep->ops = bind_find_component(wk, ep->component);
	if (ep->ops == NULL || ep->ops->prepare == NULL || !bind_is_mine(wk, ep->component->owner))
		return;
	if (ep->ops->prepare(wk, ep, &err) != HINNY_OK)
		report(wk, ds, ep->at, ep->uri, err.text);
}

static void
bind_expression(struct worker *wk, struct expression *e, struct diagnostics *ds)
{
	struct hinny_error err;
	if (!bind_is_mine(wk, e->owner))
		return;
	const struct language_impl *impl = find_language(wk, e->language->name);
	if (impl == NULL) {
		diagnostics_add(ds, e->at, false, "language %s cannot be run by %s", e->language->name, wk->kind->kind);
		return;
	}
	e->ops = impl;
	if (impl->prepare != NULL && impl->prepare(wk, e, &err) != HINNY_OK)
		report(wk, ds, e->at, e->language->name, err.text);
}

enum hinny_rc
bind_program(struct worker *wk, struct diagnostics *ds)
{
	struct program *p = wk->program;
	for (uint32_t i = 0; i < p->endpoints_n; i++)
		bind_endpoint(wk, p->endpoints[i], ds);
	for (uint32_t i = 0; i < p->remotes_n; i++)
		bind_expression(wk, p->remotes[i], ds);
	return ds->errors == 0 ? HINNY_OK : HINNY_EINVAL;
}
