/* Names and expressions of Java that mean something else to librdkafka. Without it: every process
 * checks them. */
#include "transports/kafka/kafka_java.h"

#include "core/base/assert.h"

#include <ctype.h>
#include <string.h>

const char *
kafka_assignor(const char *java)
{
	static const char *const known[][2] = {
		{ "RangeAssignor", "range" },
		{ "RoundRobinAssignor", "roundrobin" },
		{ "CooperativeStickyAssignor", "cooperative-sticky" },
		{ NULL, NULL },
	};
	const char *dot = strrchr(java, '.');
	if (dot != NULL &&
	    strncmp(java, "org.apache.kafka.clients.consumer.", (size_t)(dot - java) + 1) != 0)
		return NULL;
	for (int i = 0; known[i][0] != NULL; i++)
		if (strcmp(dot != NULL ? dot + 1 : java, known[i][0]) == 0)
			return known[i][1];
	return NULL;
}

/* ---- patterns ---- */

/* The regular expressions of librdkafka are POSIX's extended ones. Java's differ in what follows a
 * backslash and in groups with "(?". */
static bool
add_escaped(struct buf *out, char c)
{
	static const struct {
		char c;
		const char *text;
	} classes[] = { { 'd', "[0-9]" }, { 'D', "[^0-9]" }, { 'w', "[A-Za-z0-9_]" },
		{ 'W', "[^A-Za-z0-9_]" }, { 's', "[[:space:]]" }, { 'S', "[^[:space:]]" } };
	for (size_t i = 0; i < ARRAY_LEN(classes); i++)
		if (classes[i].c == c)
			return buf_add_str(out, str_of(classes[i].text)) == HINNY_OK;
	return c != '\0' && !isalnum((unsigned char)c) && buf_printf(out, "\\%c", c) == HINNY_OK;
}

/* What it has that cannot be translated, or NULL. */
static const char *
translate(const char *p, struct buf *out)
{
	bool in_class = false;
	for (; *p != '\0'; p++) {
		if (*p == '\\') {
			if (in_class)
				return "a backslash within brackets";
			if (!add_escaped(out, *++p))
				return "what follows a backslash";
			continue;
		}
		if (*p == '(' && p[1] == '?' && p[2] != ':')
			return "a group that begins with \"(?\"";
		if (!in_class && strchr("*+?}", *p) != NULL && (p[1] == '?' || p[1] == '+'))
			return "a quantifier that is lazy or possessive";
		if (*p == '[' && in_class)
			return "a class within a class";
		in_class = *p == '[' ? true : *p == ']' ? false : in_class;
		(void)buf_add_char(out, *p); /* no bound */
		if (*p == '(' && p[1] == '?')
			p += 2;
	}
	return in_class ? "a bracket that is not closed" : NULL;
}

const char *
kafka_topic_pattern(struct arena *a, const char *pattern, const char **why)
{
	struct buf out;
	buf_init(&out, 0);
	(void)buf_add_str(&out, STR_LIT("^(")); /* no bound */
	*why = translate(pattern, &out);
	(void)buf_add_str(&out, STR_LIT(")$"));
	const char *text = arena_strndup(a, out.p, out.n);
	buf_fini(&out);
	return *why == NULL ? text : NULL;
}
