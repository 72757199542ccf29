/* core/config/bundle_*: reading, the memory file, broken ones */
#include "core/config/bundle_priv.h"

#include "tests/unit/config_fixture.h"

#include <fcntl.h>
#include <sys/mman.h>

static const char *const all[] = { ".", NULL };

static char *
dump(struct config_fixture *fx, const struct program *p)
{
	char *text;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	program_dump(p, f);
	assert_int_equal(fclose(f), 0);
	char *copy = arena_strndup(&fx->arena, text, n);
	free(text);
	return copy;
}

static void
fill(struct config_fixture *fx)
{
	fixture_file(fx, "application.properties", "where=shop\nfull={{where}}-x\n");
	fixture_file(fx, "a.yaml",
	    "- onException: {exception: [java.lang.Exception], handled: {constant: 'true'}, steps: "
	    "[{log: x}]}\n"
	    "- route: {id: r, from: {uri: 'platform-http:/{{where}}', steps: [{setBody: {constant: "
	    "'a\n\n  b'}}, {to: 'direct:b'}]}}\n");
	fixture_file(fx, "b.yml",
	    "- from: {uri: 'direct:b', steps: [{to: 'xslt:classpath:x.xsl'}, {setBody: {constant: "
	    "'resource:file:t.txt'}}]}\n");
	fixture_file(fx, "x.xsl", "<x/>");
	fixture_file(fx, "t.txt", "text of a file");
	fixture_file(fx, "ignored.txt", "- x");
	fixture_file(fx, ".hidden.yaml", "- x");
}

/* What a worker compiles from the memory file is what hinnyd compiled, though the files are gone.
 */
static void
test_round_trip(void **state)
{
	struct config_fixture fx;
	struct hinny_error err;
	struct bundle *loaded = NULL;
	int fd = -1;
	(void)state;

	fixture_init(&fx);
	fill(&fx);
	struct bundle *b = fixture_read(&fx, all);
	struct program *p = program_compile(b, &fx.ds);
	assert_string_equal(fixture_text(&fx), "");
	assert_non_null(p);
	assert_int_equal(p->routes_n, 2);
	assert_int_equal(p->files_n, 1);
	assert_string_equal(p->files[0].copy, "f0/x.xsl");
	assert_int_equal(bundle_save(b, &fd, &err), HINNY_OK);
	char *first = dump(&fx, p);
	program_free(p);
	bundle_free(b);
	assert_non_null(strstr(first, "text of a file"));

	assert_int_equal(unlink(arena_printf(&fx.arena, "%s/x.xsl", fx.dir)), 0);
	assert_int_equal(unlink(arena_printf(&fx.arena, "%s/t.txt", fx.dir)), 0);
	assert_int_equal(bundle_load(fd, &loaded, &err), HINNY_OK);
	(void)close(fd);
	p = program_compile(loaded, &fx.ds);
	assert_string_equal(fixture_text(&fx), "");
	assert_string_equal(dump(&fx, p), first);
	assert_string_equal(p->properties.items[1].value, "shop-x");
	assert_null(bundle_sources(loaded)[0]);
	program_free(p);
	bundle_free(loaded);
	fixture_fini(&fx);
}

