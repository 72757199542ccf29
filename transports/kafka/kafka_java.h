/* Names and expressions of Java's consumer as librdkafka has them. */
#ifndef HINNY_KAFKA_KAFKA_JAVA_H
#define HINNY_KAFKA_KAFKA_JAVA_H

#include "core/base/arena.h"
#include "core/base/buf.h"

/* The name of librdkafka for Java's class, NULL: it has no such. */
const char *kafka_assignor(const char *java);
/* The regular expression of a topicIsPattern, for whole names. NULL: *why says what it cannot have.
 */
const char *kafka_topic_pattern(struct arena *a, const char *pattern, const char **why);

#endif
