/* xtokenize, the part that every process has: options, and the path as steps. */
#include "core/lang/xtokenize.h"

#include "core/base/assert.h"
#include "core/config/compile.h"

enum { PATH_STEPS_MAX = 64 };

static const struct option_desc xtokenize_options[] = {
	{ .name = "mode",
	    .type = OPTION_ENUM,
	    .values = "i|w|u|t",
	    .dflt = "i",
	    .help = "i: with the namespaces it is in, w: within its ancestors, u: its content, t: "
		    "its text",
	    .offset = offsetof(struct xtokenize_conf, mode) },
	{ .name = "group",
	    .type = OPTION_INT,
	    .dflt = "0",
	    .min = 0,
	    .max = 1000000,
	    .help = "as many items in one, 0: one by one",
	    .offset = offsetof(struct xtokenize_conf, group) },
	{ .name = "namespace",
	    .type = OPTION_PAIRS,
	    .help = "prefixes of the path: a list of key (prefix) and value (URI)",
	    .offset = offsetof(struct xtokenize_conf, namespaces) },
	{ .name = "source",
	    .type = OPTION_STRING,
	    .help = "what it works on: body, header:NAME, exchangeProperty:NAME or variable:NAME",
	    .offset = offsetof(struct xtokenize_conf, source_text) },
	OPTIONS_END,
};

static bool
is_name(struct str s)
{
	if (s.n == 0 || (s.n == 1 && s.p[0] == '*'))
		return s.n == 1;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
		    (unsigned char)c >= 0x80;
		if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '-' || c == '.')))
			return false;
	}
	return true;
}

/* "x:i" or "i" into *step. */
static int
read_step(
    struct compile *c, const struct expression *e, struct str text, struct xtokenize_step *step)
{
	const struct xtokenize_conf *conf = e->conf;
	size_t at = (size_t)(text.p - e->text);
	const char *colon = text.n > 0 ? memchr(text.p, ':', text.n) : NULL;
	step->name = text;
	if (colon != NULL) {
		step->prefix = (struct str){ text.p, (size_t)(colon - text.p) };
		step->name = (struct str){ colon + 1, text.n - step->prefix.n - 1 };
	}
	if (!is_name(step->name) ||
	    (colon != NULL && (!is_name(step->prefix) || step->prefix.p[0] == '*')))
		return compile_error_in(
		    c, e, at, "expected an element's name, got \"%.*s\"", STR_FMT(text));
	for (size_t i = 0; colon != NULL && i < conf->namespaces.n; i++)
		if (str_eq(step->prefix, str_of(conf->namespaces.items[i].key)))
			step->uri = conf->namespaces.items[i].value;
	if (colon != NULL && step->uri == NULL)
		return compile_error_in(
		    c, e, at, "Prefix must resolve to a namespace: %.*s", STR_FMT(step->prefix));
	return 0;
}

static int
read_path(struct compile *c, struct expression *e)
{
	struct str text = str_of(e->text);
	struct xtokenize_path *path = ARENA_NEW(compile_arena(c), struct xtokenize_path);
	path->steps = arena_zalloc(compile_arena(c), PATH_STEPS_MAX * sizeof *path->steps);
	e->code = path;
	if (text.n == 0)
		return compile_error(c, e->at, "a path is missing");
	for (size_t i = 0; i < text.n;) {
		bool slash = text.p[i] == '/',
		     anywhere = slash && i + 1 < text.n && text.p[i + 1] == '/';
		i += slash + anywhere;
		size_t begin = i;
		while (i < text.n && text.p[i] != '/')
			i++;
		if (path->n == PATH_STEPS_MAX)
			return compile_error_in(c, e, i, "more than %d steps", PATH_STEPS_MAX);
		struct xtokenize_step *step = &path->steps[path->n++];
		step->anywhere = anywhere || !slash;
		int rc = read_step(c, e, (struct str){ text.p + begin, i - begin }, step);
		if (rc != 0)
			return rc;
	}
	return 0;
}

static int
xtokenize_compile(struct compile *c, struct expression *e)
{
	struct xtokenize_conf *conf = e->conf;
	int rc = source_compile(c, e, conf->source_text, &conf->source);
	return read_path(c, e) | rc;
}

const struct language_desc xtokenize_language = {
	.name = "xtokenize",
	.options = xtokenize_options,
	.conf_size = sizeof(struct xtokenize_conf),
	.owner = "xform",
	.flags = LANGUAGE_NODES,
	.compile = xtokenize_compile,
	.help = "the elements at a path of an XML document, one by one",
};
