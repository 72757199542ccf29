/* Functions of Simple on the message, its exchange and the process. */
#include "core/lang/simple_fn.h"

#include "core/base/assert.h"
#include "core/eip/variables.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

static enum eval_rc
give_text(struct value *out, const char *s)
{
	*out = s != NULL ? value_str(str_of(s)) : value_null();
	return EVAL_OK;
}

/* ---- ids ---- */

enum eval_rc
simple_fn_exchange_id(struct simple_call *call, struct value *out)
{
	*out = value_str(exchange_id(call->ex));
	return EVAL_OK;
}

enum eval_rc
simple_fn_route_id(struct simple_call *call, struct value *out)
{
	return give_text(out, call->ex->route != NULL ? call->ex->route->id : NULL);
}

enum eval_rc
simple_fn_route_group(struct simple_call *call, struct value *out)
{
	return give_text(out, call->ex->route != NULL ? call->ex->route->group : NULL);
}

enum eval_rc
simple_fn_from_route_id(struct simple_call *call, struct value *out)
{
	return give_text(out, call->ex->from_route != NULL ? call->ex->from_route->id : NULL);
}

enum eval_rc
simple_fn_camel_id(struct simple_call *call, struct value *out)
{
	(void)call;
	return give_text(out, "hinny");
}

enum eval_rc
simple_fn_message_timestamp(struct simple_call *call, struct value *out)
{
	struct value *found = exchange_header(call->ex, STR_LIT("CamelMessageTimestamp"));
	*out = found != NULL ? *found : value_int(0);
	return EVAL_OK;
}

enum eval_rc
simple_fn_hostname(struct simple_call *call, struct value *out)
{
	char name[256];
	if (gethostname(name, sizeof name) != 0)
		return EVAL_OK;
	name[sizeof name - 1] = '\0';
	return give_text(out, arena_strdup(simple_arena(call), name));
}

/* ---- parts of the message ---- */

enum eval_rc
simple_fn_body_type(struct simple_call *call, struct value *out)
{
	struct value v;
	enum eval_rc rc = simple_arg(call, 0, &v);
	const char *name = rc == EVAL_OK ? value_class(&v) : NULL;
	if (name != NULL)
		*out = value_str(str_of(strchr(name, '[') != NULL
			? arena_printf(simple_arena(call), "class [B")
			: arena_printf(simple_arena(call), "class %s", name)));
	return rc;
}

enum eval_rc
simple_fn_headers(struct simple_call *call, struct value *out)
{
	struct headers *hs = &call->ex->headers;
	*out = value_new_map(simple_arena(call), hs->live, true);
	HEADERS_FOREACH (hs, h)
		value_map_set(simple_arena(call), out->u.map, h->name, h->value);
	return EVAL_OK;
}

enum eval_rc
simple_fn_headers_size(struct simple_call *call, struct value *out)
{
	*out = value_int(call->ex->headers.live);
	return EVAL_OK;
}

enum eval_rc
simple_fn_variables(struct simple_call *call, struct value *out)
{
	const struct value_map *m = &call->ex->variables;
	*out = value_new_map(simple_arena(call), m->n, false);
	for (size_t i = 0; i < m->n; i++)
		value_map_set(
		    simple_arena(call), out->u.map, m->entries[i].key, *m->entries[i].value);
	return EVAL_OK;
}

enum eval_rc
simple_fn_variables_size(struct simple_call *call, struct value *out)
{
	*out = value_int((int64_t)call->ex->variables.n);
	return EVAL_OK;
}

