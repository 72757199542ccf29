/*
 * The message of an exchange in a frame: the parts that an access names, or, of these, what changed
 * since exchange_clean(). Well-known header names are one byte. Removed headers go by name in front
 * of the others; removed properties and variables as null, which is what null means for them.
 */
#include "core/model/frame.h"

#include "core/model/frame_priv.h"

enum part {
	PART_BODY = 1,
	PART_HEADERS = 2,
	PART_PROPERTIES = 4,
	PART_VARIABLES = 8,
	PART_EXCEPTION = 16,
	PARTS_KNOWN = 31
};

enum body_form { BODY_INLINE = 0, BODY_FOLLOWS = 1 };

/* ---- writing ---- */

static void
put_name(struct frame_writer *w, struct str name, enum header_id id)
{
	if (id != HEADER_NONE && str_eq(header_id_name(id), name)) {
		frame_put_u8(w, (uint8_t)id);
		return;
	}
	frame_put_u8(w, HEADER_NONE);
	frame_put_str(w, name);
}

void
frame_put_header_name(struct frame_writer *w, struct str name)
{
	put_name(w, name, header_id_find(name, header_hash(name)));
}

static void
put_body(struct frame_writer *w, const struct value *v)
{
	if (frame_body_inline(v)) {
		frame_put_u8(w, BODY_INLINE);
		frame_put_value(w, v);
		return;
	}
	uint64_t length = UINT64_MAX;
	if (value_has_text(v))
		length = v->u.s.n;
	else if (v->type == VALUE_JSON)
		length = v->u.json->length;
	frame_put_u8(w, BODY_FOLLOWS);
	frame_put_u8(w, v->type);
	frame_put_u8(w, v->flags);
	frame_put_u32(w, v->aux);
	frame_put_u64(w, length);
}

static bool
named(const struct strings *names, struct str name, bool nocase)
{
	for (size_t i = 0; i < names->n; i++) {
		struct str s = str_of(names->items[i]);
		if (nocase ? str_caseeq(s, name) : str_eq(s, name))
			return true;
	}
	return false;
}

static bool
header_wanted(const struct header *h, const struct access *what)
{
	return (what->flags & ACCESS_HEADERS_ALL) || named(&what->headers, h->name, true);
}

/* A count that is known when what it counts has been written. */
static size_t
put_count_later(struct frame_writer *w)
{
	size_t at = w->out->n;
	frame_put_u32(w, 0);
	return at;
}

static void
set_count(struct frame_writer *w, size_t at, uint32_t n)
{
	if (w->rc == HINNY_OK)
		frame_store_u32(w->out->p + at, n);
}

/* Its slot is a tombstone unless the name came back at another place (headers.c gives it its own,
 * so it cannot). */
static void
put_removed_headers(
    struct frame_writer *w, const struct headers *hs, const struct access *what, bool dirty_only)
{
	size_t at = put_count_later(w);
	uint32_t n = 0;

	if (!dirty_only || !hs->removed)
		return;
	for (uint32_t i = 0; i < hs->n; i++) {
		const struct header *h = &hs->items[i];
		if (h->hash != 0 || !header_wanted(h, what))
			continue;
		put_name(w, h->name, (enum header_id)h->id);
		n++;
	}
	set_count(w, at, n);
}

static void
put_header(struct frame_writer *w, const struct header *h)
{
	put_name(w, h->name, (enum header_id)h->id);
	frame_put_value(w, &h->value);
}

static void
put_headers(
    struct frame_writer *w, const struct headers *hs, const struct access *what, bool dirty_only)
{
	put_removed_headers(w, hs, what, dirty_only);
	size_t at = put_count_later(w);
	uint32_t n = 0;

	if (!dirty_only && !(what->flags & ACCESS_HEADERS_ALL)) { /* few names: look them up */
		for (size_t i = 0; i < what->headers.n; i++) {
			const struct header *h = headers_find(hs, str_of(what->headers.items[i]));
			if (h != NULL) {
				put_header(w, h);
				n++;
			}
		}
	} else {
		HEADERS_FOREACH (hs, h) {
			if ((dirty_only && !h->dirty) || !header_wanted(h, what))
				continue;
			put_header(w, h);
			n++;
		}
	}
	set_count(w, at, n);
}

