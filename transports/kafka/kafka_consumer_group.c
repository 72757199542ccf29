/*
 * Members come to the group, and go for good. Static ones do not leave it when they close, so that the
 * next of the name goes on without a rebalance; those that have no successor leave.
 */
#include "transports/kafka/kafka_consumer.h"

#include "core/base/log.h"
#include "core/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LEAVING_MS = 5000, /* the group is told within that, or finds out */
	FENCED_MS = 5000,  /* between two looks whether another client still has the name */
};

enum hinny_rc
kafka_member_subscribe(struct kafka_member *m, struct hinny_error *err)
{
	rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(4);
	struct str rest = str_of(m->conf->topic), name;
	char topic[256];
	if (m->conf->topic_is_pattern)
		rd_kafka_topic_partition_list_add(list, m->src->pattern, RD_KAFKA_PARTITION_UA);
	while (!m->conf->topic_is_pattern && str_split(&rest, ',', &name)) {
		name = str_trim(name);
		snprintf(topic, sizeof topic, "%.*s", STR_FMT(name)); /* checked at load */
		rd_kafka_topic_partition_list_add(list, topic, RD_KAFKA_PARTITION_UA);
	}
	rd_kafka_resp_err_t code = rd_kafka_subscribe(m->rk, list);
	rd_kafka_topic_partition_list_destroy(list);
	if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
		return HINNY_OK;
	return hinny_error_set(err, HINNY_EINVAL, "%s", rd_kafka_err2str(code));
}

/* Is it one of the route's? Of a pattern that is not asked. */
static bool
is_read(const struct kafka_conf *conf, const char *topic)
{
	struct str rest = str_of(conf->topic), name;
	bool found = conf->topic_is_pattern;
	while (!found && str_split(&rest, ',', &name))
		found = str_eq(str_trim(name), str_of(topic));
	return found;
}

void
kafka_member_check_topics(struct kafka_member *m, const rd_kafka_topic_partition_list_t *list)
{
	for (int i = 0; i < list->cnt && m->state == KAFKA_MEMBER_RUNNING; i++) {
		if (is_read(m->conf, list->elems[i].topic))
			continue;
		kafka_member_restart(m, "the group gave it topics that its name had before");
		m->leaves = true;
	}
}

/* ---- leaving ---- */

/*
 * Librdkafka says nothing to the group when a static member closes, but when it has no topics any
 * more: what was assigned is revoked, and the client forgets the name that the group gave it when it
 * has said that it leaves. One that is just joining gets that name first: the group has it already.
 */
void
kafka_member_leave(struct kafka_member *m)
{
	m->state = KAFKA_MEMBER_LEAVING;
	m->left = loop_now(worker_loop(m->wk));
	m->unsubscribed = false;
	loop_timer_start(&m->tick, KAFKA_CLOSING_MS, KAFKA_CLOSING_MS);
}

static bool
is_member(const struct kafka_member *m)
{
	char *id = rd_kafka_memberid(m->rk);
	bool yes = id != NULL && *id != '\0';
	if (id != NULL)
		rd_kafka_mem_free(m->rk, id);
	return yes;
}

bool
kafka_member_has_left(struct kafka_member *m)
{
	if (m->working || !list_empty(&m->rebalances))
		return false;
	if (monotime_ms_between(m->left, loop_now(worker_loop(m->wk))) >= LEAVING_MS)
		return true;
	bool member = is_member(m);
	if (member && !m->unsubscribed) {
		(void)rd_kafka_unsubscribe(m->rk); /* fails when the client is broken: then it closes */
		m->unsubscribed = true;
		return false;
	}
	return !member && m->unsubscribed;
}

/* ---- who comes after a reload ---- */

static void
list_members(FILE *f, struct worker *wk)
{
	const struct program *p = worker_program(wk);
	struct arena a;

	arena_init(&a);
	for (uint32_t i = 0; i < p->routes_n; i++) {
		const struct route *route = p->routes[i];
		const struct kafka_conf *conf = route->from->conf;
		if (strcmp(route->from->component->scheme, "kafka") != 0 || !route->auto_startup)
			continue;
		const char *group =
		    conf->group_id != NULL ? conf->group_id : kafka_group_name(&a, wk, route);
		for (unsigned m = 0; m < (unsigned)conf->consumers; m++)
			fprintf(f, "%016llx\n",
			    (unsigned long long)kafka_member_key(wk, route, group, conf, m));
	}
	arena_fini(&a);
}

static void
file_name(char name[static 32], unsigned index)
{
	snprintf(name, 32, "kafka-members.%u", index);
}

