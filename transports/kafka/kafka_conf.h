/* What the options of a kafka endpoint are. */
#ifndef HINNY_KAFKA_KAFKA_CONF_H
#define HINNY_KAFKA_KAFKA_CONF_H

#include "core/model/descriptor.h"
#include "core/model/program.h"

/* Positions in the option table. */
enum kafka_acks { KAFKA_ACKS_ALL, KAFKA_ACKS_MINUS_ONE, KAFKA_ACKS_NONE, KAFKA_ACKS_ONE };
enum kafka_reset { KAFKA_RESET_LATEST, KAFKA_RESET_EARLIEST, KAFKA_RESET_NONE };
enum kafka_seek { KAFKA_SEEK_NOT, KAFKA_SEEK_BEGINNING, KAFKA_SEEK_END };
enum kafka_poll_error {
	KAFKA_POLL_DISCARD,
	KAFKA_POLL_ERROR_HANDLER,
	KAFKA_POLL_RECONNECT,
	KAFKA_POLL_RETRY,
	KAFKA_POLL_STOP,
};
enum kafka_sasl_auth {
	KAFKA_SASL_AUTH_UNSET,
	KAFKA_SASL_AUTH_NONE,
	KAFKA_SASL_AUTH_PLAIN,
	KAFKA_SASL_AUTH_SCRAM_256,
	KAFKA_SASL_AUTH_SCRAM_512,
	KAFKA_SASL_AUTH_SSL,
};

/* How keys and values become bytes and back: the classes of org.apache.kafka.common.serialization. */
enum kafka_serde {
	KAFKA_SERDE_STRING,
	KAFKA_SERDE_BYTES, /* ByteArray, Bytes, ByteBuffer */
	KAFKA_SERDE_SHORT,
	KAFKA_SERDE_INTEGER,
	KAFKA_SERDE_LONG,
	KAFKA_SERDE_FLOAT,
	KAFKA_SERDE_DOUBLE,
	KAFKA_SERDE_BOOLEAN,
	KAFKA_SERDE_UUID, /* its text */
	KAFKA_SERDE_VOID, /* always null */
};

enum kafka_partitioner {
	KAFKA_PARTITIONER_KEY, /* murmur2 of the key as Java has it, without a key sticky */
	KAFKA_PARTITIONER_STICKY,
	KAFKA_PARTITIONER_ROUND_ROBIN,
};

struct kafka_conf {
	const char *topic;
	const char *brokers, *client_id;
	int64_t metadata_max_age_ms, reconnect_backoff_ms, reconnect_backoff_max_ms, retry_backoff_ms;
	int64_t retry_backoff_max_ms, consumer_request_timeout_ms;
	int64_t shutdown_timeout_ms;
	/* security */
	const char *security_protocol, *sasl_mechanism, *sasl_username, *sasl_password, *sasl_jaas;
	int sasl_auth;
	const char *ssl_truststore, *ssl_truststore_password, *ssl_truststore_type;
	const char *ssl_keystore, *ssl_keystore_password, *ssl_keystore_type, *ssl_key_password;
	const char *ssl_ciphers, *ssl_endpoint_algorithm;
	/* from */
	const char *group_id, *group_instance_id, *partition_assignor;
	const char *key_deserializer, *value_deserializer;
	bool allow_manual_commit, auto_commit, batching, break_on_error, check_crcs, topic_is_pattern;
	bool key_order;
	int64_t auto_commit_interval_ms, batching_interval_ms, commit_timeout_ms, consumers;
	int64_t fetch_max_bytes, fetch_min_bytes, fetch_wait_max_ms, heartbeat_interval_ms;
	int64_t max_partition_fetch_bytes, max_poll_interval_ms, max_poll_records, poll_timeout_ms;
	int64_t session_timeout_ms, max_in_flight;
	int auto_offset_reset, poll_on_error, seek_to, isolation, pattern;
	/* to */
	const char *key, *key_serializer, *value_serializer, *partitioner;
	bool idempotence, ignore_keys, record_metadata, use_iterator;
	int64_t partition_key; /* -1: not given */
	int64_t buffer_memory, buffer_messages, connection_max_idle_ms, delivery_timeout_ms, linger_ms;
	int64_t max_block_ms, max_in_flight_requests, max_request_size, batch_size, receive_buffer;
	int64_t send_buffer, request_timeout_ms, retries;
	int compression, acks;
	bool transacted, individual_headers, avro_reader; /* refused when true */
	/* options without meaning here */
	bool label;
	int label_enum;
	/* worked out by the check */
	enum kafka_serde key_serde, value_serde; /* of this side */
	enum kafka_partitioner partitioning;
	const char *mechanism;          /* NULL: no SASL */
	bool tls;                       /* security_protocol is one with SSL */
	const char *ca_file, *key_file; /* copies in the generation's folder, or NULL */
	bool key_is_pem;
	struct pairs properties; /* additionalProperties: name -> value */
};

/* The option table, for option_given(). */
extern const struct option_desc kafka_options[];

#endif
