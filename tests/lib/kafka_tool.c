/*
 * What tests ask of a Kafka broker, beside Hinny:
 *   kafka_tool BROKERS wait SECONDS            until it answers
 *   kafka_tool BROKERS create TOPIC PARTITIONS [NAME=VALUE...]   settings of the topic
 *   kafka_tool BROKERS delete TOPIC
 *   kafka_tool BROKERS grow TOPIC PARTITIONS   until it has so many partitions
 *   kafka_tool BROKERS trim TOPIC PARTITION OFFSET           records before the offset are deleted
 *   kafka_tool BROKERS produce TOPIC           lines of standard input: KEY TAB VALUE [TAB PARTITION];
 *                                              "-" as KEY or VALUE is null; acknowledged by all
 *   kafka_tool BROKERS transact TOPIC commit|abort|open      the same in one transaction, which ends so or stays open
 *   kafka_tool BROKERS consume TOPIC COUNT SECONDS
 *       from the beginning until COUNT records have come or SECONDS have passed, one JSON object a line
 *   kafka_tool BROKERS committed GROUP TOPIC PARTITIONS      one line a partition: its offset, or -1
 *   kafka_tool BROKERS end TOPIC PARTITIONS    one line a partition: the offset behind the last record
 * Further settings of librdkafka come by the environment: KAFKA_TOOL="name=value name=value".
 */
#include <errno.h>
#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TIMEOUT_MS = 30000 };

static const char *brokers;

static void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fputs("kafka_tool: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

static void
set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
	char err[512];
	if (rd_kafka_conf_set(conf, name, value, err, sizeof err) != RD_KAFKA_CONF_OK)
		die("%s", err);
}

static unsigned long failed;

static void
delivered(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque)
{
	(void)rk;
	(void)opaque;
	if (m->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
		fprintf(stderr, "kafka_tool: %s\n", rd_kafka_message_errstr(m));
		failed++;
	}
}

static rd_kafka_t *
client(rd_kafka_type_t type, const char *group)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char err[512], *more = strdup(getenv("KAFKA_TOOL") ? getenv("KAFKA_TOOL") : ""), *save;
	set(conf, "bootstrap.servers", brokers);
	set(conf, "log_level", "0");
	if (group != NULL)
		set(conf, "group.id", group);
	if (type == RD_KAFKA_PRODUCER) {
		set(conf, "linger.ms", "5");
		set(conf, "batch.size", "16384"); /* as Java's producer has it */
		set(conf, "enable.idempotence", "true"); /* …and so keeps the order when it tries again */
		set(conf, "queue.buffering.max.messages", "1000000");
		rd_kafka_conf_set_dr_msg_cb(conf, delivered);
	} else {
		set(conf, "enable.partition.eof", "false");
		set(conf, "auto.offset.reset", "earliest");
		set(conf, "enable.auto.commit", "false");
	}
	for (char *p = strtok_r(more, " ", &save); p != NULL; p = strtok_r(NULL, " ", &save)) {
		char *eq = strchr(p, '=');
		if (eq == NULL)
			die("KAFKA_TOOL: \"%s\" is no name=value", p);
		*eq = '\0';
		set(conf, p, eq + 1);
	}
	free(more);
	rd_kafka_t *rk = rd_kafka_new(type, conf, err, sizeof err);
	if (rk == NULL)
		die("%s", err);
	return rk;
}

static void
wait_for(int seconds)
{
	rd_kafka_t *rk = client(RD_KAFKA_PRODUCER, NULL);
	const struct rd_kafka_metadata *md;
	time_t end = time(NULL) + seconds;
	while (rd_kafka_metadata(rk, 0, NULL, &md, 500) != RD_KAFKA_RESP_ERR_NO_ERROR) {
		if (time(NULL) > end)
			die("no answer from %s within %d s", brokers, seconds);
		nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	}
	rd_kafka_metadata_destroy(md);
	rd_kafka_destroy(rk);
}

/* ---- topics ---- */

/* Of an administrative request; `before` and `behind` stand around the topic when it failed. */
static rd_kafka_event_t *
answer(rd_kafka_queue_t *q, const char *before, const char *topic, const char *behind)
{
	rd_kafka_event_t *ev = rd_kafka_queue_poll(q, TIMEOUT_MS);
	if (ev == NULL || rd_kafka_event_error(ev) != RD_KAFKA_RESP_ERR_NO_ERROR)
		die("%s%s%s: %s", before, topic, behind, ev ? rd_kafka_event_error_string(ev) : "no answer");
	return ev;
}

static void
topic_result(const rd_kafka_topic_result_t **results, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rd_kafka_topic_result_error(results[i]) != RD_KAFKA_RESP_ERR_NO_ERROR)
			die("%s: %s", rd_kafka_topic_result_name(results[i]),
			    rd_kafka_topic_result_error_string(results[i]));
}

