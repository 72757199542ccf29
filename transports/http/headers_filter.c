/* The filters are tables by header id: what a message carries most has one. */
#include "transports/http/headers_filter.h"

enum { STAYS = 1, OF_REQUEST = 2 };

static const unsigned char classes[HEADER_ID_MAX + 1] = {
	[HEADER_CONTENT_LENGTH] = STAYS,
	[HEADER_CONTENT_TYPE] = STAYS,
	[HEADER_HOST] = STAYS,
	[HEADER_CACHE_CONTROL] = STAYS,
	[HEADER_CONNECTION] = STAYS,
	[HEADER_DATE] = STAYS,
	[HEADER_PRAGMA] = STAYS,
	[HEADER_TRAILER] = STAYS,
	[HEADER_TRANSFER_ENCODING] = STAYS,
	[HEADER_UPGRADE] = STAYS,
	[HEADER_VIA] = STAYS,
	[HEADER_WARNING] = STAYS,
	[HEADER_KEEP_ALIVE] = STAYS,
	[HEADER_TE] = STAYS,
	[HEADER_PROXY_CONNECTION] = STAYS,
	[HEADER_EXPECT] = STAYS,
	[HEADER_ACCEPT] = OF_REQUEST,
	[HEADER_ACCEPT_CHARSET] = OF_REQUEST,
	[HEADER_ACCEPT_ENCODING] = OF_REQUEST,
	[HEADER_ACCEPT_LANGUAGE] = OF_REQUEST,
	[HEADER_AUTHORIZATION] = OF_REQUEST,
	[HEADER_COOKIE] = OF_REQUEST,
	[HEADER_FORWARDED] = OF_REQUEST,
	[HEADER_FROM] = OF_REQUEST,
	[HEADER_IF_MATCH] = OF_REQUEST,
	[HEADER_IF_MODIFIED_SINCE] = OF_REQUEST,
	[HEADER_IF_NONE_MATCH] = OF_REQUEST,
	[HEADER_IF_RANGE] = OF_REQUEST,
	[HEADER_IF_UNMODIFIED_SINCE] = OF_REQUEST,
	[HEADER_MAX_FORWARDS] = OF_REQUEST,
	[HEADER_ORIGIN] = OF_REQUEST,
	[HEADER_PROXY_AUTHORIZATION] = OF_REQUEST,
	[HEADER_RANGE] = OF_REQUEST,
	[HEADER_REFERER] = OF_REQUEST,
	[HEADER_USER_AGENT] = OF_REQUEST,
};

bool
header_is_internal(struct str name)
{
	if (name.n == 0)
		return false;
	if ((name.p[0] | 0x20) == 'c')
		return str_casestarts(name, "camel");
	return (name.p[0] | 0x20) == 'o' && str_casestarts(name, "org.apache.camel");
}

bool
header_goes_out(const struct header *h)
{
	if (classes[h->id] & STAYS)
		return false;
	if (h->name.n == 1 && h->name.p[0] == '*')
		return false; /* what followed a prefix: for the route alone */
	return !header_is_internal(h->name);
}

bool
header_is_of_request(const struct header *h)
{
	return (classes[h->id] & OF_REQUEST) != 0;
}
