/* Expectations against what happened. */
#include "supervisor/cli/test_check.h"

#include "core/lang/regex.h"
#include "core/model/exception.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN_MAX = 500 };

/* ---- failures ---- */

void
test_failures_init(struct test_failures *f)
{
	*f = (struct test_failures){ 0 };
	f->to = open_memstream(&f->text, &f->n);
	if (f->to == NULL)
		abort();
}

void
test_fail(struct test_failures *f, struct position at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)fprintf(f->to, "%s:%u: ", at.file, at.line); /* into memory */
	(void)vfprintf(f->to, fmt, ap);
	(void)fputc('\n', f->to);
	va_end(ap);
}

const char *
test_failures_text(struct test_failures *f)
{
	(void)fflush(f->to); /* into memory */
	return f->text != NULL ? f->text : "";
}

void
test_failures_fini(struct test_failures *f)
{
	(void)fclose(f->to); /* into memory */
	free(f->text);
}

/* ---- parts of a message ---- */

/* What a message has of one part; p NULL: it is not there. */
static struct str
part_of(json_t *message, const struct test_check *ck)
{
	static const char *const maps[] = {
		[TEST_HEADER] = "headers", [TEST_PROPERTY] = "properties", [TEST_VARIABLE] = "variables"
	};
	json_t *v = NULL;
	const char *key;
	json_t *value;

	if (ck->part == TEST_BODY || ck->part == TEST_TYPE) {
		v = json_object_get(message, ck->part == TEST_BODY ? "body" : "type");
	} else {
		json_object_foreach(json_object_get(message, maps[ck->part]), key, value)
		{
			bool same = ck->part == TEST_HEADER
			    ? str_caseeq(str_of(key), str_of(ck->name))
			    : strcmp(key, ck->name) == 0;
			if (same)
				v = value;
		}
	}
	return json_is_string(v)
	    ? (struct str){ json_string_value(v), json_string_length(v) }
	    : (struct str){ NULL, 0 };
}

/* "body", "header x" */
static const char *
name_of(const struct test_check *ck, char *buf, size_t size)
{
	static const char *const names[] = { "body", "type", "header", "property", "variable" };

	(void)snprintf(buf, size, "%s%s%s", names[ck->part], ck->name != NULL ? " " : "",
	    ck->name != NULL ? ck->name : ""); /* a long name is cut */
	return buf;
}

/* Two texts beside one another, cut where they are long. */
static void
fail_text(struct test_failures *f, const struct test_check *ck, const char *prefix,
    const char *verb, struct str want, struct str got)
{
	char name[128];

	test_fail(f, ck->at, "%s%s: expected %s%s%.*s%s, got %s%.*s%s", prefix,
	    name_of(ck, name, sizeof name), verb, want.p != NULL ? "\"" : "",
	    (int)(want.n < SHOWN_MAX ? want.n : SHOWN_MAX), want.p != NULL ? want.p : "",
	    want.p != NULL ? "\"" : "", got.p != NULL ? "\"" : "nothing",
	    (int)(got.n < SHOWN_MAX ? got.n : SHOWN_MAX), got.p != NULL ? got.p : "",
	    got.p != NULL ? "\"" : "");
}

static bool
matches(const struct regex *re, struct str text)
{
	struct hinny_error err;
	bool found = false;
	size_t begin, end;

	/* one that needs too many steps does not match */
	return regex_find(re, text, 0, &found, &begin, &end, &err) == HINNY_OK && found;
}

static bool
check_json(const struct test_check *ck, struct str got, const char *prefix, struct test_failures *f)
{
	json_error_t err;
	json_t *v = got.p != NULL ? json_loadb(got.p, got.n, JSON_DECODE_ANY, &err) : NULL;
	bool ok = v != NULL && json_equal(v, ck->json);

	if (!ok) {
		char *want = json_dumps(ck->json, JSON_COMPACT | JSON_ENCODE_ANY);
		fail_text(f, ck, prefix, "JSON ", str_of(want), got);
		free(want);
	}
	json_decref(v);
	return ok;
}

static bool
check_part(const struct test_check *ck, json_t *message, const char *prefix, struct test_failures *f)
{
	struct str got = part_of(message, ck);
	bool ok = false;

	switch (ck->how) {
	case TEST_IS:
		ok = got.p != NULL && str_eq(got, ck->text);
		if (!ok)
			fail_text(f, ck, prefix, "", ck->text, got);
		return ok;
	case TEST_CONTAINS:
		ok = got.p != NULL && str_find(got, ck->text) != SIZE_MAX;
		if (!ok)
			fail_text(f, ck, prefix, "a text with ", ck->text, got);
		return ok;
	case TEST_MATCHES:
		ok = got.p != NULL && matches(ck->regex, got);
		if (!ok)
			fail_text(f, ck, prefix, "a match of the expression", (struct str){ NULL, 0 }, got);
		return ok;
	case TEST_JSON:
		return check_json(ck, got, prefix, f);
	case TEST_ABSENT:
		ok = got.p == NULL;
		if (!ok)
			fail_text(f, ck, prefix, "nothing", (struct str){ NULL, 0 }, got);
		return ok;
	}
	return false;
}