/* Until every partition has a leader. */
static void
wait_led(rd_kafka_t *rk, const char *topic, int partitions)
{
	time_t end = time(NULL) + TIMEOUT_MS / 1000;
	rd_kafka_topic_t *t = rd_kafka_topic_new(rk, topic, NULL);
	const struct rd_kafka_metadata *md;
	for (int led = 0; led < partitions;) {
		if (time(NULL) > end)
			die("%s has no leaders", topic);
		if (rd_kafka_metadata(rk, 0, t, &md, TIMEOUT_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
			continue;
		led = 0;
		for (int i = 0; md->topic_cnt > 0 && i < md->topics[0].partition_cnt; i++)
			led += md->topics[0].partitions[i].leader >= 0;
		rd_kafka_metadata_destroy(md);
		nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	}
	rd_kafka_topic_destroy(t);
}

static void
create(const char *topic, int partitions, char **settings)
{
	char err[512];
	size_t n;
	rd_kafka_t *rk = client(RD_KAFKA_PRODUCER, NULL);
	rd_kafka_NewTopic_t *nt = rd_kafka_NewTopic_new(topic, partitions, 1, err, sizeof err);
	if (nt == NULL)
		die("%s", err);
	for (; *settings != NULL; settings++) {
		char *eq = strchr(*settings, '=');
		if (eq == NULL)
			die("\"%s\" is no name=value", *settings);
		*eq = '\0';
		rd_kafka_NewTopic_set_config(nt, *settings, eq + 1);
	}
	rd_kafka_queue_t *q = rd_kafka_queue_new(rk);
	rd_kafka_CreateTopics(rk, &nt, 1, NULL, q);
	rd_kafka_event_t *ev = answer(q, "cannot make topic ", topic, "");
	const rd_kafka_topic_result_t **results =
	    rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(ev), &n);
	topic_result(results, n);
	rd_kafka_event_destroy(ev);
	rd_kafka_queue_destroy(q);
	rd_kafka_NewTopic_destroy(nt);
	wait_led(rk, topic, partitions);
	rd_kafka_destroy(rk);
}

static void
delete(const char *topic)
{
	size_t n;
	rd_kafka_t *rk = client(RD_KAFKA_PRODUCER, NULL);
	rd_kafka_DeleteTopic_t *dt = rd_kafka_DeleteTopic_new(topic);
	rd_kafka_queue_t *q = rd_kafka_queue_new(rk);
	rd_kafka_DeleteTopics(rk, &dt, 1, NULL, q);
	rd_kafka_event_t *ev = answer(q, "cannot delete topic ", topic, "");
	const rd_kafka_topic_result_t **results =
	    rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(ev), &n);
	topic_result(results, n);
	rd_kafka_event_destroy(ev);
	rd_kafka_queue_destroy(q);
	rd_kafka_DeleteTopic_destroy(dt);
	rd_kafka_destroy(rk);
}

static void
grow(const char *topic, int partitions)
{
	char err[512];
	size_t n;
	rd_kafka_t *rk = client(RD_KAFKA_PRODUCER, NULL);
	rd_kafka_NewPartitions_t *np = rd_kafka_NewPartitions_new(topic, (size_t)partitions, err, sizeof err);
	if (np == NULL)
		die("%s", err);
	rd_kafka_queue_t *q = rd_kafka_queue_new(rk);
	rd_kafka_CreatePartitions(rk, &np, 1, NULL, q);
	rd_kafka_event_t *ev = answer(q, "topic ", topic, " cannot grow");
	const rd_kafka_topic_result_t **results =
	    rd_kafka_CreatePartitions_result_topics(rd_kafka_event_CreatePartitions_result(ev), &n);
	topic_result(results, n);
	rd_kafka_event_destroy(ev);
	rd_kafka_queue_destroy(q);
	rd_kafka_NewPartitions_destroy(np);
	wait_led(rk, topic, partitions);
	rd_kafka_destroy(rk);
}

static void
trim(const char *topic, int partition, int64_t offset)
{
	rd_kafka_t *rk = client(RD_KAFKA_PRODUCER, NULL);
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
	rd_kafka_topic_partition_list_add(list, topic, partition)->offset = offset;
	rd_kafka_DeleteRecords_t *dr = rd_kafka_DeleteRecords_new(list);
	rd_kafka_queue_t *q = rd_kafka_queue_new(rk);
	rd_kafka_DeleteRecords(rk, &dr, 1, NULL, q);
	rd_kafka_event_t *ev = answer(q, "records of ", topic, " cannot be deleted");
	rd_kafka_resp_err_t rc =
	    rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(ev))->elems[0].err;
	if (rc != RD_KAFKA_RESP_ERR_NO_ERROR)
		die("records of %s cannot be deleted: %s", topic, rd_kafka_err2str(rc));
	rd_kafka_event_destroy(ev);
	rd_kafka_queue_destroy(q);
	rd_kafka_DeleteRecords_destroy(dr);
	rd_kafka_topic_partition_list_destroy(list);
	rd_kafka_destroy(rk);
}

