/*
 * Endpoints: `scheme:path?option=value&…`, with options in `parameters` instead, or with the whole
 * path in `parameters` too. Values are decoded once: %XX and "+" in a uri; RAW(…) protects from
 * that; parameters are taken as they are.
 */
#include "core/config/compile_priv.h"

#include "core/base/assert.h"
#include "core/config/endpoint_uri.h"
#include "core/config/placeholder.h"

/* One endpoint on its way from text to structure. */
struct parsing {
	const struct component_desc *component;
	struct uri_parts parts;
	struct uri_options options; /* decoded, in order of writing */
	struct endpoint *ep;
	const char *scheme; /* as written */
	bool bad; /* a parameter could not be resolved, which was reported: it is not missing */
	int rc;
};

/* ---- the component ---- */

static const char *
nearest_component(struct compile *c, struct str scheme)
{
	size_t n, count = 0;
	const struct component_desc *const *all = component_all(&n);
	const char **names = arena_alloc(c->arena, (n + 1) * sizeof(char *));

	for (size_t i = 0; i < n; i++)
		names[count++] = all[i]->scheme;
	names[count] = NULL;
	return option_did_you_mean(c->arena, str_nearest(scheme, names));
}

static const struct component_desc *
find_component(
    struct compile *c, struct str uri, struct str scheme, bool consumer, struct position at)
{
	const struct component_desc *desc = scheme.n > 0 ? component_find(scheme) : NULL;
	const char *other, *unknown = c->probing ? memchr(uri.p, PLACEHOLDER_UNKNOWN, uri.n) : NULL;

	if (unknown != NULL && scheme.n > 0 && unknown >= scheme.p + scheme.n)
		uri.n = (size_t)(unknown - uri.p); /* the scheme is known: it can be told */
	size_t query = str_find(uri, STR_LIT("?"));
	if (query != SIZE_MAX)
		uri.n = query; /* in which there may be secrets */
	if (desc == NULL && c->ds != NULL && bean_is_refused(c, scheme)) {
		c->errors++; /* a component that is a bean, which was reported */
		return NULL;
	}
	if (desc == NULL && refused_find(REFUSED_COMPONENT, scheme, &other)) {
		compile_error(c, at,
		    "component \"%.*s\" of \"%.*s\" is not implemented in this release%s%s%s",
		    STR_FMT(scheme), STR_FMT(uri), other ? "; the nearest is \"" : "",
		    other ? other : "", other ? "\"" : "");
		return NULL;
	}
	if (scheme.n == 0) {
		compile_error(
		    c, at, "expected a uri such as \"log:a\", got \"%.*s\"", STR_FMT(uri));
		return NULL;
	}
	if (desc == NULL) {
		compile_error(c, at,
		    "unknown component \"%.*s\" of \"%.*s\": expected a uri such as \"log:a\"%s",
		    STR_FMT(scheme), STR_FMT(uri), nearest_component(c, scheme));
		return NULL;
	}
	if (!(desc->flags & (consumer ? COMPONENT_CONSUMER : COMPONENT_PRODUCER))) {
		compile_error(c, at, "component \"%s\" cannot be %s", desc->scheme,
		    consumer ? "consumed from: it stands in \"to\" alone"
			     : "sent to: it stands in \"from\" alone");
		return NULL;
	}
	return desc;
}

/* ---- options from `parameters` ---- */

/* At the parameter, or at the uri. */
static int __attribute__((format(printf, 4, 5))) option_error(
    struct compile *c, struct parsing *ps, const struct uri_option *o, const char *fmt, ...)
{
	const struct path *before = c->path;
	struct path parameters = { before != NULL ? before->up : NULL, "parameters", 0 };
	struct path name = { &parameters, o->node != NULL ? o->name.p : "", 0 };
	char text[HINNY_ERROR_TEXT];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap); /* a cut text still tells */
	va_end(ap);
	if (o->node != NULL)
		c->path = &name;
	ps->rc =
	    compile_error(c, o->node != NULL ? node_at(c->file, o->node) : ps->ep->at, "%s", text);
	c->path = before;
	return ps->rc;
}