/* name, value or name, class, value. */
static enum eval_rc
setter_args(struct simple_call *call, struct str *name, struct value *value)
{
	bool null, typed = simple_arg_given(call, 2);
	struct value v;
	struct hinny_error err;
	enum eval_rc rc = simple_arg_text(call, 0, name, &null);
	if (rc == EVAL_OK)
		rc = simple_arg(call, typed ? 2 : 1, &v);
	*value = v;
	if (rc != EVAL_OK || !typed)
		return rc;
	struct str type;
	rc = simple_arg_text(call, 1, &type, &null);
	if (rc != EVAL_OK)
		return rc;
	enum value_class_id id = value_class_find(str_trim(type));
	if (id == CLASS_NONE)
		return simple_fail(call->ex, EXCEPTION_CLASS_NOT_FOUND, "%.*s", STR_FMT(type));
	if (value_convert(simple_arena(call), &v, id, value, &err) != HINNY_OK)
		return simple_fail(call->ex, EXCEPTION_TYPE_CONVERSION, "%s", err.text);
	return EVAL_OK;
}

enum eval_rc
simple_fn_set_header(struct simple_call *call, struct value *out)
{
	struct str name;
	struct value v;
	(void)out;
	enum eval_rc rc = setter_args(call, &name, &v);
	if (rc == EVAL_OK)
		exchange_set_header(call->ex, name, v);
	return rc;
}

enum eval_rc
simple_fn_set_variable(struct simple_call *call, struct value *out)
{
	struct str name;
	struct value v;
	(void)out;
	enum eval_rc rc = setter_args(call, &name, &v);
	if (rc == EVAL_OK && variables_is_shared(name))
		return variables_set(call->ex, name, v);
	if (rc == EVAL_OK)
		exchange_set_variable(call->ex, name, v);
	return rc;
}

/* ---- the exception ---- */

static const struct exception *
exception_of(const struct exchange *ex)
{
	return ex->exception != NULL ? ex->exception : ex->caught;
}

static const char *
exception_text(struct arena *a, const struct exception *e)
{
	const char *name = exception_class(e->id)->name;
	return e->message.p != NULL ? arena_printf(a, "%s: %.*s", name, STR_FMT(e->message)) : name;
}

enum eval_rc
simple_fn_exception(struct simple_call *call, struct value *out)
{
	const struct exception *e = exception_of(call->ex);
	return give_text(out, e != NULL ? exception_text(simple_arena(call), e) : NULL);
}

enum eval_rc
simple_fn_exception_message(struct simple_call *call, struct value *out)
{
	const struct exception *e = exception_of(call->ex);
	if (e != NULL && e->message.p != NULL)
		*out = value_str(e->message);
	return EVAL_OK;
}

/* Its class, with or without the package. */
static enum eval_rc
give_class(const struct exception *e, bool simple, struct value *out)
{
	const char *name = e != NULL ? exception_class(e->id)->name : NULL;
	const char *dot = name != NULL && simple ? strrchr(name, '.') : NULL;
	return give_text(out, dot != NULL ? dot + 1 : name);
}

static const struct exception *
cause_of(const struct exchange *ex)
{
	const struct exception *e = exception_of(ex);
	return e != NULL ? e->cause : NULL;
}

enum eval_rc
simple_fn_exception_class(struct simple_call *call, struct value *out)
{
	return give_class(exception_of(call->ex), false, out);
}

enum eval_rc
simple_fn_exception_simple_class(struct simple_call *call, struct value *out)
{
	return give_class(exception_of(call->ex), true, out);
}

enum eval_rc
simple_fn_exception_cause(struct simple_call *call, struct value *out)
{
	const struct exception *e = cause_of(call->ex);
	return give_text(out, e != NULL ? exception_text(simple_arena(call), e) : NULL);
}

enum eval_rc
simple_fn_exception_cause_class(struct simple_call *call, struct value *out)
{
	return give_class(cause_of(call->ex), false, out);
}

enum eval_rc
simple_fn_exception_cause_simple_class(struct simple_call *call, struct value *out)
{
	return give_class(cause_of(call->ex), true, out);
}

enum eval_rc
simple_fn_exception_cause_message(struct simple_call *call, struct value *out)
{
	const struct exception *e = cause_of(call->ex);
	if (e != NULL && e->message.p != NULL)
		*out = value_str(e->message);
	return EVAL_OK;
}

/* What an HTTP call that failed with a status leaves; null for other exceptions. */
static const struct exception *
http_exception_of(const struct exchange *ex)
{
	const struct exception *e = exception_of(ex);
	while (e != NULL && e->id != EXCEPTION_HTTP_OPERATION_FAILED)
		e = e->cause;
	return e;
}

