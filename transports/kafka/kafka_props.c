/* Options of an endpoint as properties of librdkafka. */
#include "transports/kafka/kafka_props.h"

#include "core/base/assert.h"
#include "core/config/compile.h"
#include "core/config/option.h"
#include "transports/kafka/kafka_conf.h"

#include <string.h>

enum when {
	ALWAYS,
	GIVEN,    /* when the option was written */
	POSITIVE, /* when it is more than 0 */
};

/* What an option is called there. */
static const struct row {
	const char *property, *option;
	unsigned side;
	enum when when;
} rows[] = {
	{ "bootstrap.servers", "brokers", 0, ALWAYS },
	{ "client.id", "clientId", 0, ALWAYS },
	{ "metadata.max.age.ms", "metadataMaxAgeMs", 0, GIVEN },
	{ "topic.metadata.refresh.interval.ms", "metadataMaxAgeMs", 0, GIVEN },
	{ "reconnect.backoff.max.ms", "reconnectBackoffMaxMs", 0, ALWAYS },
	{ "check.crcs", "checkCrcs", OPTION_CONSUMER, ALWAYS },
	{ "fetch.max.bytes", "fetchMaxBytes", OPTION_CONSUMER, ALWAYS },
	{ "fetch.min.bytes", "fetchMinBytes", OPTION_CONSUMER, ALWAYS },
	{ "fetch.wait.max.ms", "fetchWaitMaxMs", OPTION_CONSUMER, ALWAYS },
	{ "max.partition.fetch.bytes", "maxPartitionFetchBytes", OPTION_CONSUMER, ALWAYS },
	{ "session.timeout.ms", "sessionTimeoutMs", OPTION_CONSUMER, ALWAYS },
	{ "heartbeat.interval.ms", "heartbeatIntervalMs", OPTION_CONSUMER, ALWAYS },
	{ "max.poll.interval.ms", "maxPollIntervalMs", OPTION_CONSUMER, GIVEN },
	{ "isolation.level", "isolationLevel", OPTION_CONSUMER, ALWAYS },
	{ "socket.timeout.ms", "consumerRequestTimeoutMs", OPTION_CONSUMER, ALWAYS },
	{ "retry.backoff.ms", "retryBackoffMs", OPTION_PRODUCER, ALWAYS },
	{ "acks", "requestRequiredAcks", OPTION_PRODUCER, ALWAYS },
	{ "enable.idempotence", "enableIdempotence", OPTION_PRODUCER, ALWAYS },
	{ "message.send.max.retries", "retries", OPTION_PRODUCER, GIVEN },
	{ "max.in.flight", "maxInFlightRequest", OPTION_PRODUCER, ALWAYS },
	{ "queue.buffering.max.ms", "lingerMs", OPTION_PRODUCER, ALWAYS },
	{ "batch.size", "producerBatchSize", OPTION_PRODUCER, ALWAYS },
	{ "compression.type", "compressionCodec", OPTION_PRODUCER, ALWAYS },
	{ "message.timeout.ms", "deliveryTimeoutMs", OPTION_PRODUCER, ALWAYS },
	{ "request.timeout.ms", "requestTimeoutMs", OPTION_PRODUCER, ALWAYS },
	{ "connections.max.idle.ms", "connectionMaxIdleMs", OPTION_PRODUCER, ALWAYS },
	{ "socket.receive.buffer.bytes", "receiveBufferBytes", OPTION_PRODUCER, POSITIVE },
	{ "socket.send.buffer.bytes", "sendBufferBytes", OPTION_PRODUCER, POSITIVE },
};

void
kafka_props_add(struct arena *a, struct pairs *ps, const char *name, const char *value)
{
	if ((ps->n & (ps->n + 1)) == 0) { /* 0, 1, 3, 7 …: full */
		struct pair *more = arena_alloc(a, (2 * ps->n + 1) * sizeof *more);
		if (ps->n > 0)
			memcpy(more, ps->items, ps->n * sizeof *more);
		ps->items = more;
	}
	ps->items[ps->n++] = (struct pair){ name, value };
}

static void
add_number(struct arena *a, struct pairs *ps, const char *name, int64_t n)
{
	kafka_props_add(a, ps, name, arena_printf(a, "%lld", (long long)n));
}

