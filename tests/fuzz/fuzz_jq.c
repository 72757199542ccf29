/*
 * Any text as a jq program, up to its compilation (one that runs may run for ever, which the
 * supervisor ends), and any text as the document of programs that end.
 */
#include "core/lang/jq.h"
#include "transformers/jq/jq_impl.h"
#include "workers/worker.h"

#include "core/base/assert.h"
#include "tests/lib/lang_case.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LONGEST = 4096 };

struct worker {
	struct jq_runtime *runtime;
};
static struct worker worker;

void *
worker_data(struct worker *wk)
{
	return wk->runtime;
}

static struct jq_runtime *documents; /* keeps its programs, which are constant */

/* What libjq holds by pointers into the middle of its memory would pass for a leak. */
static void
documents_free(void)
{
	jq_runtime_free(documents);
}

static void
run_on(struct lang_case *lc)
{
	static const char *const programs[] = { ".", "[.. | tostring]", "[header(\"h\"), body]",
		".[]", "to_entries", "keys, length" };

	for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
		struct expression *e = compile_fake_new(&lc->c, "jq", programs[i], false);
		ASSERT(compile_fake_finish(&lc->c, e));
		ASSERT(jq_impl.prepare(&worker, e, NULL) == HINNY_OK);
		e->ops = &jq_impl;
		(void)lang_case_eval(lc, e);
		lc->ex->exception = NULL;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lang_case lc;
	struct hinny_error err;

	if (size < 1 || size > LONGEST)
		return 0;
	lang_case_init(&lc);
	const char *text = arena_strndup(&lc.c.arena, (const char *)data + 1, size - 1);
	if (data[0] & 1) {
		if (documents == NULL) {
			documents = jq_runtime_new(1 << 20);
			(void)atexit(documents_free);
		}
		worker.runtime = documents;
		lang_case_body(&lc, text);
		run_on(&lc);
	} else {
		struct expression *e = compile_fake_new(&lc.c, "jq", text, false);
		worker.runtime = jq_runtime_new(1 << 20);
		if (compile_fake_finish(&lc.c, e))
			(void)jq_impl.prepare(&worker, e, &err);
		jq_runtime_free(worker.runtime);
	}
	lang_case_fini(&lc);
	return 0;
}
