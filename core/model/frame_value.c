/* Values in frames: a type byte, a flags byte, then what the type needs (docs/wire.md). A JSON
 * array or object goes as its text and is parsed again: that checks it, too. */
#include "core/model/frame.h"

#include "core/base/assert.h"
#include "core/model/frame_priv.h"
#include "core/model/json.h"
#include "core/model/value_priv.h"

enum { VALUE_HEAD = 2 };

/* ---- writing ---- */

static char *
value_head(char *p, const struct value *v)
{
	*p++ = (char)v->type;
	*p++ = (char)v->flags;
	return p;
}

static void
put_text(struct frame_writer *w, const struct value *v, struct str s)
{
	size_t aux = v->type == VALUE_XML ? sizeof v->aux : 0;

	if (s.n > FRAME_MAX) {
		if (w->rc == HINNY_OK)
			w->rc = HINNY_ELIMIT;
		return;
	}
	char *p = frame_room(w, VALUE_HEAD + aux + sizeof(uint32_t) + s.n);
	if (p == NULL)
		return;
	p = value_head(p, v);
	if (aux > 0)
		p = frame_store_u32(p, v->aux);
	frame_store_str(p, s);
}

static void put_value(struct frame_writer *w, const struct value *v, unsigned depth);

static void
put_list(struct frame_writer *w, const struct value *v, unsigned depth)
{
	const struct value_list *l = v->u.list;
	char *p = frame_room(w, VALUE_HEAD + sizeof(uint32_t));

	if (p == NULL)
		return;
	frame_store_u32(value_head(p, v), (uint32_t)l->n);
	for (size_t i = 0; i < l->n && w->rc == HINNY_OK; i++)
		put_value(w, &l->items[i], depth + 1);
}

static void
put_map(struct frame_writer *w, const struct value *v, unsigned depth)
{
	const struct value_map *m = v->u.map;
	char *p = frame_room(w, VALUE_HEAD + 1 + sizeof(uint32_t));

	if (p == NULL)
		return;
	p = value_head(p, v);
	*p++ = m->nocase;
	frame_store_u32(p, (uint32_t)m->n);
	for (size_t i = 0; i < m->n && w->rc == HINNY_OK; i++) {
		frame_put_str(w, m->entries[i].key);
		put_value(w, m->entries[i].value, depth + 1);
	}
}

static void
put_json(struct frame_writer *w, const struct value *v)
{
	const struct json_node *n = v->u.json;
	struct arena scratch;

	if (n->type >= JSON_IS_ARRAY) {
		put_text(w, v, (struct str){ n->text, n->length });
		return;
	}
	arena_init(&scratch);
	struct value scalar = value_from_json(&scratch, n, NULL);
	put_value(w, &scalar, 0);
	arena_fini(&scratch);
}

static void
put_value(struct frame_writer *w, const struct value *v, unsigned depth)
{
	char *p;

	if (depth > FRAME_DEPTH_MAX) {
		if (w->rc == HINNY_OK)
			w->rc = HINNY_ELIMIT;
		return;
	}
	switch ((enum value_type)v->type) {
	case VALUE_NULL:
		if ((p = frame_room(w, VALUE_HEAD)) != NULL)
			value_head(p, v);
		return;
	case VALUE_BOOL:
		if ((p = frame_room(w, VALUE_HEAD + 1)) != NULL)
			*value_head(p, v) = v->u.b;
		return;
	case VALUE_INT:
	case VALUE_DOUBLE: {
		uint64_t bits;
		memcpy(&bits, v->type == VALUE_INT ? (const void *)&v->u.i : (const void *)&v->u.d,
		    sizeof bits);
		if ((p = frame_room(w, VALUE_HEAD + sizeof bits)) != NULL)
			frame_store_u64(value_head(p, v), bits);
		return;
	}
	case VALUE_DECIMAL:
	case VALUE_STRING:
	case VALUE_BYTES:
	case VALUE_XML:
		put_text(w, v, v->u.s);
		return;
	case VALUE_LIST:
		put_list(w, v, depth);
		return;
	case VALUE_MAP:
		put_map(w, v, depth);
		return;
	case VALUE_JSON:
		put_json(w, v);
		return;
	case VALUE_STREAM:
	case VALUE_TYPES:
		break;
	}
	UNREACHABLE(); /* streams go in chunks */
}