enum hinny_rc
kafka_members_note(struct worker *wk, struct hinny_error *err)
{
	char name[32], fresh[40];
	int dir = worker_run_dir(wk);

	file_name(name, worker_index(wk));
	snprintf(fresh, sizeof fresh, "%s~", name);
	int fd = openat(dir, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *f = fd != -1 ? fdopen(fd, "w") : NULL;
	if (f == NULL)
		return hinny_error_errno(err, errno, "cannot write \"%s\" in the run folder", fresh);
	fprintf(f, "%llu\n", (unsigned long long)worker_generation(wk));
	list_members(f, wk);
	bool ok = ferror(f) == 0;
	if (fclose(f) != 0 || !ok || renameat(dir, fresh, dir, name) != 0)
		return hinny_error_errno(err, errno, "cannot write \"%s\" in the run folder", name);
	return HINNY_OK;
}

struct members {
	uint64_t *keys;
	size_t n;
};

/* Is it there, of a later generation? Then its members are added. */
static bool
read_members(struct worker *wk, unsigned index, struct members *list)
{
	char name[32], line[32];
	unsigned long long generation, key;

	file_name(name, index);
	int fd = openat(worker_run_dir(wk), name, O_RDONLY | O_CLOEXEC);
	FILE *f = fd != -1 ? fdopen(fd, "r") : NULL;
	if (f == NULL)
		return false;
	bool later = fgets(line, sizeof line, f) != NULL && sscanf(line, "%llu", &generation) == 1 &&
	    generation > worker_generation(wk);
	while (later && fgets(line, sizeof line, f) != NULL) {
		if (sscanf(line, "%llx", &key) != 1)
			continue;
		list->keys = mem_realloc(list->keys, (list->n + 1) * sizeof list->keys[0]);
		list->keys[list->n++] = key;
	}
	fclose(f);
	return true;
}

/* Those of later generations than the worker's: none when there are no consumers any more. */
static void
members_read(struct worker *wk, struct members *list)
{
	*list = (struct members){ 0 };
	for (unsigned i = 0; read_members(wk, i, list);)
		i++;
}

static bool
members_have(const struct members *list, uint64_t key)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->keys[i] == key)
			return true;
	return false;
}

/* At the end of the broker they stay in the group for its next start. */
void
kafka_members_choose(struct kafka_source *src)
{
	struct members later;
	if (worker_drain_final(src->wk))
		return;
	members_read(src->wk, &later);
	for (unsigned i = 0; i < src->members_n; i++) {
		uint64_t key = kafka_member_key(src->wk, src->route, src->group, src->conf, i);
		src->members[i].leaves = !members_have(&later, key);
	}
	free(later.keys);
}

/* ---- another client has the name ---- */

/* Who joins by a name puts the other one out, and two would do so by turns. So the group is asked. */
static void
ask_for_name(struct kafka_member *m)
{
	m->ask_due = monotime_add_ms(loop_now(worker_loop(m->wk)), FENCED_MS);
	rd_kafka_DescribeConsumerGroups(m->rk, (const char *[]){ m->src->group }, 1, NULL, m->events.queue);
}

static bool
has_name(const rd_kafka_ConsumerGroupDescription_t *group, const char *name)
{
	for (size_t i = 0; i < rd_kafka_ConsumerGroupDescription_member_count(group); i++) {
		const char *other = rd_kafka_MemberDescription_group_instance_id(
		    rd_kafka_ConsumerGroupDescription_member(group, i));
		if (other != NULL && strcmp(other, name) == 0)
			return true;
	}
	return false;
}

/* Is it known that it has gone? */
static bool
is_name_free(const struct kafka_member *m, rd_kafka_event_t *ev)
{
	size_t n = 0;
	if (rd_kafka_event_error(ev) != RD_KAFKA_RESP_ERR_NO_ERROR)
		return false;
	const rd_kafka_ConsumerGroupDescription_t **groups = rd_kafka_DescribeConsumerGroups_result_groups(
	    rd_kafka_event_DescribeConsumerGroups_result(ev), &n);
	if (n != 1)
		return false;
	const rd_kafka_error_t *error = rd_kafka_ConsumerGroupDescription_error(groups[0]);
	rd_kafka_resp_err_t code = error != NULL ? rd_kafka_error_code(error) : RD_KAFKA_RESP_ERR_NO_ERROR;
	if (code == RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND ||
	    code == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED)
		return true; /* which joining tells better */
	return code == RD_KAFKA_RESP_ERR_NO_ERROR && !has_name(groups[0], m->name);
}

void
kafka_name_answer(struct kafka_member *m, rd_kafka_event_t *ev)
{
	struct hinny_error err;
	if (!m->yields || m->state != KAFKA_MEMBER_RUNNING || !is_name_free(m, ev))
		return;
	m->yields = false;
	log_info("route %s: member %u goes on: its name \"%s\" is free", m->src->route->id, m->index, m->name);
	if (kafka_member_subscribe(m, &err) != HINNY_OK)
		kafka_member_restart(m, err.text);
}

void
kafka_name_tick(struct kafka_member *m)
{
	if (m->yields && m->state == KAFKA_MEMBER_RUNNING &&
	    loop_now(worker_loop(m->wk)).ns >= m->ask_due.ns)
		ask_for_name(m);
}
