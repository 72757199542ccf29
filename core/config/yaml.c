/*
 * YAML text to nodes, over libyaml's events. What YAML 1.1 would make of `yes`, `on` and `0777` is
 * not done here: a scalar keeps its text, and only the option that it is for says what it must be.
 * Anchors are expanded as they are met, and the count of nodes bounds what they can become.
 */
#include "core/config/node.h"

#include "core/base/assert.h"
#include "core/base/hash.h"
#include "core/base/mem.h"
#include "core/config/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

/* A growing array of nodes, for the children of one list or map. */
struct children {
	struct node *items;
	size_t n, cap;
};

struct reader {
	yaml_parser_t parser;
	yaml_event_t event; /* the current one, when `have` */
	bool have;
	struct arena *arena;
	struct diagnostics *ds;
	const char *file;
	struct str text;
	struct hash anchors; /* name -> struct node */
	size_t count;
	bool failed; /* reported: no use in going on */
};

static void
children_add(struct children *ch, struct node n)
{
	if (ch->n == ch->cap) {
		ch->cap = ch->cap ? 2 * ch->cap : 8;
		ch->items = mem_realloc(ch->items, ch->cap * sizeof(struct node));
	}
	ch->items[ch->n++] = n;
}

/* Into the arena. */
static struct node *
children_take(struct children *ch, struct arena *a)
{
	struct node *items = NULL;

	if (ch->n > 0) {
		items = arena_alloc(a, ch->n * sizeof(struct node));
		memcpy(items, ch->items, ch->n * sizeof(struct node));
	}
	free(ch->items);
	*ch = (struct children){ 0 };
	return items;
}

static struct position
position_of(const struct reader *r, yaml_mark_t mark)
{
	return (struct position){ r->file, (uint32_t)mark.line + 1, (uint32_t)mark.column + 1 };
}

/* libyaml gives bad bytes by offset alone. */
static struct position
position_of_offset(const struct reader *r, size_t offset)
{
	struct position at = { r->file, 1, 1 };

	for (size_t i = 0; i < offset && i < r->text.n; i++) {
		if (r->text.p[i] == '\n') {
			at.line++;
			at.column = 1;
		} else if (((unsigned char)r->text.p[i] & 0xc0) != 0x80) {
			at.column++;
		}
	}
	return at;
}

static void
report_parser(struct reader *r)
{
	const yaml_parser_t *p = &r->parser;
	const char *problem = p->problem ? p->problem : "unknown problem";

	r->failed = true;
	if (p->error == YAML_READER_ERROR) {
		diagnostics_add(r->ds, position_of_offset(r, p->problem_offset), false,
		    "cannot read YAML: %s", problem);
		return;
	}
	struct position at = position_of(r, p->problem_mark);
	bool tab = p->problem_mark.index < r->text.n && r->text.p[p->problem_mark.index] == '\t';
	diagnostics_add(r->ds, at, false, "cannot read YAML: %s%s%s%s",
	    p->context ? p->context : "", p->context ? ": " : "", problem,
	    tab ? " (a tab cannot be used for indentation)" : "");
}

static void
report_limit(struct reader *r, const char *what, int limit)
{
	diagnostics_add(r->ds, position_of(r, r->event.start_mark), false,
	    "cannot read YAML: more than %d %s", limit, what);
	r->failed = true;
}

/* Moves to the next event. False when there is none to be had, which was reported. */
static bool
advance(struct reader *r)
{
	if (r->have)
		yaml_event_delete(&r->event);
	r->have = false;
	if (r->failed)
		return false;
	if (!yaml_parser_parse(&r->parser, &r->event)) {
		report_parser(r);
		return false;
	}
	r->have = true;
	return true;
}

static bool
count_node(struct reader *r)
{
	if (++r->count <= NODE_COUNT_MAX)
		return true;
	report_limit(r, "nodes", NODE_COUNT_MAX);
	return false;
}

