/* The bundle itself, however it was made: read from files, or loaded in a worker. */
#include "core/config/bundle_priv.h"

#include "core/base/mem.h"

#include <string.h>

struct bundle *
bundle_new(void)
{
	struct bundle *b = MEM_NEW(struct bundle);

	arena_init(&b->arena);
	properties_init(&b->lookup, &b->arena, ".");
	return b;
}

struct bundle_file *
bundle_file_find(const struct bundle *b, const char *name, const char *from)
{
	for (size_t i = 0; i < b->files_n; i++) {
		if (strcmp(b->files[i].name, name) == 0 && strcmp(b->files[i].from, from) == 0)
			return &b->files[i];
	}
	return NULL;
}

struct bundle_file *
bundle_file_add(struct bundle *b, struct bundle_file f)
{
	if (b->files_n == b->files_cap) {
		b->files_cap = b->files_cap ? 2 * b->files_cap : 16;
		b->files = mem_realloc(b->files, b->files_cap * sizeof(struct bundle_file));
	}
	b->files[b->files_n++] = f;
	return &b->files[b->files_n - 1];
}

struct document *
bundle_add_document(struct bundle *b)
{
	if (b->documents_n == b->documents_cap) {
		size_t cap = b->documents_cap ? 2 * b->documents_cap : 16;
		struct document *grown = arena_zalloc(&b->arena, cap * sizeof(struct document));
		if (b->documents_n > 0)
			memcpy(grown, b->documents, b->documents_n * sizeof(struct document));
		b->documents = grown;
		b->documents_cap = cap;
	}
	return &b->documents[b->documents_n++];
}

const char *
bundle_origin(const struct bundle *b, const char *file)
{
	for (size_t i = 0; file != NULL && i < b->documents_n; i++) {
		if (b->documents[i].file == file)
			return b->documents[i].origin;
	}
	return NULL;
}

void
bundle_add_source(struct bundle *b, const char *path)
{
	for (size_t i = 0; i < b->sources_n; i++) {
		if (strcmp(b->sources[i], path) == 0)
			return;
	}
	if (b->sources_n + 1 >= b->sources_cap) {
		b->sources_cap = b->sources_cap ? 2 * b->sources_cap : 16;
		b->sources = mem_realloc(b->sources, b->sources_cap * sizeof(char *));
	}
	b->sources[b->sources_n++] = path;
	b->sources[b->sources_n] = NULL;
}

const char *const *
bundle_sources(const struct bundle *b)
{
	static const char *const none[] = { NULL };

	return b->sources != NULL ? b->sources : none;
}
