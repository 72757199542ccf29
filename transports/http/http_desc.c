/*
 * Descriptor of the http component (client). Options that it does not know are sent as query; those
 * that Camel has and Hinny has not are refused by name.
 */
#include "transports/http/http_conf.h"

#include "core/config/compile.h"
#include "core/model/descriptor.h"

#include <stddef.h>
#include <string.h>

#define AT(m) offsetof(struct http_conf, m)

static const struct option_desc options[] = {
	{ .name = "httpUri",
	    .type = OPTION_STRING,
	    .flags = OPTION_REQUIRED | OPTION_PATH,
	    .offset = AT(uri),
	    .help = "host[:port][/path]" },
	{ .name = "authBearerToken",
	    .type = OPTION_STRING,
	    .flags = OPTION_PRODUCER,
	    .offset = AT(auth_token),
	    .help = "token of authMethod Bearer" },
	{ .name = "authMethod",
	    .type = OPTION_ENUM,
	    .values = "|Basic|Bearer",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(auth_method),
	    .help = "how to authenticate; sent with every request" },
	{ .name = "authPassword",
	    .type = OPTION_STRING,
	    .flags = OPTION_PRODUCER,
	    .offset = AT(auth_password),
	    .help = "password of authMethod Basic" },
	{ .name = "authUsername",
	    .type = OPTION_STRING,
	    .flags = OPTION_PRODUCER,
	    .offset = AT(auth_username),
	    .help = "user of authMethod Basic" },
	{ .name = "bridgeEndpoint",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(bridge_endpoint),
	    .help = "send to this address, whatever the header CamelHttpUri says: for proxies" },
	{ .name = "clearExpiredCookies",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_PRODUCER | OPTION_LABEL,
	    .offset = AT(clear_expired_cookies),
	    .help = "without meaning here: there is no cookie store" },
	{ .name = "connectTimeout",
	    .type = OPTION_DURATION,
	    .flags = OPTION_PRODUCER,
	    .offset = AT(connect_timeout),
	    .help = "longest time to connect; 0: http.connect_timeout of hinny.yaml" },
	{ .name = "connectionClose",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(connection_close),
	    .help = "one connection for each request" },
	{ .name = "connectionRequestTimeout",
	    .type = OPTION_DURATION,
	    .flags = OPTION_PRODUCER,
	    .offset = AT(connection_request_timeout),
	    .help = "longest time to wait for a free connection; 0: the connect time-out" },
	{ .name = "contentTypeCharsetEnabled",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_PRODUCER | OPTION_LABEL,
	    .offset = AT(content_type_charset),
	    .help = "without meaning here: the Content-Type is sent as it is" },
	{ .name = "copyHeaders",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(copy_headers),
	    .help = "keep the request's headers beside those of the answer" },
	{ .name = "customHostHeader",
	    .type = OPTION_STRING,
	    .flags = OPTION_PRODUCER,
	    .offset = AT(custom_host),
	    .help = "Host header to send" },
	{ .name = "deleteWithBody",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(delete_with_body),
	    .help = "send the body with DELETE" },
	{ .name = "disableStreamCache",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER | OPTION_LABEL,
	    .offset = AT(disable_stream_cache),
	    .help = "without meaning here: an answer streams wherever no step reads it" },
	{ .name = "followRedirects",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(follow_redirects),
	    .help = "go where an answer 301, 302, 303, 307 or 308 leads" },
	{ .name = "getWithBody",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(get_with_body),
	    .help = "send the body with GET" },
	{ .name = "httpMethod",
	    .type = OPTION_ENUM,
	    .values = "|GET|POST|PUT|DELETE|HEAD|OPTIONS|TRACE|PATCH",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(method),
	    .help = "method to use, whatever the header CamelHttpMethod says" },
	{ .name = "ignoreResponseBody",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(ignore_response_body),
	    .help = "drop the body of the answer" },
	{ .name = "lazyStartProducer",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER | OPTION_LABEL,
	    .offset = AT(lazy_start),
	    .help = "without meaning here: connections are made when they are needed" },
	{ .name = "okStatusCodeRange",
	    .type = OPTION_STRING,
	    .dflt = "200-299",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(ok_status),
	    .help = "statuses that are no failure, such as \"200-204,304\"" },
	{ .name = "preserveHostHeader",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(preserve_host),
	    .help = "send the message's Host header on" },
	{ .name = "responseTimeout",
	    .type = OPTION_DURATION,
	    .flags = OPTION_PRODUCER,
	    .offset = AT(response_timeout),
	    .help = "longest time to wait for the head of the answer; 0: "
		    "http.response_timeout of hinny.yaml" },
	{ .name = "skipControlHeaders",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(skip_control_headers),
	    .help = "do not let the headers CamelHttpUri, -Path, -Query and -Method change the "
		    "request" },
	{ .name = "skipRequestHeaders",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(skip_request_headers),
	    .help = "send no header of the message" },
	{ .name = "skipResponseHeaders",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(skip_response_headers),
	    .help = "take no header of the answer" },
	{ .name = "soTimeout",
	    .type = OPTION_DURATION,
	    .flags = OPTION_PRODUCER,
	    .offset = AT(so_timeout),
	    .help = "longest time without a byte of the answer; 0: as responseTimeout" },
	{ .name = "throwExceptionOnFailure",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_PRODUCER,
	    .offset = AT(throw_on_failure),
	    .help = "a status outside okStatusCodeRange is an exception" },
	{ .name = "userAgent",
	    .type = OPTION_STRING,
	    .flags = OPTION_PRODUCER,
	    .offset = AT(user_agent),
	    .help = "User-Agent header to send" },
	OPTIONS_END,
};

