/* What the options of a kafka endpoint must be to go together. */
#include "transports/kafka/kafka_check.h"

#include "core/base/assert.h"
#include "transports/kafka/kafka_conf.h"
#include "transports/kafka/kafka_java.h"
#include "transports/kafka/kafka_names.h"

#include "core/config/option.h"

#include <ctype.h>
#include <string.h>

static bool
given(const struct kafka_conf *conf, const char *name)
{
	return option_given(kafka_options, conf, name);
}

/* ---- options of the component: camel.component.kafka.NAME ---- */

/* "saslMechanism" as "sasl-mechanism". */
static const char *
kebab(struct arena *a, const char *name)
{
	char *out = arena_alloc(a, 2 * strlen(name) + 1), *to = out;

	for (; *name != '\0'; name++) {
		if (isupper((unsigned char)*name))
			*to++ = '-';
		*to++ = (char)tolower((unsigned char)*name);
	}
	*to = '\0';
	return out;
}

static int
set_from_property(struct compile *c, struct endpoint *ep, const struct option_desc *o)
{
	struct arena *a = compile_arena(c);
	const char *name = arena_printf(a, "camel.component.kafka.%s", o->name);
	const char *text = compile_property(c, name);
	struct hinny_error err;

	if (text == NULL) {
		name = arena_printf(a, "camel.component.kafka.%s", kebab(a, o->name));
		text = compile_property(c, name);
	}
	if (text == NULL)
		return 0;
	if (option_set_text(a, o, ep->conf, str_of(text), &err) != HINNY_OK)
		return compile_error(c, ep->at, "property %s: %s", name, err.text);
	option_mark_given(ep->conf, kafka_options, o);
	return 0;
}

static int
set_from_properties(struct compile *c, struct endpoint *ep)
{
	const unsigned other = ep->consumer ? OPTION_PRODUCER : OPTION_CONSUMER;
	int rc = 0;

	for (const struct option_desc *o = kafka_options; o->name != NULL; o++) {
		if (option_is_scalar(o) && !(o->flags & (OPTION_PATH | OPTION_LABEL | other)) &&
		    !given(ep->conf, o->name) && set_from_property(c, ep, o) != 0)
			rc = -1;
	}
	return rc;
}

/* ---- names of Java's classes ---- */

/* The last part of a class name. */
static struct str
class_of(const char *name)
{
	const char *dot = strrchr(name, '.');

	return str_of(dot != NULL ? dot + 1 : name);
}

static int
check_serde(struct compile *c, struct endpoint *ep, const char *option, const char *name,
    const char *way, enum kafka_serde *out)
{
	static const struct {
		const char *name;
		enum kafka_serde serde;
	} known[] = {
		{ "String", KAFKA_SERDE_STRING },
		{ "ByteArray", KAFKA_SERDE_BYTES },
		{ "Bytes", KAFKA_SERDE_BYTES },
		{ "ByteBuffer", KAFKA_SERDE_BYTES },
		{ "Short", KAFKA_SERDE_SHORT },
		{ "Integer", KAFKA_SERDE_INTEGER },
		{ "Long", KAFKA_SERDE_LONG },
		{ "Float", KAFKA_SERDE_FLOAT },
		{ "Double", KAFKA_SERDE_DOUBLE },
		{ "Boolean", KAFKA_SERDE_BOOLEAN },
		{ "UUID", KAFKA_SERDE_UUID },
		{ "Void", KAFKA_SERDE_VOID },
	};
	struct str class = class_of(name);

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		size_t n = strlen(known[i].name);
		if (str_starts(class, known[i].name) && str_eq(str_skip(class, n), str_of(way))) {
			*out = known[i].serde;
			return 0;
		}
	}
	return compile_error(c, ep->at,
	    "%s: \"%s\" is Java code that cannot be run here: expected one of "
	    "org.apache.kafka.common.serialization such as String%s, ByteArray%s, Integer%s or Long%s",
	    option, name, way, way, way, way);
}

static int
check_partitioner(struct compile *c, struct endpoint *ep)
{
	struct kafka_conf *conf = ep->conf;

	conf->partitioning = conf->ignore_keys ? KAFKA_PARTITIONER_STICKY : KAFKA_PARTITIONER_KEY;
	if (conf->partitioner == NULL)
		return 0;
	struct str class = class_of(conf->partitioner);
	if (str_eq(class, STR_LIT("RoundRobinPartitioner")))
		conf->partitioning = KAFKA_PARTITIONER_ROUND_ROBIN;
	else if (str_eq(class, STR_LIT("UniformStickyPartitioner")))
		conf->partitioning = KAFKA_PARTITIONER_STICKY;
	else if (!str_eq(class, STR_LIT("DefaultPartitioner")))
		return compile_error(c, ep->at,
		    "partitioner: \"%s\" is Java code that cannot be run here: expected "
		    "DefaultPartitioner, UniformStickyPartitioner or RoundRobinPartitioner",
		    conf->partitioner);
	return 0;
}

