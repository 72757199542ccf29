/*
 * The files of `hinny test`: which routes, what is replaced in them, which messages are sent and
 * what is expected. hinny(1) has the format. A test file is parsed once, with the position of every
 * part, and owns all that hangs on it.
 */
#ifndef HINNY_SUPERVISOR_CLI_TEST_FILE_H
#define HINNY_SUPERVISOR_CLI_TEST_FILE_H

#include "core/base/arena.h"
#include "core/config/config.h"
#include "core/config/node.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct regex;

enum test_part { TEST_BODY, TEST_TYPE, TEST_HEADER, TEST_PROPERTY, TEST_VARIABLE };
enum test_how { TEST_IS, TEST_CONTAINS, TEST_MATCHES, TEST_JSON, TEST_ABSENT };

/* One thing that is expected of a message. */
struct test_check {
	struct position at;
	enum test_part part;
	enum test_how how;
	const char *name;    /* of a header, property or variable */
	struct str text;     /* IS, CONTAINS */
	struct regex *regex; /* MATCHES */
	json_t *json;        /* JSON */
	struct test_check *next;
};

struct test_message {
	struct position at;
	struct test_check *checks;
	struct test_message *next;
};

struct test_send {
	struct position at;
	const char *to, *route; /* one of them */
	const char *endpoint;   /* worked out by test_edit() */
	struct str body;
	bool has_body;
	json_t *headers;
	int64_t times;
	int exception;                /* enum exception_id that is expected, or -1 */
	struct regex *exception_text; /* its message, or NULL */
	struct test_message expect;
	struct test_send *next;
};

enum test_kind { TEST_MOCK, TEST_ORDER, TEST_LOG };

/* What is expected when all has been sent. */
struct test_expect {
	struct position at;
	enum test_kind kind;
	const char *mock;
	struct strings order;
	struct regex *log;
	const char *log_text, *level, *logger;
	int64_t least, most; /* -1: any number */
	bool any_order;
	struct test_message *messages;
	struct test_expect *next;
};

struct test_case {
	struct position at;
	const char *name;
	int64_t within_ms;
	struct test_send *sends;
	struct test_expect *expects;
	struct test_case *next;
};

struct test_replace {
	struct position at;
	const char *uri, *step, *route; /* one of them */
	const char *mock, *with;        /* of uri and step; one of them, or mock alone */
	const char *from;               /* of route */
	const struct node *steps;
	bool used;
	struct test_replace *next;
};

struct test_file {
	struct arena arena;
	const char *file;   /* as named */
	const char *folder; /* of it, absolute: names in it and relative names of its routes start there */
	const char *config; /* NULL: none */
	struct strings routes, properties, set;
	struct test_replace *replaces;
	struct test_case *cases;
	size_t cases_n;
};

/* NULL: it is wrong, which was reported to ds. Reads the file, and those that it names as bodies. */
struct test_file *test_file_read(const char *name, struct diagnostics *ds);
void test_file_free(struct test_file *tf);

/* A bundle_edit_fn: replaces what the file (arg) says, and adds the routes of its mocks. Sets the
 * endpoints of what is sent. */
void test_edit(void *arg, struct bundle_edit *edit);

#endif
