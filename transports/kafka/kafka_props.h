/* The properties that librdkafka is given for an endpoint, as names and values. */
#ifndef HINNY_KAFKA_KAFKA_PROPS_H
#define HINNY_KAFKA_KAFKA_PROPS_H

#include "core/model/program.h"
#include "transports/kafka/kafka_poll.h"
#include "workers/worker.h"

#include <librdkafka/rdkafka.h>

/*
 * From the options of the endpoint, consumer or producer, in order: of equal names the last counts.
 * Memory from `a`; values may be the endpoint's own; folder: worker_generation_dir().
 */
void kafka_props_make(struct arena *a, const struct endpoint *ep, int folder, struct pairs *out);
void kafka_props_add(struct arena *a, struct pairs *ps, const char *name, const char *value);
/*
 * A configuration with these properties, and what every client of ours has: logs and events come by
 * queues. The caller sets the events it wants, and owns the result. poll: for kafka_poll_nudge(), or
 * NULL. Returns NULL when librdkafka does not know a property (*err names it) or does not like its
 * value.
 */
rd_kafka_conf_t *kafka_props_conf(
    const struct pairs *ps, struct kafka_poll *poll, struct hinny_error *err);
/*
 * A client of that configuration, which becomes its own in any case. HINNY_EINVAL: librdkafka does
 * not like how they go together, or what is in a file that they name.
 */
enum hinny_rc kafka_props_client(
    rd_kafka_type_t type, rd_kafka_conf_t *conf, rd_kafka_t **out, struct hinny_error *err);

#endif
