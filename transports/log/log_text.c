/* The text of the log component: Exchange[ExchangePattern: InOut, BodyType: String, Body: hello].
 */
#include "core/base/assert.h"
#include "core/eip/engine.h"
#include "core/eip/log_mask.h"
#include "transports/log/log.h"

#include <stdio.h>
#include <stdlib.h>

struct writer {
	const struct log_endpoint_conf *conf;
	struct exchange *ex;
	struct buf out;
	bool any; /* a part has been written */
};

/* The head of a part; its text follows. */
static void
part(struct writer *w, const char *name)
{
	int style = w->conf->style;

	if (w->conf->multiline) /* the buffer has no bound: what goes in is cut before */
		(void)buf_add_char(&w->out, '\n');
	if (style != LOG_STYLE_DEFAULT)
		(void)buf_add_char(&w->out, '\t');
	else if (w->conf->multiline || w->any)
		(void)buf_add_str(&w->out, w->conf->multiline ? STR_LIT("  ") : STR_LIT(", "));
	(void)buf_printf(&w->out, style == LOG_STYLE_FIXED ? "%-20s" : "%s: ", name);
	w->any = true;
}

static void
text_part(struct writer *w, const char *name, struct str text)
{
	part(w, name);
	(void)buf_add_str(&w->out, text);
}

/* No more of a text than can be shown. */
static struct str
clip(const struct writer *w, struct str text)
{
	size_t max = (size_t)w->conf->max_chars;
	if (max > 0 && text.n > max + 1)
		text.n = max + 1; /* one more, so that the cut is seen */
	return text;
}

/* ---- maps, sorted by name ---- */

struct named {
	struct str name;
	const struct value *value;
};

static int
by_name(const void *a, const void *b)
{
	struct str l = ((const struct named *)a)->name, r = ((const struct named *)b)->name;
	size_t n = l.n < r.n ? l.n : r.n;
	for (size_t i = 0; i < n; i++) {
		int x = l.p[i] >= 'A' && l.p[i] <= 'Z' ? l.p[i] + 32 : l.p[i];
		int y = r.p[i] >= 'A' && r.p[i] <= 'Z' ? r.p[i] + 32 : r.p[i];
		if (x != y)
			return x - y;
	}
	return (l.n > r.n) - (l.n < r.n);
}

static void
map_part(struct writer *w, const char *name, struct named *items, size_t n)
{
	if (n == 0)
		return;
	qsort(items, n, sizeof(items[0]), by_name);
	part(w, name);
	for (size_t i = 0; i < n; i++) {
		const struct value *v = items[i].value;
		struct str text = value_is_null(v) ? STR_LIT("null")
		    : v->type == VALUE_STREAM      ? STR_LIT("[stream]")
						   : value_text(&w->ex->arena, v);
		(void)buf_add_str(&w->out, i == 0 ? STR_LIT("{") : STR_LIT(", "));
		(void)buf_add_str(&w->out, items[i].name);
		(void)buf_add_char(&w->out, '=');
		(void)buf_add_str(&w->out, clip(w, text));
	}
	(void)buf_add_char(&w->out, '}');
}

static void
headers_part(struct writer *w)
{
	struct headers *hs = &w->ex->headers;
	struct named *items = arena_alloc(&w->ex->arena, (hs->n + 1) * sizeof(items[0]));
	size_t n = 0;
	HEADERS_FOREACH (hs, h) {
		items[n++] = (struct named){ h->name, &h->value };
	}
	map_part(w, "Headers", items, n);
}

/* With `own`, without those that the bus sets. */
static void
entries_part(struct writer *w, const char *name, const struct value_map *map, bool own)
{
	struct named *items = arena_alloc(&w->ex->arena, (map->n + 1) * sizeof(items[0]));
	size_t n = 0;
	for (size_t i = 0; i < map->n; i++) {
		const struct value_entry *e = &map->entries[i];
		if (!own || !str_starts(e->key, "Camel"))
			items[n++] = (struct named){ e->key, e->value };
	}
	map_part(w, name, items, n);
}