/* A deep copy, since placeholders are resolved in place. */
static bool
copy_node(struct reader *r, const struct node *from, struct node *to)
{
	size_t n = from->kind == NODE_MAP ? 2 * (size_t)from->n
	    : from->kind == NODE_LIST     ? from->n
					  : 0;

	*to = *from;
	if (!count_node(r))
		return false;
	if (n == 0)
		return true;
	to->items = arena_alloc(r->arena, n * sizeof(struct node));
	for (size_t i = 0; i < n; i++) {
		if (!copy_node(r, &from->items[i], &to->items[i]))
			return false;
	}
	return true;
}

static bool
read_alias(struct reader *r, struct node *out)
{
	const char *name = (const char *)r->event.data.alias.anchor;
	const struct node *anchor = hash_find(&r->anchors, str_of(name));

	if (anchor == NULL) {
		diagnostics_add(r->ds, position_of(r, r->event.start_mark), false,
		    "cannot read YAML: alias \"%s\" has no anchor before it", name);
		r->failed = true;
		return false;
	}
	return copy_node(r, anchor, out);
}

static void
keep_anchor(struct reader *r, const char *name, const struct node *n)
{
	struct node *copy = ARENA_NEW(r->arena, struct node);

	*copy = *n;
	(void)hash_put(&r->anchors, str_of(name),
	    copy); /* a later anchor of that name takes its place, as YAML has it */
}

static bool read_node(struct reader *r, struct node *out, unsigned depth);

/* Keys seen so far: a small map is looked through, a large one hashed. */
static bool
is_duplicate(struct hash *seen, const struct children *ch, struct str key)
{
	enum { FEW = 16 };
	static char mark;

	if (ch->n / 2 < FEW) {
		for (size_t i = 0; i < ch->n; i += 2) {
			if (str_eq(ch->items[i].text, key))
				return true;
		}
		return false;
	}
	if (seen->count == 0) {
		for (size_t i = 0; i < ch->n; i += 2)
			(void)hash_put(seen, ch->items[i].text, &mark);
	}
	return hash_put(seen, key, &mark) != NULL;
}

/* The event is a mapping's start; afterwards it is its end. */
static bool
read_pairs(struct reader *r, struct children *ch, struct hash *seen, unsigned depth)
{
	for (;;) {
		struct node key, value;
		if (!advance(r))
			return false;
		if (r->event.type == YAML_MAPPING_END_EVENT)
			return true;
		if (!read_node(r, &key, depth))
			return false;
		struct position at = node_at(r->file, &key);
		if (!advance(r) || !read_node(r, &value, depth))
			return false;
		if (key.kind != NODE_SCALAR) {
			diagnostics_add(
			    r->ds, at, false, "a key must be text, got %s", node_kind_name(&key));
			continue;
		}
		if (is_duplicate(seen, ch, key.text)) {
			diagnostics_add(r->ds, at, false, "key \"%s\" is given twice", key.text.p);
			continue;
		}
		children_add(ch, key);
		children_add(ch, value);
	}
}

static bool
read_items(struct reader *r, struct children *ch, unsigned depth)
{
	for (;;) {
		struct node item;
		if (!advance(r))
			return false;
		if (r->event.type == YAML_SEQUENCE_END_EVENT)
			return true;
		if (!read_node(r, &item, depth))
			return false;
		children_add(ch, item);
	}
}

static bool
read_container(struct reader *r, struct node *out, unsigned depth)
{
	struct children ch = { 0 };
	struct hash seen;

	if (depth == NODE_DEPTH_MAX) {
		report_limit(r, "levels of nesting", NODE_DEPTH_MAX);
		return false;
	}
	hash_init(&seen, false);
	bool ok = out->kind == NODE_MAP ? read_pairs(r, &ch, &seen, depth + 1)
					: read_items(r, &ch, depth + 1);
	hash_fini(&seen);
	out->n = (uint32_t)(out->kind == NODE_MAP ? ch.n / 2 : ch.n);
	out->items = children_take(&ch, r->arena);
	return ok;
}

/* Tags of the core schema say what is known anyway, but for "!!str ~"; others would have to be
 * obeyed. */
