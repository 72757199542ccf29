/* Results of tests. */
#include "supervisor/cli/test_report.h"

#include "core/base/mem.h"
#include "core/base/str.h"

#include <stdlib.h>
#include <string.h>

void
test_report_begin(struct test_report *rp, size_t tests)
{
	*rp = (struct test_report){ 0 };
	(void)printf("TAP version 13\n1..%zu\n", tests); /* nobody to tell when printing fails */
	(void)fflush(stdout);
}

void
test_report_add(struct test_report *rp, const char *file, const char *name, unsigned line,
    int64_t took_ms, char *failure)
{
	struct str rest = str_of(failure), text;

	if (rp->n == rp->cap) {
		rp->cap = rp->cap ? 2 * rp->cap : 16;
		rp->items = mem_realloc(rp->items, rp->cap * sizeof(rp->items[0]));
	}
	rp->items[rp->n++] = (struct test_result){ file, name, line, took_ms, failure };
	rp->failed += failure != NULL;
	/* "#" begins a directive in TAP */
	(void)printf("%sok %zu - ", failure != NULL ? "not " : "", rp->n);
	for (const char *p = name; *p != '\0'; p++)
		(void)printf("%s%c", *p == '#' ? "\\" : "", *p == '\n' ? ' ' : *p);
	(void)printf("\n");
	while (failure != NULL && str_split(&rest, '\n', &text)) {
		if (text.n > 0)
			(void)printf("# %.*s\n", STR_FMT(text));
	}
	(void)fflush(stdout);
}

void
test_report_end(const struct test_report *rp)
{
	(void)printf("# %zu passed, %zu failed\n", rp->n - rp->failed, rp->failed);
	(void)fflush(stdout);
}

/* ---- JUnit ---- */

/* What XML 1.0 cannot say becomes "?". */
static void
print_xml(FILE *to, const char *text)
{
	for (const char *p = text; *p != '\0'; p++) {
		unsigned char ch = (unsigned char)*p;
		const char *as = ch == '<' ? "&lt;"
		    : ch == '>'            ? "&gt;"
		    : ch == '&'            ? "&amp;"
		    : ch == '"'            ? "&quot;"
		    : ch == '\n'           ? "&#10;"
		    : ch == '\t'           ? "&#9;"
		    : ch < 0x20            ? "?"
					   : NULL;
		if (as != NULL)
			(void)fputs(as, to); /* errors are looked at in the end */
		else
			(void)fputc(ch, to);
	}
}

static void
print_attribute(FILE *to, const char *name, const char *value)
{
	(void)fprintf(to, " %s=\"", name);
	print_xml(to, value);
	(void)fputc('"', to);
}

static void
print_result(FILE *to, const struct test_result *r)
{
	(void)fputs("    <testcase", to);
	print_attribute(to, "classname", r->file);
	print_attribute(to, "name", r->name);
	print_attribute(to, "file", r->file);
	(void)fprintf(to, " line=\"%u\" time=\"%lld.%03lld\"", r->line,
	    (long long)(r->took_ms / 1000), (long long)(r->took_ms % 1000));
	if (r->failure == NULL) {
		(void)fputs("/>\n", to);
		return;
	}
	char *first = mem_strndup(r->failure, strcspn(r->failure, "\n"));
	(void)fputs(">\n      <failure", to);
	print_attribute(to, "message", first);
	(void)fputc('>', to);
	print_xml(to, r->failure);
	(void)fputs("</failure>\n    </testcase>\n", to);
	free(first);
}

/* The results of one file stand together. */
static void
print_suite(FILE *to, const struct test_result *first, size_t n)
{
	size_t failed = 0;
	int64_t ms = 0;

	for (size_t i = 0; i < n; i++) {
		failed += first[i].failure != NULL;
		ms += first[i].took_ms;
	}
	(void)fputs("  <testsuite", to);
	print_attribute(to, "name", first->file);
	(void)fprintf(to,
	    " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"0\" time=\"%lld.%03lld\">\n", n,
	    failed, (long long)(ms / 1000), (long long)(ms % 1000));
	for (size_t i = 0; i < n; i++)
		print_result(to, &first[i]);
	(void)fputs("  </testsuite>\n", to);
}

bool
test_report_junit(const struct test_report *rp, const char *path)
{
	FILE *to = fopen(path, "we");

	if (to == NULL)
		return false;
	(void)fprintf(to,
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"%zu\" "
	    "failures=\"%zu\">\n",
	    rp->n, rp->failed);
	for (size_t i = 0, n; i < rp->n; i += n) {
		for (n = 1; i + n < rp->n && rp->items[i + n].file == rp->items[i].file;)
			n++;
		print_suite(to, &rp->items[i], n);
	}
	(void)fputs("</testsuites>\n", to);
	bool ok = !ferror(to);
	return fclose(to) == 0 && ok;
}

void
test_report_fini(struct test_report *rp)
{
	for (size_t i = 0; i < rp->n; i++)
		free(rp->items[i].failure);
	free(rp->items);
	*rp = (struct test_report){ 0 };
}
