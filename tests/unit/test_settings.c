/* core/config/settings: hinny.yaml, --set, addresses, run mode */
#include "core/config/settings_priv.h"

#include "tests/unit/config_fixture.h"

/* hinny.yaml with this text, through bundle_read; settings in *s, diagnostics in the fixture. */
static struct bundle *
read_config(struct config_fixture *fx, const char *yaml, const char *const *set, bool run_mode,
    int64_t port)
{
	struct bundle_options opt = { .config_file = "hinny.yaml",
		.set = set,
		.cwd = fx->dir,
		.run_mode = run_mode,
		.port = port };

	fixture_file(fx, "hinny.yaml", yaml);
	return bundle_read(&opt, &fx->ds);
}

static const struct row {
	const char *label;
	const char *yaml;
	const char *set;    /* one --set, or NULL */
	const char *errors; /* "": none */
} rows[] = {
	{ "nothing", "{}", NULL, "" },
	{ "null groups", "http:\nworkers:\n", NULL, "" },
	{ "nested and dotted", "http: {max_body: 1m}\nlog.level: debug\n", NULL, "" },
	{ "unknown key", "htp: {listen: 1}\n", NULL,
	    "hinny.yaml:1:1: htp: unknown key \"htp\", did you mean \"http\"\n" },
	{ "unknown key within", "http:\n  listn: 1\n", NULL,
	    "hinny.yaml:2:3: http.listn: unknown key \"listn\", did you mean \"listen\"\n" },
	{ "unknown key, nothing near", "zzzzzzz: 1\n", NULL,
	    "hinny.yaml:1:1: zzzzzzz: unknown key \"zzzzzzz\"\n" },
	{ "unknown kind", "workers: {htpp: {instances: 1}}\n", NULL,
	    "hinny.yaml:1:11: workers.htpp: unknown worker kind \"htpp\", did you mean "
	    "\"http\"\n" },
	{ "unknown key of a kind", "workers: {http: {instnces: 1}}\n", NULL,
	    "hinny.yaml:1:18: workers.http.instnces: unknown key \"instnces\", did you mean "
	    "\"instances\"\n" },
	{ "group is text", "http: 8080\n", NULL,
	    "hinny.yaml:1:7: http: expected a map, got text\n" },
	{ "key is a map", "http: {max_body: {a: b}}\n", NULL,
	    "hinny.yaml:1:18: http.max_body: expected a size such as \"64KiB\" from 0 B to 1048576 "
	    "GiB, got a map\n" },
	{ "key is a list", "run_dir: [a]\n", NULL,
	    "hinny.yaml:1:10: run_dir: expected text, got a list\n" },
	{ "nested and dotted alike", "log: {level: info}\nlog.level: debug\n", NULL,
	    "hinny.yaml:2:1: key \"log.level\" is given twice\n" },
	{ "no address", "http: {listen: []}\n", NULL,
	    "hinny.yaml:1:16: http.listen: expected at least one address\n" },
	{ "no address by --set", "{}", "http.listen=",
	    "--set: http.listen: expected at least one address\n" },
	{ "an address twice", "http: {listen: [\"8080\", \"[::]:8080\", \"8080\"]}\n", NULL,
	    "hinny.yaml:1:38: http.listen: \"8080\" is given twice\n" },
	{ "properties as a whole", "{}", "properties=b",
	    "--set: properties: is a group of keys, not one that has a value\n" },
	{ "duration", "http: {idle_timeout: 5 lightyears}\n", NULL,
	    "hinny.yaml:1:22: http.idle_timeout: expected a duration such as \"5s\" from 1 ms to 1 "
	    "d, got \"5 lightyears\"\n" },
	{ "range", "http: {backlog: 0}\n", NULL,
	    "hinny.yaml:1:17: http.backlog: expected a whole number from 1 to 65535, got \"0\"\n" },
	{ "word", "log: {level: inof}\n", NULL,
	    "hinny.yaml:1:14: log.level: expected one of \"error\", \"warning\", \"info\" or "
	    "\"debug\", got \"inof\", did you mean \"info\"\n" },
	{ "yes is text", "http: {server_header: yes}\n", NULL,
	    "hinny.yaml:1:23: http.server_header: expected true or false, got \"yes\"\n" },
	{ "mode", "admin: {mode: rw}\n", NULL,
	    "hinny.yaml:1:15: admin.mode: expected three or four octal digits such as \"0660\", "
	    "got \"rw\"\n" },
	{ "listen", "http: {listen: ['8080', 'host:0']}\n", NULL,
	    "hinny.yaml:1:25: http.listen: expected an address such as \"0.0.0.0:8080\", "
	    "\"[::1]:8080\", \"8080\", "
	    "\"unix:/run/x.sock\" or \"fd:NAME\", got \"host:0\"\n" },
	{ "all errors at once", "a: 1\nhttp: {backlog: x}\n", NULL,
	    "hinny.yaml:1:1: a: unknown key \"a\"\n"
	    "hinny.yaml:2:17: http.backlog: expected a whole number from 1 to 65535, got \"x\"\n" },
	{ "missing placeholder", "run_dir: '{{nope.at.all}}'\n", NULL,
	    "hinny.yaml:1:10: run_dir: property \"nope.at.all\" is not defined: expected it in the "
	    "environment or a "
	    "properties file, or a default as in {{nope.at.all:text}}\n" },
	{ "root is a list", "- a\n", NULL, "hinny.yaml:1:1: expected a map, got a list\n" },
	{ "properties is text", "properties: x\n", NULL,
	    "hinny.yaml:1:13: properties: expected a map, got text\n" },
	{ "set", "{}", "workers.http.instances=1", "" },
	{ "set, unknown", "{}", "workers.http.instnces=1",
	    "--set: workers.http.instnces: unknown key \"instnces\", did you mean "
	    "\"instances\"\n" },
	{ "set, a group", "{}", "http=1",
	    "--set: http: is a group of keys, not one that has a value\n" },
	{ "set, no value", "{}", "http.backlog",
	    "--set: expected key=value, got \"http.backlog\"\n" },
	{ "set, wrong", "{}", "http.backlog=many",
	    "--set: http.backlog: expected a whole number from 1 to 65535, got \"many\"\n" },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct config_fixture fx;
	const char *set[] = { r->set, NULL };

	fixture_init(&fx);
	struct bundle *b = read_config(&fx, r->yaml, set, false, 0);
	/* without the warning that there are no routes */
	const char *text = fixture_text(&fx);
	const char *warning = strstr(text, "hinny.yaml: warning: no route file");
	if (warning != NULL)
		text = arena_printf(
		    &fx.arena, "%.*s%s", (int)(warning - text), text, strchr(warning, '\n') + 1);
	assert_string_equal(text, r->errors);
	bundle_free(b);
	fixture_fini(&fx);
}

