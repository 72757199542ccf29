/* What a message is as a record: key, value, headers, and where it goes. */
#ifndef HINNY_KAFKA_KAFKA_RECORD_H
#define HINNY_KAFKA_KAFKA_RECORD_H

#include "core/model/exchange.h"
#include "transports/kafka/kafka_conf.h"

#include <librdkafka/rdkafka.h>

/* p NULL: null. The bytes lie in the blob, when there is one, else in the exchange's arena or
 * constant memory. */
struct kafka_bytes {
	const char *p;
	size_t n;
	struct blob *blob;
};

struct kafka_parts {
	struct str topic; /* p NULL: the endpoint's */
	struct kafka_bytes key;
	int32_t partition;            /* or RD_KAFKA_PARTITION_UA */
	int64_t timestamp;            /* 0: now */
	rd_kafka_headers_t *headers;  /* NULL: none; the caller's */
	size_t headers_size;          /* bytes on the wire, about */
};

/*
 * From the options and the headers, of which those that mean this one record alone
 * (CamelKafkaOverrideTopic, CamelKafkaOverrideTimestamp) are removed. False: the exception is set,
 * and nothing is owned.
 */
bool kafka_record_parts(
    struct exchange *ex, const struct kafka_conf *conf, struct kafka_parts *out);
/* A key or value (`what`, for the exception) as its serializer makes it. False: the exception is set. */
bool kafka_serialize(struct exchange *ex, enum kafka_serde serde, const char *what,
    const struct value *v, struct kafka_bytes *out);

#endif
