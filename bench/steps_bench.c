/*
 * What steps of the languages cost: exchanges through a compiled program in one process, no network
 * and no other worker.
 *
 *   steps_bench [ROUNDS] [--json]
 *
 * prints, for each route, CPU time an exchange: the best of ROUNDS rounds (20), the exchange's own
 * making and freeing included, and beside it that of a route without steps.
 */
#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/config/config.h"
#include "core/eip/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EXCHANGES = 100000 };

#define ORDER                                                                                      \
	"{\"id\":7001,\"customer\":{\"name\":\"Ada Lovelace\",\"vip\":true},\"lines\":[{\"sku\":\"p1\"," \
	"\"qty\":2,\"price\":9.5},{\"sku\":\"p2\",\"qty\":10,\"price\":1.25},{\"sku\":\"p3\",\"qty\":1," \
	"\"price\":120.0}],\"total\":151.5,\"currency\":\"EUR\",\"note\":\"deliver to the back door, ring " \
	"twice\",\"address\":{\"street\":\"Main Road 1\",\"city\":\"London\"}}"

static const char routes[] =
    "- route: {id: nothing, from: {uri: 'direct:nothing', steps: [{stop: {}}]}}\n"
    "- route:\n"
    "    id: choice\n"
    "    from:\n"
    "      uri: direct:choice\n"
    "      steps:\n"
    "        - setHeader: {name: kind, constant: gold}\n"
    "        - choice:\n"
    "            when:\n"
    "              - simple: \"${header.kind} == 'silver'\"\n"
    "                steps: [{setHeader: {name: rate, constant: '5'}}]\n"
    "              - simple: \"${header.kind} == 'gold'\"\n"
    "                steps: [{setHeader: {name: rate, constant: '10'}}]\n"
    "            otherwise: {steps: [{setHeader: {name: rate, constant: '0'}}]}\n"
    "- route:\n"
    "    id: jsonpath\n"
    "    from:\n"
    "      uri: direct:jsonpath\n"
    "      steps:\n"
    "        - setHeader: {name: total, jsonpath: $.total}\n"
    "- route:\n"
    "    id: simple\n"
    "    from:\n"
    "      uri: direct:simple\n"
    "      steps:\n"
    "        - setHeader:\n"
    "            name: text\n"
    "            simple: \"${uppercase(${header.name})}-${substring(2,0,${header.name})} of ${routeId}\"\n"
    "- route:\n"
    "    id: predicate\n"
    "    from:\n"
    "      uri: direct:predicate\n"
    "      steps:\n"
    "        - filter: {simple: \"${header.name} == 'y'\", steps: [{stop: {}}]}\n";

/* ---- an engine without a worker ---- */

static bool
is_local(struct engine *en, const char *kind)
{
	(void)en;
	(void)kind;
	return false;
}

static void
on_log(struct engine *en, enum log_level level, const char *logger, struct str text,
    struct exchange *ex)
{
	(void)en;
	(void)level;
	(void)ex;
	fatal("%s: %.*s", logger, STR_FMT(text)); /* something failed: no figures */
}

static int64_t
now_ms(struct engine *en)
{
	(void)en;
	return 0;
}

static const struct engine_ops ops = { .is_local = is_local, .log = on_log, .now_ms = now_ms };

static void
on_done(struct exchange *ex)
{
	ASSERT(ex->exception == NULL);
	*(unsigned *)ex->owner += 1;
}

static int64_t
cpu_ns(void)
{
	struct timespec t;
	ASSERT(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* Nanoseconds an exchange, in one round. */
static double
round_of(struct engine *en, struct exchange_pool *pool, const struct route *route)
{
	static const char order[] = ORDER;
	unsigned done = 0;
	int64_t begin = cpu_ns();

	for (unsigned i = 0; i < EXCHANGES; i++) {
		struct exchange *ex = exchange_new(pool);
		ex->owner = &done;
		ex->done = on_done;
		exchange_set_body(ex, value_str((struct str){ order, sizeof order - 1 }));
		exchange_set_header(ex, STR_LIT("name"), value_str(STR_LIT("order seven")));
		engine_start(en, ex, route);
		exchange_free(pool, &ex);
	}
	int64_t took = cpu_ns() - begin;
	ASSERT(done == EXCHANGES);
	return (double)took / EXCHANGES;
}

static struct program *
compile(struct bundle **b)
{
	char path[] = "/tmp/steps_bench-XXXXXX", cwd[4096];
	struct diagnostics ds;
	int fd = mkstemp(path);

	ASSERT(fd != -1 && write(fd, routes, sizeof routes - 1) == (ssize_t)sizeof routes - 1);
	(void)close(fd); /* written */
	diagnostics_init(&ds);
	const char *files[] = { path, NULL };
	struct bundle_options opt = {
		.route_files = files, .cwd = getcwd(cwd, sizeof cwd), .run_mode = true
	};
	*b = bundle_read(&opt, &ds);
	struct program *p = *b != NULL ? program_compile(*b, &ds) : NULL;
	(void)unlink(path); /* a temporary file */
	if (p == NULL) {
		diagnostics_print(&ds, stderr);
		exit(EXIT_FAILURE);
	}
	diagnostics_fini(&ds);
	return p;
}

int
main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 20;
	bool json = argc > 2 && strcmp(argv[2], "--json") == 0;
	struct exchange_pool pool;
	struct engine en;
	struct bundle *b;
	double nothing = 0;

	struct program *p = compile(&b);
	exchange_pool_init(&pool, 16);
	engine_init(&en, &ops, NULL, p);
	for (uint32_t i = 0; i < p->routes_n; i++) {
		double best = 1e12;
		for (int k = 0; k < rounds; k++) {
			double ns = round_of(&en, &pool, p->routes[i]);
			best = ns < best ? ns : best;
		}
		nothing = i == 0 ? best : nothing;
		printf(json ? "%s{\"route\":\"%s\",\"us\":%.4f,\"us_without_the_exchange\":%.4f}"
			    : "%s%-10s %7.4f us an exchange, %7.4f beyond one without steps",
		    json && i > 0 ? ",\n" : json ? "[" : "", p->routes[i]->id, best / 1000,
		    (best - nothing) / 1000);
		printf(json ? "%s" : "\n%s", json && i + 1 == p->routes_n ? "]\n" : "");
	}
	engine_fini(&en);
	exchange_pool_fini(&pool);
	program_free(p);
	bundle_free(b);
	return EXIT_SUCCESS;
}
