/* What a consumer is called: its group, and the member of it. */
#include "transports/kafka/kafka_consumer.h"

#include "transports/kafka/kafka_java.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { NUMBERS = 1000 };

static uint64_t
hash(uint64_t h, const char *s)
{
	for (; *s != '\0'; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3u;
	return (h ^ 0xff) * 0x100000001b3u; /* ends the text: "a","bc" is not "ab","c" */
}

/* When the parent was started: field 22 of its stat, behind the name, which may have anything. */
static unsigned long long
parent_start(pid_t pid)
{
	char path[64], text[1024];
	unsigned long long start = 0;
	snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return 0;
	size_t n = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	text[n] = '\0';
	char *at = strrchr(text, ')');
	for (int field = 2; at != NULL && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at != NULL && sscanf(at, " %llu", &start) == 1 ? start : 0;
}

uint64_t
kafka_broker_life(void)
{
	char text[96];
	snprintf(text, sizeof text, "%ld.%llu", (long)getppid(), parent_start(getppid()));
	return hash(0xcbf29ce484222325u, text);
}

uint64_t
kafka_seek_tag(const char *group, unsigned seek_to)
{
	return hash(kafka_broker_life() ^ seek_to, group);
}

/* Letters that group.instance.id may have. */
static const char *
clean(struct arena *a, const char *s, size_t max)
{
	size_t n = strnlen(s, max);
	char *out = arena_strndup(a, s, n);
	for (char *p = out; *p != '\0'; p++)
		if (!isalnum((unsigned char)*p) && strchr("-_.", *p) == NULL)
			*p = '-';
	return out;
}

static const char *
node_name(struct arena *a)
{
	struct utsname u;
	return uname(&u) == 0 ? clean(a, u.nodename, 64) : "node";
}

static const char *
run_folder(struct arena *a, struct worker *wk)
{
	char link[64], path[4096];
	snprintf(link, sizeof link, "/proc/self/fd/%d", worker_run_dir(wk));
	ssize_t n = readlink(link, path, sizeof path);
	return n > 0 ? arena_strndup(a, path, (size_t)n) : "";
}

/* A folder that hinny run made for this run alone: the next one has another. */
static bool
is_temporary(const char *path)
{
	const char *name = strrchr(path, '/');

	return name != NULL && strncmp(name, "/hinny-", 7) == 0 && strlen(name) == strlen("/hinny-XXXXXX");
}

/*
 * The lowest number that nobody of this user on this host has for the group and route: a socket
 * without a place in the file system holds it, which ends with the process however that dies.
 */
static unsigned
take_number(const char *group, const char *route, int *fd)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	uint64_t h = hash(hash(0xcbf29ce484222325u, group), route);

	*fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	for (unsigned i = 0; *fd != -1 && i < NUMBERS; i++) {
		int n = snprintf(addr.sun_path + 1, sizeof addr.sun_path - 1, "hinny.kafka.%ld.%016llx.%u",
		    (long)getuid(), (unsigned long long)h, i);
		socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
		if (bind(*fd, (struct sockaddr *)&addr, size) == 0)
			return i;
	}
	return (unsigned)getppid(); /* of this run alone */
}

const char *
kafka_place_name(struct arena *a, struct worker *wk, const struct route *route, const char *group, int *fd)
{
	const char *folder = run_folder(a, wk);

	*fd = -1;
	if (!is_temporary(folder))
		return folder;
	return arena_printf(a, "temporary.%u", take_number(group, route->id, fd));
}

const char *
kafka_group_name(struct arena *a, struct worker *wk, const struct route *route)
{
	uint64_t h = hash(hash(kafka_broker_life(), run_folder(a, wk)), route->id);
	return arena_printf(
	    a, "hinny.%s.%s.%016llx", node_name(a), clean(a, route->id, 64), (unsigned long long)h);
}

static unsigned
number_of(struct worker *wk, const struct kafka_conf *conf, unsigned member)
{
	return worker_index(wk) * (unsigned)conf->consumers + member;
}

/* What it reads, and how that is shared: the group gives a member that comes back what the one before
 * it of that name had, whatever it asks for. */
static uint64_t
hash_reading(uint64_t h, const struct kafka_conf *conf)
{
	h = hash(h, conf->topic_is_pattern ? "pattern" : "topics");
	return hash(hash(h, conf->topic), kafka_assignor(conf->partition_assignor));
}

uint64_t
kafka_member_key(struct worker *wk, const struct route *route, const char *group,
    const struct kafka_conf *conf, unsigned member)
{
	char number[16];
	const char *name = conf->group_instance_id != NULL ? conf->group_instance_id : route->id;
	uint64_t h = hash(hash(0xcbf29ce484222325u, group), name);

	h = hash(h, conf->group_instance_id != NULL ? "given" : "");
	snprintf(number, sizeof number, "%u", number_of(wk, conf, member));
	return hash(hash_reading(h, conf), number);
}

const char *
kafka_instance_name(struct arena *a, struct worker *wk, const struct route *route, const char *place,
    const struct kafka_conf *conf, unsigned member)
{
	unsigned number = number_of(wk, conf, member);
	if (conf->group_instance_id != NULL && number == 0)
		return conf->group_instance_id;
	if (conf->group_instance_id != NULL)
		return arena_printf(a, "%s-%u", conf->group_instance_id, number);
	uint64_t h = hash_reading(hash(hash(0xcbf29ce484222325u, place), route->id), conf);
	return arena_printf(a, "hinny.%s.%s.%016llx.%u", node_name(a), clean(a, route->id, 64),
	    (unsigned long long)h, number);
}
