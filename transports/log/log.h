/* The log component at run time, and the text that it writes. */
#ifndef HINNY_TRANSPORTS_LOG_H
#define HINNY_TRANSPORTS_LOG_H

#include "core/base/clock.h"
#include "transports/log/log_conf.h"
#include "workers/component.h"

extern const struct component_ops log_ops;

/* The line for a message, in the exchange's arena. The body must not be a stream. */
struct str log_text_of(const struct log_endpoint_conf *conf, struct exchange *ex);

/* Counting of groups: groupSize. */
struct log_group {
	uint64_t received;       /* in all */
	uint64_t group;          /* since the last line */
	struct monotime started; /* the first message */
	struct monotime group_started;
};
/* groupInterval: the line for what came since the last one, now; empty when none came and
 * `active_only`. In the arena. */
struct str log_group_tell(
    struct log_group *g, bool active_only, struct monotime now, struct arena *a);
/* One message more, now. The line when it completes a group of `size`, else an empty slice. In the
 * arena. */
struct str log_group_add(struct log_group *g, uint64_t size, struct monotime now, struct arena *a);

#endif