static void
put_entry(struct frame_writer *w, struct str name, const struct value *v)
{
	static const struct value none = { .type = VALUE_NULL };

	frame_put_str(w, name);
	frame_put_value(w, v != NULL ? v : &none);
}

static void
put_changed(struct frame_writer *w, const struct value_map *m, const struct name_list *changed,
    const struct strings *names, bool all)
{
	size_t at = put_count_later(w);
	uint32_t n = 0;

	for (uint32_t i = 0; i < changed->n; i++) {
		if (!all && !named(names, changed->items[i], false))
			continue;
		put_entry(w, changed->items[i], value_map_find(m, changed->items[i]));
		n++;
	}
	set_count(w, at, n);
}

static void
put_map_part(
    struct frame_writer *w, const struct value_map *m, const struct strings *names, bool all)
{
	size_t at = put_count_later(w);
	uint32_t n = 0;

	if (all) {
		for (size_t i = 0; i < m->n; i++)
			put_entry(w, m->entries[i].key, m->entries[i].value);
		n = (uint32_t)m->n;
	} else {
		for (size_t i = 0; i < names->n; i++) {
			const struct value *v = value_map_find(m, str_of(names->items[i]));
			if (v == NULL)
				continue;
			put_entry(w, str_of(names->items[i]), v);
			n++;
		}
	}
	set_count(w, at, n);
}

static bool
headers_changed(const struct headers *hs)
{
	if (hs->removed)
		return true;
	HEADERS_FOREACH (hs, h) {
		if (h->dirty)
			return true;
	}
	return false;
}

/* Which parts have something to say. The marks of the headers themselves count: some steps set them
 * without the exchange's functions. */
static unsigned
parts_of(const struct exchange *ex, const struct access *what, bool dirty_only)
{
	unsigned parts = 0;

	if ((what->flags & ACCESS_BODY) && (!dirty_only || (ex->dirty & DIRTY_BODY)))
		parts |= PART_BODY;
	if (((what->flags & ACCESS_HEADERS_ALL) || what->headers.n > 0) &&
	    (dirty_only ? headers_changed(&ex->headers) : ex->headers.live > 0))
		parts |= PART_HEADERS;
	if (((what->flags & ACCESS_PROPERTIES_ALL) || what->properties.n > 0) &&
	    (dirty_only ? ex->changed_properties.n : ex->properties.n) > 0)
		parts |= PART_PROPERTIES;
	if (((what->flags & ACCESS_VARIABLES_ALL) || what->variables.n > 0) &&
	    (dirty_only ? ex->changed_variables.n : ex->variables.n) > 0)
		parts |= PART_VARIABLES;
	if ((what->flags & ACCESS_EXCEPTION) && ex->exception != NULL && !dirty_only)
		parts |= PART_EXCEPTION;
	return parts;
}

static void
put_head(struct frame_writer *w, const struct exchange *ex, unsigned parts)
{
	char *p = frame_room(w, 2 + 3 * sizeof(uint64_t));

	if (p == NULL)
		return;
	*p++ = (char)parts;
	*p++ = (char)ex->pattern;
	p = frame_store_u64(p, ex->id_prefix);
	p = frame_store_u64(p, ex->id_seq);
	frame_store_u64(p, (uint64_t)ex->created_ms);
}

void
frame_put_message(
    struct frame_writer *w, struct exchange *ex, const struct access *what, bool dirty_only)
{
	unsigned parts = parts_of(ex, what, dirty_only);

	put_head(w, ex, parts);
	if (parts & PART_BODY)
		put_body(w, &ex->body);
	if (parts & PART_HEADERS)
		put_headers(w, &ex->headers, what, dirty_only);
	if (parts & PART_PROPERTIES) {
		bool all = (what->flags & ACCESS_PROPERTIES_ALL) != 0;
		if (dirty_only)
			put_changed(
			    w, &ex->properties, &ex->changed_properties, &what->properties, all);
		else
			put_map_part(w, &ex->properties, &what->properties, all);
	}
	if (parts & PART_VARIABLES) {
		bool all = (what->flags & ACCESS_VARIABLES_ALL) != 0;
		if (dirty_only)
			put_changed(
			    w, &ex->variables, &ex->changed_variables, &what->variables, all);
		else
			put_map_part(w, &ex->variables, &what->variables, all);
	}
	if (parts & PART_EXCEPTION)
		frame_put_exception(w, ex->exception);
}

