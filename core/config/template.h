/*
 * Templates of routes: `routeTemplate` in a route file, and Kamelets, which are the same in the
 * clothes of a Kubernetes resource (kind: Kamelet). Read by expand.c, which makes routes of them;
 * nothing behind a bundle knows of templates.
 */
#ifndef HINNY_CONFIG_TEMPLATE_H
#define HINNY_CONFIG_TEMPLATE_H

#include "core/config/node.h"

struct diagnostics;

struct template_parameter {
	const char *name;
	const char *dflt; /* NULL: none */
	bool required;
};

struct template
{
	const char *name;
	const char *file;   /* where its nodes stand */
	struct position at; /* of its id */
	bool kamelet;       /* a resource of its own */
	bool used;
	bool wrong;               /* reported: no route can be made of it */
	const struct node *route; /* the map of its `route`; NULL: `from` alone */
	const struct node *from;  /* the value of `from` */
	const struct node *beans; /* a list, or NULL */
	uint32_t scope;           /* routeTemplate: the document that it stands in */
	struct template_parameter *parameters;
	size_t parameters_n;
};

/* The value of a root item `routeTemplate`. What is wrong goes to ds and leaves it `wrong`; it has
 * a name ("" at worst). Everything lies in the arena, or in the nodes, which must live as long. */
struct template *template_of_node(
    struct arena *a, const char *file, const struct node *value, struct diagnostics *ds);
/* The root of a file of kind Kamelet. */
struct template *template_of_kamelet(
    struct arena *a, const char *file, const struct node *root, struct diagnostics *ds);
/* Is it the root of a Kamelet? */
bool template_is_kamelet(const struct node *root);
/* NULL when there is no such parameter. */
const struct template_parameter *template_parameter(const struct template *t, struct str name);

/* Does the template begin with kamelet:source, so that it can be sent to? */
bool template_takes_messages(const struct template *t);

#endif
