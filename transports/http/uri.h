/*
 * Paths, queries and addresses: percent-encoding both ways, form fields, and the parts of an http
 * address. What came encoded stays as it came; only what may not stand in a request line is encoded
 * (a blank, a byte beyond ASCII).
 */
#ifndef HINNY_HTTP_URI_H
#define HINNY_HTTP_URI_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* Decodes %XX, and with `plus` also + as a blank. A % without two hexadecimal digits stays. The
 * result may be s itself. */
struct str uri_decode(struct arena *a, struct str s, bool plus);
/* Cuts the next "name=value" off *rest ("a=1&b&=x"); neither is decoded. False at the end. Empty
 * items are skipped. */
bool uri_next_pair(struct str *rest, struct str *name, struct str *value);

/* Appends a path or query so that it may stand in a request line: what is encoded stays, all else
 * that is not allowed there is encoded; a "%" that encodes nothing becomes %25. */
enum hinny_rc uri_put_path(struct buf *out, struct str s);
enum hinny_rc uri_put_query(struct buf *out, struct str s);
/* Appends s as part of an application/x-www-form-urlencoded text. */
enum hinny_rc uri_put_form(struct buf *out, struct str s);

/* The parts of "http://host:port/path?query"; they are slices of the text. */
struct uri {
	bool tls;        /* https */
	struct str host; /* without [] */
	bool ipv6;       /* stood in [] */
	uint16_t port;   /* 80, 443 when not given */
	bool port_given;
	struct str authority; /* as written, without user */
	struct str path;      /* may be empty */
	struct str query;     /* p NULL: there is no "?" */
};
/* Accepts "http://host…", "http:host…" and "https…". HINNY_EINVAL with a text otherwise. */
enum hinny_rc uri_parse(struct str text, struct uri *out, struct hinny_error *err);

#endif
