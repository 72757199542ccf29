/* kafka: records into and out of Apache Kafka (Camel: Kafka component). Its runtime is the worker
 * hinny-kafka, on librdkafka. */
#ifndef HINNY_KAFKA_KAFKA_H
#define HINNY_KAFKA_KAFKA_H

#include "workers/worker.h"

extern const struct worker_kind kafka_kind;

#endif
