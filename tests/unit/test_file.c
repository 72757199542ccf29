/* transports/file: names, patterns, what is done to disks, character sets. */
#include "core/base/mem.h"
#include "tests/lib/unit.h"
#include "transports/file/file_charset.h"
#include "transports/file/file_disk.h"
#include "transports/file/file_path.h"
#include "transports/file/file_priv.h"
#include "transports/file/file_seen.h"
#include "transports/file/file_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names ---- */

static const struct ant_row {
	const char *label, *patterns, *path;
	bool yes;
} ants[] = {
	{ "any below", "**/*.txt", "x/y/a.txt", true },
	{ "any here", "**/*.txt", "a.txt", true },
	{ "one level", "*.txt", "x/a.txt", false },
	{ "one level here", "*.txt", "a.txt", true },
	{ "skip", "**/skip*", "x/skip.txt", true },
	{ "question mark", "a?.txt", "ab.txt", true },
	{ "question mark alone", "a?.txt", "a.txt", false },
	{ "folder and all in it", "x/", "x/y/a.txt", true },
	{ "folder at the end", "x/**", "x/y/a.txt", true },
	{ "middle", "a/**/z", "a/b/c/z", true },
	{ "middle of nothing", "a/**/z", "a/z", true },
	{ "middle twice", "**/b/**/d", "a/b/c/b/d", true },
	{ "middle missing", "**/b/**/d", "a/c/d", false },
	{ "two patterns", "*.xml, *.csv", "a.csv", true },
	{ "none", "", "a", false },
	{ "longer path", "a", "a/b", false },
	{ "shorter path", "a/b", "a", false },
	{ "stars", "*a*b*", "xxaxxbxx", true },
	{ "stars in vain", "*a*b*c", "xxaxxbxx", false },
	{ "letter case", "*.TXT", "a.txt", false },
};

static void
check_ant(void **state)
{
	const struct ant_row *r = *state;

	assert_int_equal(path_ant_matches(str_of(r->patterns), str_of(r->path), true), r->yes);
	if (r->yes)
		assert_true(path_ant_matches(str_of(r->patterns), str_of(r->path), false));
}

static void
test_paths(void **state)
{
	struct arena a;
	(void)state;

	arena_init(&a);
	assert_true(path_ant_matches(STR_LIT("*.TXT"), STR_LIT("a.txt"), false));
	assert_string_equal(path_join(&a, "in", STR_LIT("x")), "in/x");
	assert_string_equal(path_join(&a, "in/", STR_LIT("//x")), "in/x");
	assert_string_equal(path_join(&a, ".", STR_LIT("x")), "x");
	assert_string_equal(path_join(&a, "", STR_LIT("x")), "x");
	assert_string_equal(path_join(&a, "/", STR_LIT("x")), "/x");
	assert_string_equal(path_plain(&a, STR_LIT("./a//b/./c/")), "a/b/c");
	assert_string_equal(path_plain(&a, STR_LIT("//a/../b")), "/a/../b");
	assert_true(path_leads_up(STR_LIT("a/../b")));
	assert_true(path_leads_up(STR_LIT("..")));
	assert_false(path_leads_up(STR_LIT("a..b/...")));
	assert_true(str_eq(path_parent(STR_LIT("a/b/c")), STR_LIT("a/b")));
	assert_true(str_eq(path_parent(STR_LIT("/c")), STR_LIT("/")));
	assert_int_equal(path_parent(STR_LIT("c")).n, 0);
	assert_true(str_eq(path_last(STR_LIT("a/b")), STR_LIT("b")));
	assert_true(str_eq(path_extension(STR_LIT("x.y/a.tar.gz")), STR_LIT("gz")));
	assert_int_equal(path_extension(STR_LIT("x.y/a")).n, 0);
	assert_true(path_word_in(STR_LIT("txt, XML"), STR_LIT("xml")));
	assert_false(path_word_in(STR_LIT("txt"), STR_LIT("tx")));
	arena_fini(&a);
}

static void
test_seen(void **state)
{
	struct seen s;
	(void)state;

	seen_init(&s, 2);
	seen_add(&s, STR_LIT("a"));
	seen_add(&s, STR_LIT("b"));
	assert_true(seen_has(&s, STR_LIT("a")));
	seen_add(&s, STR_LIT("c"));
	assert_false(seen_has(&s, STR_LIT("b"))); /* the one that was not asked for */
	assert_true(seen_has(&s, STR_LIT("a")));
	seen_remove(&s, STR_LIT("a"));
	seen_remove(&s, STR_LIT("a"));
	assert_false(seen_has(&s, STR_LIT("a")));
	seen_fini(&s);
}

