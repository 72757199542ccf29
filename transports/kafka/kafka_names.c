/*
 * Names of topics and properties. A property that an option says as well is that option, so that whatever depends on
 * the option holds for it too. Without librdkafka: every process checks them.
 */
#include "transports/kafka/kafka_names.h"

#include "core/base/assert.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

enum { FROM = 1, TO = 2, BOTH = 3, TOPIC_NAME_MAX = 249 };

/* Names of librdkafka stand behind those of Java, where they differ. */
static const struct {
	const char *property, *option;
	int side;
} options[] = {
	{ "acks", "requestRequiredAcks", TO },
	{ "request.required.acks", "requestRequiredAcks", TO },
	{ "auto.commit.interval.ms", "autoCommitIntervalMs", FROM },
	{ "auto.offset.reset", "autoOffsetReset", FROM },
	{ "batch.size", "producerBatchSize", TO },
	{ "bootstrap.servers", "brokers", BOTH },
	{ "metadata.broker.list", "brokers", BOTH },
	{ "buffer.memory", "bufferMemorySize", TO },
	{ "queue.buffering.max.messages", "queueBufferingMaxMessages", TO },
	{ "check.crcs", "checkCrcs", FROM },
	{ "client.id", "clientId", BOTH },
	{ "compression.type", "compressionCodec", TO },
	{ "compression.codec", "compressionCodec", TO },
	{ "connections.max.idle.ms", "connectionMaxIdleMs", TO },
	{ "delivery.timeout.ms", "deliveryTimeoutMs", TO },
	{ "message.timeout.ms", "deliveryTimeoutMs", TO },
	{ "enable.auto.commit", "autoCommitEnable", FROM },
	{ "enable.idempotence", "enableIdempotence", TO },
	{ "fetch.max.bytes", "fetchMaxBytes", FROM },
	{ "fetch.max.wait.ms", "fetchWaitMaxMs", FROM },
	{ "fetch.wait.max.ms", "fetchWaitMaxMs", FROM },
	{ "fetch.min.bytes", "fetchMinBytes", FROM },
	{ "group.id", "groupId", FROM },
	{ "group.instance.id", "groupInstanceId", FROM },
	{ "group.protocol", "groupProtocol", FROM },
	{ "heartbeat.interval.ms", "heartbeatIntervalMs", FROM },
	{ "isolation.level", "isolationLevel", FROM },
	{ "key.deserializer", "keyDeserializer", FROM },
	{ "key.serializer", "keySerializer", TO },
	{ "linger.ms", "lingerMs", TO },
	{ "queue.buffering.max.ms", "lingerMs", TO },
	{ "max.block.ms", "maxBlockMs", TO },
	{ "max.in.flight.requests.per.connection", "maxInFlightRequest", TO },
	{ "max.in.flight", "maxInFlightRequest", TO },
	{ "max.partition.fetch.bytes", "maxPartitionFetchBytes", FROM },
	{ "fetch.message.max.bytes", "maxPartitionFetchBytes", FROM },
	{ "max.poll.interval.ms", "maxPollIntervalMs", FROM },
	{ "max.poll.records", "maxPollRecords", FROM },
	{ "max.request.size", "maxRequestSize", TO },
	{ "message.max.bytes", "maxRequestSize", TO },
	{ "metadata.max.age.ms", "metadataMaxAgeMs", BOTH },
	{ "partition.assignment.strategy", "partitionAssignor", FROM },
	{ "partitioner.class", "partitioner", TO },
	{ "partitioner.ignore.keys", "partitionerIgnoreKeys", TO },
	{ "receive.buffer.bytes", "receiveBufferBytes", TO },
	{ "socket.receive.buffer.bytes", "receiveBufferBytes", TO },
	{ "reconnect.backoff.max.ms", "reconnectBackoffMaxMs", BOTH },
	{ "reconnect.backoff.ms", "reconnectBackoffMs", TO },
	{ "request.timeout.ms", "requestTimeoutMs", TO },
	{ "request.timeout.ms", "consumerRequestTimeoutMs", FROM },
	{ "retries", "retries", TO },
	{ "message.send.max.retries", "retries", TO },
	{ "retry.backoff.max.ms", "retryBackoffMaxMs", BOTH },
	{ "retry.backoff.ms", "retryBackoffMs", BOTH },
	{ "sasl.jaas.config", "saslJaasConfig", BOTH },
	{ "sasl.mechanism", "saslMechanism", BOTH },
	{ "sasl.mechanisms", "saslMechanism", BOTH },
	{ "sasl.password", "saslPassword", BOTH },
	{ "sasl.username", "saslUsername", BOTH },
	{ "security.protocol", "securityProtocol", BOTH },
	{ "send.buffer.bytes", "sendBufferBytes", TO },
	{ "socket.send.buffer.bytes", "sendBufferBytes", TO },
	{ "session.timeout.ms", "sessionTimeoutMs", FROM },
	{ "ssl.cipher.suites", "sslCipherSuites", BOTH },
	{ "ssl.endpoint.identification.algorithm", "sslEndpointAlgorithm", BOTH },
	{ "ssl.key.password", "sslKeyPassword", BOTH },
	{ "ssl.keystore.location", "sslKeystoreLocation", BOTH },
	{ "ssl.keystore.password", "sslKeystorePassword", BOTH },
	{ "ssl.keystore.type", "sslKeystoreType", BOTH },
	{ "ssl.truststore.location", "sslTruststoreLocation", BOTH },
	{ "ssl.truststore.password", "sslTruststorePassword", BOTH },
	{ "ssl.truststore.type", "sslTruststoreType", BOTH },
	{ "value.deserializer", "valueDeserializer", FROM },
	{ "value.serializer", "valueSerializer", TO },
};

