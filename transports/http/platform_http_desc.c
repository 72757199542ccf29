/* Descriptor of the platform-http component: data and the checks that need no runtime. */
#include "transports/http/platform_http_conf.h"

#include "core/config/compile.h"
#include "core/model/descriptor.h"

#include <stddef.h>
#include <string.h>

#define AT(m) offsetof(struct platform_http_conf, m)

static const struct option_desc options[] = {
	{ .name = "path",
	    .type = OPTION_STRING,
	    .flags = OPTION_REQUIRED | OPTION_PATH,
	    .offset = AT(path),
	    .help = "path to serve; {name} takes one segment into the header of that name" },
	{ .name = "consumes",
	    .type = OPTION_STRING,
	    .flags = OPTION_CONSUMER | OPTION_UNIQUE,
	    .offset = AT(consumes),
	    .help = "media types that are accepted, comma-separated; another one is answered 415" },
	{ .name = "httpMethodRestrict",
	    .type = OPTION_STRING,
	    .flags = OPTION_CONSUMER | OPTION_UNIQUE,
	    .offset = AT(methods),
	    .help = "methods that are served, comma-separated; another one is answered 405" },
	{ .name = "matchOnUriPrefix",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_CONSUMER,
	    .offset = AT(prefix),
	    .help = "serve all paths that begin with this one" },
	{ .name = "muteException",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_CONSUMER,
	    .offset = AT(mute_exception),
	    .help =
		"answer a failed exchange with an empty body; false: with the exception's text" },
	{ .name = "populateBodyWithForm",
	    .type = OPTION_BOOL,
	    .dflt = "true",
	    .flags = OPTION_CONSUMER,
	    .offset = AT(populate_form),
	    .help = "an application/x-www-form-urlencoded body becomes a map, its fields also "
		    "headers" },
	{ .name = "produces",
	    .type = OPTION_STRING,
	    .flags = OPTION_CONSUMER | OPTION_UNIQUE,
	    .offset = AT(produces),
	    .help = "media types that the route answers, comma-separated; a request that accepts "
		    "none is answered 406" },
	{ .name = "returnHttpRequestHeaders",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_CONSUMER,
	    .offset = AT(return_request_headers),
	    .help = "send Accept, User-Agent and the like back with the answer" },
	{ .name = "useStreaming",
	    .type = OPTION_BOOL,
	    .dflt = "false",
	    .flags = OPTION_CONSUMER | OPTION_LABEL,
	    .offset = AT(use_streaming),
	    .help = "without meaning here: a body streams wherever no step reads it" },
	OPTIONS_END,
};

/* A parameter's braces must enclose a whole segment's name: "/a/{b}/c". */
static int
check_path(struct compile *c, struct endpoint *ep, const char *path)
{
	for (const char *p = path; *p != '\0'; p++) {
		if ((unsigned char)*p <= ' ' || (unsigned char)*p == 127)
			return compile_error(c, ep->at,
			    "path \"%s\" of platform-http has a blank or control character", path);
		if (*p == '}')
			return compile_error(c, ep->at,
			    "path \"%s\" of platform-http has a \"}\" without \"{\"", path);
		if (*p != '{')
			continue;
		const char *close = strpbrk(p + 1, "{}/");
		if (close == NULL || *close != '}' || close == p + 1)
			return compile_error(c, ep->at,
			    "path \"%s\" of platform-http: expected a parameter such as {id}",
			    path);
		if ((p > path && p[-1] != '/') || (close[1] != '/' && close[1] != '\0'))
			return compile_error(c, ep->at,
			    "path \"%s\" of platform-http: a parameter must be a whole segment",
			    path);
		p = close;
	}
	return 0;
}

static int
check_methods(struct compile *c, struct endpoint *ep, const char *methods)
{
	static const char *const known[] = { "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH",
		"POST", "PUT", "TRACE", NULL };
	struct str rest = str_of(methods), item;

	while (str_split(&rest, ',', &item)) {
		bool found = false;
		item = str_trim(item);
		for (size_t i = 0; known[i] != NULL; i++)
			found = found || str_caseeq(item, str_of(known[i]));
		if (found)
			continue;
		const char *near = str_nearest(item, known);
		return compile_error(c, ep->at,
		    "httpMethodRestrict: expected methods such as \"GET,POST\", got \"%.*s\"%s%s%s",
		    STR_FMT(item), near ? ", did you mean \"" : "", near ? near : "",
		    near ? "\"" : "");
	}
	return 0;
}

static int
check(struct compile *c, struct endpoint *ep)
{
	const struct platform_http_conf *conf = ep->conf;
	int rc = 0;

	if (conf->path != NULL)
		rc |= check_path(c, ep, conf->path);
	if (conf->methods != NULL)
		rc |= check_methods(c, ep, conf->methods);
	return rc;
}

const struct component_desc platform_http_component = {
	.scheme = "platform-http",
	.syntax = "platform-http:path",
	.options = options,
	.conf_size = sizeof(struct platform_http_conf),
	.owner = "http",
	.flags = COMPONENT_CONSUMER | COMPONENT_STREAM_OUT | COMPONENT_UNIQUE,
	.check = check,
	.help = "HTTP server: one route a path",
};
