/*
 * The supervisor: what hinnyd and `hinny run` are. One process, one thread; it never touches a
 * message and links no library of a transport or transformer. It reads the
 * configuration, makes bundles and generations of it, starts workers, replaces those that die, and
 * serves the admin socket.
 */
#ifndef HINNY_SUPERVISOR_SUPERVISOR_H
#define HINNY_SUPERVISOR_SUPERVISOR_H

#include "core/config/config.h"

#include <stdbool.h>

struct supervisor_options {
	struct bundle_options bundle;
	const char *run_dir; /* NULL: that of hinny.yaml; for `hinny run`: a fresh one */
	bool foreground;     /* hinny run: one line when ready, a held port is an error at once */
	bool watch;          /* reload when a file has changed */
};

/* Runs until it is told to end. Returns the exit status: 0, or 1 when the first generation was
 * refused (said on stderr). Signals are its own meanwhile. */
int supervisor_main(const struct supervisor_options *opt);

#endif
