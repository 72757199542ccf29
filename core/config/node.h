/*
 * YAML as a tree of nodes that know where they stand. Made by yaml.c from text and by bundle_load.c
 * from a bundle; read by everything else in this folder. A node owns nothing: children and texts
 * lie in the arena (or the mapped bundle) that the tree came from.
 */
#ifndef HINNY_CONFIG_NODE_H
#define HINNY_CONFIG_NODE_H

#include "core/base/arena.h"
#include "core/base/str.h"
#include "core/model/program.h"

#include <stdbool.h>
#include <stdint.h>

struct diagnostics;

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

enum node_flag {
	NODE_QUOTED = 1, /* not plain: "x", 'x', |, > */
	NODE_ABSENT = 2, /* an optional placeholder without a value and nothing beside it: the
	                    option is left out */
	NODE_BAD = 4, /* a placeholder in it could not be resolved, which was reported: no further
	                 errors about its text */
};

struct node {
	uint8_t kind;
	uint8_t flags;
	uint32_t line, column; /* from 1; 0: nowhere (a value of the command line) */
	uint32_t n;            /* list: items; map: pairs */
	struct str text;       /* scalar, NUL-terminated */
	struct str written;    /* scalar: as it stands in the files, with PLACEHOLDER_OUTSIDE for what
	                          they do not have (placeholder.h); p NULL: as `text`, or not known */
	struct node *items;    /* list: n of them; map: 2 n, key and value in turn */
};

/* One YAML file. */
struct document {
	const char *file;
	struct node *root; /* NULL: it was wrong, which was reported */
	/* Of a route that was made of a template (expand.c), which stands in `file`: */
	const char *origin; /* `kamelet "x", used at a.yaml:5:7`; NULL: the document is a file */
	uint32_t scope;     /* 1 + the document whose handlers hold for it; 0: its own */
	bool made;          /* of a template: of those handlers, the errorHandler alone */
	bool probe;         /* nobody uses the template: it is compiled to be checked, and dropped */
};

enum {
	NODE_DEPTH_MAX = 100,     /* of lists and maps in one another */
	NODE_COUNT_MAX = 1 << 20, /* nodes of a file, aliases expanded */
	NODE_FILE_MAX = 16 << 20, /* bytes of a file */
};

static inline const struct node *
node_key(const struct node *map, uint32_t i)
{
	return &map->items[2 * i];
}
static inline struct node *
node_value(const struct node *map, uint32_t i)
{
	return &map->items[2 * i + 1];
}
static inline struct position
node_at(const char *file, const struct node *n)
{
	return (struct position){ file, n->line, n->column };
}
/* The value of `key` in a map; NULL when absent or when it is no map. */
struct node *node_find(const struct node *map, const char *key);
/* YAML 1.2 core schema: a plain scalar that is empty, ~ or null. */
bool node_is_null(const struct node *n);
/* What of a scalar stands in the files. */
static inline struct str
node_written(const struct node *n)
{
	return n->written.p != NULL ? n->written : n->text;
}
/* A deep copy in the arena; texts are shared. */
struct node node_copy(struct arena *a, const struct node *from);
/* The nodes of a tree. */
size_t node_count(const struct node *n);
/* A scalar as if it were quoted, at the place of `like`. */
struct node node_text(const struct node *like, const char *text);
/* A list or map with room for n items or pairs, none yet, at the place of `like`. */
struct node node_new(struct arena *a, enum node_kind kind, const struct node *like, uint32_t n);
/* Adds a pair to a map, an item to a list, that has room for it. */
void node_put(struct node *map, struct node key, struct node value);
void node_add(struct node *list, struct node item);
/* Takes a pair out of a map, when it is there. */
void node_remove(struct node *map, const char *key);
/* Takes an item out of a list. */
void node_cut(struct node *list, uint32_t i);
/* "text", "a list", "a map", "nothing": for messages. */
const char *node_kind_name(const struct node *n);

/*
 * Parses one document. All that is wrong goes to ds: unreadable YAML, a second document, no
 * document, duplicate keys, keys that are not scalars, too deep, too large. NULL when there is no
 * usable tree; duplicate keys leave one (the first value stays). Does not block; `text` may go
 * afterwards.
 */
struct node *yaml_parse(struct arena *a, const char *file, struct str text, struct diagnostics *ds);

#endif