/* Groups of options of Camel's http component that this release does not have; single ones are in
 * core/config/refused.def. */
static bool
is_refused(const char *key)
{
	return strncmp(key, "httpClient.", 11) == 0 || strncmp(key, "httpConnection.", 15) == 0;
}

/* One item of a status list: "200" or "200-299". */
static bool
status_item(struct str item, int64_t *low, int64_t *high)
{
	struct str first;

	item = str_trim(item);
	if (!str_split(&item, '-', &first) || !str_to_int64(str_trim(first), low))
		return false;
	if (item.p == NULL)
		*high = *low;
	else if (!str_to_int64(str_trim(item), high))
		return false;
	return *low >= 0 && *low <= *high && *high <= 999;
}

bool
http_status_in(const char *ranges, int status)
{
	struct str rest = str_of(ranges), item;
	int64_t low, high;

	while (str_split(&rest, ',', &item))
		if (status_item(item, &low, &high) && status >= low && status <= high)
			return true;
	return false;
}

enum hinny_rc
http_status_check(const char *ranges, struct hinny_error *err)
{
	struct str rest = str_of(ranges), item;
	int64_t low, high;

	while (str_split(&rest, ',', &item))
		if (!status_item(item, &low, &high))
			return hinny_error_set(err, HINNY_EINVAL,
			    "expected a list such as \"200-299,304\", got \"%s\"", ranges);
	return HINNY_OK;
}

static int
check_auth(struct compile *c, struct endpoint *ep, const struct http_conf *conf)
{
	if (conf->auth_method == HTTP_AUTH_BASIC &&
	    (conf->auth_username == NULL || conf->auth_password == NULL))
		return compile_error(
		    c, ep->at, "authMethod Basic needs authUsername and authPassword");
	if (conf->auth_method == HTTP_AUTH_BEARER && conf->auth_token == NULL)
		return compile_error(c, ep->at, "authMethod Bearer needs authBearerToken");
	if (conf->auth_method == HTTP_AUTH_NONE &&
	    (conf->auth_username || conf->auth_password || conf->auth_token))
		return compile_error(
		    c, ep->at, "authUsername, authPassword and authBearerToken need authMethod");
	return 0;
}

static int
check(struct compile *c, struct endpoint *ep)
{
	const struct http_conf *conf = ep->conf;
	struct hinny_error err;
	int rc = 0;

	if (str_casestarts(str_of(ep->uri), "https:"))
		rc = compile_error(
		    c, ep->at, "\"https:\" needs hinny-https, which is not in this release");
	for (size_t i = 0; i < ep->rest.n; i++)
		if (is_refused(ep->rest.items[i].key))
			rc = compile_error(c, ep->at,
			    "option \"%s\" of http is not implemented in this release",
			    ep->rest.items[i].key);
	if (conf->ok_status != NULL && http_status_check(conf->ok_status, &err) != HINNY_OK)
		rc = compile_error(c, ep->at, "okStatusCodeRange: %s", err.text);
	return rc | check_auth(c, ep, conf);
}

static const char *const aliases[] = { "https", NULL };

const struct component_desc http_component = {
	.scheme = "http",
	.aliases = aliases,
	.syntax = "http://httpUri",
	.options = options,
	.conf_size = sizeof(struct http_conf),
	.owner = "http",
	.flags =
	    COMPONENT_PRODUCER | COMPONENT_LENIENT | COMPONENT_STREAM_IN | COMPONENT_STREAM_OUT,
	.check = check,
	.help = "HTTP client: sends the message and takes the answer",
};