static enum eval_rc
give_exception_str(struct simple_call *call, size_t member, struct value *out)
{
	const struct exception *e = http_exception_of(call->ex);
	const struct str *s = e != NULL ? (const struct str *)((const char *)e + member) : NULL;
	if (s != NULL && s->p != NULL)
		*out = value_str(*s);
	return EVAL_OK;
}

enum eval_rc
simple_fn_exception_redirect_location(struct simple_call *call, struct value *out)
{
	return give_exception_str(call, offsetof(struct exception, redirect_location), out);
}

enum eval_rc
simple_fn_exception_status_text(struct simple_call *call, struct value *out)
{
	return give_exception_str(call, offsetof(struct exception, status_text), out);
}

enum eval_rc
simple_fn_exception_uri(struct simple_call *call, struct value *out)
{
	return give_exception_str(call, offsetof(struct exception, uri), out);
}

enum eval_rc
simple_fn_exception_status_code(struct simple_call *call, struct value *out)
{
	const struct exception *e = http_exception_of(call->ex);
	if (e != NULL)
		*out = value_int(e->status_code);
	return EVAL_OK;
}

enum eval_rc
simple_fn_exception_response_body(struct simple_call *call, struct value *out)
{
	const struct exception *e = http_exception_of(call->ex);
	if (e != NULL)
		*out = e->response_body;
	return EVAL_OK;
}

enum eval_rc
simple_fn_exception_response_headers(struct simple_call *call, struct value *out)
{
	const struct exception *e = http_exception_of(call->ex);
	if (e != NULL)
		*out = e->response_headers;
	return EVAL_OK;
}

enum eval_rc
simple_fn_exception_stacktrace(struct simple_call *call, struct value *out)
{
	const struct exception *e = exception_of(call->ex);
	if (e == NULL)
		return simple_fail(call->ex, EXCEPTION_NULL_POINTER,
		    "function exception.stacktrace: there is no exception");
	const char *text = exception_text(simple_arena(call), e);
	for (e = e->cause; e != NULL; e = e->cause)
		text = arena_printf(simple_arena(call), "%s\nCaused by: %s", text,
		    exception_text(simple_arena(call), e));
	return give_text(out, text);
}

enum eval_rc
simple_fn_throw_exception(struct simple_call *call, struct value *out)
{
	struct str message, type;
	bool null, no_type;
	(void)out;
	enum eval_rc rc = simple_arg_text(call, 0, &message, &null);
	if (rc == EVAL_OK)
		rc = simple_arg_text(call, 1, &type, &no_type);
	if (rc != EVAL_OK)
		return rc;
	int id = no_type ? EXCEPTION_ILLEGAL_ARGUMENT : exception_find(type);
	if (id < 0)
		return simple_fail(call->ex, EXCEPTION_CLASS_NOT_FOUND, "%.*s", STR_FMT(type));
	return simple_fail(call->ex, (enum exception_id)id, "%.*s", STR_FMT(message));
}

enum eval_rc
simple_fn_assert(struct simple_call *call, struct value *out)
{
	bool truth, null;
	struct str message;
	(void)out;
	enum eval_rc rc = simple_arg_truth(call, 0, &truth);
	if (rc != EVAL_OK || truth)
		return rc;
	rc = simple_arg_text(call, 1, &message, &null);
	return rc == EVAL_OK
	    ? simple_fail(call->ex, EXCEPTION_EXPRESSION_EVALUATION, "%.*s", STR_FMT(message))
	    : rc;
}

/* ---- choosing and converting ---- */

enum eval_rc
simple_fn_not(struct simple_call *call, struct value *out)
{
	bool truth;
	enum eval_rc rc = simple_arg_truth(call, 0, &truth);
	*out = value_bool(!truth);
	return rc;
}

