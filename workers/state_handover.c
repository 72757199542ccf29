/*
 * The state of steps goes over to a newer generation: written to a memory file as records, which the supervisor passes on, and read there. A node that the newer
 * generation has not stays here: its operations are served until the last exchange of this generation has ended, and then what it holds is completed.
 */
#include "workers/state_priv.h"

#include "core/base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- saving ---- */

static bool
write_all(void *arg, struct str bytes)
{
	int fd = *(int *)arg;
	while (bytes.n > 0) {
		ssize_t n = write(fd, bytes.p, bytes.n);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1) {
			log_error("cannot write the state of steps to its file: %s", strerror(errno));
			return false;
		}
		bytes.p += n;
		bytes.n -= (size_t)n;
	}
	return true;
}

static bool
next_text(struct str *rest, struct str *out)
{
	const char *end = memchr(rest->p, '\0', rest->n);
	if (end == NULL)
		return false;
	*out = (struct str){ rest->p, (size_t)(end - rest->p) };
	rest->n -= out->n + 1;
	rest->p = end + 1;
	return true;
}

/* The kind of worker that owns the node in the newer generation; -1: it has none. */
static int
find_successor(struct str nodes, const struct state_node *node)
{
	struct str route, id, name, kind;
	while (nodes.n > 0 && next_text(&nodes, &route) && next_text(&nodes, &id) && next_text(&nodes, &name) &&
	    next_text(&nodes, &kind)) {
		if (str_eq(route, str_of(node->route_id)) && str_eq(id, str_of(node->node_id)) &&
		    str_eq(name, str_of(node->desc->name)))
			return kind_index(kind);
	}
	return -1;
}

static void
report_gone(const struct state_node *node)
{
	uint64_t n = node->desc->count != NULL ? node->desc->count(node) : 0;
	if (n > 0)
		log_warning("state of \"%s\" (%s): %" PRIu64 " stay with the old generation and end with it, as the new one has no such step",
		    node->node_id, node->desc->name, n);
}

static void
save_node(struct worker *wk, struct state_node *node, struct state_writer *w, uint64_t generation, struct str nodes)
{
	struct state_place *place = &wk->states->places[node->index];
	int kind = find_successor(nodes, node);
	if (kind < 0) {
		if (place->where == STATE_HERE)
			report_gone(node);
		return;
	}
	if (place->where == STATE_ELSEWHERE)
		return;
	if (place->where == STATE_HERE)
		state_save(node, w);
	state_close(node); /* one that is still coming is empty: this process has replaced one that died */
	*place = (struct state_place){ STATE_MOVED, kind, generation };
	if (wk->ipc != NULL)
		ipc_state_moved(wk->ipc, node, kind, generation);
}

/* What comes later is passed on. */
static void
open_ipc(struct worker *wk)
{
	struct hinny_error err;
	if (wk->ipc == NULL && worker_ipc_open(wk, &err) != HINNY_OK)
		log_error("the states of other generations cannot be reached: %s", err.text);
}

void
states_save(struct worker *wk, uint64_t generation, struct str nodes)
{
	int fd = memfd_create("hinny-state", MFD_CLOEXEC);
	struct state_writer w;
	if (fd == -1)
		fatal("cannot make a file for the state of steps: %s", strerror(errno));
	open_ipc(wk);
	state_writer_init(&w, write_all, &fd);
	for (uint32_t i = 0; wk->states != NULL && i < wk->program->states_n; i++)
		save_node(wk, wk->program->states[i], &w, generation, nodes);
	states_pass_on(wk);
	control_say_state_saved(wk, fd, (uint64_t)lseek(fd, 0, SEEK_CUR), w.records, w.lost);
	state_writer_fini(&w);
	close(fd);
}

/* ---- loading ---- */

void
states_load(struct worker *wk, int fd, uint64_t bytes)
{
	struct hinny_error err;
	struct blob *blob;
	struct state_loaded loaded = { 0 };
	if (wk->states == NULL || bytes == 0)
		return;
	if (blob_new_mapped(fd, bytes, &blob, &err) != HINNY_OK) {
		log_error("the state that an older generation kept is lost: %s", err.text);
		return;
	}
	if (!state_load(wk->program, (struct str){ blob->data, blob->size }, blob, &loaded))
		log_error("a file with the state of an older generation is broken: what stood behind record %" PRIu64 " is lost",
		    loaded.records + loaded.others + loaded.refused);
	log_debug("%" PRIu64 " records of state were taken over", loaded.records);
	blob_put(blob);
}
