/* Test files: from YAML to structures. */
#include "supervisor/cli/test_file.h"

#include "core/base/assert.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "core/config/read.h"
#include "core/lang/regex.h"
#include "core/model/exception.h"
#include "supervisor/cli/test_json.h"
#include "supervisor/cli/test_read.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WITHIN_DEFAULT_MS = 5000, BODY_MAX = 64 << 20 };

/* ---- what is expected of a message ---- */

static struct test_check *
add_check(struct test_reading *r, struct test_message *m, enum test_part part, enum test_how how,
    const struct node *at)
{
	struct test_check **end = &m->checks;

	while (*end != NULL)
		end = &(*end)->next;
	*end = ARENA_NEW(&r->tf->arena, struct test_check);
	**end = (struct test_check){ .at = node_at(r->tf->file, at), .part = part, .how = how };
	return *end;
}

/* An exact text; a map or list is JSON; null: it is not there. */
static void
read_exact(struct test_reading *r, struct test_message *m, enum test_part part, const char *name,
    const struct node *v)
{
	bool json = v->kind != NODE_SCALAR;
	struct test_check *ck = add_check(r, m, part,
	    json                  ? TEST_JSON
		: node_is_null(v) ? TEST_ABSENT
				  : TEST_IS,
	    v);

	ck->name = name;
	ck->text = arena_str(&r->tf->arena, v->text);
	if (json)
		ck->json = test_json_of(v);
}

static void
message_body(struct test_reading *r, void *to, const struct node *v)
{
	read_exact(r, to, TEST_BODY, NULL, v);
}

static void
message_body_contains(struct test_reading *r, void *to, const struct node *v)
{
	for (uint32_t i = 0; i < test_item_count(v); i++) {
		const char *text = test_text(r, test_item_at(v, i), "bodyContains");
		if (text != NULL)
			add_check(r, to, TEST_BODY, TEST_CONTAINS, test_item_at(v, i))->text =
			    str_of(text);
	}
}

static void
message_body_matches(struct test_reading *r, void *to, const struct node *v)
{
	add_check(r, to, TEST_BODY, TEST_MATCHES, v)->regex = test_regex(r, v, "bodyMatches");
}

static void
message_body_json(struct test_reading *r, void *to, const struct node *v)
{
	json_error_t err;
	json_t *json = test_json_of(v);

	if (json_is_string(json)) {
		json_t *parsed = json_loads(json_string_value(json), JSON_DECODE_ANY, &err);
		if (parsed == NULL)
			test_wrong(r, v, "bodyJson: %s", err.text);
		json_decref(json);
		json = parsed;
	}
	add_check(r, to, TEST_BODY, TEST_JSON, v)->json = json;
}

static void
message_type(struct test_reading *r, void *to, const struct node *v)
{
	read_exact(r, to, TEST_TYPE, NULL, v);
}

/* A map of names; `matches`: with regular expressions. */
static void
read_named(struct test_reading *r, struct test_message *m, enum test_part part,
    const struct node *v, bool matches, const char *what)
{
	if (v->kind != NODE_MAP) {
		test_wrong(r, v, "%s: expected a map, got %s", what, node_kind_name(v));
		return;
	}
	for (uint32_t i = 0; i < v->n; i++) {
		const struct node *value = node_value(v, i);
		struct str key = node_key(v, i)->text;
		const char *name = arena_strndup(&r->tf->arena, key.p, key.n);
		if (!matches) {
			read_exact(r, m, part, name, value);
			continue;
		}
		struct test_check *ck = add_check(r, m, part, TEST_MATCHES, value);
		ck->name = name;
		ck->regex = test_regex(r, value, what);
	}
}

static void
message_headers(struct test_reading *r, void *to, const struct node *v)
{
	read_named(r, to, TEST_HEADER, v, false, "headers");
}

static void
message_headers_match(struct test_reading *r, void *to, const struct node *v)
{
	read_named(r, to, TEST_HEADER, v, true, "headersMatch");
}

static void
message_properties(struct test_reading *r, void *to, const struct node *v)
{
	read_named(r, to, TEST_PROPERTY, v, false, "properties");
}

static void
message_variables(struct test_reading *r, void *to, const struct node *v)
{
	read_named(r, to, TEST_VARIABLE, v, false, "variables");
}

#define MESSAGE_KEYS                                                                               \
	{ "body", message_body }, { "bodyContains", message_body_contains },                       \
	    { "bodyJson", message_body_json }, { "bodyMatches", message_body_matches },            \
	    { "headers", message_headers },                                                        \
	{                                                                                          \
		"headersMatch", message_headers_match                                              \
	}

