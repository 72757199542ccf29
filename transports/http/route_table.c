/* The table of served paths. See route_table.h. */
#include "transports/http/route_table.h"

#include "transports/http/uri.h"

struct segment {
	struct str text; /* a parameter's name, or literal text */
	bool param;
};

struct route_entry {
	struct route_entry *next;      /* in patterns, prefixes */
	struct route_entry *same_path; /* exact: further routes of this path */
	uint32_t order;                /* in the route files */
	struct str path;               /* without a slash at the end */
	struct segment *segments;      /* templates */
	unsigned segments_n;
	struct str methods, consumes, produces; /* p NULL: all */
	bool prefix;
	void *data;
};

void
route_table_init(struct route_table *rt)
{
	*rt = (struct route_table){ 0 };
	arena_init(&rt->arena);
	hash_init(&rt->exact, false);
}

void
route_table_fini(struct route_table *rt)
{
	hash_fini(&rt->exact);
	arena_fini(&rt->arena);
}

static struct str
without_slash(struct str path)
{
	while (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	return path;
}

/* ---- media types ---- */

static struct str
media_of(struct str s)
{
	const char *semicolon = s.n > 0 ? memchr(s.p, ';', s.n) : NULL;

	if (semicolon != NULL)
		s.n = (size_t)(semicolon - s.p);
	return str_trim(s);
}

bool
media_is_one_of(struct str content_type, struct str types)
{
	struct str item, media = media_of(content_type);

	while (str_split(&types, ',', &item))
		if (str_caseeq(media_of(item), media))
			return true;
	return false;
}

/* "text/plain" against a range such as "text/plain", "text" followed by a star, or two stars. */
static bool
range_takes(struct str range, struct str type)
{
	if (str_eq(range, STR_LIT("*/*")) || str_eq(range, STR_LIT("*")))
		return true;
	if (range.n > 2 && str_ends(range, "/*"))
		return type.n >= range.n - 1 &&
		    str_caseeq(
			(struct str){ type.p, range.n - 1 }, (struct str){ range.p, range.n - 1 });
	return str_caseeq(range, type);
}

/* "q=0" says that the type is not wanted. */
static bool
is_refused(struct str item)
{
	size_t at = str_casefind(item, STR_LIT(";q="));
	double q;

	if (at == SIZE_MAX)
		return false;
	struct str v = { item.p + at + 3, item.n - at - 3 };
	return str_to_double(media_of(v), &q) && q <= 0;
}

bool
media_accepts(struct str accept, struct str types)
{
	struct str range, rest, type;

	while (str_split(&accept, ',', &range)) {
		if (media_of(range).n == 0 || is_refused(range))
			continue;
		rest = types;
		while (str_split(&rest, ',', &type))
			if (range_takes(media_of(range), media_of(type)))
				return true;
	}
	return false;
}

/* ---- building ---- */

static struct str
option_text(struct arena *a, const char *s)
{
	if (s == NULL || str_trim(str_of(s)).n == 0)
		return (struct str){ NULL, 0 };
	return arena_str(a, str_trim(str_of(s)));
}

static enum hinny_rc
split_template(struct route_table *rt, struct route_entry *e, struct hinny_error *err)
{
	struct str rest = e->path, item;
	unsigned params = 0;

	e->segments = arena_alloc(&rt->arena, (e->path.n + 1) * sizeof *e->segments);
	while (str_split(&rest, '/', &item)) {
		struct segment *seg = &e->segments[e->segments_n++];
		seg->param = item.n > 2 && item.p[0] == '{' && item.p[item.n - 1] == '}';
		seg->text = seg->param ? (struct str){ item.p + 1, item.n - 2 } : item;
		if (seg->param && ++params > ROUTE_PARAMS_MAX)
			return hinny_error_set(err, HINNY_ELIMIT,
			    "more than %d parameters in path \"%.*s\"", ROUTE_PARAMS_MAX,
			    STR_FMT(e->path));
	}
	return HINNY_OK;
}

static void
insert_prefix(struct route_table *rt, struct route_entry *e)
{
	struct route_entry **at = &rt->prefixes;

	while (*at != NULL && (*at)->path.n >= e->path.n)
		at = &(*at)->next;
	e->next = *at;
	*at = e;
}

static void
append(struct route_entry **at, struct route_entry *e, bool by_path)
{
	while (*at != NULL)
		at = by_path ? &(*at)->same_path : &(*at)->next;
	*at = e;
}

/* Does `first` take all that `second` could? */
static bool
shadows(const struct route_entry *first, const struct route_entry *second)
{
	struct str rest = second->methods, item;

	if (!str_eq(first->path, second->path) || first->consumes.p != NULL ||
	    first->produces.p != NULL)
		return false;
	if (first->methods.p == NULL)
		return true;
	if (rest.p == NULL)
		return false;
	while (str_split(&rest, ',', &item)) {
		struct str have = first->methods, one;
		bool found = false;
		while (!found && str_split(&have, ',', &one))
			found = str_caseeq(str_trim(one), str_trim(item));
		if (!found)
			return false;
	}
	return true;
}

static void *
find_shadow(const struct route_entry *list, bool by_path, const struct route_entry *e)
{
	for (; list != NULL; list = by_path ? list->same_path : list->next)
		if (shadows(list, e))
			return list->data;
	return NULL;
}

enum hinny_rc
route_table_add(struct route_table *rt, const struct route_spec *spec, void **shadowed_by,
    struct hinny_error *err)
{
	struct route_entry *e = ARENA_NEW(&rt->arena, struct route_entry);
	const char *slash = spec->path[0] == '/' ? "" : "/";

	e->path = without_slash(str_of(arena_printf(&rt->arena, "%s%s", slash, spec->path)));
	if (e->path.n > ROUTE_PATH_MAX)
		return hinny_error_set(err, HINNY_ELIMIT,
		    "path of platform-http is longer than %d bytes", ROUTE_PATH_MAX);
	e->methods = option_text(&rt->arena, spec->methods);
	e->consumes = option_text(&rt->arena, spec->consumes);
	e->produces = option_text(&rt->arena, spec->produces);
	e->prefix = spec->prefix;
	e->data = spec->data;
	e->order = rt->n++;
	*shadowed_by = NULL;
	if (memchr(e->path.p, '{', e->path.n) != NULL) {
		enum hinny_rc rc = split_template(rt, e, err);
		if (rc != HINNY_OK)
			return rc;
	}
	if (e->prefix) {
		*shadowed_by = find_shadow(rt->prefixes, false, e);
		insert_prefix(rt, e);
	} else if (e->segments != NULL) {
		*shadowed_by = find_shadow(rt->patterns, false, e);
		append(&rt->patterns, e, false);
	} else {
		struct route_entry *first = hash_find(&rt->exact, e->path);
		*shadowed_by = find_shadow(first, true, e);
		if (first != NULL)
			append(&first, e, true);
		else
			(void)hash_put(&rt->exact, e->path, e); /* there was none */
	}
	return HINNY_OK;
}

/* ---- the path that is looked at ---- */

static bool
has_dots(struct str path)
{
	for (size_t i = 0; i + 1 < path.n; i++)
		if (path.p[i] == '/' && (path.p[i + 1] == '.' || path.p[i + 1] == '%'))
			return true;
	return false;
}

/* Is the segment "." (1) or ".." (2), encoded or not? */
static int
dot_segment(struct arena *a, struct str segment)
{
	if (segment.n == 0 || segment.n > 6 || (segment.p[0] != '.' && segment.p[0] != '%'))
		return 0;
	segment = uri_decode(a, segment, false);
	if (segment.n == 1 && segment.p[0] == '.')
		return 1;
	return segment.n == 2 && segment.p[0] == '.' && segment.p[1] == '.' ? 2 : 0;
}

/* RFC 3986 5.2.4, on raw segments. */
static struct str
remove_dots(struct arena *a, struct str path)
{
	struct str rest = path, segment;
	bool any = false, slash_last = false;

	if (!has_dots(path))
		return path;
	char *out = arena_alloc(a, path.n + 1);
	size_t n = 0;
	(void)str_split(&rest, '/', &segment); /* what stands before the first slash: nothing */
	while (str_split(&rest, '/', &segment)) {
		int dots = dot_segment(a, segment);
		slash_last = dots != 0;
		any = any || dots != 0;
		if (dots == 2)
			while (n > 0 && out[--n] != '/')
				continue;
		if (dots != 0)
			continue;
		out[n++] = '/';
		memcpy(out + n, segment.p, segment.n);
		n += segment.n;
	}
	if (slash_last || n == 0)
		out[n++] = '/';
	return any ? (struct str){ out, n } : path;
}

/* Decoded for comparing with literal text: but %2F is not a slash, so it stays. */
static struct str
decode_literal(struct arena *a, struct str path)
{
	if (memchr(path.p, '%', path.n) == NULL)
		return path;
	char *out = arena_alloc(a, path.n);
	size_t n = 0;
	for (size_t i = 0; i < path.n; i++) {
		if (path.p[i] == '%' && i + 2 < path.n) {
			struct str d = uri_decode(a, (struct str){ path.p + i, 3 }, false);
			if (d.n == 1 && d.p[0] != '/') {
				out[n++] = d.p[0];
				i += 2;
				continue;
			}
		}
		out[n++] = path.p[i];
	}
	return (struct str){ out, n };
}

/* ---- finding ---- */

static bool
match_segments(const struct route_entry *e, struct str path, struct route_match *m)
{
	struct str rest = path, segment;
	unsigned i = 0;

	m->params_n = 0;
	while (str_split(&rest, '/', &segment)) {
		if (i == e->segments_n) {
			/* Only a prefix may have more. */
			m->rest = (struct str){ segment.p, (size_t)(path.p + path.n - segment.p) };
			return e->prefix;
		}
		const struct segment *want = &e->segments[i++];
		if (!want->param && !str_eq(want->text, segment))
			return false;
		if (want->param && segment.n == 0)
			return false;
		if (want->param) {
			m->params[m->params_n].name = want->text;
			m->params[m->params_n++].value = segment;
		}
	}
	m->rest = (struct str){ path.p + path.n, 0 };
	return i == e->segments_n;
}

static bool
match_prefix(const struct route_entry *e, struct str path, struct route_match *m)
{
	if (e->segments != NULL)
		return match_segments(e, path, m);
	if (path.n < e->path.n || memcmp(path.p, e->path.p, e->path.n) != 0)
		return false;
	m->params_n = 0;
	m->rest = (struct str){ path.p + e->path.n, path.n - e->path.n };
	return true;
}

static bool
method_is_served(const struct route_entry *e, struct str method)
{
	struct str rest = e->methods, item;

	if (rest.p == NULL)
		return true;
	while (str_split(&rest, ',', &item))
		if (str_caseeq(str_trim(item), method))
			return true;
	return false;
}

/* What goes on while the entries of a path are looked through. */
struct search {
	struct arena *a;
	const struct route_request *rq;
	struct route_match *m;
	int status; /* the best refusal so far: 404 < 405 < 406, 415 */
	struct str allow;
};

static void
add_allow(struct search *se, struct str methods)
{
	if (se->allow.n == 0)
		se->allow = methods;
	else
		se->allow =
		    str_of(arena_printf(se->a, "%.*s,%.*s", STR_FMT(se->allow), STR_FMT(methods)));
}

/* The path fits: do method and media types? */
static bool
take(struct search *se, const struct route_entry *e)
{
	const struct route_request *rq = se->rq;

	if (!method_is_served(e, rq->method)) {
		add_allow(se, e->methods);
		if (se->status == 404)
			se->status = 405;
		return false;
	}
	if (e->consumes.p != NULL &&
	    !media_is_one_of(rq->content_type, e->consumes)) {
		se->status = 415;
		return false;
	}
	if (e->produces.p != NULL && rq->accept.n > 0 && !media_accepts(rq->accept, e->produces)) {
		se->status = se->status == 415 ? 415 : 406;
		return false;
	}
	se->m->status = 0;
	se->m->data = e->data;
	return true;
}

/* Exact entries and templates side by side in file order. */
static bool
find_in_order(const struct route_table *rt, struct search *se, struct str literal, struct str raw)
{
	const struct route_entry *ex = hash_find(&rt->exact, literal);
	const struct route_entry *tp = rt->patterns;

	while (ex != NULL || tp != NULL) {
		if (tp == NULL || (ex != NULL && ex->order < tp->order)) {
			se->m->params_n = 0;
			if (take(se, ex))
				return true;
			ex = ex->same_path;
		} else {
			if (match_segments(tp, raw, se->m) && take(se, tp))
				return true;
			tp = tp->next;
		}
	}
	return false;
}

static void
decode_params(struct arena *a, struct route_match *m)
{
	for (unsigned i = 0; i < m->params_n; i++)
		m->params[i].value = uri_decode(a, m->params[i].value, false);
}

void
route_table_find(const struct route_table *rt, struct arena *a, const struct route_request *rq,
    struct route_match *m)
{
	struct search se = { .a = a, .rq = rq, .m = m, .status = 404 };

	m->data = NULL;
	m->params_n = 0;
	m->rest = (struct str){ NULL, 0 };
	m->path = remove_dots(a, rq->path);
	struct str raw = without_slash(m->path);
	struct str literal = decode_literal(a, raw);
	if (find_in_order(rt, &se, literal, raw)) {
		decode_params(a, m);
		return;
	}
	for (const struct route_entry *e = rt->prefixes; e != NULL && se.status == 404;
	     e = e->next) {
		/* Parameters and the rest come as they stand in the path; literal text is compared
		 * decoded. */
		if (match_prefix(e,
			e->segments != NULL      ? m->path
			    : literal.p == raw.p ? m->path
						 : literal,
			m) &&
		    take(&se, e)) {
			decode_params(a, m);
			return;
		}
	}
	m->status = se.status;
	m->allow = se.allow;
}
