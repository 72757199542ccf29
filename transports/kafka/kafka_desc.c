/*
 * Descriptor of the kafka component: its options, and what does not go together. What librdkafka
 * has to say of them is asked in the worker (kafka_client.c), since nothing else is linked with it.
 */
#include "transports/kafka/kafka_conf.h"

#include "core/config/compile.h"
#include "transports/kafka/kafka_check.h"

#include <stddef.h>

#define AT(m) offsetof(struct kafka_conf, m)
#define DAYS ((int64_t)365 * 86400 * 1000)

/* clang-format off */
#define TEXT(option, side, member, value, text) \
	{ .name = option, .type = OPTION_STRING, .dflt = value, .flags = side, .offset = AT(member), \
	    .help = text }
#define FLAG(option, side, member, value, text) \
	{ .name = option, .type = OPTION_BOOL, .dflt = value, .flags = side, .offset = AT(member), \
	    .help = text }
#define TIME(option, side, member, value, text) \
	{ .name = option, .type = OPTION_DURATION, .dflt = value, .flags = side, .min = 0, \
	    .max = DAYS, .offset = AT(member), .help = text }
#define COUNT(option, side, member, value, least, text) \
	{ .name = option, .type = OPTION_INT, .dflt = value, .flags = side, .min = least, \
	    .max = INT32_MAX, .offset = AT(member), .help = text }
#define ONE_OF(option, side, member, value, words, text) \
	{ .name = option, .type = OPTION_ENUM, .values = words, .dflt = value, .flags = side, \
	    .offset = AT(member), .help = text }
/* What it says is so in any case. */
#define ANY_FLAG(option, side, value, text) \
	FLAG(option, (side) | OPTION_LABEL, label, value, text)
/* Of Java alone: nothing but the default can be given. */
#define JAVA_ONLY(option, side, value, text) \
	ONE_OF(option, (side) | OPTION_LABEL, label_enum, value, value, text)
#define BOTH 0
#define FROM OPTION_CONSUMER
#define TO OPTION_PRODUCER
#define STRING_CLASS(way) "org.apache.kafka.common.serialization.String" way
/* clang-format on */