static const struct test_key mock_message_keys[] = {
	MESSAGE_KEYS,
	{ "properties", message_properties },
	{ "type", message_type },
	{ "variables", message_variables },
	{ NULL, NULL },
};

/* ---- send ---- */

static void
answer_exception(struct test_reading *r, void *to, const struct node *v)
{
	struct test_send *s = CONTAINER_OF((struct test_message *)to, struct test_send, expect);
	const char *name = test_text(r, v, "exception");
	int id = name != NULL ? exception_find(str_of(name)) : -1;

	if (name != NULL && id < 0)
		test_wrong(r, v, "exception: no class \"%s\" is known", name);
	s->exception = id;
}

static void
answer_message(struct test_reading *r, void *to, const struct node *v)
{
	struct test_send *s = CONTAINER_OF((struct test_message *)to, struct test_send, expect);

	s->exception_text = test_regex(r, v, "messageMatches");
}

static const struct test_key answer_keys[] = {
	MESSAGE_KEYS,
	{ "exception", answer_exception },
	{ "messageMatches", answer_message },
	{ NULL, NULL },
};

static void
send_to(struct test_reading *r, void *to, const struct node *v)
{
	((struct test_send *)to)->to = test_text(r, v, "to");
}

static void
send_route(struct test_reading *r, void *to, const struct node *v)
{
	((struct test_send *)to)->route = test_text(r, v, "route");
}

/* A map or list is sent as JSON text. */
static void
send_body(struct test_reading *r, void *to, const struct node *v)
{
	struct test_send *s = to;

	s->has_body = !(v->kind == NODE_SCALAR && node_is_null(v));
	if (v->kind == NODE_SCALAR) {
		s->body = arena_str(&r->tf->arena, v->text);
		return;
	}
	json_t *json = test_json_of(v);
	char *text = json_dumps(json, JSON_COMPACT);
	s->body = str_of(arena_strdup(&r->tf->arena, text != NULL ? text : ""));
	free(text);
	json_decref(json);
}

static void
send_body_file(struct test_reading *r, void *to, const struct node *v)
{
	struct test_send *s = to;
	struct hinny_error err;
	const char *name = test_text(r, v, "bodyFile");

	if (name != NULL &&
	    read_file(&r->tf->arena, read_path(&r->tf->arena, r->tf->folder, name), BODY_MAX,
		&s->body, &err) != HINNY_OK)
		test_wrong(r, v, "bodyFile: %s", err.text);
	s->has_body = true;
}

static void
send_headers(struct test_reading *r, void *to, const struct node *v)
{
	struct test_send *s = to;

	for (uint32_t i = 0; v->kind == NODE_MAP && i < v->n; i++) {
		const char *text = test_text(r, node_value(v, i), "headers");
		(void)json_object_set_new(
		    s->headers, node_key(v, i)->text.p, json_string(text ? text : ""));
	}
	if (v->kind != NODE_MAP)
		test_wrong(r, v, "headers: expected a map, got %s", node_kind_name(v));
}

static void
send_times(struct test_reading *r, void *to, const struct node *v)
{
	((struct test_send *)to)->times = test_number(r, v, "times");
}

static void
send_expect(struct test_reading *r, void *to, const struct node *v)
{
	struct test_send *s = to;

	s->expect.at = node_at(r->tf->file, v);
	(void)test_read_map(r, v, answer_keys, &s->expect, "expect");
}

static const struct test_key send_keys[] = {
	{ "body", send_body },
	{ "bodyFile", send_body_file },
	{ "expect", send_expect },
	{ "headers", send_headers },
	{ "route", send_route },
	{ "times", send_times },
	{ "to", send_to },
	{ NULL, NULL },
};

static void
case_send(struct test_reading *r, void *to, const struct node *v)
{
	struct test_send **end = &((struct test_case *)to)->sends;

	for (uint32_t i = 0; i < test_item_count(v); i++) {
		const struct node *item = test_item_at(v, i);
		struct test_send *s = ARENA_NEW(&r->tf->arena, struct test_send);
		*s = (struct test_send){ .at = node_at(r->tf->file, item),
			.headers = json_object(),
			.times = 1,
			.exception = -1 };
		if (test_read_map(r, item, send_keys, s, "send") &&
		    (s->to != NULL) == (s->route != NULL))
			test_wrong(r, item, "send: expected one of \"to\" and \"route\"");
		*end = s;
		end = &s->next;
	}
}