/* The option's value as text. */
static const char *
option_text(struct arena *a, const struct option_desc *o, const void *conf)
{
	const void *at = (const char *)conf + o->offset;
	struct str rest, word;

	switch (o->type) {
	case OPTION_STRING:
		return *(const char *const *)at;
	case OPTION_BOOL:
		return *(const bool *)at ? "true" : "false";
	case OPTION_ENUM:
		rest = str_of(o->values);
		for (int i = *(const int *)at; i >= 0; i--)
			(void)str_split(&rest, '|', &word); /* it has that many */
		return arena_strndup(a, word.p, word.n);
	default:
		return arena_printf(a, "%lld", (long long)*(const int64_t *)at);
	}
}

static void
add_options(struct arena *a, const struct endpoint *ep, struct pairs *ps)
{
	const unsigned side = ep->consumer ? OPTION_CONSUMER : OPTION_PRODUCER;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *r = &rows[i];
		const struct option_desc *o = option_find(kafka_options, str_of(r->option));
		ASSERT(o != NULL);
		if (r->side != 0 && r->side != side)
			continue;
		if (r->when == GIVEN && !option_given(kafka_options, ep->conf, r->option))
			continue;
		const char *text = option_text(a, o, ep->conf);
		if (text != NULL && (r->when != POSITIVE || strcmp(text, "0") != 0))
			kafka_props_add(a, ps, r->property, text);
	}
}

/* ---- what follows from several options ---- */

enum { TOPIC_UNKNOWN_MS = 10000, RECORD_OVERHEAD = 16 << 10 };

static void
add_producer(struct arena *a, const struct kafka_conf *conf, struct pairs *ps)
{
	int64_t unknown = conf->max_block_ms < TOPIC_UNKNOWN_MS ? conf->max_block_ms : TOPIC_UNKNOWN_MS;
	int64_t backoff = conf->reconnect_backoff_ms < conf->reconnect_backoff_max_ms
	    ? conf->reconnect_backoff_ms
	    : conf->reconnect_backoff_max_ms;

	add_number(a, ps, "topic.metadata.propagation.max.ms", unknown);
	add_number(a, ps, "reconnect.backoff.ms", backoff);
	/* What waits is bounded by the producer. */
	kafka_props_add(a, ps, "queue.buffering.max.messages", "10000000");
	kafka_props_add(a, ps, "queue.buffering.max.kbytes", "2147483647");
	kafka_props_add(a, ps, "partitioner",
	    conf->partitioning == KAFKA_PARTITIONER_KEY ? "murmur2_random" : "random");
	/* Sizes are checked by the producer, which knows of headers what librdkafka does not. */
	add_number(a, ps, "message.max.bytes", conf->max_request_size + RECORD_OVERHEAD);
}

/* What librdkafka demands of its own defaults beside the options that are given. */
enum { FETCH_BACKOFF_SINCE = 0x020200ff };

static void
add_consumer(struct arena *a, const struct kafka_conf *conf, struct pairs *ps)
{
	enum { BACKOFF_MS = 100, MESSAGE_BYTES = 1000000, POLL_INTERVAL_MS = 300000 };

	if (conf->reconnect_backoff_max_ms < BACKOFF_MS)
		add_number(a, ps, "reconnect.backoff.ms", conf->reconnect_backoff_max_ms);
	if (conf->fetch_max_bytes < MESSAGE_BYTES)
		add_number(a, ps, "message.max.bytes", conf->fetch_max_bytes);
	if (conf->session_timeout_ms > POLL_INTERVAL_MS && conf->max_poll_interval_ms == 0)
		add_number(a, ps, "max.poll.interval.ms", conf->session_timeout_ms);
	if (rd_kafka_version() >= FETCH_BACKOFF_SINCE)
		kafka_props_add(a, ps, "fetch.queue.backoff.ms", "5"); /* see kafka_poll.h */
}

/* A file of the generation. */
static const char *
file_path(struct arena *a, int folder, const char *copy)
{
	return arena_printf(a, "/proc/self/fd/%d/%s", folder, copy);
}

static void
add_tls(struct arena *a, const struct kafka_conf *conf, int folder, struct pairs *ps)
{
	bool https = conf->ssl_endpoint_algorithm != NULL &&
	    strcmp(conf->ssl_endpoint_algorithm, "https") == 0;

	kafka_props_add(
	    a, ps, "ssl.endpoint.identification.algorithm", https ? "https" : "none");
	if (conf->ssl_ciphers != NULL)
		kafka_props_add(a, ps, "ssl.cipher.suites", conf->ssl_ciphers);
	if (conf->ca_file != NULL)
		kafka_props_add(a, ps, "ssl.ca.location", file_path(a, folder, conf->ca_file));
	if (conf->key_file == NULL)
		return;
	const char *path = file_path(a, folder, conf->key_file);
	if (conf->key_is_pem) {
		kafka_props_add(a, ps, "ssl.certificate.location", path);
		kafka_props_add(a, ps, "ssl.key.location", path);
		const char *password =
		    conf->ssl_key_password != NULL ? conf->ssl_key_password : conf->ssl_keystore_password;
		if (password != NULL)
			kafka_props_add(a, ps, "ssl.key.password", password);
	} else {
		kafka_props_add(a, ps, "ssl.keystore.location", path);
		if (conf->ssl_keystore_password != NULL)
			kafka_props_add(a, ps, "ssl.keystore.password", conf->ssl_keystore_password);
	}
}