static void
check_tag(struct reader *r, const yaml_char_t *text, struct node *out)
{
	static const char *const core[] = { "str", "null", "bool", "int", "float", "map", "seq" };
	static const char prefix[] = "tag:yaml.org,2002:";
	const char *tag = (const char *)text;

	if (tag == NULL || strcmp(tag, "!") == 0)
		return;
	const char *name = str_starts(str_of(tag), prefix) ? tag + strlen(prefix) : "";
	for (size_t i = 0; i < ARRAY_LEN(core); i++) {
		if (strcmp(name, core[i]) == 0) {
			out->flags |= i == 0 ? NODE_QUOTED : 0;
			return;
		}
	}
	diagnostics_add(r->ds, position_of(r, r->event.start_mark), false,
	    "the tag \"%s%s\" is not supported", name[0] ? "!!" : "", name[0] ? name : tag);
}

/* The node that begins with the current event; afterwards that is its last one. */
static bool
read_node(struct reader *r, struct node *out, unsigned depth)
{
	const yaml_event_t *ev = &r->event;
	const char *anchor = NULL;
	bool ok = true;

	*out = (struct node){ .line = (uint32_t)ev->start_mark.line + 1,
		.column = (uint32_t)ev->start_mark.column + 1 };
	if (ev->type == YAML_ALIAS_EVENT)
		return read_alias(r, out);
	if (!count_node(r))
		return false;
	if (ev->type == YAML_SCALAR_EVENT) {
		out->text.p = arena_strndup(
		    r->arena, (const char *)ev->data.scalar.value, ev->data.scalar.length);
		out->text.n = ev->data.scalar.length;
		if (strlen(out->text.p) != out->text.n)
			diagnostics_add(r->ds, position_of(r, ev->start_mark), false,
			    "a text cannot have a character of value 0 in it");
		out->flags = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE ? 0 : NODE_QUOTED;
		check_tag(r, ev->data.scalar.tag, out);
		anchor = (const char *)ev->data.scalar.anchor;
	} else {
		out->kind = ev->type == YAML_MAPPING_START_EVENT ? NODE_MAP : NODE_LIST;
		check_tag(r,
		    out->kind == NODE_MAP ? ev->data.mapping_start.tag
					  : ev->data.sequence_start.tag,
		    out);
		anchor = (const char *)(out->kind == NODE_MAP ? ev->data.mapping_start.anchor
							      : ev->data.sequence_start.anchor);
	}
	if (anchor != NULL)
		anchor = arena_strdup(r->arena, anchor);
	if (out->kind != NODE_SCALAR)
		ok = read_container(r, out, depth);
	if (anchor != NULL)
		keep_anchor(r, anchor, out);
	return ok;
}

/* The one document: its root; NULL when reported. */
static struct node *
read_document(struct reader *r)
{
	struct node *root = ARENA_NEW(r->arena, struct node);

	if (!advance(r) || !advance(r)) /* start of the stream, then of the document */
		return NULL;
	if (r->event.type == YAML_STREAM_END_EVENT) {
		diagnostics_add(
		    r->ds, (struct position){ r->file, 1, 1 }, false, "the file is empty");
		return NULL;
	}
	if (!advance(r) || !read_node(r, root, 0))
		return NULL;
	if (!advance(r) || !advance(r)) /* end of the document, then what follows */
		return NULL;
	if (r->event.type != YAML_STREAM_END_EVENT) {
		diagnostics_add(r->ds, position_of(r, r->event.start_mark), false,
		    "a second document begins: a file has one");
		return NULL;
	}
	return root;
}

struct node *
yaml_parse(struct arena *a, const char *file, struct str text, struct diagnostics *ds)
{
	struct reader r = { .arena = a, .ds = ds, .file = file, .text = text };

	if (text.n > NODE_FILE_MAX) {
		diagnostics_add(ds, (struct position){ file, 1, 1 }, false,
		    "the file is larger than %d bytes", NODE_FILE_MAX);
		return NULL;
	}
	if (!yaml_parser_initialize(&r.parser)) {
		diagnostics_add(ds, (struct position){ file, 1, 1 }, false,
		    "cannot start the YAML parser: out of memory");
		return NULL;
	}
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text.p, text.n);
	hash_init(&r.anchors, false);
	struct node *root = read_document(&r);
	if (r.have)
		yaml_event_delete(&r.event);
	hash_fini(&r.anchors);
	yaml_parser_delete(&r.parser);
	return root;
}