enum eval_rc
simple_fn_iif(struct simple_call *call, struct value *out)
{
	bool truth;
	enum eval_rc rc = simple_arg_truth(call, 0, &truth);
	return rc == EVAL_OK ? simple_arg(call, truth ? 1 : 2, out) : rc;
}

enum eval_rc
simple_fn_null(struct simple_call *call, struct value *out)
{
	(void)call;
	(void)out;
	return EVAL_OK;
}

enum eval_rc
simple_fn_val(struct simple_call *call, struct value *out)
{
	return simple_arg(call, 0, out);
}

enum eval_rc
simple_fn_convert_to(struct simple_call *call, struct value *out)
{
	struct value v, id;
	struct hinny_error err;
	enum eval_rc rc = simple_arg(call, 0, &v);
	if (rc == EVAL_OK)
		rc = simple_arg(call, 1, &id);
	if (rc != EVAL_OK)
		return rc;
	enum hinny_rc converted =
	    value_convert(simple_arena(call), &v, (enum value_class_id)id.u.i, out, &err);
	if (converted == HINNY_EINVAL)
		return simple_fail(call->ex, EXCEPTION_TYPE_CONVERSION, "%s", err.text);
	if (converted != HINNY_OK)
		*out = value_null();
	return EVAL_OK;
}

/* ---- the process ---- */

enum eval_rc
simple_fn_env(struct simple_call *call, struct value *out)
{
	struct str name;
	bool null;
	enum eval_rc rc = simple_arg_text(call, 0, &name, &null);
	return rc == EVAL_OK
	    ? give_text(out, getenv(arena_strndup(simple_arena(call), name.p, name.n)))
	    : rc;
}

enum eval_rc
simple_fn_sys(struct simple_call *call, struct value *out)
{
	(void)call;
	(void)out;
	return EVAL_OK;
}

static const char *
property_find(const struct simple_call *call, struct str key)
{
	const struct program *program = call->node->program;
	for (size_t i = 0; program != NULL && i < program->properties.n; i++)
		if (str_eq(str_of(program->properties.items[i].key), key))
			return program->properties.items[i].value;
	return NULL;
}

enum eval_rc
simple_fn_properties(struct simple_call *call, struct value *out)
{
	struct str key, text;
	bool null;
	enum eval_rc rc = simple_arg_text(call, 0, &text, &null);
	if (rc != EVAL_OK)
		return rc;
	key = text;
	const char *colon = text.n > 0 ? memchr(text.p, ':', text.n) : NULL;
	if (colon != NULL)
		key.n = (size_t)(colon - text.p);
	const char *found = property_find(call, key);
	if (found != NULL)
		return give_text(out, found);
	if (colon == NULL)
		return simple_fail(call->ex, EXCEPTION_ILLEGAL_ARGUMENT,
		    "Property with key [%.*s] not found in properties", STR_FMT(key));
	*out = value_str((struct str){ colon + 1, text.n - key.n - 1 });
	return EVAL_OK;
}

enum eval_rc
simple_fn_properties_exist(struct simple_call *call, struct value *out)
{
	struct str key;
	bool null;
	enum eval_rc rc = simple_arg_text(call, 0, &key, &null);
	if (rc != EVAL_OK)
		return rc;
	bool negate = key.n > 0 && key.p[0] == '!';
	if (negate)
		key = (struct str){ key.p + 1, key.n - 1 };
	*out = value_bool((property_find(call, key) != NULL) != negate);
	return EVAL_OK;
}