static void
add_security(struct arena *a, const struct kafka_conf *conf, int folder, struct pairs *ps)
{
	kafka_props_add(a, ps, "security.protocol", conf->security_protocol);
	if (conf->mechanism != NULL) {
		kafka_props_add(a, ps, "sasl.mechanism", conf->mechanism);
		kafka_props_add(a, ps, "sasl.username", conf->sasl_username);
		kafka_props_add(a, ps, "sasl.password", conf->sasl_password);
	}
	if (conf->tls)
		add_tls(a, conf, folder, ps);
}

void
kafka_props_make(struct arena *a, const struct endpoint *ep, int folder, struct pairs *out)
{
	const struct kafka_conf *conf = ep->conf;

	*out = (struct pairs){ 0 };
	kafka_props_add(a, out, "socket.nagle.disable", "true");
	kafka_props_add(a, out, "socket.keepalive.enable", "true");
	kafka_props_add(a, out, "log.connection.close", "false");
	add_options(a, ep, out);
	if (ep->consumer)
		add_consumer(a, conf, out);
	else
		add_producer(a, conf, out);
	add_security(a, conf, folder, out);
	for (size_t i = 0; i < conf->properties.n; i++)
		kafka_props_add(a, out, conf->properties.items[i].key, conf->properties.items[i].value);
}

/* ---- the configuration ---- */

static void
unknown_property(rd_kafka_conf_t *conf, const char *name, struct hinny_error *err)
{
	size_t n;
	const char **dump = rd_kafka_conf_dump(conf, &n);
	struct arena a;

	arena_init(&a);
	const char **names = arena_alloc(&a, (n / 2 + 1) * sizeof *names);
	for (size_t i = 0; i + 1 < n; i += 2)
		names[i / 2] = dump[i];
	names[n / 2] = NULL;
	const char *near = str_nearest(str_of(name), names);
	hinny_error_set(err, HINNY_EINVAL,
	    "additionalProperties.%s: librdkafka has no such property%s%s%s", name,
	    near != NULL ? ", did you mean \"" : "", near != NULL ? near : "",
	    near != NULL ? "\"" : "");
	arena_fini(&a);
	rd_kafka_conf_dump_free(dump, n);
}

rd_kafka_conf_t *
kafka_props_conf(const struct pairs *ps, struct kafka_poll *poll, struct hinny_error *err)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char text[512];
	rd_kafka_conf_res_t rc = rd_kafka_conf_set(conf, "log.queue", "true", text, sizeof text);

	for (size_t i = 0; i < ps->n && rc == RD_KAFKA_CONF_OK; i++) {
		const struct pair *p = &ps->items[i];
		rc = rd_kafka_conf_set(conf, p->key, p->value, text, sizeof text);
		if (rc == RD_KAFKA_CONF_UNKNOWN)
			unknown_property(conf, p->key, err);
		else if (rc != RD_KAFKA_CONF_OK)
			hinny_error_set(err, HINNY_EINVAL, "%s", text);
	}
	kafka_poll_watch(conf, poll);
	if (rc == RD_KAFKA_CONF_OK)
		return conf;
	rd_kafka_conf_destroy(conf);
	return NULL;
}

/* librdkafka 2.0.2 frees the interceptors of a configuration that it makes no client of, so that it
 * cannot be destroyed any more. Seldom: a worker that is refused ends. */
static void
keep_lost(rd_kafka_conf_t *conf)
{
	static rd_kafka_conf_t *volatile lost[8]; /* for those who look for leaks */
	static unsigned n;

	lost[n++ % ARRAY_LEN(lost)] = conf;
}

enum hinny_rc
kafka_props_client(
    rd_kafka_type_t type, rd_kafka_conf_t *conf, rd_kafka_t **out, struct hinny_error *err)
{
	char text[512];

	*out = rd_kafka_new(type, conf, text, sizeof text);
	if (*out != NULL)
		return HINNY_OK;
	keep_lost(conf);
	return hinny_error_set(err, HINNY_EINVAL, "%s", text);
}
