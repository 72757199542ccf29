/*
 * Compiles a program. Camel's functions are defined before it: they look into what of the message
 * comes along with the input. Where libjq finds an error it names the line, and pads that line with
 * as many blanks as the place has characters before it.
 */
#include "transformers/jq/jq_priv.h"

#include "core/base/log.h"
#include "core/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All on a line of its own, so that the program's lines count from the next one. */
static const char prelude[] =
    ".[1] as $__hinny | .[0] | "
    "def header($name): $__hinny.h[$name | ascii_downcase]; "
    "def header($name; $default): $__hinny.h[$name | ascii_downcase] // ($default | tostring); "
    "def property($name): $__hinny.p[$name]; "
    "def property($name; $default): $__hinny.p[$name] // ($default | tostring); "
    "def variable($name): $__hinny.v[$name]; "
    "def variable($name; $default): $__hinny.v[$name] // ($default | tostring); "
    "def body: $__hinny.b; "
    "def constant($value): $value; "
    "def constant($value; $type): ($type | split(\".\")[-1] | ascii_downcase) as $t "
    "| if $t == \"string\" then $value | tostring "
    "elif $t == \"boolean\" or $t == \"bool\" then ($value | tostring | ascii_downcase) == \"true\" "
    /* no index(): that of libjq 1.6 leaks */
    "elif $t == \"int\" or $t == \"integer\" or $t == \"long\" or $t == \"short\" "
    "or $t == \"byte\" or $t == \"double\" or $t == \"float\" or $t == \"bigdecimal\" "
    "or $t == \"biginteger\" then $value | tonumber "
    "else error(\"constant: unknown type \" + $type) end;\n";

/* What libjq said first. */
struct complaint {
	char text[HINNY_ERROR_TEXT];
	unsigned n;
};

static void
on_error(void *arg, jv message)
{
	struct complaint *c = arg;

	if (c->n++ == 0)
		(void)snprintf(c->text, sizeof c->text, "%s",
		    jv_get_kind(message) == JV_KIND_STRING ? jv_string_value(message) : "error");
	jv_free(message);
}

/* The line of `text`, from 1 on. */
static struct str
line_of(const char *text, unsigned long line)
{
	while (--line > 0 && (text = strchr(text, '\n')) != NULL)
		text++;
	return text != NULL ? (struct str){ text, strcspn(text, "\n") } : (struct str){ "", 0 };
}

/* "jq: error: WHAT at <top-level>, line 2:\nLINE    " */
static enum hinny_rc
explain(const struct expression *e, unsigned before, struct complaint *c, struct hinny_error *err)
{
	static const char head[] = "jq: error: ", shell[] = " (Unix shell quoting issues?)";
	char *what = c->text, *at = strstr(what, " at <top-level>, line ");

	if (strncmp(what, head, sizeof head - 1) == 0)
		what += sizeof head - 1;
	char *hint = strstr(what, shell);
	if (at == NULL)
		return hinny_error_set(err, HINNY_EINVAL, "invalid program \"%s\": %s", e->text,
		    what[0] != '\0' ? what : "it does not compile");
	unsigned long line = strtoul(at + strlen(" at <top-level>, line "), NULL, 10) - before;
	const char *shown = strchr(at, '\n');
	struct str source = line_of(e->text, line);
	size_t length = shown != NULL ? strlen(shown + 1) : 0;
	size_t column = length >= source.n ? length - source.n + 1 : 1;
	*(hint != NULL ? hint : at) = '\0';
	if (strchr(e->text, '\n') == NULL)
		return hinny_error_set(err, HINNY_EINVAL,
		    "invalid program \"%s\": %s at character %zu", e->text, what, column);
	return hinny_error_set(err, HINNY_EINVAL,
	    "invalid program \"%s\": %s at line %lu, character %zu", e->text, what, line, column);
}

/* libjq would end the process without a word of it. */
static void
on_no_memory(void *arg)
{
	(void)arg;
	fatal("a jq program took more memory than jq.max_memory");
}

static enum hinny_rc
compile(struct jq_program *p, const struct expression *e, struct hinny_error *err)
{
	struct complaint said = { .n = 0 };
	char *text = NULL;

	p->state = jq_init();
	if (p->state == NULL)
		return hinny_error_set(err, HINNY_EINVAL, "out of memory");
	jq_set_nomem_handler(p->state, on_no_memory, NULL);
	jq_set_error_cb(p->state, on_error, &said);
	jq_set_attr(p->state, jv_string("JQ_LIBRARY_PATH"), jv_array()); /* no modules */
	if (p->message) {
		text = mem_alloc(sizeof prelude + strlen(e->text));
		(void)stpcpy(stpcpy(text, prelude), e->text);
	}
	int ok = jq_compile(p->state, text != NULL ? text : e->text);
	free(text);
	jq_set_error_cb(p->state, NULL, NULL);
	return ok ? HINNY_OK : explain(e, p->message, &said, err);
}

enum hinny_rc
jq_program_new(struct jq_runtime *rt, const struct expression *e, struct jq_program **out,
    struct hinny_error *err)
{
	const struct jq_code *code = e->code;

	LIST_FOREACH (&rt->programs, node, tmp) {
		*out = LIST_ENTRY(node, struct jq_program, node);
		if (strcmp((*out)->text, e->text) == 0)
			return HINNY_OK;
	}
	struct jq_program *p = MEM_NEW(struct jq_program);
	p->runtime = rt;
	p->text = e->text;
	p->message = code->message;
	enum hinny_rc rc = compile(p, e, err);
	list_append(&rt->programs, &p->node);
	if (rc != HINNY_OK) {
		jq_program_free(p);
		return rc;
	}
	*out = p;
	return HINNY_OK;
}

void
jq_program_free(struct jq_program *p)
{
	list_remove(&p->node);
	if (p->state != NULL)
		jq_teardown(&p->state);
	free(p);
}