/* ---- records ---- */

static void
produce_line(rd_kafka_t *rk, const char *topic, char *line)
{
	line[strcspn(line, "\n")] = '\0';
	char *key = strsep(&line, "\t"), *value = strsep(&line, "\t"), *partition = line; /* may be empty */
	if (key == NULL || value == NULL)
		die("a line of input needs KEY TAB VALUE");
	bool no_key = strcmp(key, "-") == 0, no_value = strcmp(value, "-") == 0;
	rd_kafka_resp_err_t rc;
	do {
		rc = rd_kafka_producev(rk, RD_KAFKA_V_TOPIC(topic),
		    RD_KAFKA_V_PARTITION(partition ? atoi(partition) : RD_KAFKA_PARTITION_UA),
		    RD_KAFKA_V_KEY(no_key ? NULL : key, no_key ? 0 : strlen(key)),
		    RD_KAFKA_V_VALUE(no_value ? NULL : value, no_value ? 0 : strlen(value)),
		    RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
		rd_kafka_poll(rk, rc == RD_KAFKA_RESP_ERR__QUEUE_FULL ? 100 : 0);
	} while (rc == RD_KAFKA_RESP_ERR__QUEUE_FULL);
	if (rc != RD_KAFKA_RESP_ERR_NO_ERROR)
		die("%s", rd_kafka_err2str(rc));
}

static void
produce(const char *topic)
{
	rd_kafka_t *rk = client(RD_KAFKA_PRODUCER, NULL);
	char *line = NULL;
	size_t cap = 0;
	while (getline(&line, &cap, stdin) > 0)
		produce_line(rk, topic, line);
	if (rd_kafka_flush(rk, 2 * TIMEOUT_MS) != RD_KAFKA_RESP_ERR_NO_ERROR || failed > 0)
		die("%d records were not taken, %lu failed", rd_kafka_outq_len(rk), failed);
	free(line);
	rd_kafka_destroy(rk);
}

static void
must(const char *what, rd_kafka_error_t *error)
{
	if (error != NULL)
		die("%s: %s", what, rd_kafka_error_string(error));
}

static void
transact(const char *topic, const char *end)
{
	setenv("KAFKA_TOOL", "transactional.id=kafka_tool transaction.timeout.ms=60000", 1);
	rd_kafka_t *rk = client(RD_KAFKA_PRODUCER, NULL);
	char *line = NULL;
	size_t cap = 0;
	must("init", rd_kafka_init_transactions(rk, TIMEOUT_MS));
	must("begin", rd_kafka_begin_transaction(rk));
	while (getline(&line, &cap, stdin) > 0)
		produce_line(rk, topic, line);
	free(line);
	if (rd_kafka_flush(rk, TIMEOUT_MS) != RD_KAFKA_RESP_ERR_NO_ERROR || failed > 0)
		die("%lu records were not taken", failed);
	if (strcmp(end, "open") == 0)
		_exit(0);
	must(end, strcmp(end, "commit") == 0 ? rd_kafka_commit_transaction(rk, TIMEOUT_MS)
					      : rd_kafka_abort_transaction(rk, TIMEOUT_MS));
	rd_kafka_destroy(rk);
}

static void
put_json(const char *name, const void *data, size_t n)
{
	const unsigned char *p = data;
	printf("\"%s\":", name);
	if (p == NULL) {
		fputs("null", stdout);
		return;
	}
	putchar('"');
	for (size_t i = 0; i < n; i++) {
		if (p[i] == '"' || p[i] == '\\')
			printf("\\%c", p[i]);
		else if (p[i] < 32)
			printf("\\u%04x", p[i]);
		else
			putchar(p[i]);
	}
	putchar('"');
}

static void
put_headers(const rd_kafka_message_t *m)
{
	rd_kafka_headers_t *headers;
	const char *name;
	const void *value;
	size_t n;
	fputs(",\"headers\":[", stdout);
	if (rd_kafka_message_headers(m, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR) {
		for (size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &n) == 0; i++) {
			fputs(i ? ",{" : "{", stdout);
			put_json("name", name, strlen(name));
			putchar(',');
			put_json("value", value, n);
			putchar('}');
		}
	}
	putchar(']');
}

static void
put_record(const rd_kafka_message_t *m)
{
	printf("{\"partition\":%" PRId32 ",\"offset\":%" PRId64 ",\"timestamp\":%" PRId64 ",", m->partition,
	    m->offset, rd_kafka_message_timestamp(m, NULL));
	put_json("key", m->key, m->key_len);
	putchar(',');
	put_json("value", m->payload, m->len);
	put_headers(m);
	fputs("}\n", stdout);
}

static void
consume(const char *topic, long count, int seconds)
{
	rd_kafka_t *rk = client(RD_KAFKA_CONSUMER, "kafka_tool");
	const struct rd_kafka_metadata *md;
	rd_kafka_topic_t *t = rd_kafka_topic_new(rk, topic, NULL);
	if (rd_kafka_metadata(rk, 0, t, &md, TIMEOUT_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
		die("no metadata of %s", topic);
	rd_kafka_topic_partition_list_t *parts = rd_kafka_topic_partition_list_new(8);
	for (int i = 0; md->topic_cnt > 0 && i < md->topics[0].partition_cnt; i++)
		rd_kafka_topic_partition_list_add(parts, topic, i)->offset = RD_KAFKA_OFFSET_BEGINNING;
	rd_kafka_assign(rk, parts);
	time_t end = time(NULL) + seconds;
	while (count > 0 && time(NULL) <= end) {
		rd_kafka_message_t *m = rd_kafka_consumer_poll(rk, 100);
		if (m != NULL && m->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
			put_record(m);
			count--;
		}
		if (m != NULL)
			rd_kafka_message_destroy(m);
	}
	rd_kafka_topic_partition_list_destroy(parts);
	rd_kafka_metadata_destroy(md);
	rd_kafka_topic_destroy(t);
	rd_kafka_consumer_close(rk);
	rd_kafka_destroy(rk);
}

/* ---- offsets ---- */

static void
committed(const char *group, const char *topic, int partitions)
{
	rd_kafka_t *rk = client(RD_KAFKA_CONSUMER, group);
	rd_kafka_topic_partition_list_t *parts = rd_kafka_topic_partition_list_new(partitions);
	for (int i = 0; i < partitions; i++)
		rd_kafka_topic_partition_list_add(parts, topic, i);
	rd_kafka_resp_err_t rc;
	time_t until = time(NULL) + TIMEOUT_MS / 1000; /* a broker that begins is no coordinator yet */
	while ((rc = rd_kafka_committed(rk, parts, TIMEOUT_MS)) != RD_KAFKA_RESP_ERR_NO_ERROR) {
		if (time(NULL) > until)
			die("%s", rd_kafka_err2str(rc));
		nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	}
	for (int i = 0; i < partitions; i++)
		printf("%" PRId64 "\n", parts->elems[i].offset < 0 ? -1 : parts->elems[i].offset);
	rd_kafka_topic_partition_list_destroy(parts);
	rd_kafka_destroy(rk);
}

static void
end_offsets(const char *topic, int partitions)
{
	rd_kafka_t *rk = client(RD_KAFKA_CONSUMER, "kafka_tool");
	for (int i = 0; i < partitions; i++) {
		int64_t low, high;
		rd_kafka_resp_err_t rc;
		time_t until = time(NULL) + TIMEOUT_MS / 1000; /* its leader may just have changed */
		while ((rc = rd_kafka_query_watermark_offsets(rk, topic, i, &low, &high, TIMEOUT_MS)) !=
		    RD_KAFKA_RESP_ERR_NO_ERROR) {
			if (time(NULL) > until)
				die("%s", rd_kafka_err2str(rc));
			nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
		}
		printf("%" PRId64 "\n", high);
	}
	rd_kafka_destroy(rk);
}

int
main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";
	brokers = argc > 1 ? argv[1] : "";
	if (strcmp(what, "wait") == 0 && argc == 4)
		wait_for(atoi(argv[3]));
	else if (strcmp(what, "create") == 0 && argc >= 5)
		create(argv[3], atoi(argv[4]), argv + 5);
	else if (strcmp(what, "delete") == 0 && argc == 4)
		delete(argv[3]);
	else if (strcmp(what, "grow") == 0 && argc == 5)
		grow(argv[3], atoi(argv[4]));
	else if (strcmp(what, "trim") == 0 && argc == 6)
		trim(argv[3], atoi(argv[4]), atoll(argv[5]));
	else if (strcmp(what, "produce") == 0 && argc == 4)
		produce(argv[3]);
	else if (strcmp(what, "transact") == 0 && argc == 5)
		transact(argv[3], argv[4]);
	else if (strcmp(what, "consume") == 0 && argc == 6)
		consume(argv[3], atol(argv[4]), atoi(argv[5]));
	else if (strcmp(what, "committed") == 0 && argc == 6)
		committed(argv[3], argv[4], atoi(argv[5]));
	else if (strcmp(what, "end") == 0 && argc == 5)
		end_offsets(argv[3], atoi(argv[4]));
	else
		die("what is to be done? (see the top of tests/lib/kafka_tool.c)");
	return 0;
}