/* ---- body and exception ---- */

static const char *
body_type(const struct value *body)
{
	const char *name = value_is_null(body) ? "null" : value_class(body);
	return strncmp(name, "java.lang.", 10) == 0 ? name + 10 : name;
}

static struct str
body_text(struct exchange *ex)
{
	const struct value *body = &ex->body;

	return value_is_null(body)       ? STR_LIT("[Body is null]")
	    : body->type == VALUE_STREAM ? STR_LIT("[Body is a stream]")
					 : value_text(&ex->arena, body);
}

static void
body_part(struct writer *w)
{
	struct str text = clip(w, body_text(w->ex));
	part(w, "Body");
	for (size_t i = 0; i < text.n; i++)
		if (!w->conf->skip_line_separator || text.p[i] != '\n')
			(void)buf_add_char(&w->out, text.p[i]);
}

static void
exception_part(struct writer *w, bool all)
{
	const struct log_endpoint_conf *conf = w->conf;
	const struct exception *e = w->ex->exception;
	const char *type = "ExceptionType", *message = "ExceptionMessage";
	if (!all && !conf->show_exception && !conf->show_caught)
		return;
	if (e == NULL && (all || conf->show_caught)) {
		e = w->ex->caught;
		type = "CaughtExceptionType";
		message = "CaughtExceptionMessage";
	}
	if (e == NULL)
		return;
	text_part(w, type, str_of(exception_class(e->id)->name));
	text_part(w, message, e->message.p ? clip(w, e->message) : STR_LIT("null"));
}

/* ---- all of it ---- */

static bool
is_default(const struct log_endpoint_conf *conf)
{
	bool shows = conf->show_all_properties || conf->show_id || conf->show_route_group ||
	    conf->show_route_id || conf->show_properties || conf->show_variables ||
	    conf->show_headers || conf->show_exception || conf->show_caught;
	return !shows && conf->show_body_type && conf->show_body;
}

static void
write_parts(struct writer *w)
{
	const struct log_endpoint_conf *conf = w->conf;
	struct exchange *ex = w->ex;
	const struct route *route = ex->route;
	bool all = conf->show_all;
	if (all || conf->show_id)
		text_part(w, "Id", exchange_id(ex));
	if ((all || conf->show_route_group) && route && route->group)
		text_part(w, "RouteGroup", str_of(route->group));
	if ((all || conf->show_route_id) && route)
		text_part(w, "RouteId", str_of(route->id));
	if (all || conf->show_pattern || is_default(conf))
		text_part(w, "ExchangePattern",
		    ex->pattern == PATTERN_IN_OUT ? STR_LIT("InOut") : STR_LIT("InOnly"));
	if (all || conf->show_properties || conf->show_all_properties)
		entries_part(w, "Properties", &ex->properties, !conf->show_all_properties);
	if (all || conf->show_variables)
		entries_part(w, "Variables", &ex->variables, false);
	if (all || conf->show_headers)
		headers_part(w);
	if (all || conf->show_body_type)
		text_part(w, "BodyType", str_of(body_type(&ex->body)));
	if (all || conf->show_body)
		body_part(w);
	exception_part(w, all);
}

/* Cuts each line of `text` at max bytes, at a character's border, and ends a cut one with "...". */
static void
add_cut(struct buf *out, struct str text, size_t max)
{
	struct str line;
	for (bool first = true; str_split(&text, '\n', &line); first = false) {
		if (!first)
			(void)buf_add_char(out, '\n');
		size_t n = line.n;
		if (max > 0 && n > max)
			for (n = max; n > 0 && ((unsigned char)line.p[n] & 0xc0) == 0x80;)
				n--;
		(void)buf_add(out, line.p, n);
		if (n < line.n)
			(void)buf_add_str(out, STR_LIT("..."));
	}
}