static void
test_charsets(void **state)
{
	struct arena a;
	(void)state;

	arena_init(&a);
	assert_true(charset_is_known("UTF-8"));
	assert_true(charset_is_known("ISO-8859-1"));
	assert_false(charset_is_known("no-such-set"));
	struct str text = charset_decode(&a, STR_LIT("n\xf1"), "ISO-8859-1");
	assert_true(str_eq(text, STR_LIT("n\xc3\xb1")));
	assert_true(str_eq(charset_encode(&a, text, "ISO-8859-1"), STR_LIT("n\xf1")));
	text = charset_encode(&a, STR_LIT("a\xe2\x82\xac\xe2\x82\xac" "b"), "ISO-8859-1");
	assert_true(str_eq(text, STR_LIT("a??b")));
	text = charset_decode(&a, STR_LIT("a\xff" "b"), "US-ASCII");
	assert_true(str_eq(text, STR_LIT("a\xef\xbf\xbd" "b")));
	text = charset_encode(&a, STR_LIT("ab"), "UTF-16LE");
	assert_true(str_eq(text, (struct str){ "a\0b\0", 4 }));
	assert_int_equal(charset_decode(&a, STR_LIT(""), "ISO-8859-1").n, 0);
	arena_fini(&a);
}

/* ---- disks ---- */

static char dir[] = "/tmp/hinny-file-XXXXXX";

static int
setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/hinny-file-XXXXXX");
	return mkdtemp(dir) != NULL && chdir(dir) == 0 ? 0 : -1;
}

static void
clean(void)
{
	char command[128];

	(void)snprintf(command, sizeof command, "rm -rf %s", dir);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(system(command), 0);
}

static void
put(const char *path, const char *text)
{
	struct disk_write w = { .path = path, .body = str_of(text), .tail = STR_LIT(""),
		.make_folders = true, .modified_ms = -1 };

	disk_write(&w);
	assert_int_equal(w.outcome, DISK_OK);
}

static void
holds(const char *path, const char *text)
{
	char bytes[256];
	int fd = open(path, O_RDONLY);

	if (text == NULL) {
		assert_int_equal(fd, -1);
		return;
	}
	assert_int_not_equal(fd, -1);
	ssize_t n = read(fd, bytes, sizeof bytes - 1);
	assert_true(n >= 0);
	bytes[n] = '\0';
	assert_string_equal(bytes, text);
	assert_int_equal(close(fd), 0);
}

static enum disk_outcome
write_as(const char *path, const char *temp, enum file_exist exist)
{
	struct disk_write w = { .path = path, .temp = temp, .body = STR_LIT("new"),
		.tail = STR_LIT("\n"), .exist = exist, .make_folders = true, .modified_ms = -1,
		.existing = "old/f" };

	disk_write(&w);
	return w.outcome;
}

static void
test_write(void **state)
{
	(void)state;
	assert_int_equal(setup(NULL), 0);
	put("a/b/f", "old");
	assert_int_equal(write_as("a/b/f", NULL, FILE_EXIST_IGNORE), DISK_IGNORED);
	assert_int_equal(write_as("a/b/f", NULL, FILE_EXIST_FAIL), DISK_EXISTS);
	assert_int_equal(write_as("a/b/f", "a/b/tmp", FILE_EXIST_FAIL), DISK_EXISTS);
	holds("a/b/f", "old");
	assert_int_equal(write_as("a/b/f", NULL, FILE_EXIST_APPEND), DISK_OK);
	holds("a/b/f", "oldnew\n");
	assert_int_equal(write_as("a/b/f", NULL, FILE_EXIST_MOVE), DISK_OK);
	holds("a/b/f", "new\n");
	holds("old/f", "oldnew\n");
	assert_int_equal(write_as("a/b/f", "t/x", FILE_EXIST_OVERRIDE), DISK_OK);
	assert_int_equal(write_as("a/b/g", "t/x", FILE_EXIST_FAIL), DISK_OK);
	assert_int_equal(write_as("a/b/h", NULL, FILE_EXIST_FAIL), DISK_OK);
	holds("a/b/g", "new\n");
	holds("t/x", NULL);
	assert_int_equal(write_as("a/b/f/g", NULL, FILE_EXIST_OVERRIDE), DISK_FAILED);
	assert_int_equal(write_as("a/b", NULL, FILE_EXIST_OVERRIDE), DISK_FAILED);
	clean();
}

