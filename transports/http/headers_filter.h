/* Which headers of a message cross the wire (spec/components.md section 1: the same list in both
 * directions). */
#ifndef HINNY_HTTP_HEADERS_FILTER_H
#define HINNY_HTTP_HEADERS_FILTER_H

#include "core/model/headers.h"

#include <stdbool.h>

/* Does a name begin with "Camel" or "org.apache.camel" in any case? Such headers neither come in
 * nor go out. */
bool header_is_internal(struct str name);
/* May the header leave as a field of its own? Not those that are internal, belong to one hop or to
 * the engine (framing, Host, Content-Type, Date …). */
bool header_goes_out(const struct header *h);
/* Does it belong to requests alone (Accept, User-Agent …), so that it is not sent back with an
 * answer? */
bool header_is_of_request(const struct header *h);

#endif