static bool
check_message(const struct test_message *m, json_t *got, const char *prefix, struct test_failures *f)
{
	bool ok = true;

	for (const struct test_check *ck = m->checks; ck != NULL; ck = ck->next)
		ok &= check_part(ck, got, prefix, f);
	return ok;
}

/* ---- answers ---- */

static void
check_exception(const struct test_send *s, const struct test_answer *a, struct test_failures *f)
{
	const char *class = json_string_value(json_object_get(a->head, "exception"));
	const char *text = json_string_value(json_object_get(a->head, "error"));
	int id = class != NULL ? exception_find(str_of(class)) : -1;
	bool wanted = s->exception >= 0 || s->exception_text != NULL;

	if (!wanted && !a->ok)
		test_fail(f, s->at, "send: failed with %s%s%s", class != NULL ? class : "",
		    class != NULL ? ": " : "", text != NULL ? text : "no message");
	if (wanted && a->ok)
		test_fail(f, s->expect.at, "exception: expected %s, but none came out",
		    s->exception >= 0 ? exception_class((enum exception_id)s->exception)->name
				      : "one");
	if (!wanted || a->ok)
		return;
	if (s->exception >= 0 &&
	    (id < 0 ||
		!exception_is_a((enum exception_id)id, (enum exception_id)s->exception)))
		test_fail(f, s->expect.at, "exception: expected %s, got %s: %s",
		    exception_class((enum exception_id)s->exception)->name,
		    class != NULL ? class : "a failure of hinny send", text != NULL ? text : "");
	if (s->exception_text != NULL && !matches(s->exception_text, str_of(text != NULL ? text : "")))
		test_fail(f, s->expect.at, "exception: the message does not match, it is \"%s\"",
		    text != NULL ? text : "");
}

void
test_check_answer(
    const struct test_send *s, const struct test_answer *a, struct test_failures *f)
{
	json_t *body = json_stringn(a->body, a->body_n);
	json_t *message = json_pack("{s:o?, s:O?}", "body", body, "headers",
	    json_object_get(a->head, "headers"));

	check_exception(s, a, f);
	if (body == NULL && a->body_n > 0)
		test_fail(f, s->at, "send: the answer's body is no UTF-8");
	(void)check_message(&s->expect, message, "answer's ", f);
	json_decref(message);
}

/* ---- mocks ---- */

static json_t *
find_mock(json_t *mocks, const char *name)
{
	size_t i;
	json_t *m;

	json_array_foreach(json_object_get(mocks, "mocks"), i, m)
	{
		const char *own = json_string_value(json_object_get(m, "name"));
		if (own != NULL && strcmp(own, name) == 0)
			return m;
	}
	return NULL;
}

/* Each description has a message of its own, wherever it is. */
static void
check_any_order(const struct test_expect *e, json_t *messages, struct test_failures *f)
{
	size_t n = json_array_size(messages);
	bool *taken = calloc(n + 1, sizeof(bool));

	if (taken == NULL)
		abort();
	for (const struct test_message *m = e->messages; m != NULL; m = m->next) {
		bool found = false;
		for (size_t i = 0; i < n && !found; i++) {
			struct test_failures unseen;
			test_failures_init(&unseen);
			found = !taken[i] &&
			    check_message(m, json_array_get(messages, i), "", &unseen);
			test_failures_fini(&unseen);
			taken[i] |= found;
		}
		if (!found)
			test_fail(f, m->at, "mock %s: none of the %zu messages is as expected",
			    e->mock, n);
	}
	free(taken);
}

