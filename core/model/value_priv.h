/* What the files of value_*.c, headers.c and frame_*.c share. */
#ifndef HINNY_MODEL_VALUE_PRIV_H
#define HINNY_MODEL_VALUE_PRIV_H

#include "core/model/value.h"

/* Carries values over to another arena; a blob that comes several times in a row is held once. */
struct value_sharer {
	struct arena *to;
	struct blob *held;
	uint64_t *bytes; /* of value_keep: blobs that are held; NULL: all are */
};
struct value value_share_with(struct value_sharer *sh, const struct value *v);
struct str value_share_str(struct value_sharer *sh, struct str s, struct blob *blob);

/* A JSON scalar as plain value; anything else as it is. */
static inline struct value
value_scalar(struct arena *a, const struct value *v)
{
	return v->type == VALUE_JSON ? value_json_child(a, v, v->u.json) : *v;
}

/* JSON counts as what it is in Java: a list or a map. */
bool value_is_list(const struct value *v);
bool value_is_map(const struct value *v);

/* Is s an optional "-" and digits? */
bool value_is_digits(struct str s);
/* The text that markup holds: without tags, comments and the like, references resolved. */
struct str value_xml_text(struct arena *a, struct str markup);
/* Compares two numbers of any length and scale in decimal notation, exactly. Both must be such
 * numbers (str_to_double's grammar). */
int value_compare_decimals(struct str l, struct str r);

#endif