/* ---- from ---- */

enum { IN_FLIGHT_MAX = 10000, POLL_RECORDS_MAX = 100000, CONSUMERS_MAX = 256 };

static int
check_topics(struct compile *c, struct endpoint *ep)
{
	const struct kafka_conf *conf = ep->conf;
	struct str rest = str_of(conf->topic), name;
	const char *why;

	if (conf->topic_is_pattern) {
		if (kafka_topic_pattern(compile_arena(c), conf->topic, &why) != NULL)
			return 0;
		return compile_error(c, ep->at, "topic: \"%s\": %s cannot be had in a topicIsPattern here",
		    conf->topic, why);
	}
	do {
		if (!str_split(&rest, ',', &name) || !kafka_is_topic_name(str_trim(name)))
			return compile_error(c, ep->at,
			    "topic: \"%.*s\" is no name of a topic: expected letters, digits, \".\", \"_\" and "
			    "\"-\"%s", STR_FMT(name), strpbrk(conf->topic, "*+[(") != NULL
				? "; for a regular expression topicIsPattern=true" : "");
	} while (rest.n > 0);
	return 0;
}

static int
check_most(struct compile *c, struct endpoint *ep, const char *option, int64_t n, int64_t most)
{
	if (n <= most)
		return 0;
	return compile_error(c, ep->at, "%s: expected a number of at most %lld, got %lld", option,
	    (long long)most, (long long)n);
}

static int
check_times(struct compile *c, struct endpoint *ep)
{
	const struct kafka_conf *conf = ep->conf;

	if (conf->heartbeat_interval_ms >= conf->session_timeout_ms)
		return compile_error(
		    c, ep->at, "heartbeatIntervalMs: expected less than sessionTimeoutMs (%lld)",
		    (long long)conf->session_timeout_ms);
	if (given(conf, "maxPollIntervalMs") && conf->max_poll_interval_ms < conf->session_timeout_ms)
		return compile_error(
		    c, ep->at, "maxPollIntervalMs: expected at least sessionTimeoutMs (%lld)",
		    (long long)conf->session_timeout_ms);
	return 0;
}

static int
check_consumer(struct compile *c, struct endpoint *ep)
{
	struct kafka_conf *conf = ep->conf;

	if (check_topics(c, ep) != 0 || check_times(c, ep) != 0 ||
	    check_most(c, ep, "maxInFlight", conf->max_in_flight, IN_FLIGHT_MAX) != 0 ||
	    check_most(c, ep, "maxPollRecords", conf->max_poll_records, POLL_RECORDS_MAX) != 0 ||
	    check_most(c, ep, "consumersCount", conf->consumers, CONSUMERS_MAX) != 0)
		return -1;
	if (conf->group_id != NULL && conf->group_id[0] == '\0')
		return compile_error(c, ep->at, "groupId: expected a name");
	if (kafka_assignor(conf->partition_assignor) == NULL)
		return compile_error(c, ep->at,
		    "partitionAssignor: \"%s\" is Java code that cannot be run here: expected RangeAssignor, "
		    "RoundRobinAssignor or CooperativeStickyAssignor",
		    conf->partition_assignor);
	if (check_serde(c, ep, "keyDeserializer", conf->key_deserializer, "Deserializer",
		&conf->key_serde) != 0)
		return -1;
	return check_serde(c, ep, "valueDeserializer", conf->value_deserializer, "Deserializer",
	    &conf->value_serde);
}

static int
check_producer(struct compile *c, struct endpoint *ep)
{
	struct kafka_conf *conf = ep->conf;

	if (strchr(conf->topic, ',') != NULL)
		return compile_error(
		    c, ep->at, "topic: one is sent to, got \"%s\": use multicast or recipientList",
		    conf->topic);
	if (conf->key != NULL && conf->key[0] == '\0')
		conf->key = NULL;
	if (conf->key != NULL && strstr(conf->key, "${") != NULL)
		compile_warning(c, ep->at,
		    "key: \"%s\" is the key as it stands, as in Camel: set the header CamelKafkaKey, or "
		    "use toD",
		    conf->key);
	if (conf->acks > KAFKA_ACKS_MINUS_ONE && conf->idempotence) {
		if (given(conf, "enableIdempotence"))
			return compile_error(
			    c, ep->at, "enableIdempotence: needs requestRequiredAcks=all");
		conf->idempotence = false;
	}
	if (conf->idempotence && given(conf, "retries") && conf->retries == 0) {
		if (given(conf, "enableIdempotence"))
			return compile_error(c, ep->at, "enableIdempotence: needs retries");
		conf->idempotence = false;
	}
	if (conf->delivery_timeout_ms <= conf->linger_ms)
		return compile_error(c, ep->at, "deliveryTimeoutMs: expected more than lingerMs (%lld)",
		    (long long)conf->linger_ms);
	if (conf->idempotence && conf->max_in_flight_requests > 5) {
		if (given(conf, "enableIdempotence"))
			return compile_error(
			    c, ep->at, "enableIdempotence: needs a maxInFlightRequest of 5 or less");
		conf->idempotence = false;
	}
	if (check_serde(c, ep, "keySerializer", conf->key_serializer, "Serializer", &conf->key_serde) != 0 ||
	    check_serde(c, ep, "valueSerializer", conf->value_serializer, "Serializer",
		&conf->value_serde) != 0)
		return -1;
	return check_partitioner(c, ep);
}

