/*
 * Dotted access of Simple on values: [0], [last-1], [key], .method(args), ?.x. It never reads a
 * map's key by .name: that calls a method, as in Java. No receiver (null) gives null; an index
 * beyond the end and a method that is not there are errors.
 */
#include "core/lang/simple_method.h"

#include "core/base/assert.h"
#include "core/lang/document.h"

enum { PATH_STEPS_MAX = 64 };

struct simple_path {
	struct access_step *steps;
	size_t n;
};

/* ---- parsing ---- */

static struct str
unquote(struct str s)
{
	if (s.n >= 2 && (s.p[0] == '\'' || s.p[0] == '"') && s.p[s.n - 1] == s.p[0])
		return (struct str){ s.p + 1, s.n - 2 };
	return s;
}

/* The position of `close` from i on, outside of quotes that began the item; SIZE_MAX. */
static size_t
find_close(struct str s, size_t i, char close)
{
	char quote = 0;
	for (size_t begin = i; i < s.n; i++) {
		char c = s.p[i];
		if (quote != 0)
			quote = c == quote ? 0 : quote;
		else if ((c == '\'' || c == '"') &&
		    (i == begin || s.p[i - 1] == ',' || s.p[i - 1] == ' '))
			quote = c;
		else if (c == close)
			return i;
	}
	return SIZE_MAX;
}

static void
read_key(struct access_step *step)
{
	struct str key = step->name = unquote(step->name), number = str_trim(key);
	if (str_eq(key, STR_LIT("last"))) {
		step->kind = KEY_LAST;
	} else if (str_starts(key, "last-") &&
	    str_to_int64((struct str){ key.p + 5, key.n - 5 }, &step->index) && step->index >= 0 &&
	    step->index <= INT32_MAX) {
		step->kind = KEY_LAST;
	} else if (str_to_int64(number, &step->index)) {
		step->kind = KEY_INDEX;
	}
}

static const char *
read_args(struct access_step *step, struct str args)
{
	step->parens = true;
	if (str_trim(args).n == 0)
		return NULL;
	for (size_t i = 0; i <= args.n;) {
		size_t comma = find_close(args, i, ',');
		size_t end = comma == SIZE_MAX ? args.n : comma;
		if (step->args_n == METHOD_ARGS_MAX)
			return "a method has too many arguments";
		step->args[step->args_n++] = unquote(str_trim((struct str){ args.p + i, end - i }));
		i = end + 1;
	}
	return NULL;
}

/* .name or .name(args) at i; *end is behind it. */
static const char *
read_method(struct str s, size_t i, struct access_step *step, size_t *end)
{
	size_t begin = i;
	while (i < s.n && strchr(".?[(", s.p[i]) == NULL)
		i++;
	step->is_method = true;
	step->name = (struct str){ s.p + begin, i - begin };
	if (step->name.n == 0 || !((step->name.p[0] | 32) >= 'a' && (step->name.p[0] | 32) <= 'z'))
		return "a method name is missing";
	*end = i;
	if (i >= s.n || s.p[i] != '(')
		return NULL;
	size_t close = find_close(s, i + 1, ')');
	if (close == SIZE_MAX)
		return "a ) is missing";
	*end = close + 1;
	return read_args(step, (struct str){ s.p + i + 1, close - i - 1 });
}

static const char *
read_step(struct str s, size_t i, struct access_step *step, size_t *end)
{
	if (s.p[i] == '?') {
		step->null_safe = true;
		i++;
	}
	if (i < s.n && s.p[i] == '.')
		return read_method(s, i + 1, step, end);
	if (i >= s.n || s.p[i] != '[')
		return "expected . or [";
	size_t close = find_close(s, i + 1, ']');
	if (close == SIZE_MAX)
		return "a ] is missing";
	step->name = (struct str){ s.p + i + 1, close - i - 1 };
	read_key(step);
	*end = close + 1;
	return NULL;
}

bool
simple_path_parse(struct arena *a, struct str text, struct simple_path **out, const char **why)
{
	struct access_step steps[PATH_STEPS_MAX];
	size_t n = 0;
	for (size_t i = 0; i < text.n;) {
		if (n == PATH_STEPS_MAX) {
			*why = "too many steps";
			return false;
		}
		memset(&steps[n], 0, sizeof steps[n]);
		*why = read_step(text, i, &steps[n++], &i);
		if (*why != NULL)
			return false;
	}
	struct simple_path *path = ARENA_NEW(a, struct simple_path);
	path->n = n;
	path->steps = arena_alloc(a, n * sizeof *path->steps);
	memcpy(path->steps, steps, n * sizeof *steps);
	*out = path;
	return true;
}

void
simple_key_split(struct arena *a, struct str text, struct simple_key *key)
{
	key->full = text;
	key->full_hash = str_casehash(text);
	key->path = NULL;
	for (size_t i = 1; i < text.n; i++) {
		if (strchr(".?[", text.p[i]) == NULL)
			continue;
		const char *why;
		if (simple_path_parse(
			a, (struct str){ text.p + i, text.n - i }, &key->path, &why)) {
			key->name = (struct str){ text.p, i };
			key->name_hash = str_casehash(key->name);
		}
		return;
	}
}

/* ---- applying ---- */

static enum eval_rc
access_key(
    const struct access_step *step, struct exchange *ex, const struct value *v, struct value *out)
{
	enum document_kind kind = document_kind(v);
	if (kind == DOCUMENT_OBJECT) {
		if (!document_member(&ex->arena, v, step->name, out))
			*out = value_null();
		return EVAL_OK;
	}
	if (kind == DOCUMENT_ARRAY && step->kind != KEY_TEXT) {
		int64_t index = step->kind == KEY_LAST ? (int64_t)document_size(v) - 1 - step->index
						       : step->index;
		return simple_list_index(ex, v, index, step->null_safe, out);
	}
	const char *type = value_class(v);
	return simple_fail(ex,
	    kind == DOCUMENT_ARRAY ? EXCEPTION_INDEX_OUT_OF_BOUNDS : EXCEPTION_BEAN_EXPRESSION,
	    "Key: %.*s not found in bean of type: %s", STR_FMT(step->name),
	    type != NULL ? type : "null");
}

enum eval_rc
simple_path_apply(
    const struct simple_path *path, struct exchange *ex, struct value v, struct value *out)
{
	for (size_t i = 0; i < path->n; i++) {
		const struct access_step *step = &path->steps[i];
		v = document_plain(&ex->arena, v);
		/* nothing at all has no parts; of what a key has not found there is no method */
		if (value_is_null(&v) && i > 0 && step->is_method && !step->null_safe &&
		    !path->steps[i - 1].is_method)
			return simple_fail(ex, EXCEPTION_METHOD_NOT_FOUND,
			    "Method with name: %.*s not found on null", STR_FMT(step->name));
		if (value_is_null(&v))
			break;
		struct value next;
		size_t class = simple_method_class(step, path->n - i, ex, &v, &next);
		if (class > 0) {
			i += class - 1;
			v = next;
			continue;
		}
		enum eval_rc rc = step->is_method ? simple_method_call(step, ex, &v, &next)
						  : access_key(step, ex, &v, &next);
		if (rc != EVAL_OK)
			return rc;
		v = next;
	}
	*out = v;
	return EVAL_OK;
}
