/* User and password out of what Java calls a JAAS configuration. */
#ifndef HINNY_KAFKA_KAFKA_JAAS_H
#define HINNY_KAFKA_KAFKA_JAAS_H

#include "core/base/arena.h"

#include <stdbool.h>

struct kafka_jaas {
	bool scram; /* ScramLoginModule, else PlainLoginModule */
	const char *username, *password;
};

/*
 * `org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="p";`
 * Other options are read over. False: *why says what is wrong, without the text's secrets.
 */
bool kafka_jaas_parse(struct arena *a, struct str text, struct kafka_jaas *out, const char **why);

#endif