static void
test_sealed(void **state)
{
	struct config_fixture fx;
	struct hinny_error err;
	int fd = -1;
	(void)state;

	fixture_init(&fx);
	fill(&fx);
	struct bundle *b = fixture_read(&fx, all);
	assert_int_equal(bundle_save(b, &fd, &err), HINNY_OK);
	assert_int_equal(write(fd, "x", 1), -1);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(
	    fcntl(fd, F_GET_SEALS), F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
	(void)close(fd);
	bundle_free(b);
	fixture_fini(&fx);
}

/* Decodes and, when it is whole, compiles: neither may crash. */
static bool
try_decode(struct config_fixture *fx, struct str data)
{
	struct bundle *b = NULL;
	struct hinny_error err;
	struct diagnostics ds;
	(void)fx;

	if (bundle_decode(data, &b, &err) != HINNY_OK) {
		assert_non_null(strstr(err.text, "broken"));
		return false;
	}
	diagnostics_init(&ds);
	struct program *p = program_compile(b, &ds);
	program_free(p);
	diagnostics_fini(&ds);
	bundle_free(b);
	return true;
}

static void
test_broken(void **state)
{
	struct config_fixture fx;
	struct buf good;
	(void)state;

	fixture_init(&fx);
	fill(&fx);
	struct bundle *b = fixture_read(&fx, all);
	struct program *p = program_compile(b, &fx.ds);
	buf_init(&good, 0);
	assert_int_equal(bundle_encode(b, &good), HINNY_OK);
	assert_true(try_decode(&fx, (struct str){ good.p, good.n }));
	for (size_t n = 0; n < good.n;
	     n++) { /* cut: in a block of its own, so that a read behind it is seen */
		char *cut = malloc(n + 1);
		memcpy(cut, good.p, n);
		assert_false(try_decode(&fx, (struct str){ cut, n }));
		free(cut);
	}
	char *bad = malloc(good.n + 1);
	memcpy(bad, good.p, good.n);
	assert_false(try_decode(&fx, (struct str){ bad, good.n + 1 })); /* longer */
	for (size_t i = 0; i < good.n; i++) {
		for (int bit = 0; bit < 8; bit += 7) {
			bad[i] = (char)(good.p[i] ^ 1 << bit);
			(void)try_decode(&fx, (struct str){ bad, good.n });
		}
		bad[i] = (char)0xff;
		(void)try_decode(&fx, (struct str){ bad, good.n });
		bad[i] = good.p[i];
	}
	free(bad);
	buf_fini(&good);
	program_free(p);
	bundle_free(b);
	fixture_fini(&fx);
}

static void
test_load_refuses(void **state)
{
	struct hinny_error err;
	struct bundle *b = NULL;
	int fds[2], fd = memfd_create("x", MFD_CLOEXEC);
	(void)state;

	assert_int_equal(bundle_load(fd, &b, &err), HINNY_EPROTO); /* empty */
	assert_int_equal(write(fd, "hello", 5), 5);
	assert_int_equal(bundle_load(fd, &b, &err), HINNY_EPROTO);
	assert_int_equal(pipe(fds), 0);
	assert_int_not_equal(bundle_load(fds[0], &b, &err), HINNY_OK);
	assert_int_not_equal(bundle_load(-1, &b, &err), HINNY_OK);
	(void)close(fds[0]);
	(void)close(fds[1]);
	(void)close(fd);
	assert_null(b);
}

static const struct sources_row {
	const char *label;
	const char *routes;     /* of hinny.yaml, in conf/ */
	const char *route_file; /* of the command line, or NULL */
	const char *found;      /* files with a route each */
	const char *message;
} sources[] = {
	{ "pattern", "'r/*.yaml'", NULL, "conf/r/1.yaml conf/r/2.yaml", "" },
	{ "folder", "r", NULL, "conf/r/1.yaml conf/r/2.yaml", "" },
	{ "list", "[r/2.yaml, 'r/*1*']", NULL, "conf/r/2.yaml conf/r/1.yaml", "" },
	{ "twice is once", "['r/1.yaml', 'r/1.yaml', r]", NULL, "conf/r/1.yaml conf/r/2.yaml", "" },
	{ "command line first", "r/1.yaml", "top.yaml", "top.yaml conf/r/1.yaml", "" },
	{ "no match", "'r/x*.yaml'", "top.yaml", "top.yaml",
	    "conf/hinny.yaml:1:9: warning: routes: no file matches \"r/x*.yaml\"\n" },
	{ "not there", "r/x.yaml", NULL, NULL, "conf/r/x.yaml: cannot open file" },
	{ "empty folder", "e", NULL, "", "conf/e: warning: no *.yaml file in this folder\n" },
};

static void
check_sources(void **state)
{
	const struct sources_row *r = *state;
	struct config_fixture fx;
	const char *files[] = { r->route_file, NULL };

	fixture_init(&fx);
	fixture_file(&fx, "conf/hinny.yaml", arena_printf(&fx.arena, "routes: %s\n", r->routes));
	fixture_file(&fx, "conf/r/1.yaml", "- from: {uri: 'direct:1', steps: [{log: x}]}\n");
	fixture_file(&fx, "conf/r/2.yaml", "- from: {uri: 'direct:2', steps: [{log: x}]}\n");
	fixture_file(&fx, "conf/e/x.txt", "");
	fixture_file(&fx, "top.yaml", "- from: {uri: 'direct:top', steps: [{log: x}]}\n");
	struct bundle_options opt = {
		.config_file = "conf/hinny.yaml", .route_files = files, .cwd = fx.dir
	};
	struct bundle *b = bundle_read(&opt, &fx.ds);
	struct program *p = program_compile(b, &fx.ds);
	assert_int_equal(p != NULL, r->found != NULL);
	assert_non_null(strstr(fixture_text(&fx), r->message));
	char *found = arena_strdup(&fx.arena, "");
	for (uint32_t i = 0; p != NULL && i < p->routes_n; i++)
		found = arena_printf(
		    &fx.arena, "%s%s%s", found, i > 0 ? " " : "", p->routes[i]->at.file);
	if (p != NULL)
		assert_string_equal(found, r->found);
	program_free(p);
	bundle_free(b);
	fixture_fini(&fx);
}

/* The errors of all files come in one go: of YAML, of placeholders, of routes. */
static void
test_all_errors(void **state)
{
	static const char *const files[] = { "1.yaml", "2.yaml", "3.yaml", "none.yaml", NULL };
	struct config_fixture fx;
	(void)state;

	fixture_init(&fx);
	fixture_file(&fx, "1.yaml", "- from: [\n");
	fixture_file(&fx, "2.yaml", "- from: {uri: 'direct:{{nope}}', steps: [{log: x}]}\n");
	fixture_file(&fx, "3.yaml",
	    "- from: {uri: 'direct:a', steps: [{lgo: x}, {to: 'nosuch:x'}]}\n- rout: {}\n");
	struct bundle *b = fixture_read(&fx, files);
	assert_non_null(b);
	assert_null(program_compile(b, &fx.ds));
	const char *text = fixture_text(&fx);
	assert_non_null(strstr(text, "1.yaml:2:1: cannot read YAML"));
	assert_non_null(strstr(text, "2.yaml:1:15: from.uri: property \"nope\" is not defined"));
	assert_non_null(strstr(
	    text, "3.yaml:1:36: from.steps[0].lgo: unknown node \"lgo\", did you mean \"log\"\n"));
	assert_non_null(
	    strstr(text, "3.yaml:1:50: from.steps[1].to: unknown component \"nosuch\""));
	assert_non_null(
	    strstr(text, "3.yaml:2:3: rout: unknown node \"rout\" at the root of the file"));
	assert_non_null(strstr(text, "none.yaml: cannot open file"));
	assert_int_equal(fx.ds.errors, 6);
	bundle_free(b);
	fixture_fini(&fx);
}

static void
test_property_order(void **state)
{
	static const char *const properties[] = { "a=cli", "b=cli", "bad", NULL };
	static const char *const files[] = { "r.yaml", NULL };
	static const char *const set[] = { "properties.e=set", NULL };
	struct config_fixture fx;
	(void)state;

	fixture_init(&fx);
	(void)setenv("HINNY_TEST_WIN", "env", 1);
	fixture_file(&fx, "hinny.yaml",
	    "properties: {a: conf, b: conf, c: conf, d: conf, hinny.test.win: conf, e: conf}\n");
	fixture_file(&fx, "app.properties", "b=file\nc=file\nc=file2\n");
	fixture_file(&fx, "r.yaml",
	    "- from: {uri: 'direct:{{a}}-{{b}}-{{c}}-{{d}}-{{hinny.test.win}}-{{e}}', steps: "
	    "[{log: x}]}\n");
	struct bundle_options opt = { .config_file = "hinny.yaml",
		.route_files = files,
		.properties = properties,
		.set = set,
		.properties_file = "app.properties",
		.cwd = fx.dir };
	struct bundle *b = bundle_read(&opt, &fx.ds);
	assert_string_equal(fixture_text(&fx), "--property: expected key=value, got \"bad\"\n");
	fx.ds.errors = 0;
	struct program *p = program_compile(b, &fx.ds);
	assert_string_equal(p->routes[0]->from->key, "direct://cli-cli-file2-conf-env-set");
	const char *const *source = bundle_sources(b);
	assert_non_null(strstr(source[0], "hinny.yaml"));
	assert_non_null(strstr(source[1], "app.properties"));
	assert_non_null(strstr(source[2], "application.properties"));
	assert_non_null(strstr(source[3], "r.yaml"));
	assert_null(source[4]);
	program_free(p);
	bundle_free(b);
	fixture_fini(&fx);
}

int
main(void)
{
	UNIT_CASE(test_round_trip);
	UNIT_CASE(test_sealed);
	UNIT_CASE(test_broken);
	UNIT_CASE(test_load_refuses);
	UNIT_TABLE("sources", sources, check_sources);
	UNIT_CASE(test_all_errors);
	UNIT_CASE(test_property_order);
	return unit_run("bundle");
}
