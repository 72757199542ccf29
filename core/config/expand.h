/*
 * Templates become routes. A templatedRoute, and each use of a Kamelet, makes a document of its own
 * with one route in it: a copy of the template with its parameters put in. It keeps the positions
 * of the template, and says with each error where it is used. What is left is a bundle in which
 * nobody can tell such a route from a written one.
 */
#ifndef HINNY_CONFIG_EXPAND_H
#define HINNY_CONFIG_EXPAND_H

#include "core/config/bundle_priv.h"

struct expansion;

struct expansion *expand_begin(
    struct bundle *b, const struct bundle_options *opt, struct diagnostics *ds);
/* Takes the routeTemplates out of a document, before its placeholders are resolved: those in a
 * template are resolved when it is used. */
void expand_take_templates(struct expansion *x, uint32_t document);
/* A file that was named as a route file, and is a Kamelet. */
void expand_add_kamelet(struct expansion *x, const char *file, const struct node *root);
/* Makes the routes, when all documents are there and resolved. Frees x. */
void expand_end(struct expansion *x);

#endif