/* ---- expect ---- */

static void
expect_mock(struct test_reading *r, void *to, const struct node *v)
{
	((struct test_expect *)to)->mock = test_text(r, v, "mock");
}

static void
expect_count(struct test_reading *r, void *to, const struct node *v)
{
	struct test_expect *e = to;

	e->least = e->most = test_number(r, v, "count");
}

static void
expect_least(struct test_reading *r, void *to, const struct node *v)
{
	((struct test_expect *)to)->least = test_number(r, v, "atLeast");
}

static void
expect_most(struct test_reading *r, void *to, const struct node *v)
{
	((struct test_expect *)to)->most = test_number(r, v, "atMost");
}

static struct test_message *
add_message(struct test_reading *r, struct test_expect *e, const struct node *at)
{
	struct test_message **end = &e->messages;

	while (*end != NULL)
		end = &(*end)->next;
	*end = ARENA_NEW(&r->tf->arena, struct test_message);
	**end = (struct test_message){ .at = node_at(r->tf->file, at) };
	return *end;
}

static void
expect_messages(struct test_reading *r, void *to, const struct node *v)
{
	for (uint32_t i = 0; i < test_item_count(v); i++)
		(void)test_read_map(r, test_item_at(v, i), mock_message_keys,
		    add_message(r, to, test_item_at(v, i)), "messages");
}

static void
expect_bodies(struct test_reading *r, void *to, const struct node *v)
{
	for (uint32_t i = 0; i < test_item_count(v); i++)
		read_exact(
		    r, add_message(r, to, test_item_at(v, i)), TEST_BODY, NULL, test_item_at(v, i));
}

static void
expect_any_order(struct test_reading *r, void *to, const struct node *v)
{
	struct test_expect *e = to;

	e->any_order = v->kind == NODE_SCALAR && str_caseeq(v->text, STR_LIT("true"));
	if (!e->any_order && !(v->kind == NODE_SCALAR && str_caseeq(v->text, STR_LIT("false"))))
		test_wrong(r, v, "anyOrder: expected true or false");
}

static void
expect_order(struct test_reading *r, void *to, const struct node *v)
{
	struct test_expect *e = to;

	e->kind = TEST_ORDER;
	test_strings(r, &e->order, v, "order");
}

static void
expect_log(struct test_reading *r, void *to, const struct node *v)
{
	struct test_expect *e = to;

	e->kind = TEST_LOG;
	e->log = test_regex(r, v, "log");
	e->log_text = v->kind == NODE_SCALAR ? arena_strdup(&r->tf->arena, v->text.p) : "";
}

static void
expect_level(struct test_reading *r, void *to, const struct node *v)
{
	static const char *const levels[] = { "error", "warning", "info", "debug" };
	const char *level = test_text(r, v, "level");

	for (size_t i = 0; level != NULL && i < ARRAY_LEN(levels); i++) {
		if (str_caseeq(str_of(level), str_of(levels[i])))
			((struct test_expect *)to)->level = levels[i];
	}
	if (level != NULL && ((struct test_expect *)to)->level == NULL)
		test_wrong(
		    r, v, "level: expected error, warning, info or debug, got \"%s\"", level);
}

static void
expect_logger(struct test_reading *r, void *to, const struct node *v)
{
	((struct test_expect *)to)->logger = test_text(r, v, "logger");
}

static const struct test_key expect_keys[] = {
	{ "anyOrder", expect_any_order },
	{ "atLeast", expect_least },
	{ "atMost", expect_most },
	{ "bodies", expect_bodies },
	{ "count", expect_count },
	{ "level", expect_level },
	{ "log", expect_log },
	{ "logger", expect_logger },
	{ "messages", expect_messages },
	{ "mock", expect_mock },
	{ "order", expect_order },
	{ NULL, NULL },
};

/* Without a number: as many as messages are described, or one at least. */
static void
set_count(struct test_expect *e)
{
	int64_t n = 0;

	for (const struct test_message *m = e->messages; m != NULL; m = m->next)
		n++;
	if (e->least >= 0 || e->most >= 0)
		return;
	e->least = n > 0 ? n : 1;
	e->most = n > 0 ? n : -1;
}

