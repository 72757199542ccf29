/* The table of exception classes, and exceptions in an arena. */
#include "core/model/exception.h"

#include "core/base/assert.h"
#include "core/model/value_priv.h"

#include <stdarg.h>
#include <string.h>

#define EXCEPTION_NONE (-1)

static const struct exception_class classes[] = {
#define EXCEPTION(id, name, parent, raised_by)                                                     \
	[EXCEPTION_##id] = { name, EXCEPTION_##parent, raised_by },
#include "core/model/exceptions.def"
#undef EXCEPTION
};

const struct exception_class *
exception_class(enum exception_id id)
{
	ASSERT((unsigned)id < EXCEPTION_COUNT);
	return &classes[id];
}

static const char *
simple_name(const char *name)
{
	const char *dot = strrchr(name, '.');
	return dot != NULL ? dot + 1 : name;
}

int
exception_find(struct str name)
{
	int found = -1;

	for (int i = 0; i < EXCEPTION_COUNT; i++) {
		if (str_eq(name, str_of(classes[i].name)))
			return i;
	}
	for (int i = 0; i < EXCEPTION_COUNT; i++) {
		if (!str_eq(name, str_of(simple_name(classes[i].name))))
			continue;
		if (found != -1)
			return -1; /* two have it */
		found = i;
	}
	return found;
}

int
exception_distance(enum exception_id id, enum exception_id ancestor)
{
	int distance = 0;

	for (int at = (int)id; at != EXCEPTION_NONE; at = classes[at].parent, distance++) {
		if (at == (int)ancestor)
			return distance;
	}
	return -1;
}

bool
exception_is_a(enum exception_id id, enum exception_id ancestor)
{
	return exception_distance(id, ancestor) >= 0;
}

struct exception *
exception_new(struct arena *a, enum exception_id id, const char *fmt, ...)
{
	struct exception *e = ARENA_NEW(a, struct exception);
	va_list ap;

	e->id = id;
	if (fmt == NULL)
		return e;
	va_start(ap, fmt);
	e->message = str_of(arena_vprintf(a, fmt, ap));
	va_end(ap);
	return e;
}

static struct str
share_text(struct arena *to, struct str s)
{
	return s.p != NULL ? arena_str(to, s) : s;
}

struct exception *
exception_share(struct arena *to, const struct exception *e)
{
	struct exception *first = NULL, **at = &first;

	for (; e != NULL; e = e->cause) {
		struct exception *copy = ARENA_NEW(to, struct exception);
		*copy = *e;
		copy->message = share_text(to, e->message);
		copy->status_text = share_text(to, e->status_text);
		copy->uri = share_text(to, e->uri);
		copy->redirect_location = share_text(to, e->redirect_location);
		copy->response_body = value_share(to, &e->response_body);
		copy->response_headers = value_share(to, &e->response_headers);
		if (e->step_id != NULL)
			copy->step_id = arena_strdup(to, e->step_id);
		copy->cause = NULL;
		*at = copy;
		at = &copy->cause;
	}
	return first;
}

const char *const *
exception_names(void)
{
	static const char *const names[] = {
#define EXCEPTION(id, name, parent, raised_by) name,
#include "core/model/exceptions.def"
#undef EXCEPTION
		NULL,
	};
	return names;
}
