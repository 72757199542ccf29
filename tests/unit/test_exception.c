/* core/model/exception: the table of classes, look-ups, inheritance, copies. */
#include "core/model/exception.h"

#include "core/base/assert.h"

#include "tests/lib/unit.h"

#include <string.h>

static const struct class_row {
	const char *label; /* the name */
	enum exception_id id;
} classes[] = {
#define EXCEPTION(id, name, parent, raised_by) { name, EXCEPTION_##id },
#include "core/model/exceptions.def"
#undef EXCEPTION
};

/* The parent stands in front, so the chains end; names are there once; all come from Throwable. */
static void
check_class(void **state)
{
	const struct class_row *r = *state;
	const struct exception_class *class = exception_class(r->id);

	assert_string_equal(class->name, r->label);
	assert_true(class->parent < (int)r->id);
	assert_true((class->parent == -1) == (r->id == EXCEPTION_THROWABLE));
	assert_int_equal(exception_find(str_of(r->label)), r->id);
	assert_true(exception_is_a(r->id, EXCEPTION_THROWABLE));
	assert_int_equal(exception_distance(r->id, r->id), 0);
	assert_string_equal(exception_names()[r->id], r->label);
}

static const struct find_row {
	const char *label;
	int id;
} finds[] = {
	{ "IllegalStateException", EXCEPTION_ILLEGAL_STATE },
	{ "java.lang.IllegalStateException", EXCEPTION_ILLEGAL_STATE },
	{ "HttpOperationFailedException", EXCEPTION_HTTP_OPERATION_FAILED },
	{ "Exception", EXCEPTION_EXCEPTION },
	{ "Throwable", EXCEPTION_THROWABLE },
	{ "ProtocolException", -1 }, /* two have it */
	{ "java.net.ProtocolException", EXCEPTION_NET_PROTOCOL },
	{ "illegalstateexception", -1 },
	{ "com.example.MyException", -1 },
	{ "", -1 },
};

static void
check_find(void **state)
{
	const struct find_row *r = *state;
	assert_int_equal(exception_find(str_of(r->label)), r->id);
}

static const struct parent_row {
	const char *label, *child, *ancestor;
	int distance;
} parents[] = {
	{ "number format is an illegal argument", "java.lang.NumberFormatException",
	    "java.lang.IllegalArgumentException", 1 },
	{ "number format is an exception", "java.lang.NumberFormatException", "java.lang.Exception",
	    3 },
	{ "illegal argument is no number format", "java.lang.IllegalArgumentException",
	    "java.lang.NumberFormatException", -1 },
	{ "refused connection is I/O", "java.net.ConnectException", "java.io.IOException", 2 },
	{ "http's refused connection", "HttpHostConnectException", "java.net.ConnectException", 1 },
	{ "time-out is I/O", "java.net.SocketTimeoutException", "java.io.IOException", 2 },
	{ "unknown host is I/O", "java.net.UnknownHostException", "java.io.IOException", 1 },
	{ "failed http operation is Camel's", "HttpOperationFailedException",
	    "org.apache.camel.CamelException", 1 },
	{ "failed http operation is no I/O", "HttpOperationFailedException", "java.io.IOException",
	    -1 },
	{ "validate", "PredicateValidationException", "org.apache.camel.ValidationException", 1 },
	{ "validator", "SchemaValidationException", "org.apache.camel.ValidationException", 1 },
	{ "no body for validator", "NoXmlBodyValidationException",
	    "org.apache.camel.CamelExchangeException", 2 },
	{ "type conversion is unchecked", "TypeConversionException", "java.lang.RuntimeException",
	    2 },
	{ "no path", "PathNotFoundException", "com.jayway.jsonpath.JsonPathException", 2 },
	{ "lost worker is I/O", "hinny.WorkerLostException", "java.io.IOException", 1 },
	{ "deadline of a call", "hinny.CallDeadlineException",
	    "org.apache.camel.ExchangeTimedOutException", 1 },
	{ "an error is no exception", "java.lang.StackOverflowError", "java.lang.Exception", -1 },
};

static void
check_parent(void **state)
{
	const struct parent_row *r = *state;
	int child = exception_find(str_of(r->child)),
	    ancestor = exception_find(str_of(r->ancestor));

	assert_true(child >= 0 && ancestor >= 0);
	assert_int_equal(
	    exception_distance((enum exception_id)child, (enum exception_id)ancestor), r->distance);
	assert_int_equal(exception_is_a((enum exception_id)child, (enum exception_id)ancestor),
	    r->distance >= 0);
}

static void
test_names_end(void **state)
{
	(void)state;
	assert_null(exception_names()[EXCEPTION_COUNT]);
}

static void
test_new(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a);
	struct exception *e = exception_new(&a, EXCEPTION_IO, "cannot read %s: %d", "x", 5);
	assert_int_equal(e->id, EXCEPTION_IO);
	assert_true(str_eq(e->message, STR_LIT("cannot read x: 5")));
	assert_null(exception_new(&a, EXCEPTION_IO, NULL)->message.p);
	arena_fini(&a);
}

static void
test_share(void **state)
{
	struct arena from, to;

	(void)state;
	arena_init(&from);
	arena_init(&to);
	struct exception *e =
	    exception_new(&from, EXCEPTION_HTTP_OPERATION_FAILED, "status %d", 404);
	e->status_code = 404;
	e->status_text = arena_str(&from, STR_LIT("Not Found"));
	e->uri = arena_str(&from, STR_LIT("http://x/"));
	e->response_body = value_str(arena_str(&from, STR_LIT("gone")));
	e->response_headers = value_new_map(&from, 1, true);
	value_map_set(
	    &from, e->response_headers.u.map, arena_str(&from, STR_LIT("Server")), value_int(1));
	e->step_id = arena_strdup(&from, "to1");
	e->cause = exception_new(&from, EXCEPTION_IO, NULL);
	struct exception *copy = exception_share(&to, e);
	arena_fini(&from);
	assert_true(str_eq(copy->message, STR_LIT("status 404")));
	assert_int_equal(copy->status_code, 404);
	assert_true(str_eq(copy->status_text, STR_LIT("Not Found")) &&
	    str_eq(copy->uri, STR_LIT("http://x/")));
	assert_null(copy->redirect_location.p);
	assert_true(str_eq(copy->response_body.u.s, STR_LIT("gone")));
	assert_non_null(value_map_find(copy->response_headers.u.map, STR_LIT("server")));
	assert_string_equal(copy->step_id, "to1");
	assert_int_equal(copy->cause->id, EXCEPTION_IO);
	assert_null(copy->cause->message.p);
	assert_null(exception_share(&to, NULL));
	arena_fini(&to);
}

int
main(void)
{
	UNIT_TABLE("class", classes, check_class);
	UNIT_TABLE("find", finds, check_find);
	UNIT_TABLE("parent", parents, check_parent);
	UNIT_CASE(test_names_end);
	UNIT_CASE(test_new);
	UNIT_CASE(test_share);
	return unit_run("exception");
}
