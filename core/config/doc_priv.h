/* Within the folder: the parts of `hinny doc`. Each prints what it finds, and says whether it found
 * anything. */
#ifndef HINNY_CONFIG_DOC_PRIV_H
#define HINNY_CONFIG_DOC_PRIV_H

#include "core/base/str.h"
#include "core/model/descriptor.h"

#include <stdbool.h>
#include <stdio.h>

void doc_print_option(FILE *to, const struct option_desc *o, const char *prefix);

/* doc_names.c */
bool doc_print_function(FILE *to, struct str name); /* of Simple; "hash" or "${hash}" */
void doc_print_functions(FILE *to);
bool doc_print_options_named(FILE *to, struct str name); /* "OPTION" or "OWNER.OPTION" */
bool doc_print_class(FILE *to, struct str name);         /* with or without its package */
bool doc_print_refused(FILE *to, struct str name);

#endif
