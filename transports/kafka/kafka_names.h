/* Names: of topics, and properties of Java's client and of librdkafka, as additionalProperties may name them. */
#ifndef HINNY_KAFKA_KAFKA_NAMES_H
#define HINNY_KAFKA_KAFKA_NAMES_H

#include "core/base/str.h"

#include <stdbool.h>

/* Can a topic be called so? 1 to 249 letters, digits, ".", "_" and "-", and not "." or "..". */
bool kafka_is_topic_name(struct str s);
/* The option of the component that says the same on that side; NULL: there is none, and librdkafka
 * is asked. */
const char *kafka_property_option(const char *property, bool consumer);
/* Why it cannot be given at all; NULL: it may be. */
const char *kafka_property_refused(const char *property);
/* Is it so in any case? Then librdkafka need not know it. */
bool kafka_property_holds(const char *property, const char *value);
/* What librdkafka calls it. */
const char *kafka_property_name(const char *property);

#endif