static void
add_parameter(
    struct compile *c, struct parsing *ps, const struct node *key, const struct node *value)
{
	if (value->flags & NODE_ABSENT)
		return;
	if (value->flags & NODE_BAD) {
		ps->rc = -1; /* reported */
		ps->bad = true;
	} else if (value->kind != NODE_SCALAR) {
		option_error(c, ps, &(struct uri_option){ .name = key->text, .node = value },
		    "expected text, got %s", node_kind_name(value));
	} else {
		struct uri_option *o = uri_options_add(c->arena, &ps->options);
		o->name = key->text;
		o->value =
		    node_is_null(value) ? STR_LIT("null") : uri_unwrap_raw(value->text, &o->raw);
		o->node = value;
	}
}

static void
add_parameters(
    struct compile *c, struct parsing *ps, const struct node *parameters, struct position at)
{
	if (parameters == NULL || node_is_null(parameters))
		return;
	if (parameters->kind != NODE_MAP) {
		ps->rc = compile_error_node(c, parameters, "parameters: expected a map, got %s",
		    node_kind_name(parameters));
		return;
	}
	if (ps->parts.query.p != NULL && parameters->n > 0) {
		ps->rc = compile_error(c, at,
		    "the uri has options behind \"?\", and \"parameters\" are given: write all of "
		    "them as parameters");
		return;
	}
	for (uint32_t i = 0; i < parameters->n; i++)
		add_parameter(c, ps, node_key(parameters, i), node_value(parameters, i));
}

/* ---- setting ---- */

static bool
is_name_char(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9');
}

/* Cuts "host" and the delimiter behind it off "host:port/name". */
static bool
next_path_name(struct str *syntax, struct str *name, char *delimiter)
{
	size_t n = 0;

	while (n < syntax->n && is_name_char(syntax->p[n]))
		n++;
	if (n == 0)
		return false;
	*name = (struct str){ syntax->p, n };
	*delimiter = n < syntax->n ? syntax->p[n] : '\0';
	n += n < syntax->n;
	*syntax = (struct str){ syntax->p + n, syntax->n - n };
	return true;
}

/* "host:port/name" of "ftp:host:port/name" or "http://httpUri". */
static struct str
path_syntax(const struct component_desc *desc)
{
	struct str s = str_of(desc->syntax);
	size_t colon = str_find(s, STR_LIT(":"));

	s = (struct str){ s.p + colon + 1, s.n - colon - 1 };
	if (str_starts(s, "//"))
		s = (struct str){ s.p + 2, s.n - 2 };
	return s;
}

static struct uri_option *
find_option(struct parsing *ps, struct str name)
{
	for (size_t i = 0; i < ps->options.n; i++) {
		if (str_caseeq(ps->options.items[i].name, name))
			return &ps->options.items[i];
	}
	return NULL;
}

/* A uri that is a bare scheme takes its path from parameters, joined as the syntax has it. */
static void
path_from_parameters(struct compile *c, struct parsing *ps)
{
	struct str syntax = path_syntax(ps->component), name;
	struct buf path;
	char delimiter, before = '\0';

	if (ps->parts.path.n > 0)
		return;
	buf_init(&path, 1 << 20);
	while (next_path_name(&syntax, &name, &delimiter)) {
		struct uri_option *o = find_option(ps, name);
		if (o != NULL) {
			if (before != '\0')
				(void)buf_add_char(&path, before);
			(void)buf_add_str(&path,
			    o->value); /* one that is too long is cut, and found wrong below */
			o->used = true;
		}
		before = delimiter;
	}
	ps->parts.path =
	    (struct str){ arena_strndup(c->arena, path.p ? path.p : "", path.n), path.n };
	buf_fini(&path);
}

static void
set_path_option(struct compile *c, struct parsing *ps, struct str name, struct str value)
{
	const struct option_desc *o = option_find(ps->component->options, name);
	struct hinny_error err;

	if (o == NULL || value.n == 0)
		return;
	if (option_set_text(c->arena, o, ps->ep->conf, value, &err) != HINNY_OK)
		ps->rc = compile_error(c, ps->ep->at, "%s: %s", o->name, err.text);
	option_mark_given(ps->ep->conf, ps->component->options, o);
}