const struct option_desc kafka_options[] = {
	{ .name = "topic",
	    .type = OPTION_STRING,
	    .flags = OPTION_REQUIRED | OPTION_PATH,
	    .offset = AT(topic),
	    .help = "from: one topic or several with commas between them, or a pattern "
		    "(topicIsPattern); to: one topic" },
	TEXT("brokers", BOTH, brokers, NULL,
	    "host:port of some brokers, with commas between them; default: the property "
	    "camel.component.kafka.brokers"),
	{ .name = "additionalProperties.",
	    .type = OPTION_PAIRS,
	    .flags = OPTION_PREFIX,
	    .offset = AT(properties),
	    .help = "additionalProperties.NAME=VALUE gives librdkafka a property; one that an option "
		    "says, also by Java's name, is that option" },
	TEXT("clientId", BOTH, client_id, "hinny", "what this client calls itself"),
	TIME("metadataMaxAgeMs", BOTH, metadata_max_age_ms, "300000", "brokers and topics are asked for "
	    "anew after so long"),
	TIME("reconnectBackoffMaxMs", BOTH, reconnect_backoff_max_ms, "1000",
	    "at most between two tries to connect"),
	TIME("reconnectBackoffMs", TO, reconnect_backoff_ms, "50",
	    "at first between two tries to connect"),
	TIME("retryBackoffMs", BOTH, retry_backoff_ms, "100", "before a request is made again"),
	TIME("retryBackoffMaxMs", BOTH, retry_backoff_max_ms, "1000", "…but not longer than this"),
	TIME("shutdownTimeout", BOTH, shutdown_timeout_ms, "30000", "for what is in flight at the end"),

	/* security */
	TEXT("securityProtocol", BOTH, security_protocol, "PLAINTEXT",
	    "PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL"),
	TEXT("saslMechanism", BOTH, sasl_mechanism, "GSSAPI",
	    "PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512; GSSAPI, Camel's default, is not implemented"),
	TEXT("saslUsername", BOTH, sasl_username, NULL, "user of saslMechanism"),
	TEXT("saslPassword", BOTH | OPTION_SECRET, sasl_password, NULL, "password of saslUsername: by a placeholder"),
	TEXT("saslJaasConfig", BOTH | OPTION_SECRET | OPTION_SECRET_PART, sasl_jaas, NULL,
	    "user and password as Java has it: \"…LoginModule required username=… password=…;\""),
	ONE_OF("saslAuthType", BOTH, sasl_auth, NULL, "|NONE|PLAIN|SCRAM_SHA_256|SCRAM_SHA_512|SSL",
	    "sets securityProtocol and saslMechanism to what goes with it"),
	TEXT("sslTruststoreLocation", BOTH, ssl_truststore, NULL,
	    "certificates that are trusted: a PEM file; default: those of the system"),
	TEXT("sslTruststorePassword", BOTH | OPTION_SECRET, ssl_truststore_password, NULL,
	    "a PEM file has none: cannot be given"),
	TEXT("sslTruststoreType", BOTH, ssl_truststore_type, NULL,
	    "PEM; JKS, Camel's default, cannot be read here"),
	TEXT("sslKeystoreLocation", BOTH, ssl_keystore, NULL,
	    "the client's key and certificate: a PEM file with both, or PKCS12"),
	TEXT("sslKeystorePassword", BOTH | OPTION_SECRET, ssl_keystore_password, NULL,
	    "of a PKCS12 file: by a placeholder"),
	TEXT("sslKeystoreType", BOTH, ssl_keystore_type, NULL,
	    "PEM or PKCS12; JKS, Camel's default, cannot be read here"),
	TEXT("sslKeyPassword", BOTH | OPTION_SECRET, ssl_key_password, NULL, "of the key: by a placeholder"),
	TEXT("sslCipherSuites", BOTH, ssl_ciphers, NULL, "as OpenSSL has them"),
	TEXT("sslEndpointAlgorithm", BOTH, ssl_endpoint_algorithm, "https",
	    "https: the broker's certificate must be for its name; none: need not"),
	JAVA_ONLY("sslKeymanagerAlgorithm", BOTH, "SunX509", "of Java: only its default can be given"),
	JAVA_ONLY("sslTrustmanagerAlgorithm", BOTH, "PKIX", "of Java: only its default can be given"),

	/* from */
	TEXT("groupId", FROM, group_id, NULL, "group of consumers; default: one of its own"),
	TEXT("groupInstanceId", FROM, group_instance_id, NULL,
	    "static member of the group; default: node name, run folder, route and number"),
	ONE_OF("groupProtocol", FROM, label_enum, "classic", "classic", "only classic in this release"),
	TEXT("partitionAssignor", FROM, partition_assignor,
	    "org.apache.kafka.clients.consumer.RangeAssignor",
	    "Range, RoundRobin or CooperativeSticky, as Java's class"),
	COUNT("consumersCount", FROM, consumers, "1", 1, "members of the group"),
	ONE_OF("autoOffsetReset", FROM, auto_offset_reset, "latest", "latest|earliest|none",
	    "where a group without an offset begins; none: an error"),
	ONE_OF("seekTo", FROM, seek_to, NULL, "|BEGINNING|END", "where each start begins"),
	FLAG("topicIsPattern", FROM, topic_is_pattern, "false", "the topic is a regular expression"),
	FLAG("autoCommitEnable", FROM, auto_commit, "true", "offsets are committed in the background"),
	TIME("autoCommitIntervalMs", FROM, auto_commit_interval_ms, "5000", "between two commits"),
	FLAG("allowManualCommit", FROM, allow_manual_commit, "false",
	    "offers commits to the route; with autoCommitEnable=false nobody else commits"),
	TIME("commitTimeoutMs", FROM, commit_timeout_ms, "5000", "a commit takes at most"),
	FLAG("breakOnFirstError", FROM, break_on_error, "false",
	    "stops at a record that fails and takes it again"),
	FLAG("batching", FROM, batching, "false", "one exchange for a list of records"),
	TIME("batchingIntervalMs", FROM, batching_interval_ms, NULL, "a batch ends after so long"),
	COUNT("maxPollRecords", FROM, max_poll_records, "500", 1, "records taken at a time"),
	TIME("pollTimeoutMs", FROM, poll_timeout_ms, "5000", "a poll waits so long for records"),
	TIME("maxPollIntervalMs", FROM, max_poll_interval_ms, NULL,
	    "without a poll for so long the group takes a member for dead"),
	TIME("sessionTimeoutMs", FROM, session_timeout_ms, "10000",
	    "without a heartbeat for so long the group takes a member for dead (Camel: 45000; here a "
	    "worker that died is back at once, so this long waits who follows a broker that is gone)"),
	TIME("heartbeatIntervalMs", FROM, heartbeat_interval_ms, "1000",
	    "between two heartbeats, by one of which a member learns that others come or go (Camel: 3000)"),
	ONE_OF("pollOnError", FROM, poll_on_error, "ERROR_HANDLER",
	    "DISCARD|ERROR_HANDLER|RECONNECT|RETRY|STOP", "what becomes of a failed poll"),
	ONE_OF("isolationLevel", FROM, isolation, "read_uncommitted", "read_uncommitted|read_committed",
	    "read_committed: not the records of transactions that are open or were aborted"),
	COUNT("fetchMaxBytes", FROM, fetch_max_bytes, "52428800", 1024, "of an answer of the broker"),
	COUNT("fetchMinBytes", FROM, fetch_min_bytes, "1", 1, "the broker waits for so much"),
	TIME("fetchWaitMaxMs", FROM, fetch_wait_max_ms, "50", "…but not longer (Camel: 500)"),
	COUNT("maxPartitionFetchBytes", FROM, max_partition_fetch_bytes, "65536", 1,
	    "of a partition at a time; a larger record comes alone (Camel: 1048576)"),
	FLAG("checkCrcs", FROM, check_crcs, "true", "of what the broker sends"),
	TEXT("keyDeserializer", FROM, key_deserializer, STRING_CLASS("Deserializer"),
	    "Java's class for keys"),
	TEXT("valueDeserializer", FROM, value_deserializer, STRING_CLASS("Deserializer"),
	    "Java's class for values"),
	COUNT("maxInFlight", FROM, max_in_flight, "64", 1,
	    "records of a partition that may be worked on at a time; 1: one after another"),
	FLAG("keyOrder", FROM, key_order, "true",
	    "a record waits for the one before it with the same key"),
	ONE_OF("exchangePattern", FROM, pattern, "InOnly", "InOnly|InOut", "pattern of the exchanges"),
	FLAG("specificAvroReader", FROM, avro_reader, "false", "true is not implemented in this release"),
	TIME("consumerRequestTimeoutMs", FROM, consumer_request_timeout_ms, "30000",
	    "the broker's answer to a request takes at most"),
	ANY_FLAG("preValidateHostAndPort", FROM, "true",
	    "brokers are always checked for their form; names are looked up when they are needed"),
	ANY_FLAG("bridgeErrorHandler", FROM, "false",
	    "what goes wrong is always for the error handler of the route: see pollOnError"),

	/* to */
	TEXT("key", TO, key, NULL, "key of the records; wins over the header CamelKafkaKey"),
	COUNT("partitionKey", TO, partition_key, "-1", -1,
	    "partition; wins over the header CamelKafkaPartitionKey; -1: none"),
	TEXT("partitioner", TO, partitioner, NULL,
	    "Java's class: DefaultPartitioner, UniformStickyPartitioner or RoundRobinPartitioner; "
	    "default: by the key as Java does, without a key batch by batch"),
	FLAG("partitionerIgnoreKeys", TO, ignore_keys, "false", "keys do not choose the partition"),
	TEXT("keySerializer", TO, key_serializer, STRING_CLASS("Serializer"), "Java's class for keys"),
	TEXT("valueSerializer", TO, value_serializer, STRING_CLASS("Serializer"),
	    "Java's class for values"),
	FLAG("useIterator", TO, use_iterator, "true", "a list is sent as one record an element"),
	ONE_OF("requestRequiredAcks", TO, acks, "all", "all|-1|0|1",
	    "who must have a record before it counts as sent: all replicas, nobody, the leader"),
	FLAG("enableIdempotence", TO, idempotence, "true",
	    "a repeated request writes no record twice; needs requestRequiredAcks=all"),
	COUNT("retries", TO, retries, NULL, 0, "of a request; default: until deliveryTimeoutMs"),
	COUNT("maxInFlightRequest", TO, max_in_flight_requests, "5", 1, "requests at a time"),
	TIME("lingerMs", TO, linger_ms, NULL,
	    "waits for more records to send together; default: what came at once leaves at once"),
	COUNT("producerBatchSize", TO, batch_size, "1000000", 1, "bytes of a batch at most"),
	COUNT("maxRequestSize", TO, max_request_size, "1048576", 1000,
	    "a larger record is refused: org.apache.kafka.common.errors.RecordTooLargeException"),
	COUNT("bufferMemorySize", TO, buffer_memory, "33554432", 1024,
	    "bytes of records that wait for the broker; further ones wait for maxBlockMs"),
	COUNT("queueBufferingMaxMessages", TO, buffer_messages, "100000", 1,
	    "records that wait for the broker; further ones wait for maxBlockMs"),
	ONE_OF("compressionCodec", TO, compression, "none", "none|gzip|snappy|lz4|zstd",
	    "compression of batches"),
	TIME("deliveryTimeoutMs", TO, delivery_timeout_ms, "120000",
	    "a record that the broker has not acknowledged within it has failed"),
	TIME("requestTimeoutMs", TO, request_timeout_ms, "30000", "the broker's answer takes at most"),
	TIME("maxBlockMs", TO, max_block_ms, "60000", "waits at most for room in the buffer"),
	TIME("connectionMaxIdleMs", TO, connection_max_idle_ms, "540000",
	    "an idle connection is closed"),
	COUNT("receiveBufferBytes", TO, receive_buffer, "0", 0, "of the socket; 0: the system's"),
	COUNT("sendBufferBytes", TO, send_buffer, "0", 0, "of the socket; 0: the system's"),
	FLAG("recordMetadata", TO, record_metadata, "false",
	    "sets the header CamelKafkaRecordMeta: a list of topic, partition, offset, timestamp"),
	FLAG("transacted", TO, transacted, "false", "true is not implemented in this release"),
	FLAG("batchWithIndividualHeaders", TO, individual_headers, "false",
	    "true is not implemented in this release"),
	ANY_FLAG("synchronous", BOTH, "false", "a step always waits for the broker's answer"),
	ANY_FLAG("lazyStartProducer", TO, "false",
	    "a broker that is away never keeps a route from starting"),
	JAVA_ONLY("metricsSampleWindowMs", TO, "30000", "of Java: only its default can be given"),
	JAVA_ONLY("noOfMetricsSample", TO, "2", "of Java: only its default can be given"),
	JAVA_ONLY("workerPoolCoreSize", TO, "10", "there are no threads: only its default can be given"),
	JAVA_ONLY("workerPoolMaxSize", TO, "20", "there are no threads: only its default can be given"),
	OPTIONS_END,
};

const struct component_desc kafka_component = {
	.scheme = "kafka",
	.syntax = "kafka:topic",
	.options = kafka_options,
	.conf_size = sizeof(struct kafka_conf),
	.owner = "kafka",
	.flags = COMPONENT_CONSUMER | COMPONENT_PRODUCER | COMPONENT_EXCLUSIVE | COMPONENT_KEEPS_BODY |
	    COMPONENT_ORDERED,
	.check = kafka_check,
	.help = "records into and out of Apache Kafka",
};
