/*
 * Reloads, one after another: what asks for one during a hand-over, or while too many old
 * generations live, waits and becomes one.
 */
#ifndef HINNY_SUPERVISOR_RELOAD_H
#define HINNY_SUPERVISOR_RELOAD_H

#include "core/base/list.h"

#include <stdbool.h>
#include <stdint.h>

struct supervisor;

struct reload {
	bool pending; /* one is asked for and has not begun */
	bool running;
	struct list waiting; /* struct reload_waiter of the pending one */
	struct list asking;  /* … of the running one */
	/* the last one, for `hinny status` */
	bool last_ok;
	int64_t last_wall_ms; /* 0: there was none */
	char *last_text;      /* why it was refused; NULL: it was not */
};

/* Hears once of the outcome. Take it out of its list (list_remove) to hear nothing. */
struct reload_waiter {
	struct list node;
	/* text: "generation 3 serves", or the lines that say why not. */
	void (*done)(struct reload_waiter *w, bool ok, const char *text);
};

void reload_init(struct reload *rl);
void reload_fini(struct reload *rl);
/* Asks for a reload; waiter may be NULL. Returns why it cannot begin now ("3 old generations are
 * still draining"), NULL when it has begun. */
const char *reload_request(struct supervisor *sv, struct reload_waiter *waiter);
/* The running one has ended. Nothing happens when none runs. */
void reload_finished(struct supervisor *sv, bool ok, const char *text);
/* Begins the pending one if it can. */
void reload_next(struct supervisor *sv);

#endif