static void
set_path(struct compile *c, struct parsing *ps)
{
	struct str syntax = path_syntax(ps->component), name, rest = ps->parts.path;
	char delimiter;

	while (next_path_name(&syntax, &name, &delimiter)) {
		const char *end = delimiter != '\0' ? memchr(rest.p, delimiter, rest.n) : NULL;
		struct str value =
		    end != NULL ? (struct str){ rest.p, (size_t)(end - rest.p) } : rest;
		set_path_option(c, ps, name, value);
		rest = end != NULL ? (struct str){ end + 1, (size_t)(rest.p + rest.n - end - 1) }
				   : (struct str){ rest.p + rest.n, 0 };
	}
}

static const struct option_desc *
find_row(const struct component_desc *desc, struct str name)
{
	for (const struct option_desc *o = desc->options; o != NULL && o->name != NULL; o++) {
		if (o->flags & OPTION_PREFIX ? str_starts(name, o->name) : str_caseeq(name, str_of(o->name)))
			return o;
	}
	return NULL;
}

static void
set_known(
    struct compile *c, struct parsing *ps, const struct option_desc *row, struct uri_option *o)
{
	unsigned side = row->flags & (OPTION_CONSUMER | OPTION_PRODUCER);
	struct hinny_error err;

	if (option_given(ps->component->options, ps->ep->conf, row->name) &&
	    !(row->flags & OPTION_PATH))
		option_error(c, ps, o, "option \"%s\" of %s is given twice", row->name,
		    ps->component->scheme);
	else if (row->flags & OPTION_PATH)
		option_error(c, ps, o, "option \"%s\" of %s is the path of the uri, which is given",
		    row->name, ps->component->scheme);
	else if (side != 0 && !(side & (ps->ep->consumer ? OPTION_CONSUMER : OPTION_PRODUCER)))
		option_error(c, ps, o, "option \"%s\" of %s is for %s alone", row->name,
		    ps->component->scheme, ps->ep->consumer ? "\"to\"" : "\"from\"");
	else if (!o->raw && o->value.n > 1 && o->value.p[0] == '#' && c->ds != NULL &&
	    bean_is_refused(c, o->value))
		ps->rc = -1; /* reported */
	else if (!o->raw && o->value.n > 1 && o->value.p[0] == '#')
		option_error(c, ps, o,
		    "option \"%s\" of %s: \"%.*s\" names a bean, and it takes none here",
		    row->name, ps->component->scheme, STR_FMT(o->value));
	else if (!option_is_scalar(row) ||
	    option_set_text(c->arena, row, ps->ep->conf, o->value, &err) != HINNY_OK)
		option_error(c, ps, o, "option \"%s\" of %s: %s", row->name, ps->component->scheme,
		    option_is_scalar(row) ? err.text : "cannot be given in a uri");
	option_mark_given(ps->ep->conf, ps->component->options, row);
}

/* "job.name" is one of "job.". */
static bool
is_refused(const char *scheme, struct str name)
{
	const char *dot = memchr(name.p, '.', name.n);

	return refused_option(REFUSED_COMPONENT, scheme, name) ||
	    (dot != NULL &&
		refused_option(REFUSED_COMPONENT, scheme,
		    (struct str){ name.p, (size_t)(dot + 1 - name.p) }));
}

static void
report_unknown(struct compile *c, struct parsing *ps, struct uri_option *o)
{
	const struct component_desc *desc = ps->component;

	if (is_refused(desc->scheme, o->name))
		option_error(c, ps, o, "option \"%.*s\" of %s is not implemented in this release",
		    STR_FMT(o->name), desc->scheme);
	else
		option_error(c, ps, o, "unknown option \"%.*s\" of %s%s", STR_FMT(o->name),
		    desc->scheme,
		    option_did_you_mean(
			c->arena, option_nearest(c->arena, desc->options, NULL, o->name)));
}

