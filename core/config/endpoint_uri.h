/* Endpoint uris as text: parts, decoding, RAW(), the normalised form. */
#ifndef HINNY_CONFIG_ENDPOINT_URI_H
#define HINNY_CONFIG_ENDPOINT_URI_H

#include "core/base/arena.h"
#include "core/base/error.h"

#include <stdbool.h>

struct node;

struct uri_parts {
	struct str scheme;
	struct str path;  /* behind "scheme:" and "//", up to "?" */
	struct str query; /* p NULL: there is no "?" */
};

struct uri_option {
	struct str name, value; /* decoded */
	struct str written;     /* "a=b" as it stood in the uri; p NULL for a parameter */
	bool raw;               /* was RAW(…) */
	bool used;
	const struct node *node; /* the value in `parameters`, or NULL */
};
struct uri_options {
	struct uri_option *items;
	size_t n, cap;
};

/* A bare word is a scheme without a path. No scheme: scheme.n is 0. */
struct uri_parts uri_split(struct str uri);
struct uri_option *uri_options_add(struct arena *a, struct uri_options *os);
/* "a=b&c=RAW(d&e)": HINNY_EINVAL for a bad "%" or an option without a name. */
enum hinny_rc uri_parse_query(
    struct arena *a, struct str query, struct uri_options *os, struct hinny_error *err);
/* %XX, and "+" as a blank when `plus`. False for a "%" without two digits. */
bool endpoint_uri_decode(struct arena *a, struct str in, bool plus, struct str *out);
/* As Java's URLEncoder: letters, digits, ".-*_" stay, a blank is "+". */
const char *uri_encode(struct arena *a, struct str s);
/* The same for `%`, `+`, `&`, blanks and controls alone, outside of "${…}" and RAW(…). */
const char *uri_encode_template(struct arena *a, struct str s);
/* What is inside RAW(…) or RAW{…}; else s itself. */
struct str uri_unwrap_raw(struct str s, bool *raw);
/* "scheme://path?options sorted by name". */
const char *uri_normalise(
    struct arena *a, struct str scheme, struct str path, const struct uri_options *os);
/* "scheme:path?options in order" of those that are not part of the path. */
const char *uri_join(
    struct arena *a, struct str scheme, struct str path, const struct uri_options *os);

#endif
