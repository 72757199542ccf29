/* See xslt_poison.h. */
#include "transformers/xslt/xslt_poison.h"

#include "core/base/log.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libxml/xpathInternals.h>
#include <libxslt/extensions.h>

static void
poison_abort(xmlXPathParserContextPtr pc, int n)
{
	(void)pc;
	(void)n;
	abort();
}

static void
poison_crash(xmlXPathParserContextPtr pc, int n)
{
	(void)pc;
	(void)n;
	(void)raise(SIGSEGV);
}

static void
poison_exit(xmlXPathParserContextPtr pc, int n)
{
	(void)pc;
	(void)n;
	_exit(3);
}

static void
poison_hang(xmlXPathParserContextPtr pc, int n)
{
	static volatile bool forever = true;

	(void)pc;
	(void)n;
	while (forever)
		;
}

static void
poison_memory(xmlXPathParserContextPtr pc, int n)
{
	enum { STEP = 16 << 20 };

	(void)n;
	for (;;) {
		void *p = malloc(STEP);

		if (!p)
			abort();
		memset(p, 1, STEP);
		pc->context->userData = p; /* seen, so that nothing is optimised away */
	}
}

static const struct {
	const char *name;
	xmlXPathFunction call;
} poisons[] = {
	{ "abort", poison_abort },
	{ "crash", poison_crash },
	{ "exit", poison_exit },
	{ "hang", poison_hang },
	{ "memory", poison_memory },
};

void
xslt_poison_register(void)
{
	const char *asked = getenv("HINNY_TEST_POISON");

	if (!asked || strcmp(asked, "1") != 0)
		return;
	log_warning("HINNY_TEST_POISON is set: stylesheets can end this process");
	for (size_t i = 0; i < sizeof poisons / sizeof poisons[0]; i++)
		(void)xsltRegisterExtModuleFunction(BAD_CAST poisons[i].name,
		    BAD_CAST "urn:hinny:test", poisons[i].call); /* fails out of memory only */
}