static const struct listen_row {
	const char *label;
	bool ok;
	const char *host;
	int port;
	const char *path; /* unix or fd */
} listens[] = {
	{ "0.0.0.0:8080", true, "0.0.0.0", 8080, NULL },
	{ "8080", true, NULL, 8080, NULL },
	{ ":8080", true, NULL, 8080, NULL },
	{ "*:8080", true, NULL, 8080, NULL },
	{ "[::]:8080", true, "::", 8080, NULL },
	{ "[fe80::1%eth0]:1", true, "fe80::1%eth0", 1, NULL },
	{ "localhost:65535", true, "localhost", 65535, NULL },
	{ "unix:/run/x.sock", true, NULL, 0, "/run/x.sock" },
	{ "fd:web", true, NULL, 0, "web" },
	{ "", false, NULL, 0, NULL },
	{ "localhost", false, NULL, 0, NULL },
	{ "localhost:", false, NULL, 0, NULL },
	{ "host:70000", false, NULL, 0, NULL },
	{ "host:0", false, NULL, 0, NULL },
	{ "host:+80", false, NULL, 0, NULL },
	{ "::1:8080", false, NULL, 0, NULL },
	{ "[]:80", false, NULL, 0, NULL },
	{ "[::1:80", false, NULL, 0, NULL },
	{ "a b:80", false, NULL, 0, NULL },
	{ "unix:", false, NULL, 0, NULL },
	{ "fd:", false, NULL, 0, NULL },
	{ "http://x:80", false, NULL, 0, NULL },
};

static void
check_listen(void **state)
{
	const struct listen_row *r = *state;
	struct listen_address la;
	struct hinny_error err;
	struct arena a;

	arena_init(&a);
	assert_int_equal(settings_parse_listen(&a, str_of(r->label), &la, &err) == HINNY_OK, r->ok);
	if (r->ok) {
		assert_int_equal(la.port, r->port);
		assert_string_equal(la.host ? la.host : "-", r->host ? r->host : "-");
		const char *path = la.unix_path ? la.unix_path : la.fd_name;
		assert_string_equal(path ? path : "-", r->path ? r->path : "-");
	}
	arena_fini(&a);
}

