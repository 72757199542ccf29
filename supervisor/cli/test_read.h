/* Reading the maps of a test file: each by a table of its keys, every mistake with its position. */
#ifndef HINNY_SUPERVISOR_CLI_TEST_READ_H
#define HINNY_SUPERVISOR_CLI_TEST_READ_H

#include "supervisor/cli/test_file.h"

struct test_reading {
	struct test_file *tf;
	struct diagnostics *ds;
};

/* A key of a map: its value goes to `fn` with the structure that the map stands for. */
typedef void test_key_fn(struct test_reading *r, void *to, const struct node *value);
struct test_key {
	const char *name;
	test_key_fn *fn;
};

/* Reports what is wrong at a node. */
void __attribute__((format(printf, 3, 4)))
test_wrong(struct test_reading *r, const struct node *at, const char *fmt, ...);
/* Every value goes to its key's function, with `to`; an unknown key is reported. False: it is no
 * map (reported). `what` names it. */
bool test_read_map(struct test_reading *r, const struct node *map, const struct test_key *keys,
    void *to, const char *what);
/* The items of a list; anything else is one item. */
uint32_t test_item_count(const struct node *v);
const struct node *test_item_at(const struct node *v, uint32_t i);
/* Values, in the file's arena; NULL or 0: it is none (reported). */
const char *test_text(struct test_reading *r, const struct node *v, const char *what);
int64_t test_number(struct test_reading *r, const struct node *v, const char *what);
struct regex *test_regex(struct test_reading *r, const struct node *v, const char *what);
void test_strings(
    struct test_reading *r, struct strings *out, const struct node *v, const char *what);

#endif