static const char ours[] = "cannot be given: Hinny sets it itself",
		  of_java[] = "cannot be given: only Java's client knows it";

static const struct {
	const char *property, *why;
} refused[] = {
	{ "auto.commit.enable", ours },
	{ "auto.include.jmx.reporter", of_java },
	{ "background_event_cb", ours },
	{ "default.api.timeout.ms", of_java },
	{ "delivery.report.only.error", ours },
	{ "enable.auto.offset.store", ours },
	{ "enable.partition.eof", ours },
	{ "enabled_events", ours },
	{ "interceptor.classes", of_java },
	{ "internal.termination.signal", ours },
	{ "log.queue", ours },
	{ "log.thread.name", ours },
	{ "log_level", "cannot be given here, but by the setting log.level" },
	{ "metric.reporters", of_java },
	{ "metrics.num.samples", of_java },
	{ "metrics.recording.level", of_java },
	{ "metrics.sample.window.ms", of_java },
	{ "offset.store.method", ours },
	{ "plugin.library.paths", "cannot be given: no code is loaded by route files" },
	{ "queue.buffering.max.kbytes", "cannot be given here, but by the option bufferMemorySize" },
	{ "statistics.interval.ms", ours },
	{ "test.mock.num.brokers", "cannot be given: it takes the place of the brokers" },
	{ "transactional.id", "transactions are not implemented in this release" },
	{ "transaction.timeout.ms", "transactions are not implemented in this release" },
};

/* Java's names of what has no option on this side. */
static const struct {
	const char *java, *name;
} names[] = {
	{ "receive.buffer.bytes", "socket.receive.buffer.bytes" },
	{ "send.buffer.bytes", "socket.send.buffer.bytes" },
};

bool
kafka_is_topic_name(struct str s)
{
	bool dots = str_eq(s, STR_LIT(".")) || str_eq(s, STR_LIT(".."));

	for (size_t i = 0; i < s.n; i++)
		if (!isalnum((unsigned char)s.p[i]) && memchr("._-", s.p[i], 3) == NULL)
			return false;
	return s.n > 0 && s.n <= TOPIC_NAME_MAX && !dots;
}

const char *
kafka_property_option(const char *property, bool consumer)
{
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		if (strcmp(options[i].property, property) == 0 &&
		    (options[i].side & (consumer ? FROM : TO)))
			return options[i].option;
	}
	return NULL;
}

const char *
kafka_property_refused(const char *property)
{
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		if (strcmp(refused[i].property, property) == 0)
			return refused[i].why;
	}
	return NULL;
}

bool
kafka_property_holds(const char *property, const char *value)
{
	return strcmp(property, "client.dns.lookup") == 0 &&
	    (strcmp(value, "use_all_dns_ips") == 0 || strcmp(value, "default") == 0);
}

const char *
kafka_property_name(const char *property)
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (strcmp(names[i].java, property) == 0)
			return names[i].name;
	}
	return property;
}