static void
check_mock(const struct test_expect *e, json_t *mocks, struct test_failures *f)
{
	json_t *mock = find_mock(mocks, e->mock), *messages = json_object_get(mock, "messages");
	long long received = (long long)json_integer_value(json_object_get(mock, "received"));
	char prefix[128];
	size_t i = 0;

	if (e->least >= 0 && e->least == e->most && received != e->least)
		test_fail(f, e->at, "mock %s: expected %lld messages, got %lld", e->mock,
		    (long long)e->least, received);
	else if (e->least >= 0 && received < e->least)
		test_fail(f, e->at, "mock %s: expected at least %lld messages, got %lld", e->mock,
		    (long long)e->least, received);
	else if (e->most >= 0 && received > e->most)
		test_fail(f, e->at, "mock %s: expected at most %lld messages, got %lld", e->mock,
		    (long long)e->most, received);
	if (e->any_order) {
		check_any_order(e, messages, f);
		return;
	}
	for (const struct test_message *m = e->messages; m != NULL; m = m->next, i++) {
		json_t *got = json_array_get(messages, i);
		(void)snprintf(prefix, sizeof prefix, "mock %s, message %zu: ", e->mock, i + 1);
		if (got != NULL)
			(void)check_message(m, got, prefix, f);
	}
}

struct numbered {
	json_int_t number;
	const char *mock;
};

static int
by_number(const void *a, const void *b)
{
	json_int_t x = ((const struct numbered *)a)->number, y = ((const struct numbered *)b)->number;

	return (x > y) - (x < y);
}

static bool
is_named(const struct strings *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++) {
		if (strcmp(names->items[i], name) == 0)
			return true;
	}
	return false;
}

/* The messages of all mocks that are named, in the order in which they came. */
static void
check_order(const struct test_expect *e, json_t *mocks, struct test_failures *f)
{
	size_t n = 0, cap = 0, i, k;
	struct numbered *all = NULL;
	json_t *mock, *message;

	json_array_foreach(json_object_get(mocks, "mocks"), i, mock)
	    cap += json_array_size(json_object_get(mock, "messages"));
	all = calloc(cap + 1, sizeof(*all));
	if (all == NULL)
		abort();
	json_array_foreach(json_object_get(mocks, "mocks"), i, mock)
	{
		const char *name = json_string_value(json_object_get(mock, "name"));
		if (name == NULL || !is_named(&e->order, name))
			continue;
		json_array_foreach(json_object_get(mock, "messages"), k, message) all[n++] =
		    (struct numbered){ json_integer_value(json_object_get(message, "number")), name };
	}
	qsort(all, n, sizeof(*all), by_number);
	bool same = n == e->order.n;
	for (i = 0; same && i < n; i++)
		same = strcmp(all[i].mock, e->order.items[i]) == 0;
	if (!same) {
		char *text = NULL;
		size_t text_n;
		FILE *to = open_memstream(&text, &text_n);
		for (i = 0; to != NULL && i < n && i < SHOWN_MAX; i++)
			(void)fprintf(to, "%s%s", i > 0 ? ", " : "", all[i].mock);
		if (to != NULL)
			(void)fclose(to);
		test_fail(f, e->at, "order: the messages came to [%s]", text != NULL ? text : "");
		free(text);
	}
	free(all);
}

/* ---- log lines ---- */

static bool
is_wanted_line(const struct test_expect *e, struct str line)
{
	json_error_t err;
	json_t *o = json_loadb(line.p, line.n, 0, &err);
	const char *msg = json_string_value(json_object_get(o, "msg")),
		   *level = json_string_value(json_object_get(o, "level")),
		   *logger = json_string_value(json_object_get(o, "logger"));
	bool yes = msg != NULL && matches(e->log, str_of(msg)) &&
	    (e->level == NULL || (level != NULL && strcmp(level, e->level) == 0)) &&
	    (e->logger == NULL || (logger != NULL && strcmp(logger, e->logger) == 0));

	json_decref(o);
	return yes;
}

static void
check_log(const struct test_expect *e, struct str log, struct test_failures *f)
{
	long long n = 0;
	struct str line;

	while (str_split(&log, '\n', &line))
		n += line.n > 0 && is_wanted_line(e, line);
	if (e->least >= 0 && n < e->least)
		test_fail(f, e->at, "log: expected %s%lld lines like \"%s\", got %lld",
		    e->least == e->most ? "" : "at least ", (long long)e->least, e->log_text, n);
	else if (e->most >= 0 && n > e->most)
		test_fail(f, e->at, "log: expected %s%lld lines like \"%s\", got %lld",
		    e->least == e->most ? "" : "at most ", (long long)e->most, e->log_text, n);
}

void
test_check_expects(
    const struct test_case *tc, json_t *mocks, struct str log, struct test_failures *f)
{
	for (const struct test_expect *e = tc->expects; e != NULL; e = e->next) {
		switch (e->kind) {
		case TEST_MOCK:
			check_mock(e, mocks, f);
			break;
		case TEST_ORDER:
			check_order(e, mocks, f);
			break;
		case TEST_LOG:
			check_log(e, log, f);
			break;
		}
	}
}