enum eval_rc
simple_fn_uuid(struct simple_call *call, struct value *out)
{
	struct str kind;
	bool null;
	uint64_t r[2];
	struct arena *a = simple_arena(call);
	enum eval_rc rc = simple_arg_text(call, 0, &kind, &null);
	if (rc != EVAL_OK)
		return rc;
	arc4random_buf(r, sizeof r);
	unsigned long long high = r[0], low = r[1];
	if (null || str_eq(kind, STR_LIT("default")))
		return give_text(out, arena_printf(a, "%015llX-%016llX", high >> 4, low));
	if (str_eq(kind, STR_LIT("random")))
		return give_text(out,
		    arena_printf(a, "%08llx-%04llx-4%03llx-%04llx-%012llx", high >> 32,
			high >> 16 & 0xffff, high & 0xfff, (low >> 48 & 0x3fff) | 0x8000,
			low & 0xffffffffffff));
	if (str_eq(kind, STR_LIT("short")))
		return give_text(
		    out, arena_printf(a, "%05llX-%010llX", high >> 44, low & 0xffffffffff));
	if (str_eq(kind, STR_LIT("simple")))
		return give_text(out, arena_printf(a, "%llu", high >> 11));
	if (str_eq(kind, STR_LIT("classic")))
		return give_text(
		    out, arena_printf(a, "ID-hinny-%llu-0-%llu", high >> 20, low >> 44));
	return simple_fail(call->ex, EXCEPTION_ILLEGAL_ARGUMENT,
	    "function uuid: random, short, simple or classic, not %.*s", STR_FMT(kind));
}

/* ---- the file that a message came from ---- */

static struct str
header_text(struct simple_call *call, const char *name)
{
	struct value *found = exchange_header(call->ex, str_of(name));
	return found != NULL ? value_text(simple_arena(call), found) : (struct str){ NULL, 0 };
}

static struct str
without_extension(struct str name)
{
	const char *slash = name.n > 0 ? memrchr(name.p, '/', name.n) : NULL;
	const char *from = slash != NULL ? slash + 1 : name.p;
	const char *dot = name.n > 0 ? memchr(from, '.', (size_t)(name.p + name.n - from)) : NULL;
	return dot != NULL ? (struct str){ name.p, (size_t)(dot - name.p) } : name;
}

static struct str
extension(struct str name)
{
	struct str stem = without_extension(name);
	return stem.n < name.n ? (struct str){ name.p + stem.n + 1, name.n - stem.n - 1 }
			       : (struct str){ NULL, 0 };
}

static struct str
only_name(struct str name)
{
	const char *slash = name.n > 0 ? memrchr(name.p, '/', name.n) : NULL;
	return slash != NULL ? (struct str){ slash + 1, (size_t)(name.p + name.n - slash) - 1 }
			     : name;
}

static const struct file_part {
	const char *name, *header;
	struct str (*take)(struct str name); /* NULL: the whole header */
} file_parts[] = {
	{ "name", "CamelFileName", NULL },
	{ "name.noext", "CamelFileName", without_extension },
	{ "name.ext", "CamelFileName", extension },
	{ "ext", "CamelFileName", extension },
	{ "onlyname", "CamelFileName", only_name },
	{ "onlyname.noext", "CamelFileNameOnly", without_extension },
	{ "parent", "CamelFileParent", NULL },
	{ "path", "CamelFilePath", NULL },
	{ "absolute.path", "CamelFileAbsolutePath", NULL },
	{ "size", "CamelFileLength", NULL },
	{ "length", "CamelFileLength", NULL },
	{ "modified", "CamelFileLastModified", NULL },
};

bool
simple_file_part(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(file_parts); i++)
		if (str_eq(name, str_of(file_parts[i].name)))
			return true;
	return false;
}

enum eval_rc
simple_fn_file(struct simple_call *call, struct value *out)
{
	struct str name;
	bool null;
	enum eval_rc rc = simple_arg_text(call, 0, &name, &null);
	for (size_t i = 0; rc == EVAL_OK && i < ARRAY_LEN(file_parts); i++) {
		const struct file_part *part = &file_parts[i];
		if (!str_eq(name, str_of(part->name)))
			continue;
		struct value *found = exchange_header(call->ex, str_of(part->header));
		if (part->take == NULL) {
			*out = found != NULL ? *found : value_null();
			return EVAL_OK;
		}
		struct str text = part->take(header_text(call, part->header));
		*out = text.p != NULL ? value_str(text) : value_null();
		return EVAL_OK;
	}
	return rc == EVAL_OK ? simple_fail(call->ex, EXCEPTION_ILLEGAL_ARGUMENT,
				   "file: unknown part %.*s", STR_FMT(name))
			     : rc;
}
