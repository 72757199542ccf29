/*
 * What one document costs in hinny-xform, without the hop: parse, parse and XPath, parse and
 * transform and serialise. CPU time a message, as JSON, best and median of rounds.
 *
 *   xform_bench [--rounds N] [--each N] [SHEET DOCUMENT [XPATH]]
 *
 * Without names: the request stylesheet and the 1 KB order of conf/examples/proxy, from the folder
 * in HINNY_SRCDIR or the working folder.
 */
#include "core/lang/xpath.h"
#include "transformers/xpath/xpath_impl.h"
#include "transformers/xslt/xslt.h"

#include "tests/unit/xform_fixture.h"

#include <time.h>

#define ROUTE "/soap:Envelope/soap:Body/o:placeOrders/order[1]/symbol = 'IBM'"

enum { ROUNDS_MAX = 1000 };

static struct pair namespaces[] = { { "soap", "http://schemas.xmlsoap.org/soap/envelope/" },
	{ "o", "urn:example:orders" } };
static struct xpath_conf xpath_conf = { .namespaces = { namespaces, 2 } };
static struct expression xpath = { .text = ROUTE, .conf = &xpath_conf, .predicate = true };
static struct xslt_conf xslt_conf = {
	.resource_uri = "t.xsl", .copy = "t.xsl", .fail_on_null_body = true
};
static struct endpoint xslt = { .conf = &xslt_conf };
static struct str document;

static char *
read_file(const char *name, size_t *size)
{
	const char *dir = name[0] == '/' ? NULL : getenv("HINNY_SRCDIR");
	char path[4096];
	char *text = NULL;
	size_t cap = 0;
	FILE *f;

	(void)snprintf(path, sizeof path, "%s%s%s", dir ? dir : "", dir ? "/" : "", name);
	f = fopen(path, "r");
	if (!f) {
		perror(path);
		exit(1);
	}
	*size = 0;
	do {
		cap += 65536;
		text = realloc(text, cap + 1);
		*size += fread(text + *size, 1, cap - *size, f);
	} while (*size == cap);
	text[*size] = '\0';
	(void)fclose(f);
	return text;
}

static void
fail(struct exchange *ex, const char *what)
{
	struct str why = ex->exception ? ex->exception->message : STR_LIT("no reason");

	(void)fprintf(stderr, "%s: %.*s\n", what, STR_FMT(why));
	exit(1);
}

static struct exchange *
message(void)
{
	struct exchange *ex = fixture_exchange(NULL);
	struct value v = value_bytes(document);

	v.flags = VALUE_INPUT;
	exchange_set_body(ex, v);
	return ex;
}

static void
run_parse(void)
{
	struct exchange *ex = message();

	if (!xml_document(fixture.xml, ex, &ex->body, XML_DOCTYPE_REFUSE))
		fail(ex, "parse");
}

static void
run_xpath(void)
{
	struct exchange *ex = message();
	struct value v;

	if (xpath_impl.eval(&xpath, ex, &v) != EVAL_OK)
		fail(ex, "xpath");
}

static void
run_xslt(void)
{
	struct exchange *ex = message();

	if (xslt_ops.send(&fixture, ex, NULL, &xslt) != STEP_DONE)
		fail(ex, "xslt");
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
cpu_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void
measure(const char *name, void (*run)(void), int rounds, int each, bool last)
{
	double us[ROUNDS_MAX];

	for (int r = 0; r < rounds; r++) {
		double start = cpu_us();

		for (int i = 0; i < each; i++)
			run();
		us[r] = (cpu_us() - start) / each;
	}
	qsort(us, (size_t)rounds, sizeof us[0], by_value);
	printf("\t\"%s\": {\"best_us\": %.2f, \"median_us\": %.2f}%s\n", name, us[0],
	    us[rounds / 2], last ? "" : ",");
}

int
main(int argc, char **argv)
{
	const char *names[3] = { "conf/examples/proxy/request.xsl",
		"conf/examples/proxy/orders/order-1k.xml", ROUTE };
	int rounds = 20, each = 5000, n = 0;
	struct hinny_error err = { 0 };
	size_t size;
	char *sheet;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
			rounds = atoi(argv[++i]);
		else if (strcmp(argv[i], "--each") == 0 && i + 1 < argc)
			each = atoi(argv[++i]);
		else if (n < 3)
			names[n++] = argv[i];
	}
	if (rounds < 1 || rounds > ROUNDS_MAX || each < 1)
		return 2;
	fixture_open();
	sheet = read_file(names[0], &size);
	fixture_file("t.xsl", sheet);
	document.p = read_file(names[1], &document.n);
	xpath.text = names[2];
	if (xpath_impl.prepare(&fixture, &xpath, &err) != HINNY_OK ||
	    xslt_ops.prepare(&fixture, &xslt, &err) != HINNY_OK) {
		(void)fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	printf("{\n\t\"document_bytes\": %zu, \"rounds\": %d, \"each\": %d,\n", document.n, rounds,
	    each);
	measure("parse", run_parse, rounds, each, false);
	measure("parse_xpath", run_xpath, rounds, each, false);
	measure("parse_xslt_serialise", run_xslt, rounds, each, true);
	printf("}\n");
	fixture_exchange_end();
	xslt_ops.release(&fixture, &xslt);
	free(sheet);
	free((char *)document.p);
	fixture_close();
	return 0;
}