/* Lenient components keep what they do not know. */
static void
keep_rest(struct compile *c, struct parsing *ps, const struct uri_option *o)
{
	struct endpoint *ep = ps->ep;
	struct pair *p = &ep->rest.items[ep->rest.n++];

	p->key = arena_strndup(c->arena, o->name.p, o->name.n);
	p->value = arena_strndup(c->arena, o->value.p, o->value.n);
	const char *text = o->written.p != NULL
	    ? arena_strndup(c->arena, o->written.p, o->written.n)
	    : arena_printf(
		  c->arena, "%s=%s", uri_encode(c->arena, o->name), uri_encode(c->arena, o->value));
	ep->rest_query =
	    ep->rest_query == NULL ? text : arena_printf(c->arena, "%s&%s", ep->rest_query, text);
}

static void
set_options(struct compile *c, struct parsing *ps)
{
	ps->ep->rest.items = arena_alloc(c->arena, (ps->options.n + 1) * sizeof(struct pair));
	for (size_t i = 0; i < ps->options.n; i++) {
		struct uri_option *o = &ps->options.items[i];
		const struct option_desc *row = find_row(ps->component, o->name);
		if (o->used)
			continue;
		if (row != NULL && (row->flags & OPTION_PREFIX))
			keep_rest(c, ps, o);
		else if (row != NULL)
			set_known(c, ps, row, o);
		else if ((ps->component->flags & COMPONENT_LENIENT) &&
		    !refused_option(REFUSED_COMPONENT, ps->component->scheme, o->name))
			keep_rest(c, ps, o);
		else
			report_unknown(c, ps, o);
	}
	for (const struct option_desc *row = ps->component->options;
	     row != NULL && row->name != NULL; row++) {
		unsigned side = row->flags & (OPTION_CONSUMER | OPTION_PRODUCER);
		if ((row->flags & OPTION_REQUIRED) && !ps->bad &&
		    (side == 0 ||
			(side & (ps->ep->consumer ? OPTION_CONSUMER : OPTION_PRODUCER))) &&
		    !option_given(ps->component->options, ps->ep->conf, row->name))
			ps->rc =
			    compile_error(c, ps->ep->at, "missing %s \"%s\" of %s: expected %s",
				row->flags & OPTION_PATH ? "path" : "option", row->name,
				ps->component->scheme, ps->component->syntax);
	}
}

/* ---- the endpoint ---- */

static struct endpoint *
find_same(struct compile *c, const struct endpoint *ep)
{
	const struct program *p = c->program;

	if (c->ds != NULL)
		return hash_find(&c->endpoints, str_of(endpoint_name(ep)));
	for (uint32_t i = 0; i < p->endpoints_n; i++) {
		if (!p->endpoints[i]->consumer &&
		    strcmp(endpoint_name(p->endpoints[i]), endpoint_name(ep)) == 0)
			return p->endpoints[i];
	}
	return NULL;
}

/* At run time: the route that consumes a direct name. */
static const struct route *
find_target(const struct program *p, const struct endpoint *ep)
{
	for (uint32_t i = 0; i < p->routes_n; i++) {
		const struct endpoint *from = p->routes[i]->from;
		if (from != NULL && from->component == ep->component &&
		    str_eq(endpoint_base(from), endpoint_base(ep)))
			return p->routes[i];
	}
	return NULL;
}

static void
register_endpoint(struct compile *c, struct endpoint *ep)
{
	struct program *p = c->program;

	if (c->polling) {
		ep->index = UINT32_MAX; /* the worker makes its own when a message asks for it */
		return;
	}
	if (c->ds == NULL) {
		ep->index = UINT32_MAX;
		if (ep->component->owner == NULL && (ep->component->flags & COMPONENT_CONSUMER))
			ep->target = find_target(p, ep);
		return;
	}
	compile_grow(
	    (void **)&p->endpoints, p->endpoints_n, &c->endpoints_cap, sizeof(*p->endpoints));
	ep->index = p->endpoints_n;
	p->endpoints[p->endpoints_n++] = ep;
	if (!ep->consumer && !ep->unseen)
		(void)hash_put(&c->endpoints, str_of(endpoint_name(ep)), ep);
}

static struct endpoint *
new_endpoint(
    struct compile *c, struct parsing *ps, struct str uri, bool consumer, struct position at)
{
	const struct component_desc *desc = ps->component;
	struct endpoint *ep = ARENA_NEW(c->arena, struct endpoint);

