/* What librdkafka and the broker say is wrong, as exceptions of Java's client. */
#ifndef HINNY_KAFKA_KAFKA_ERROR_H
#define HINNY_KAFKA_KAFKA_ERROR_H

#include "core/model/exception.h"

#include <librdkafka/rdkafka.h>

enum exception_id kafka_error_exception(rd_kafka_resp_err_t code);
/* The code of what a client tells: a refused certificate that comes as a lost connection is one of TLS. */
rd_kafka_resp_err_t kafka_error_code(rd_kafka_resp_err_t code, const char *text);

#endif