void
frame_put_value(struct frame_writer *w, const struct value *v)
{
	put_value(w, v, 0);
}

/* ---- size ---- */

/* Adds what v takes to *sum; false once it is above the limit. */
static bool
add_size(const struct value *v, size_t limit, unsigned depth, size_t *sum)
{
	size_t n = VALUE_HEAD;
	bool ok = depth <= FRAME_DEPTH_MAX;

	if (value_has_text(v))
		n += 2 * sizeof(uint32_t) + v->u.s.n;
	else if (v->type == VALUE_JSON)
		n += sizeof(uint32_t) + v->u.json->length;
	else
		n += sizeof(uint64_t);
	*sum += n;
	if (v->type == VALUE_LIST) {
		for (size_t i = 0; ok && i < v->u.list->n; i++)
			ok = add_size(&v->u.list->items[i], limit, depth + 1, sum);
	} else if (v->type == VALUE_MAP) {
		for (size_t i = 0; ok && i < v->u.map->n; i++) {
			*sum += sizeof(uint32_t) + v->u.map->entries[i].key.n;
			ok = add_size(v->u.map->entries[i].value, limit, depth + 1, sum);
		}
	}
	return ok && *sum <= limit;
}

size_t
frame_value_size(const struct value *v, size_t limit)
{
	size_t sum = 0;
	return add_size(v, limit, 0, &sum) ? sum : limit + 1;
}

/* ---- reading ---- */

static inline struct str
get_str(struct frame_reader *r)
{
	const char *p = frame_take(r, sizeof(uint32_t));
	if (p == NULL)
		return (struct str){ "", 0 };
	uint32_t n = frame_load_u32(p);
	p = frame_take(r, n);
	return p != NULL ? (struct str){ p, n } : (struct str){ "", 0 };
}

static struct value
get_list(struct frame_reader *r, struct arena *a, struct blob *blob, unsigned depth)
{
	uint32_t n = frame_get_u32(r);

	if (r->bad ||
	    n > (size_t)(r->end - r->p) / VALUE_HEAD) { /* more elements than can follow */
		r->bad = true;
		return value_null();
	}
	struct value v = value_new_list(a, n);
	for (uint32_t i = 0; i < n && !r->bad; i++)
		value_list_add(a, v.u.list, frame_get_value_at(r, a, blob, depth + 1));
	return v;
}

static struct value
get_map(struct frame_reader *r, struct arena *a, struct blob *blob, unsigned depth)
{
	bool nocase = frame_get_u8(r) != 0;
	uint32_t n = frame_get_u32(r);

	if (r->bad || n > (size_t)(r->end - r->p) / (sizeof(uint32_t) + VALUE_HEAD)) {
		r->bad = true;
		return value_null();
	}
	struct value v = value_new_map(a, n, nocase);
	for (uint32_t i = 0; i < n && !r->bad; i++) {
		struct str key = frame_get_str(r);
		value_map_set(a, v.u.map, key, frame_get_value_at(r, a, blob, depth + 1));
	}
	return v;
}

static struct value
get_json(struct frame_reader *r, struct arena *a, struct blob *blob)
{
	const struct json_node *root;

	if (json_parse(a, frame_get_str(r), &root, NULL) != HINNY_OK ||
	    root->type < JSON_IS_ARRAY) {
		r->bad = true;
		return value_null();
	}
	return (struct value){ .type = VALUE_JSON, .u.json = root, .blob = blob };
}

