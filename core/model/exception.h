/*
 * Exceptions of exchanges. Their classes are a table (exceptions.def): name, parent, what raises it
 * here: the JDK's and Camel's that spec/ names. A route can name only those; an unknown class is
 * refused at load. `onException: [java.io.IOException]` catches its children.
 */
#ifndef HINNY_MODEL_EXCEPTION_H
#define HINNY_MODEL_EXCEPTION_H

#include "core/base/arena.h"
#include "core/base/str.h"
#include "core/model/value.h"

#include <stdbool.h>

struct exception_class {
	const char *name; /* fully qualified */
	int parent;       /* index in the table, -1: java.lang.Throwable */
	const char *raised_by;
};

enum exception_id {
#define EXCEPTION(id, name, parent, raised_by) EXCEPTION_##id,
#include "core/model/exceptions.def"
#undef EXCEPTION
	EXCEPTION_COUNT
};

struct exception {
	enum exception_id id;
	struct str message;      /* may be empty with p NULL: no message */
	struct exception *cause; /* may be NULL */
	/* details of HttpOperationFailedException */
	int status_code;
	struct str status_text, uri, redirect_location;
	struct value response_body;
	struct value response_headers; /* map or null */
	const char *step_id;           /* the failing step, or NULL */
};

const struct exception_class *exception_class(enum exception_id id);
/* By fully qualified name, or by simple name where just one class has it. -1 when unknown. */
int exception_find(struct str name);
bool exception_is_a(enum exception_id id, enum exception_id ancestor);
/* How many levels lie between (0: same), -1 when not an ancestor. */
int exception_distance(enum exception_id id, enum exception_id ancestor);
struct exception *exception_new(struct arena *a, enum exception_id id, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
struct exception *exception_share(struct arena *to, const struct exception *e); /* deep copy */
const char *const *exception_names(void); /* all simple names, NULL-ended, for "did you mean" */

#endif
