/* JAAS: a class, a flag, NAME=VALUE …, a semicolon. Values may be quoted, "\" protects in quotes. */
#include "transports/kafka/kafka_jaas.h"

static bool
is_blank(char ch)
{
	return ch == ' ' || ch == '\t' || ch == '\r' || ch == '\n';
}

static void
skip_blanks(struct str *s)
{
	while (s->n > 0 && is_blank(*s->p))
		*s = str_skip(*s, 1);
}

/* Up to a blank, a semicolon or `stop`. */
static struct str
word(struct str *s, char stop)
{
	struct str w = { s->p, 0 };

	while (w.n < s->n && !is_blank(w.p[w.n]) && w.p[w.n] != ';' && w.p[w.n] != stop)
		w.n++;
	*s = str_skip(*s, w.n);
	return w;
}

static const char *
quoted(struct arena *a, struct str *s)
{
	const char quote = *s->p;
	char *out = arena_alloc(a, s->n), *to = out;

	*s = str_skip(*s, 1);
	for (; s->n > 0 && *s->p != quote; *s = str_skip(*s, 1)) {
		if (*s->p == '\\' && s->n > 1)
			*s = str_skip(*s, 1);
		*to++ = *s->p;
	}
	if (s->n == 0)
		return NULL;
	*s = str_skip(*s, 1);
	*to = '\0';
	return out;
}

static bool
option(struct arena *a, struct str *s, struct kafka_jaas *out, const char **why)
{
	struct str name = word(s, '=');

	skip_blanks(s);
	if (name.n == 0 || s->n == 0 || *s->p != '=') {
		*why = "expected NAME=VALUE behind \"required\"";
		return false;
	}
	*s = str_skip(*s, 1);
	skip_blanks(s);
	const char *value;
	if (s->n > 0 && (*s->p == '"' || *s->p == '\'')) {
		value = quoted(a, s);
	} else {
		struct str w = word(s, '\0');
		value = arena_strndup(a, w.p, w.n);
	}
	if (value == NULL) {
		*why = "a quote is not closed";
		return false;
	}
	if (str_eq(name, STR_LIT("username")))
		out->username = value;
	else if (str_eq(name, STR_LIT("password")))
		out->password = value;
	return true;
}

bool
kafka_jaas_parse(struct arena *a, struct str text, struct kafka_jaas *out, const char **why)
{
	struct str rest = text;

	*out = (struct kafka_jaas){ 0 };
	skip_blanks(&rest);
	struct str class = word(&rest, '\0');
	out->scram = str_ends(class, "ScramLoginModule");
	if (!out->scram && !str_ends(class, "PlainLoginModule")) {
		*why = "expected a PlainLoginModule or ScramLoginModule of org.apache.kafka";
		return false;
	}
	skip_blanks(&rest);
	if (!str_eq(word(&rest, '\0'), STR_LIT("required"))) {
		*why = "expected \"required\" behind the login module";
		return false;
	}
	for (skip_blanks(&rest); rest.n > 0 && *rest.p != ';'; skip_blanks(&rest)) {
		if (!option(a, &rest, out, why))
			return false;
	}
	if (out->username == NULL || out->password == NULL) {
		*why = "expected username=… and password=…";
		return false;
	}
	return true;
}