	ep->component = desc;
	ep->uri = uri.p[uri.n] == '\0' ? uri.p : arena_strndup(c->arena, uri.p, uri.n);
	ep->at = at;
	ep->consumer = consumer;
	ep->effect = !consumer && !(desc->flags & COMPONENT_PURE);
	ep->conf = option_new_conf(c->arena, desc->conf_size);
	for (const struct option_desc *o = desc->options; o != NULL && o->name != NULL; o++)
		option_set_default(c->arena, o, ep->conf);
	return ep;
}

/* Is the route that is being compiled one that others are replaced by? What it sends to stays. */
static bool
in_stand_in(const struct compile *c)
{
	const struct program *p = c->program;
	const struct endpoint *from = c->route != NULL ? c->route->from : NULL;

	for (uint32_t i = 0; from != NULL && i < p->replaced_n; i++) {
		if (strcmp(from->uri, p->replaced[i].uri) == 0)
			return true;
	}
	return false;
}

/* hinny test: what stands in the place of an endpoint that is sent to; NULL: nothing does. */
static const char *
find_replacement(struct compile *c, const struct endpoint *ep)
{
	const struct program *p = c->program;

	if (p->replaced_n == 0 || in_stand_in(c))
		return NULL;
	for (uint32_t i = 0; !ep->consumer && i < p->replaced_n; i++) {
		if (endpoint_matches(p->replaced[i].pattern, ep))
			return p->replaced[i].uri;
	}
	return NULL;
}

/* With `replaces`, in the place of the endpoint of that key. */
static struct endpoint *parse(struct compile *c, struct str uri, const struct node *parameters,
    bool consumer, struct position at, const char *replaces);

struct endpoint *
endpoint_parse_text(struct compile *c, struct str uri, const struct node *parameters, bool consumer,
    struct position at)
{
	return parse(c, uri, parameters, consumer, at, NULL);
}

const struct option_desc *
endpoint_secret(const struct component_desc *desc, struct str name)
{
	static const char *const words[] = { "password", "secret", "key.pem", "jaas" };
	const struct option_desc *row = find_row(desc, name);

	if (row == NULL || (row->flags & OPTION_SECRET))
		return row;
	for (size_t i = 0; (row->flags & OPTION_PREFIX) && i < ARRAY_LEN(words); i++) {
		if (str_casefind(name, str_of(words[i])) != SIZE_MAX)
			return row;
	}
	return NULL;
}

/* The options as they are shown. */
static struct uri_options
without_secrets(struct compile *c, const struct parsing *ps, bool *has)
{
	struct uri_options shown = ps->options;

	*has = false;
	for (size_t i = 0; i < ps->options.n; i++) {
		if (endpoint_secret(ps->component, ps->options.items[i].name) == NULL)
			continue;
		if (!*has) {
			shown.items = arena_alloc(c->arena, shown.n * sizeof *shown.items);
			memcpy(shown.items, ps->options.items, shown.n * sizeof *shown.items);
		}
		*has = true;
		shown.items[i].value = STR_LIT("xxxxxx");
		shown.items[i].raw = false;
	}
	return shown;
}

static struct endpoint *
parse(struct compile *c, struct str uri, const struct node *parameters, bool consumer,
    struct position at, const char *replaces)
{
	struct parsing ps = { .parts = uri_split(uri) };
	struct hinny_error err;