static const struct settings *
settings_of(struct bundle *b, struct config_fixture *fx, struct program **p)
{
	*p = program_compile(b, &fx->ds);
	assert_non_null(*p);
	return (*p)->settings;
}

static void
test_values(void **state)
{
	static const char *const set[] = { "http.backlog=7", "http.backlog=9",
		"workers.xform.user=nobody", NULL };
	struct config_fixture fx;
	struct program *p;
	(void)state;

	fixture_init(&fx);
	struct bundle *b = read_config(&fx,
	    "http: {listen: ['8081', 'unix:/tmp/x'], max_body: 10m, idle_timeout: 1m30s}\n"
	    "workers: {http: {instances: 3}}\nlog: {level: DEBUG, format: json}\nrun_dir: "
	    "'{{env:HOME}}/run'\n"
	    "properties: {a: {b: 1}, c.d: x}\nadmin: {socket: ~}\n",
	    set, false, 0);
	const struct settings *s = settings_of(b, &fx, &p);
	assert_int_equal(s->http.listen_n, 2);
	assert_int_equal(s->http.listen[0].port, 8081);
	assert_string_equal(s->http.listen[1].unix_path, "/tmp/x");
	assert_true(s->http.max_body == 10 << 20);
	assert_true(s->http.idle_timeout_ms == 90000);
	assert_true(s->http.request_head_timeout_ms == 10000); /* default */
	assert_true(s->http.backlog == 9);
	assert_int_equal(s->log.level, LOG_LEVEL_DEBUG);
	assert_int_equal(s->log.format, LOG_FORMAT_JSON);
	assert_true(s->workers[kind_index(STR_LIT("http"))].instances == 3);
	assert_string_equal(s->workers[kind_index(STR_LIT("xform"))].user, "nobody");
	assert_null(s->admin.socket);
	assert_non_null(strstr(s->run_dir, "/run"));
	assert_int_equal(p->properties.n, 2);
	assert_string_equal(p->properties.items[0].key, "a.b");
	assert_string_equal(p->properties.items[1].value, "x");
	program_free(p);
	bundle_free(b);
	fixture_fini(&fx);
}

static const struct mode_row {
	const char *label;
	const char *yaml;
	bool run_mode;
	int64_t port;
	const char *host;
	int listens;
} modes[] = {
	{ "hinnyd", "{}", false, 0, "0.0.0.0", 8080 },
	{ "hinnyd --port", "{}", false, 9, "0.0.0.0", 9 },
	{ "run", "{}", true, 0, "127.0.0.1", 8080 },
	{ "run --port", "{}", true, 9, "127.0.0.1", 9 },
	{ "run, listen given", "http: {listen: '0.0.0.0:7'}", true, 0, "0.0.0.0", 7 },
	{ "run --port, listen given", "http: {listen: '0.0.0.0:7'}", true, 9, "127.0.0.1", 9 },
};

static void
check_mode_row(void **state)
{
	const struct mode_row *r = *state;
	struct config_fixture fx;
	struct program *p;

	fixture_init(&fx);
	struct bundle *b = read_config(&fx, r->yaml, NULL, r->run_mode, r->port);
	const struct settings *s = settings_of(b, &fx, &p);
	assert_int_equal(s->http.listen_n, 1);
	assert_string_equal(s->http.listen[0].host, r->host);
	assert_int_equal(s->http.listen[0].port, r->listens);
	program_free(p);
	bundle_free(b);
	fixture_fini(&fx);
}

/* Rows are what manuals and `hinny doc` print: each has a help text and a default that parses. */
static void
test_rows(void **state)
{
	(void)state;
	const struct option_desc *tables[] = { settings_rows(), settings_worker_rows() };

	for (size_t t = 0; t < 2; t++) {
		for (const struct option_desc *o = tables[t]; o->name != NULL; o++) {
			assert_non_null(o->help);
			assert_true(strlen(o->help) > 10);
		}
	}
}

int
main(void)
{
	UNIT_TABLE("settings", rows, check_row);
	UNIT_TABLE("listen", listens, check_listen);
	UNIT_TABLE("mode", modes, check_mode_row);
	UNIT_CASE(test_values);
	UNIT_CASE(test_rows);
	return unit_run("settings");
}