/* ---- additionalProperties.NAME=VALUE ---- */

static int
set_option_of_property(
    struct compile *c, struct endpoint *ep, const char *property, const char *option, const char *value)
{
	const struct option_desc *o = option_find(kafka_options, str_of(option));
	struct hinny_error err;

	ASSERT(o != NULL);
	if (given(ep->conf, option))
		return compile_error(
		    c, ep->at, "additionalProperties.%s: the option %s is given, which is the same", property, option);
	if (option_set_text(compile_arena(c), o, ep->conf, str_of(value), &err) != HINNY_OK)
		return compile_error(c, ep->at, "additionalProperties.%s: %s", property, err.text);
	option_mark_given(ep->conf, kafka_options, o);
	return 0;
}

/* The name must hold: what librdkafka has to say of it is asked in the worker. */
static int
check_properties(struct compile *c, struct endpoint *ep)
{
	struct kafka_conf *conf = ep->conf;
	const size_t skip = strlen("additionalProperties.");
	int rc = 0;

	conf->properties.items = arena_alloc(
	    compile_arena(c), (ep->rest.n + 1) * sizeof(struct pair));
	for (size_t i = 0; i < ep->rest.n; i++) {
		const char *name = ep->rest.items[i].key + skip, *value = ep->rest.items[i].value;
		const char *why = *name == '\0' ? "a property has no name" : kafka_property_refused(name);
		const char *option = kafka_property_option(name, ep->consumer);
		if (why != NULL)
			rc = compile_error(c, ep->at, "additionalProperties.%s: %s", name, why);
		else if (option != NULL && set_option_of_property(c, ep, name, option, value) != 0)
			rc = -1;
		else if (option == NULL && !kafka_property_holds(name, value))
			conf->properties.items[conf->properties.n++] =
			    (struct pair){ kafka_property_name(name), value };
	}
	return rc;
}

/* host:port, with commas between them; a host may be an IPv6 address in brackets. */
static bool
is_broker(struct str s)
{
	size_t colon = s.n;
	unsigned port = 0;

	while (colon > 0 && s.p[colon - 1] != ':')
		colon--;
	if (colon < 2 || colon == s.n || s.n - colon > 5)
		return false;
	for (size_t i = colon; i < s.n; i++) {
		if (!isdigit((unsigned char)s.p[i]))
			return false;
		port = port * 10 + (unsigned)(s.p[i] - '0');
	}
	struct str host = { s.p, colon - 1 };
	bool bracketed = host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']';
	return port > 0 && port <= UINT16_MAX && memchr(host.p, ' ', host.n) == NULL &&
	    (bracketed || memchr(host.p, ':', host.n) == NULL);
}

static int
check_brokers(struct compile *c, const struct endpoint *ep)
{
	const struct kafka_conf *conf = ep->conf;
	struct str rest = str_of(conf->brokers), broker;

	while (str_split(&rest, ',', &broker)) {
		size_t scheme = str_find(broker, STR_LIT("://")); /* as librdkafka takes it */
		struct str address = str_trim(scheme == SIZE_MAX ? broker : str_skip(broker, scheme + 3));
		if (!is_broker(address))
			return compile_error(c, ep->at, "brokers: expected host:port, got \"%.*s\"", STR_FMT(broker));
	}
	return 0;
}

static int
check_missing(struct compile *c, struct endpoint *ep)
{
	const struct kafka_conf *conf = ep->conf;
	const char *name = conf->transacted ? "transacted"
	    : conf->individual_headers      ? "batchWithIndividualHeaders"
	    : conf->avro_reader             ? "specificAvroReader"
					    : NULL;

	if (name == NULL)
		return 0;
	return compile_error(c, ep->at, "%s: true is not implemented in this release", name);
}

int
kafka_check(struct compile *c, struct endpoint *ep)
{
	struct kafka_conf *conf = ep->conf;

	if (check_properties(c, ep) != 0 || set_from_properties(c, ep) != 0 || check_missing(c, ep) != 0)
		return -1;
	if (conf->brokers == NULL || conf->brokers[0] == '\0')
		return compile_error(c, ep->at,
		    "missing option \"brokers\" of kafka: expected brokers=host:port, or the property "
		    "camel.component.kafka.brokers");
	if (check_brokers(c, ep) != 0 || kafka_check_security(c, ep) != 0)
		return -1;
	if (conf->retry_backoff_ms > conf->retry_backoff_max_ms)
		conf->retry_backoff_ms = conf->retry_backoff_max_ms;
	return ep->consumer ? check_consumer(c, ep) : check_producer(c, ep);
}