	ps.component = find_component(c, uri, ps.parts.scheme, consumer, at);
	if (ps.component == NULL)
		return NULL;
	ps.ep = new_endpoint(c, &ps, uri, consumer, at);
	if (uri_parse_query(c->arena, ps.parts.query, &ps.options, &err) != HINNY_OK)
		ps.rc = compile_error(c, at, "%s", err.text);
	add_parameters(c, &ps, parameters, at);
	/* A path of a "//" syntax is an address that goes on as it is. */
	if (strstr(ps.component->syntax, "://") == NULL &&
	    endpoint_uri_decode(c->arena, ps.parts.path, false, &ps.parts.path) == false)
		ps.rc = compile_error(c, at,
		    "the path \"%.*s\" has a \"%%\" without two hexadecimal digits behind it",
		    STR_FMT(ps.parts.path));
	path_from_parameters(c, &ps);
	set_path(c, &ps);
	bool secret;
	struct uri_options shown = without_secrets(c, &ps, &secret);
	ps.ep->key = uri_normalise(c->arena, ps.parts.scheme, ps.parts.path, &shown);
	if (ps.options.n > 0 && (parameters != NULL || secret))
		ps.ep->uri = uri_join(c->arena, ps.parts.scheme, ps.parts.path, &shown);
	ps.ep->replaces = replaces;
	ps.ep->unseen = !consumer && in_stand_in(c);
	set_options(c, &ps);
	const char *other = ps.rc == 0 && replaces == NULL ? find_replacement(c, ps.ep) : NULL;
	if (other != NULL)
		return parse(c, str_of(other), NULL, false, at, ps.ep->key);
	/* Two that are shown alike need not be the same. */
	bool may_share = !consumer && !ps.ep->unseen && !secret;
	struct endpoint *same = ps.rc == 0 && may_share ? find_same(c, ps.ep) : NULL;
	if (same != NULL)
		return same;
	if (ps.rc == 0 && ps.component->check != NULL && ps.component->check(c, ps.ep) != 0)
		ps.rc = -1;
	if (ps.rc != 0)
		return NULL;
	register_endpoint(c, ps.ep);
	return ps.ep;
}

struct endpoint *
endpoint_polled(struct compile *c, struct str uri, const struct node *parameters, struct position at)
{
	bool before = c->polling;

	c->polling = true;
	struct endpoint *ep = endpoint_parse_text(c, uri, parameters, true, at);
	c->polling = before;
	if (ep == NULL || (ep->component->flags & COMPONENT_POLLED))
		return ep;
	compile_error(c, at, "\"%s\" cannot be received from by a step", ep->uri);
	return NULL;
}

struct endpoint *
endpoint_parse(
    struct compile *c, const struct node *uri, const struct node *parameters, bool consumer)
{
	if (uri->flags & NODE_BAD)
		return NULL; /* reported */
	if (uri->kind != NODE_SCALAR || node_is_null(uri)) {
		compile_error_node(
		    c, uri, "expected a uri such as \"log:a\", got %s", node_kind_name(uri));
		return NULL;
	}
	struct position before = c->at, at = compile_set_at(c, uri);
	int rc = secrets_check(c, uri, parameters);
	struct endpoint *ep = endpoint_parse_text(c, uri->text, parameters, consumer, at);
	c->at = before;
	return rc == 0 ? ep : NULL;
}

const char *
endpoint_append_parameters(struct compile *c, const char *uri, const struct node *parameters)
{
	struct buf b;
	const char *separator = strchr(uri, '?') ? "&" : "?";

	if (parameters == NULL || node_is_null(parameters))
		return uri;
	if (parameters->kind != NODE_MAP || separator[0] == '&') {
		compile_error_node(c, parameters,
		    separator[0] == '&' ? "the uri has options behind \"?\", and \"parameters\" "
					  "are given: write all of them as parameters"
					: "parameters: expected a map");
		return NULL;
	}
	buf_init(&b, 1 << 20);
	/* a bare scheme takes its path from the parameters when the uri is read */
	(void)buf_printf(&b, "%s%s", uri, strchr(uri, ':') ? "" : ":");
	for (uint32_t i = 0; i < parameters->n; i++) {
		const struct node *key = node_key(parameters, i),
				  *value = node_value(parameters, i);
		if (value->flags & NODE_ABSENT)
			continue;
		if (value->kind != NODE_SCALAR) {
			compile_error_node(c, value, "parameters.%s: expected text, got %s",
			    key->text.p, node_kind_name(value));
			continue;
		}
		(void)buf_printf(&b, "%s%s=%s", separator, key->text.p,
		    uri_encode_template(c->arena, value->text));
		separator = "&";
	}
	const char *text = arena_strndup(c->arena, b.p, b.n);
	buf_fini(&b);
	return text;
}

struct str
endpoint_base(const struct endpoint *ep)
{
	const char *question = strchr(ep->key, '?');

	return (struct str){ ep->key, question ? (size_t)(question - ep->key) : strlen(ep->key) };
}