static void
case_expect(struct test_reading *r, void *to, const struct node *v)
{
	struct test_expect **end = &((struct test_case *)to)->expects;

	for (uint32_t i = 0; i < test_item_count(v); i++) {
		const struct node *item = test_item_at(v, i);
		struct test_expect *e = ARENA_NEW(&r->tf->arena, struct test_expect);
		*e = (struct test_expect){
			.at = node_at(r->tf->file, item), .least = -1, .most = -1
		};
		bool ok = test_read_map(r, item, expect_keys, e, "expect");
		if (ok && (e->mock != NULL) + (e->order.n > 0) + (e->log != NULL) != 1)
			test_wrong(
			    r, item, "expect: expected one of \"mock\", \"order\" and \"log\"");
		set_count(e);
		*end = e;
		end = &e->next;
	}
}

/* ---- a test ---- */

static void
case_name(struct test_reading *r, void *to, const struct node *v)
{
	((struct test_case *)to)->name = test_text(r, v, "name");
}

static void
case_within(struct test_reading *r, void *to, const struct node *v)
{
	struct test_case *tc = to;

	if (v->kind != NODE_SCALAR || !units_parse_duration(v->text, &tc->within_ms) ||
	    tc->within_ms <= 0)
		test_wrong(r, v, "within: expected a duration such as \"5s\"");
}

static const struct test_key case_keys[] = {
	{ "expect", case_expect },
	{ "name", case_name },
	{ "send", case_send },
	{ "within", case_within },
	{ NULL, NULL },
};

static void
file_tests(struct test_reading *r, void *to, const struct node *v)
{
	struct test_file *tf = to;
	struct test_case **end = &tf->cases;

	if (v->kind != NODE_LIST) {
		test_wrong(r, v, "tests: expected a list, got %s", node_kind_name(v));
		return;
	}
	for (uint32_t i = 0; i < v->n; i++) {
		struct test_case *tc = ARENA_NEW(&tf->arena, struct test_case);
		*tc = (struct test_case){ .at = node_at(tf->file, &v->items[i]),
			.within_ms = WITHIN_DEFAULT_MS };
		if (test_read_map(r, &v->items[i], case_keys, tc, "tests") && tc->name == NULL)
			tc->name = arena_printf(&tf->arena, "test %u", i + 1);
		*end = tc;
		end = &tc->next;
		tf->cases_n++;
	}
}

/* ---- replace ---- */

static void
replace_uri(struct test_reading *r, void *to, const struct node *v)
{
	((struct test_replace *)to)->uri = test_text(r, v, "uri");
}

static void
replace_step(struct test_reading *r, void *to, const struct node *v)
{
	((struct test_replace *)to)->step = test_text(r, v, "step");
}

static void
replace_route(struct test_reading *r, void *to, const struct node *v)
{
	((struct test_replace *)to)->route = test_text(r, v, "route");
}

static void
replace_mock(struct test_reading *r, void *to, const struct node *v)
{
	((struct test_replace *)to)->mock = test_text(r, v, "mock");
}

static void
replace_with(struct test_reading *r, void *to, const struct node *v)
{
	((struct test_replace *)to)->with = test_text(r, v, "with");
}

static void
replace_from(struct test_reading *r, void *to, const struct node *v)
{
	((struct test_replace *)to)->from = test_text(r, v, "from");
}

static void
replace_steps(struct test_reading *r, void *to, const struct node *v)
{
	((struct test_replace *)to)->steps = v;
	if (v->kind != NODE_LIST)
		test_wrong(r, v, "steps: expected a list of steps, got %s", node_kind_name(v));
}

static const struct test_key replace_keys[] = {
	{ "from", replace_from },
	{ "mock", replace_mock },
	{ "route", replace_route },
	{ "step", replace_step },
	{ "steps", replace_steps },
	{ "uri", replace_uri },
	{ "with", replace_with },
	{ NULL, NULL },
};

static void
check_replace(struct test_reading *r, const struct test_replace *rp, const struct node *at)
{
	if ((rp->uri != NULL) + (rp->step != NULL) + (rp->route != NULL) != 1)
		test_wrong(r, at, "replace: expected one of \"uri\", \"step\" and \"route\"");
	else if (rp->route != NULL &&
	    (rp->from == NULL || rp->mock != NULL || rp->with != NULL || rp->steps != NULL))
		test_wrong(
		    r, at, "replace: of a route the from alone is replaced: expected \"from\"");
	else if (rp->route == NULL &&
	    (rp->from != NULL || (rp->mock != NULL) == (rp->with != NULL)))
		test_wrong(r, at, "replace: expected one of \"mock\" and \"with\"");
	else if (rp->with != NULL && rp->steps != NULL)
		test_wrong(r, at, "replace: \"steps\" are those of a mock");
}

