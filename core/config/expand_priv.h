/* What expand.c and expand_uses.c share. */
#ifndef HINNY_CONFIG_EXPAND_PRIV_H
#define HINNY_CONFIG_EXPAND_PRIV_H

#include "core/base/hash.h"
#include "core/config/expand.h"
#include "core/config/kamelets.h"

enum {
	EXPAND_DEPTH_MAX = 20,      /* Kamelets in one another */
	EXPAND_NODES_MAX = 1 << 20, /* nodes of all that was made */
};

/* What the expansion knows of a document. */
struct expanded {
	const char *source,
	    *sink; /* what kamelet:source and kamelet:sink are in it; NULL: themselves */
	unsigned depth;
};

struct expansion {
	struct bundle *bundle;
	const struct bundle_options *opt;
	struct diagnostics *ds;
	struct kamelet_folders folders;
	struct template **templates;
	size_t templates_n, templates_cap;
	struct expanded *documents; /* beside those of the bundle */
	size_t documents_cap;
	struct hash made;   /* uris that were made: they are left alone */
	struct hash shared; /* producers by their uri: what it became */
	size_t nodes;
	unsigned counter;
	bool failed; /* a limit was reached, which was reported */
	bool probing;
};

/* One use of a template. */
struct use {
	uint32_t document; /* in which it stands */
	struct position at;
	const char *route_id; /* NULL: the route gets one of its own */
	const char *prefix;   /* of the ids of its steps, or NULL */
	const char *group;
	struct properties values;
	const struct node *beans; /* of the use itself, or NULL */
	const char *source, *sink;
	bool bad; /* a value could not be resolved, which was reported: nothing is made of it */
	bool no_error_handler;
	bool appends_sink; /* the template sends nowhere to kamelet:sink, and steps wait there */
	bool own_scope; /* no handlers hold but those in the template */
};

void __attribute__((format(printf, 4, 5)))
expand_error(struct expansion *x, uint32_t document, struct position at, const char *fmt, ...);
/* A template by name: of the route files, then a Kamelet for the file that uses it. NULL: none. */
struct template *expand_find(struct expansion *x, const char *name, const char *from);
void expand_add_template(struct expansion *x, struct template *t);
/* A new document behind the others; *doc is valid until the next. */
uint32_t expand_add_document(struct expansion *x, struct document doc, struct expanded info);
/* Makes the route of a template with the values of a use; false: reported. */
bool expand_make(struct expansion *x, struct template *t, struct use *use);
/* The uses in a document: templatedRoutes and Kamelets. */
void expand_uses(struct expansion *x, uint32_t document);

#endif
