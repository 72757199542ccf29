/*
 * Runs a fuzz target without libFuzzer: over each file of its corpus, over each beginning of that
 * file, and over a number of mutations that are the same in every run. Prints TAP, one case a file.
 * The corpus of fuzz_NAME is tests/fuzz/corpus/NAME, or the folder in the first argument;
 * HINNY_FUZZ_ROUNDS says how many mutations.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 20, PREFIXES_MAX = 1024, ROUNDS = 300 };

static void
die(const char *what, const char *name)
{
	printf("Bail out! %s %s\n", what, name);
	exit(1);
}

/* In memory of exactly its size, so that a sanitizer sees each read beyond it. */
static void
run_once(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (copy == NULL)
		die("no memory for", "input");
	memcpy(copy, data, size);
	(void)LLVMFuzzerTestOneInput(copy, size); /* always 0 */
	free(copy);
}

static uint64_t
next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void
run_mutations(const uint8_t *data, size_t size, long rounds)
{
	uint64_t seed = 88172645463325252u;
	uint8_t *copy = malloc(size);

	if (copy == NULL)
		die("no memory for", "input");
	for (long i = 0; i < rounds; i++) {
		memcpy(copy, data, size);
		for (uint64_t n = 1 + next_random(&seed) % 4; n > 0; n--)
			copy[next_random(&seed) % size] = (uint8_t)next_random(&seed);
		run_once(copy, size);
	}
	free(copy);
}

static void
run_file(const char *dir, const char *name, long rounds)
{
	static uint8_t data[INPUT_MAX];
	char path[4096];

	(void)snprintf(path, sizeof path, "%s/%s", dir, name); /* a cut one does not open */
	FILE *f = fopen(path, "rb");
	if (f == NULL)
		die("cannot open", path);
	size_t size = fread(data, 1, sizeof data, f);
	fclose(f);
	size_t step = size / PREFIXES_MAX + 1;
	for (size_t n = 0; n < size; n += step)
		run_once(data, n);
	run_once(data, size);
	if (size > 0)
		run_mutations(data, size, rounds);
}

static int
is_input(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static const char *
corpus_of(const char *program, char *path, size_t size)
{
	const char *srcdir = getenv("HINNY_SRCDIR");
	const char *name = strstr(program, "fuzz_");

	for (const char *later; name != NULL && (later = strstr(name + 1, "fuzz_")) != NULL;)
		name = later;
	if (name == NULL)
		die("not called fuzz_NAME:", program);
	(void)snprintf(path, size, "%s/tests/fuzz/corpus/%s", srcdir ? srcdir : ".",
	    name + strlen("fuzz_")); /* a cut one does not open */
	return path;
}

int
main(int argc, char **argv)
{
	char path[4096];
	const char *dir = argc > 1 ? argv[1] : corpus_of(argv[0], path, sizeof path);
	const char *rounds = getenv("HINNY_FUZZ_ROUNDS");
	struct dirent **names;

	int n = scandir(dir, &names, is_input, alphasort);
	if (n <= 0)
		die("no corpus in", dir);
	printf("1..%d\n", n);
	for (int i = 0; i < n; i++) {
		run_file(dir, names[i]->d_name, rounds ? atol(rounds) : ROUNDS);
		printf("ok %d - %s\n", i + 1, names[i]->d_name);
		fflush(stdout);
		free(names[i]);
	}
	free(names);
	return 0;
}