static void
test_write_attributes(void **state)
{
	struct disk_write w = { .path = "d/f", .body = STR_LIT("x"), .tail = STR_LIT(""),
		.make_folders = true, .mode = 0640, .dir_mode = 0750, .modified_ms = 1500,
		.done = "d/f.done" };
	struct stat st;
	(void)state;

	assert_int_equal(setup(NULL), 0);
	disk_write(&w);
	assert_int_equal(w.outcome, DISK_OK);
	assert_int_equal(stat("d/f", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_equal(st.st_mtim.tv_sec, 1);
	assert_int_equal(stat("d", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0750);
	holds("d/f.done", "");
	clean();
}

static void
let_go(struct disk_take *t, const char *to)
{
	struct disk_finish f = { .path = t->path, .move_to = to, .marker = t->marker, .fd = t->fd,
		.marker_fd = t->marker_fd };

	blob_put(t->blob);
	disk_finish(&f);
	assert_int_equal(f.outcome, DISK_OK);
}

static void
test_take(void **state)
{
	struct disk_take t = { .path = "in/f", .marker = "in/f.camelLock", .max = 100 },
			 again = { .path = "in/f", .max = 100 }, small = { .path = "in/f", .max = 2 };
	(void)state;

	assert_int_equal(setup(NULL), 0);
	put("in/f", "text");
	disk_take(&t);
	assert_int_equal(t.outcome, DISK_OK);
	assert_true(str_eq((struct str){ t.blob->data, t.blob->size }, STR_LIT("text")));
	disk_take(&again); /* it is locked */
	assert_int_equal(again.outcome, DISK_BUSY);
	(void)close(again.fd);
	struct disk_take marked = { .path = "in/f", .marker = "in/f.camelLock", .max = 100 };
	disk_take(&marked);
	assert_int_equal(marked.outcome, DISK_BUSY);
	let_go(&t, "in/.camel/f");
	holds("in/f", NULL);
	holds("in/f.camelLock", NULL);
	holds("in/.camel/f", "text");
	disk_take(&again); /* it is gone */
	assert_int_equal(again.outcome, DISK_BUSY);
	put("in/f", "text");
	disk_take(&small);
	assert_int_equal(small.outcome, DISK_LARGE);
	assert_null(small.blob);
	(void)close(small.fd);
	clean();
}

static void
test_markers(void **state)
{
	struct disk_take t = { .path = "f", .marker = "f.camelLock", .max = 100 };
	(void)state;

	assert_int_equal(setup(NULL), 0);
	put("f", "text");
	put("f.camelLock", ""); /* of another program */
	disk_take(&t);
	assert_int_equal(t.outcome, DISK_BUSY);
	holds("f.camelLock", "");
	put("f.camelLock", "hinny\n"); /* of a process of ours that died */
	t = (struct disk_take){ .path = "f", .marker = "f.camelLock", .move_to = "w/f", .max = 100 };
	disk_take(&t);
	assert_int_equal(t.outcome, DISK_OK);
	holds("w/f", "text");
	let_go(&t, NULL);
	holds("f.camelLock", NULL);
	clean();
}

/* ---- keys that are kept ---- */

static void
test_store(void **state)
{
	struct store a, b;
	size_t position = 0;
	struct str key;
	(void)state;

	assert_int_equal(setup(NULL), 0);
	put("file-seen.1.old", "");
	int run = open(".", O_RDONLY | O_DIRECTORY);
	assert_true(store_open(&a, run, "file://in"));
	assert_true(store_open(&b, run, "file://in"));
	holds("file-seen.1.old", NULL); /* of a supervisor that is gone */
	store_add(&a, STR_LIT("x"));
	store_add(&a, STR_LIT("two\nlines:1"));
	store_read(&b);
	assert_true(store_next(&b, &position, &key));
	assert_true(str_eq(key, STR_LIT("x")));
	assert_true(store_next(&b, &position, &key));
	assert_true(str_eq(key, STR_LIT("two\nlines:1")));
	assert_false(store_next(&b, &position, &key));
	store_read(&b);
	position = 0;
	assert_false(store_next(&b, &position, &key)); /* nothing is new */
	store_add(&b, STR_LIT("y"));
	store_read(&b);
	assert_true(store_next(&b, &position, &key));
	assert_int_equal(write(a.fd, "999999999999:", 13), 13); /* not by us */
	store_read(&b);
	position = 0;
	assert_false(store_next(&b, &position, &key));
	store_close(&a);
	store_close(&b);
	store_read(&b);
	(void)close(run);
	clean();
}

/* ---- lists ---- */

static void
test_scan(void **state)
{
	struct file_conf conf = { .directory = "in", .recursive = true, .min_depth = 2,
		.max_depth = 2, .ant_include = "**/*.txt", .ant_case = true, .exclude_ext = "csv" };
	struct arena a;
	(void)state;

	assert_int_equal(setup(NULL), 0);
	arena_init(&a);
	put("in/a.txt", "");
	put("in/x/b.txt", "bytes");
	put("in/x/.h.txt", "");
	put("in/x/c.csv", "");
	put("in/x/b.txt.camelLock", "");
	put("in/.d/e.txt", "");
	put("in/x/y/f.txt", "");
	assert_int_equal(symlink("../..", "in/x/up"), 0);
	struct file_scan s = { .conf = &conf, .dir = "in", .arena = &a };
	file_scan(&s);
	assert_int_equal(s.n, 1);
	assert_string_equal(s.items[0].rel, "x/b.txt");
	assert_int_equal(s.items[0].size, 5);
	s = (struct file_scan){ .conf = &conf, .dir = "none", .arena = &a };
	file_scan(&s);
	assert_true(s.missing);
	arena_fini(&a);
	clean();
}

int
main(void)
{
	UNIT_TABLE("ant", ants, check_ant);
	UNIT_CASE(test_paths);
	UNIT_CASE(test_seen);
	UNIT_CASE(test_charsets);
	UNIT_CASE(test_write);
	UNIT_CASE(test_write_attributes);
	UNIT_CASE(test_take);
	UNIT_CASE(test_markers);
	UNIT_CASE(test_store);
	UNIT_CASE(test_scan);
	return unit_run("file");
}
