/*
 * A stand-in for the worker, for tests of the transformers: a generation's folder in a temporary
 * place, an exchange, and the few functions of workers/worker.h that transformers ask. To be
 * included by one source file a program.
 */
#ifndef HINNY_TESTS_UNIT_XFORM_FIXTURE_H
#define HINNY_TESTS_UNIT_XFORM_FIXTURE_H

#include "core/base/assert.h"
#include "core/model/exchange.h"
#include "core/model/program.h"
#include "transformers/xml/xml.h"
#include "workers/component.h"
#include "workers/worker.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct worker {
	struct xml *xml;
	struct program program;
	struct exchange_pool pool;
	struct exchange *ex;
	char dir[64];
	int dirfd;
};

static struct worker fixture;

void *
worker_data(struct worker *wk)
{
	return wk->xml;
}

const struct program *
worker_program(struct worker *wk)
{
	return &wk->program;
}

static inline void
fixture_file(const char *name, const char *text)
{
	char folder[128];
	int fd;

	for (const char *slash = name; (slash = strchr(slash, '/')) != NULL; slash++) {
		(void)snprintf(folder, sizeof folder, "%.*s", (int)(slash - name), name);
		(void)mkdirat(fixture.dirfd, folder, 0700); /* it may be there */
	}
	fd = openat(fixture.dirfd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ASSERT(fd >= 0);
	ASSERT(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	ASSERT(close(fd) == 0);
}

static inline void
fixture_open(void)
{
	static const struct xml_limits limits = {
		.max_size = 64 << 20, .max_depth = 256, .max_output = 64 << 20
	};

	(void)snprintf(fixture.dir, sizeof fixture.dir, "/tmp/hinny-xform-XXXXXX");
	ASSERT(mkdtemp(fixture.dir) != NULL);
	fixture.dirfd = open(fixture.dir, O_RDONLY | O_DIRECTORY);
	fixture.xml = xml_new(&limits, fixture.dirfd);
	exchange_pool_init(&fixture.pool, 1);
}

static inline void
fixture_close(void)
{
	char command[128];

	xml_free(fixture.xml);
	exchange_pool_fini(&fixture.pool);
	(void)close(fixture.dirfd);
	(void)snprintf(command, sizeof command, "rm -rf '%s'", fixture.dir);
	ASSERT(system(command) == 0);
}

/* A fresh exchange; body NULL: none. */
static inline struct exchange *
fixture_exchange(const char *body)
{
	if (fixture.ex)
		exchange_free(&fixture.pool, &fixture.ex);
	fixture.ex = exchange_new(&fixture.pool);
	if (body)
		exchange_set_body(fixture.ex, value_str(str_of(body)));
	return fixture.ex;
}

static inline void
fixture_exchange_end(void)
{
	if (fixture.ex)
		exchange_free(&fixture.pool, &fixture.ex);
}

#endif
