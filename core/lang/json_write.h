/* Values as JSON text: lists, maps, JSON nodes and scalars. */
#ifndef HINNY_LANG_JSON_WRITE_H
#define HINNY_LANG_JSON_WRITE_H

#include "core/model/value.h"

#include <stdbool.h>

/* Appends v. pretty: one member or item a line, indented by tabs. HINNY_ELIMIT at the buffer's
 * bound or deeper than VALUE_DEPTH_MAX. */
enum hinny_rc json_write(struct buf *b, struct arena *a, const struct value *v, bool pretty);
/* The same as text in the arena. */
enum hinny_rc json_write_text(struct arena *a, const struct value *v, bool pretty, struct str *out);

#endif
