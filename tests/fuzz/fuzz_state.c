/* Records of state as one generation leaves them to the next: any bytes may stand in that file.
 * What is taken is saved again, and must come back the same. */
#include "core/eip/state.h"

#include "core/base/assert.h"
#include "core/base/log.h"
#include "tests/lib/engine_fake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KEPT = 16 };

struct kept {
	struct exchange *ex[KEPT];
	unsigned n;
	uint64_t loaded;
};

static void *
kept_open(struct state_node *node)
{
	static struct kept kept;
	(void)node;
	kept = (struct kept){ .n = 0 };
	return &kept;
}

static void
kept_close(struct state_node *node)
{
	struct kept *k = node->state;
	while (k->n > 0)
		state_exchange_free(&k->ex[--k->n]);
}

static bool
kept_serve(struct state_node *node, struct exchange *ex, unsigned op, const struct value *arg,
    struct value *out)
{
	(void)node;
	(void)ex;
	(void)op;
	*out = *arg;
	return true;
}

static void
kept_save(struct state_node *node, struct state_writer *w)
{
	struct kept *k = node->state;
	struct value v = value_int(1);
	for (unsigned i = 0; i < k->n; i++)
		state_put(w, &v, k->ex[i]);
}

static bool
kept_load(struct state_node *node, struct state_record *r, struct hinny_error *err)
{
	struct kept *k = node->state;
	k->loaded++;
	if (r->value.type == VALUE_STRING) {
		(void)hinny_error_set(err, HINNY_EINVAL, "no texts");
		return false;
	}
	if (r->message && k->n < KEPT) {
		k->ex[k->n++] = r->message;
		r->message = NULL;
	}
	return true;
}

static const struct state_desc kept_desc = { .name = "texts",
	.ops = 1,
	.open = kept_open,
	.close = kept_close,
	.serve = kept_serve,
	.save = kept_save,
	.load = kept_load };

static bool
to_buf(void *arg, struct str bytes)
{
	return buf_add_str(arg, bytes) == HINNY_OK;
}

static void
load(struct fake *f, struct state_node *node, const char *p, size_t n, struct state_loaded *loaded)
{
	struct blob *blob = blob_copy(p, n);
	state_open(&f->en, node);
	(void)state_load(&f->b->program, (struct str){ blob->data, blob->size }, blob,
	    loaded); /* bytes may be anything */
	blob_put(blob);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	log_set_level(LOG_LEVEL_ERROR);
	struct build b;
	struct fake f;
	struct state_node node = { .desc = &kept_desc, .route_id = "r", .node_id = "n" },
			  *nodes[] = { &node };
	struct state_loaded first = { 0 }, again = { 0 };
	struct state_writer w;
	struct buf out;
	build_init(&b);
	b.program.states = nodes;
	b.program.states_n = 1;
	fake_init(&f, &b);
	load(&f, &node, (const char *)data, size, &first);
	unsigned n = ((struct kept *)node.state)->n;
	buf_init(&out, 0);
	state_writer_init(&w, to_buf, &out);
	state_save(&node, &w);
	state_close(&node);
	load(&f, &node, out.p, out.n, &again);
	ASSERT(again.records == n - w.lost && again.refused == 0 && again.others == 0);
	state_close(&node);
	state_writer_fini(&w);
	buf_fini(&out);
	ASSERT(f.pool.live == 0);
	fake_fini(&f);
	build_fini(&b);
	return 0;
}