/* ---- reading ---- */

static struct str
get_name(struct frame_reader *r, enum header_id *id)
{
	*id = (enum header_id)frame_get_u8(r);
	if (*id == HEADER_NONE)
		return frame_get_str(r);
	struct str name = header_id_name(*id);
	if (name.n == 0)
		r->bad = true;
	return name;
}

struct str
frame_get_header_name(struct frame_reader *r)
{
	enum header_id id;
	return get_name(r, &id);
}

static void
get_body(struct frame_reader *r, struct exchange *ex, struct blob *blob, struct frame_body *body)
{
	uint8_t form = frame_get_u8(r);

	if (form == BODY_INLINE) {
		struct value v = frame_get_value(r, &ex->arena, blob);
		if (!r->bad)
			exchange_set_body(ex, v);
		return;
	}
	struct value v = { .type = frame_get_u8(r) };
	v.flags = frame_get_u8(r) & FRAME_VALUE_FLAGS;
	v.aux = frame_get_u32(r);
	body->length = frame_get_u64(r);
	if (r->bad || form != BODY_FOLLOWS || v.type < VALUE_DECIMAL || v.type >= VALUE_TYPES) {
		r->bad = true;
		return;
	}
	body->value = v;
	body->follows = true;
}

static void
get_headers(struct frame_reader *r, struct exchange *ex, struct blob *blob)
{
	uint32_t n = frame_get_u32(r);
	enum header_id id;

	for (uint32_t i = 0; i < n && !r->bad; i++)
		(void)exchange_remove_header(ex, get_name(r, &id)); /* it may not have been there */
	n = frame_get_u32(r);
	for (uint32_t i = 0; i < n && !r->bad; i++) {
		struct str name = get_name(r, &id);
		struct value v = frame_get_value(r, &ex->arena, blob);
		if (r->bad)
			break;
		if (id != HEADER_NONE)
			headers_set_id(&ex->headers, &ex->arena, id, v);
		else
			headers_set(&ex->headers, &ex->arena, name, v);
	}
	ex->dirty |= DIRTY_HEADERS;
}

typedef void set_fn(struct exchange *ex, struct str name, struct value v);

static void
get_map_part(struct frame_reader *r, struct exchange *ex, struct blob *blob, set_fn *set)
{
	uint32_t n = frame_get_u32(r);

	for (uint32_t i = 0; i < n && !r->bad; i++) {
		struct str name = frame_get_str(r);
		struct value v = frame_get_value(r, &ex->arena, blob);
		if (!r->bad)
			set(ex, name, v);
	}
}

static unsigned
get_head(struct frame_reader *r, struct exchange *ex)
{
	unsigned parts = frame_get_u8(r);
	uint8_t pattern = frame_get_u8(r);
	uint64_t prefix = frame_get_u64(r), seq = frame_get_u64(r), created = frame_get_u64(r);

	if (r->bad || (parts & ~(unsigned)PARTS_KNOWN) || pattern > PATTERN_IN_OUT) {
		r->bad = true;
		return 0;
	}
	ex->pattern = (enum exchange_pattern)pattern;
	ex->id_prefix = prefix;
	ex->id_seq = seq;
	ex->created_ms = (int64_t)created;
	return parts;
}

void
frame_get_message(
    struct frame_reader *r, struct exchange *ex, struct blob *blob, struct frame_body *body)
{
	*body = (struct frame_body){ 0 };
	unsigned parts = get_head(r, ex);

	if (parts != 0 && blob != NULL)
		arena_hold(&ex->arena, blob);
	if (parts & PART_BODY)
		get_body(r, ex, blob, body);
	if (parts & PART_HEADERS)
		get_headers(r, ex, blob);
	if (parts & PART_PROPERTIES)
		get_map_part(r, ex, blob, exchange_set_property);
	if (parts & PART_VARIABLES)
		get_map_part(r, ex, blob, exchange_set_variable);
	if (parts & PART_EXCEPTION)
		ex->exception = frame_get_exception(r, &ex->arena);
}
