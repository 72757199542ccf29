/* The shared page: a sealed-in-size memory file, mapped by supervisor and worker. */
#include "core/model/page.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

size_t
page_size(uint32_t routes_n)
{
	return sizeof(struct page) + routes_n * sizeof(struct page_route);
}

/* Stands in a page of memory of our own in front of the mapping: the other process can write all
 * that is in it, so nothing there says how long it is. */
struct page_front {
	size_t size; /* of the mapping */
};

static size_t
front_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static struct page_front *
front(const struct page *pg)
{
	return (struct page_front *)((char *)pg - front_size());
}

static struct page *
map(int fd, size_t size)
{
	size_t before = front_size();
	char *p =
	    mmap(NULL, before + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (mmap(p + before, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
	    MAP_FAILED) {
		int saved = errno;
		(void)munmap(p, before + size); /* our own mapping */
		errno = saved;
		return NULL;
	}
	((struct page_front *)p)->size = size;
	return (struct page *)(p + before);
}

uint32_t
page_routes(const struct page *pg)
{
	return (uint32_t)((front(pg)->size - sizeof(struct page)) / sizeof(struct page_route));
}

struct page *
page_create(uint32_t routes_n, int *fd)
{
	size_t size = page_size(routes_n);
	int file = memfd_create("hinny-page", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (file == -1)
		return NULL;
	/* Nobody may shrink it: the other side would die of SIGBUS. */
	struct page *pg = NULL;
	if (ftruncate(file, (off_t)size) == 0 &&
	    fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		pg = map(file, size);
	if (pg == NULL) {
		int saved = errno;
		(void)close(file); /* nothing was written */
		errno = saved;
		return NULL;
	}
	PAGE_SET(pg->size, size);
	PAGE_SET(pg->routes_n, routes_n);
	PAGE_SET(pg->magic, PAGE_MAGIC);
	*fd = file;
	return pg;
}

struct page *
page_open(int fd)
{
	struct stat st;

	if (fstat(fd, &st) == -1)
		return NULL;
	if (st.st_size < (off_t)sizeof(struct page)) {
		errno = EINVAL;
		return NULL;
	}
	struct page *pg = map(fd, (size_t)st.st_size);
	if (pg == NULL)
		return NULL;
	uint64_t routes_n = PAGE_GET(pg->routes_n);
	if (PAGE_GET(pg->magic) != PAGE_MAGIC || PAGE_GET(pg->size) != (uint64_t)st.st_size ||
	    routes_n > UINT32_MAX || page_size((uint32_t)routes_n) != (size_t)st.st_size) {
		page_close(pg);
		errno = EINVAL;
		return NULL;
	}
	return pg;
}

void
page_close(struct page *pg)
{
	if (pg == NULL)
		return;
	(void)munmap(front(pg), front_size() + front(pg)->size); /* our own mapping */
}

/* ---- sources ---- */

int
page_source_take(struct page *pg, uint32_t route, const char *name, int32_t partition)
{
	size_t n = strlen(name);

	for (int i = 0; i < PAGE_SOURCES; i++) {
		struct page_source *ps = &pg->sources[i];
		if (PAGE_GET(ps->used) != 0)
			continue;
		PAGE_SET(ps->used, 1);
		PAGE_SET(ps->route, route);
		PAGE_SET(ps->partition, (uint64_t)partition);
		PAGE_SET(ps->next, UINT64_MAX);
		PAGE_SET(ps->committed, UINT64_MAX);
		PAGE_SET(ps->end, UINT64_MAX);
		PAGE_SET(ps->inflight, 0);
		for (size_t w = 0; w < PAGE_NAME_WORDS; w++) {
			uint64_t word = 0;
			if (w * 8 < n)
				memcpy(&word, name + w * 8, n - w * 8 < 8 ? n - w * 8 : 8);
			PAGE_SET(ps->name[w], word);
		}
		atomic_store_explicit(&ps->used, 2, memory_order_release);
		return i;
	}
	PAGE_ADD(pg->sources_lost, 1);
	return -1;
}

void
page_source_put(struct page *pg, int i)
{
	if (i >= 0)
		PAGE_SET(pg->sources[i].used, 0);
	else
		PAGE_ADD(pg->sources_lost, (uint64_t)-1);
}

void
page_source_name(const struct page_source *ps, char out[PAGE_NAME_WORDS * 8 + 1])
{
	for (size_t w = 0; w < PAGE_NAME_WORDS; w++) {
		uint64_t word = PAGE_GET(ps->name[w]);
		memcpy(out + w * 8, &word, 8);
	}
	out[PAGE_NAME_WORDS * 8] = '\0';
}

void
page_sources_clear(struct page *pg)
{
	for (int i = 0; i < PAGE_SOURCES; i++)
		PAGE_SET(pg->sources[i].used, 0);
	PAGE_SET(pg->sources_lost, 0);
}

/* ---- latencies ---- */

/* Four buckets an octave: 0, 1, 2, 3, then [4,5) [5,6) [6,7) [7,8), [8,10) [10,12) … */
static unsigned
bucket_of(uint64_t us)
{
	if (us < 4)
		return (unsigned)us;
	unsigned octave = 63 - (unsigned)__builtin_clzll(us);
	unsigned bucket = (octave - 1) * 4 + (unsigned)(us >> (octave - 2) & 3);
	return bucket < PAGE_BUCKETS ? bucket : PAGE_BUCKETS - 1;
}

/* The first value behind the bucket. */
static uint64_t
bucket_end(unsigned bucket)
{
	if (bucket < 4)
		return bucket + 1;
	unsigned octave = bucket / 4 + 1;
	return (uint64_t)(bucket % 4 + 5) << (octave - 2);
}

void
page_latency(struct page_route *r, uint64_t us)
{
	PAGE_ADD(r->latency[bucket_of(us)], 1);
	PAGE_ADD(r->latency_us_sum, us);
}

uint64_t
page_quantile(const uint64_t buckets[PAGE_BUCKETS], double q)
{
	uint64_t all = 0, seen = 0;

	for (unsigned i = 0; i < PAGE_BUCKETS; i++)
		all += buckets[i];
	if (all == 0)
		return 0;
	double wanted = q * (double)all;
	for (unsigned i = 0; i < PAGE_BUCKETS; i++) {
		seen += buckets[i];
		if (seen > 0 && (double)seen >= wanted)
			return bucket_end(i) - 1;
	}
	return bucket_end(PAGE_BUCKETS - 1) - 1;
}