static void
file_replace(struct test_reading *r, void *to, const struct node *v)
{
	struct test_file *tf = to;
	struct test_replace **end = &tf->replaces;

	for (uint32_t i = 0; i < test_item_count(v); i++) {
		const struct node *item = test_item_at(v, i);
		struct test_replace *rp = ARENA_NEW(&tf->arena, struct test_replace);
		*rp = (struct test_replace){ .at = node_at(tf->file, item) };
		if (test_read_map(r, item, replace_keys, rp, "replace"))
			check_replace(r, rp, item);
		*end = rp;
		end = &rp->next;
	}
}

/* ---- the file ---- */

static void
file_routes(struct test_reading *r, void *to, const struct node *v)
{
	test_strings(r, &((struct test_file *)to)->routes, v, "routes");
}

static void
file_config(struct test_reading *r, void *to, const struct node *v)
{
	((struct test_file *)to)->config = test_text(r, v, "config");
}

/* A map to "name=value". */
static void
read_pairs(struct test_reading *r, struct strings *out, const struct node *v, const char *what)
{
	struct arena *a = &r->tf->arena;

	if (v->kind != NODE_MAP) {
		test_wrong(r, v, "%s: expected a map, got %s", what, node_kind_name(v));
		return;
	}
	out->items = arena_alloc(a, (v->n + 1) * sizeof(char *));
	for (uint32_t i = 0; i < v->n; i++) {
		const char *text = test_text(r, node_value(v, i), what);
		out->items[out->n++] =
		    arena_printf(a, "%s=%s", node_key(v, i)->text.p, text != NULL ? text : "");
	}
	out->items[out->n] = NULL;
}

static void
file_properties(struct test_reading *r, void *to, const struct node *v)
{
	read_pairs(r, &((struct test_file *)to)->properties, v, "properties");
}

static void
file_set(struct test_reading *r, void *to, const struct node *v)
{
	read_pairs(r, &((struct test_file *)to)->set, v, "set");
}

static const struct test_key file_keys[] = {
	{ "config", file_config },
	{ "properties", file_properties },
	{ "replace", file_replace },
	{ "routes", file_routes },
	{ "set", file_set },
	{ "tests", file_tests },
	{ NULL, NULL },
};

static const char *
absolute_folder(struct arena *a, const char *name)
{
	const char *folder = read_folder(a, name);
	char *path = realpath(folder, NULL);
	const char *out = arena_strdup(a, path != NULL ? path : folder);

	free(path);
	return out;
}

struct test_file *
test_file_read(const char *name, struct diagnostics *ds)
{
	struct test_file *tf = MEM_NEW(struct test_file);
	struct test_reading r = { tf, ds };
	struct hinny_error err;
	struct str text;
	size_t before = ds->errors;

	arena_init(&tf->arena);
	tf->file = arena_strdup(&tf->arena, name);
	tf->folder = absolute_folder(&tf->arena, name);
	struct node *root = NULL;
	if (read_file(&tf->arena, name, NODE_FILE_MAX, &text, &err) != HINNY_OK)
		diagnostics_add(ds, (struct position){ .file = tf->file }, false, "%s", err.text);
	else
		root = yaml_parse(&tf->arena, tf->file, text, ds);
	if (root != NULL && test_read_map(&r, root, file_keys, tf, "a test file")) {
		if (tf->routes.n == 0 && tf->config == NULL)
			test_wrong(
			    &r, root, "expected \"routes\", the route files that are tested");
		if (tf->cases_n == 0)
			test_wrong(&r, root, "expected \"tests\"");
	}
	if (ds->errors == before)
		return tf;
	test_file_free(tf);
	return NULL;
}

/* ---- the end ---- */

static void
free_message(struct test_message *m)
{
	for (struct test_check *ck = m->checks; ck != NULL; ck = ck->next)
		json_decref(ck->json);
}

void
test_file_free(struct test_file *tf)
{
	if (tf == NULL)
		return;
	for (struct test_case *tc = tf->cases; tc != NULL; tc = tc->next) {
		for (struct test_send *s = tc->sends; s != NULL; s = s->next) {
			json_decref(s->headers);
			free_message(&s->expect);
		}
		for (struct test_expect *e = tc->expects; e != NULL; e = e->next)
			for (struct test_message *m = e->messages; m != NULL; m = m->next)
				free_message(m);
	}
	arena_fini(&tf->arena);
	free(tf);
}
