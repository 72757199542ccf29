/*
 * The shared page of a worker: the supervisor creates it, the worker counts into it, `hinny status`
 * reads it. Reading costs the worker nothing, and a killed worker's counts survive. All members are
 * 64-bit words that are read and written alone (relaxed atomics); the layout is the same in both
 * since both are of one build (HELLO carries the build stamp).
 */
#ifndef HINNY_MODEL_PAGE_H
#define HINNY_MODEL_PAGE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef _Atomic uint64_t page_word;

/* Latency histogram: log-linear, 4 buckets an octave of microseconds, 0 .. 2^32. */
enum { PAGE_BUCKETS = 128 };

struct page_route {
	page_word started, completed, failed, inflight, redelivered;
	page_word bytes_in, bytes_out;
	page_word latency_us_sum;
	page_word latency[PAGE_BUCKETS];
};

/* A partition that is read from: what `hinny status` shows of the sources of a route. Offsets are -1
 * when nothing is known of them. */
enum { PAGE_SOURCES = 256, PAGE_NAME_WORDS = 16 };

struct page_source {
	page_word used;  /* 0: free, 1: being filled, 2: valid */
	page_word route; /* index */
	page_word partition;
	page_word next;      /* the first offset that is not done with all before it */
	page_word committed; /* the offset that the group would begin at */
	page_word end;       /* behind the last record */
	page_word inflight;
	page_word name[PAGE_NAME_WORDS]; /* of the topic, cut; NUL-padded */
};

struct page {
	page_word magic; /* PAGE_MAGIC */
	page_word size;  /* of the whole mapping */
	page_word routes_n;
	/* a call that is being worked on (xform): written before it begins, cleared after it ended
	 */
	page_word call_id;
	page_word call_home; /* incarnation of the caller */
	page_word call_started_ns;
	page_word call_step; /* step index or 1<<32 | slot */
	page_word calls_done, calls_failed;
	page_word exchanges, calls_out; /* in flight now */
	page_word connections, connections_total, requests;
	page_word beat;             /* loop turns: a worker that hangs stops counting */
	page_word sources_lost;     /* partitions for which there was no room */
	struct page_source sources[PAGE_SOURCES];
	struct page_route routes[]; /* by route.index */
};

#define PAGE_MAGIC 0x316567617079686eull

size_t page_size(uint32_t routes_n);
/* Maps; NULL with errno on failure. page_create makes the memory file (its descriptor in *fd). */
struct page *page_create(uint32_t routes_n, int *fd);
struct page *page_open(int fd);
void page_close(struct page *pg);
/* Routes that lie in the mapping. The reader of a page goes by this: routes_n is what the worker
 * may have overwritten. */
uint32_t page_routes(const struct page *pg);
void page_latency(struct page_route *r, uint64_t us);
/* Quantile q (0..1) in microseconds over one or more routes' merged buckets. */
uint64_t page_quantile(const uint64_t buckets[PAGE_BUCKETS], double q);

/* A free one for the partition; -1: there is none (sources_lost counts it). put takes that as well. */
int page_source_take(struct page *pg, uint32_t route, const char *name, int32_t partition);
void page_source_put(struct page *pg, int i);
static inline struct page_source *
page_source_at(struct page *pg, int i)
{
	return i >= 0 ? &pg->sources[i] : NULL;
}
/* The topic's name as text, for readers. */
void page_source_name(const struct page_source *ps, char out[PAGE_NAME_WORDS * 8 + 1]);
/* All are given back: their process is gone. */
void page_sources_clear(struct page *pg);

#define PAGE_ADD(word, n) atomic_fetch_add_explicit(&(word), (n), memory_order_relaxed)
#define PAGE_SET(word, v) atomic_store_explicit(&(word), (v), memory_order_relaxed)
#define PAGE_GET(word) atomic_load_explicit(&(word), memory_order_relaxed)

#endif