/* The body alone. */
static struct str
plain_text(const struct log_endpoint_conf *conf, struct exchange *ex)
{
	struct str text = body_text(ex);
	size_t n = (size_t)conf->max_chars;

	if (n == 0 || text.n <= n)
		return text;
	while (n > 0 && ((unsigned char)text.p[n] & 0xc0) == 0x80)
		n--;
	return str_of(
	    arena_printf(&ex->arena, "%.*s... [Body clipped after %lld chars, total length is %zu]",
		(int)n, text.p, (long long)conf->max_chars, text.n));
}

static struct str
exchange_text(const struct log_endpoint_conf *conf, struct exchange *ex)
{
	struct writer w = { .conf = conf, .ex = ex };
	struct buf line;

	buf_init(&w.out, 0);
	buf_init(&line, 0);
	write_parts(&w);
	(void)buf_add_str(&line, STR_LIT("Exchange["));
	add_cut(&line, (struct str){ w.out.p, w.out.n }, (size_t)conf->max_chars);
	(void)buf_add_str(&line, conf->multiline ? STR_LIT("\n]") : STR_LIT("]"));
	struct str text = arena_str(&ex->arena, (struct str){ line.p, line.n });
	buf_fini(&line);
	buf_fini(&w.out);
	return text;
}

struct str
log_text_of(const struct log_endpoint_conf *conf, struct exchange *ex)
{
	struct str text = conf->plain ? plain_text(conf, ex) : exchange_text(conf, ex);

	return conf->mask ? log_mask(&ex->arena, text) : text;
}

/* ---- groups ---- */

/* As Java's NumberFormat does: groups of three digits, up to three decimals. */
static const char *
number(struct arena *a, double d)
{
	char digits[64], out[96];
	(void)snprintf(digits, sizeof(digits), "%.3f", d);
	size_t whole = strcspn(digits, "."), end = strlen(digits), n = 0;
	while (end > whole + 1 && digits[end - 1] == '0')
		end--;
	if (end == whole + 1)
		end = whole;
	for (size_t i = 0; i < end; i++) {
		if (i > 0 && i < whole && (whole - i) % 3 == 0)
			out[n++] = ',';
		out[n++] = digits[i];
	}
	return arena_strndup(a, out, n);
}

struct str
log_group_add(struct log_group *g, uint64_t size, struct monotime now, struct arena *a)
{
	if (g->received == 0)
		g->started = g->group_started = now;
	g->received++;
	if (++g->group < size)
		return (struct str){ NULL, 0 };
	int64_t took = monotime_ms_between(g->group_started, now);
	int64_t in_all = monotime_ms_between(g->started, now);
	double rate = (double)g->group * 1000 / (double)(took > 0 ? took : 1);
	double average = (double)g->received * 1000 / (double)(in_all > 0 ? in_all : 1);
	const char *text = arena_printf(a,
	    "Received: %llu messages so far. Last group took: %lld millis which is: %s messages "
	    "per "
	    "second. average: %s",
	    (unsigned long long)g->received, (long long)took, number(a, rate), number(a, average));
	g->group = 0;
	g->group_started = now;
	return str_of(text);
}

struct str
log_group_tell(struct log_group *g, bool active_only, struct monotime now, struct arena *a)
{
	int64_t took = monotime_ms_between(g->group_started, now);
	int64_t in_all = monotime_ms_between(g->started, now);
	double rate = (double)g->group * 1000 / (double)(took > 0 ? took : 1);
	double average = (double)g->received * 1000 / (double)(in_all > 0 ? in_all : 1);
	if (g->group == 0 && active_only)
		return (struct str){ NULL, 0 };
	const char *text = arena_printf(a,
	    "Received: %llu new messages, with total %llu so far. Last group took: %lld millis "
	    "which "
	    "is: %s messages per second. average: %s",
	    (unsigned long long)g->group, (unsigned long long)g->received, (long long)took,
	    number(a, rate), number(a, average));
	g->group = 0;
	g->group_started = now;
	return str_of(text);
}
