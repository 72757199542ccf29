/* `hinny doc NAME`: what the descriptors say, as text. The same data as parsing uses, so it cannot
 * be out of date. */
#ifndef HINNY_CONFIG_DOC_H
#define HINNY_CONFIG_DOC_H

#include <stdio.h>

/*
 * Prints what is known of a component, EIP, language, data format, function of Simple, option
 * ("group", "split.group") or built-in class of that name, or of a key or group of hinny.yaml
 * ("http.listen", "http", "hinny.yaml" for all of them). NULL lists the names that there
 * are. -1: nothing has that name, and nothing was printed. Does not block but for writing.
 */
int doc_print(FILE *to, const char *name);
/* Every construct of the YAML DSL as a table in Markdown: what is implemented, accepted without
 * meaning, refused by name. */
void doc_table(FILE *to);
/* The nearest name for "did you mean", NULL when none is near. Constant memory. */
const char *doc_nearest(const char *name);

#endif
