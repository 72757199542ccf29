/* The state of steps that all workers of a generation share: breakers, throttles, balancers. */
#ifndef HINNY_SUPERVISOR_SHARED_H
#define HINNY_SUPERVISOR_SHARED_H

#include "core/base/error.h"
#include "supervisor/generation.h"

/*
 * Makes the file of the generation, in its folder, for its workers to map. A step that `old` (NULL:
 * none) has as well, by the ids of its route and its own, of the same kind and size, begins with the
 * state that it has there now.
 */
enum hinny_rc shared_make(
    const struct generation *gen, const struct generation *old, struct hinny_error *err);

#endif