struct value
frame_get_value_at(struct frame_reader *r, struct arena *a, struct blob *blob, unsigned depth)
{
	struct value v = { .type = VALUE_NULL };
	uint64_t bits;
	const char *head = frame_take(r, VALUE_HEAD);

	if (head != NULL) {
		v.type = (uint8_t)head[0];
		v.flags = (uint8_t)head[1] & FRAME_VALUE_FLAGS;
	}
	if (r->bad || depth > FRAME_DEPTH_MAX) {
		r->bad = true;
		return value_null();
	}
	switch ((enum value_type)v.type) {
	case VALUE_NULL:
		return value_null();
	case VALUE_BOOL:
		v.u.b = frame_get_u8(r) != 0;
		break;
	case VALUE_INT:
	case VALUE_DOUBLE:
		bits = frame_get_u64(r);
		memcpy(v.type == VALUE_INT ? (void *)&v.u.i : (void *)&v.u.d, &bits, sizeof bits);
		break;
	case VALUE_XML:
		v.aux = frame_get_u32(r);
		v.u.s = get_str(r);
		v.blob = blob;
		break;
	case VALUE_DECIMAL:
	case VALUE_STRING:
	case VALUE_BYTES:
		v.u.s = get_str(r);
		v.blob = blob;
		break;
	case VALUE_LIST:
		v.u.list = get_list(r, a, blob, depth).u.list;
		break;
	case VALUE_MAP:
		v.u.map = get_map(r, a, blob, depth).u.map;
		break;
	case VALUE_JSON:
		v.u.json = get_json(r, a, blob).u.json;
		v.blob = blob;
		break;
	default:
		r->bad = true;
		break;
	}
	return r->bad ? value_null() : v;
}

struct value
frame_get_value(struct frame_reader *r, struct arena *a, struct blob *blob)
{
	return frame_get_value_at(r, a, blob, 0);
}

/* ---- bodies in chunks ---- */

bool
frame_body_inline(const struct value *body)
{
	if (body->type == VALUE_STREAM)
		return false;
	if (value_has_text(body))
		return body->u.s.n <= FRAME_INLINE;
	return frame_value_size(body, FRAME_INLINE) <= FRAME_INLINE;
}

enum hinny_rc
frame_body_bytes(struct arena *a, const struct value *v, struct str *bytes, struct blob **blob)
{
	struct buf b;

	ASSERT(v->type != VALUE_STREAM);
	if (value_has_text(v) || (v->type == VALUE_JSON && v->u.json->type >= JSON_IS_ARRAY)) {
		*bytes = v->type == VALUE_JSON ? (struct str){ v->u.json->text, v->u.json->length }
					       : v->u.s;
		*blob = v->blob;
		return HINNY_OK;
	}
	buf_init(&b, FRAME_MAX);
	struct frame_writer w = { .out = &b };
	frame_put_value(&w, v);
	if (w.rc == HINNY_OK)
		*bytes = arena_str(a, (struct str){ b.p, b.n });
	*blob = NULL;
	buf_fini(&b);
	return w.rc;
}

enum hinny_rc
frame_body_value(const struct frame_body *body, struct arena *a, struct str bytes,
    struct blob *blob, struct value *out)
{
	struct frame_reader r = { .p = bytes.p, .end = bytes.p + bytes.n };

	*out = body->value;
	switch ((enum value_type)out->type) {
	case VALUE_STREAM:
		out->type = VALUE_BYTES;
		out->flags = VALUE_INPUT;
		break;
	case VALUE_DECIMAL:
	case VALUE_STRING:
	case VALUE_BYTES:
	case VALUE_XML:
		break;
	case VALUE_JSON: {
		const struct json_node *root;
		if (json_parse(a, bytes, &root, NULL) != HINNY_OK || root->type < JSON_IS_ARRAY)
			return HINNY_EPROTO;
		out->u.json = root;
		out->blob = blob;
		return HINNY_OK;
	}
	default:
		*out = frame_get_value(&r, a, blob);
		return frame_end(&r) && out->type == body->value.type ? HINNY_OK : HINNY_EPROTO;
	}
	out->u.s = bytes;
	out->blob = blob;
	return HINNY_OK;
}
