/* A program as text: everything that the compiler worked out, one line a thing, in an order that
 * does not change. For tests/config and for looking at. */
#include "core/config/plan_priv.h"

#include "core/model/exception.h"

static void
print_indent(FILE *to, unsigned depth)
{
	for (unsigned i = 0; i < depth; i++)
		(void)fputs("  ", to);
}

static void
print_quoted(FILE *to, const char *s)
{
	(void)fputc('"', to);
	for (; *s != '\0'; s++) {
		if (*s == '\n')
			(void)fputs("\\n", to);
		else if (*s == '"' || *s == '\\')
			(void)fprintf(to, "\\%c", *s);
		else if ((unsigned char)*s < ' ')
			(void)fprintf(to, "\\x%02x", (unsigned char)*s);
		else
			(void)fputc(*s, to);
	}
	(void)fputc('"', to);
}

/* "body headers(a,b) properties(*)" */
static void
print_names(FILE *to, const char *what, bool all, const struct strings *names)
{
	if (!all && names->n == 0)
		return;
	(void)fprintf(to, " %s(", what);
	for (size_t i = 0; !all && i < names->n; i++)
		(void)fprintf(to, "%s%s", i > 0 ? "," : "", names->items[i]);
	(void)fputs(all ? "*)" : ")", to);
}

static void
print_access(FILE *to, unsigned depth, const char *what, const struct access *ac)
{
	if (ac->flags == 0 && ac->headers.n == 0 && ac->properties.n == 0 && ac->variables.n == 0)
		return;
	print_indent(to, depth);
	(void)fprintf(to, "%s:", what);
	if (ac->flags & ACCESS_BODY)
		(void)fputs(" body", to);
	if (ac->flags & ACCESS_EXCEPTION)
		(void)fputs(" exception", to);
	print_names(to, "headers", ac->flags & ACCESS_HEADERS_ALL, &ac->headers);
	print_names(to, "properties", ac->flags & ACCESS_PROPERTIES_ALL, &ac->properties);
	print_names(to, "variables", ac->flags & ACCESS_VARIABLES_ALL, &ac->variables);
	(void)fputc('\n', to);
}

static void
print_expression(FILE *to, unsigned depth, const char *what, const struct expression *e)
{
	print_indent(to, depth);
	(void)fprintf(to, "%s: %s ", what, e->language->name);
	print_quoted(to, e->text);
	if (e->predicate)
		(void)fputs(" predicate", to);
	if (e->result_type != CLASS_NONE)
		(void)fprintf(to, " result=%d", (int)e->result_type);
	if (e->owner != NULL)
		(void)fprintf(to, " owner=%s slot=%u", e->owner, e->slot);
	(void)fputc('\n', to);
	print_access(to, depth + 1, "reads", &e->reads);
}

static void
print_strings(FILE *to, const struct strings *list)
{
	for (size_t i = 0; i < list->n; i++)
		(void)fprintf(to, " %s", list->items[i]);
}

static void
print_pairs(FILE *to, const struct pairs *list)
{
	for (size_t i = 0; i < list->n; i++)
		(void)fprintf(to, " %s=%s", list->items[i].key, list->items[i].value);
}

static void
print_classes(FILE *to, const struct classes *list)
{
	for (size_t i = 0; i < list->n; i++)
		(void)fprintf(to, " %s", exception_class((enum exception_id)list->ids[i])->name);
}

/* The word of an enum. */
static void
print_word(FILE *to, const char *values, int n)
{
	struct str rest = str_of(values), word;

	for (int i = 0; str_split(&rest, '|', &word); i++) {
		if (i == n)
			(void)fprintf(to, " %.*s", STR_FMT(word));
	}
}

static void
print_value(FILE *to, const struct option_desc *o, const void *conf)
{
	const char *at = (const char *)conf + o->offset;

	switch (o->type) {
	case OPTION_BOOL:
		(void)fprintf(to, " %s", *(const bool *)at ? "true" : "false");
		break;
	case OPTION_INT:
	case OPTION_DURATION:
		(void)fprintf(to, " %lld", (long long)*(const int64_t *)at);
		break;
	case OPTION_SIZE:
		(void)fprintf(to, " %llu", (unsigned long long)*(const uint64_t *)at);
		break;
	case OPTION_DOUBLE:
		(void)fprintf(to, " %g", *(const double *)at);
		break;
	case OPTION_ENUM:
		print_word(to, o->values, *(const int *)at);
		break;
	case OPTION_CLASS:
		(void)fprintf(to, " %d", *(const int *)at);
		break;
	case OPTION_STRINGS:
		print_strings(to, (const struct strings *)at);
		break;
	case OPTION_PAIRS:
		print_pairs(to, (const struct pairs *)at);
		break;
	case OPTION_CLASSES:
		print_classes(to, (const struct classes *)at);
		break;
	default: /* OPTION_STRING; what has parts of its own is printed apart */
		(void)fputc(' ', to);
		print_quoted(to, *(const char *const *)at != NULL ? *(const char *const *)at : "");
	}
}

/* Has it parts that are printed as such? */
static bool
has_parts(const struct option_desc *o)
{
	return o->type == OPTION_EXPRESSION || o->type == OPTION_PREDICATE ||
	    o->type == OPTION_STEPS || o->type == OPTION_URI || o->type == OPTION_NODES ||
	    o->type == OPTION_NODE || o->type == OPTION_BRANCHES || o->type == OPTION_BEAN || (o->flags & OPTION_TEMPLATE);
}

static void
print_options(FILE *to, unsigned depth, const struct option_desc *options, const void *conf)
{
	for (const struct option_desc *o = options; o != NULL && o->name != NULL; o++) {
		if (!option_given(options, conf, o->name) || has_parts(o))
			continue;
		print_indent(to, depth);
		(void)fprintf(to, "%s:", o->name);
		print_value(to, o, conf);
		(void)fputc('\n', to);
	}
}

static void print_steps(FILE *to, unsigned depth, const struct step *first);

static void
print_parts(FILE *to, unsigned depth, const struct step *st)
{
	for (const struct option_desc *o = st->eip->options; o != NULL && o->name != NULL; o++) {
		const void *at = (const char *)st->conf + o->offset;
		if (o->type == OPTION_EXPRESSION || o->type == OPTION_PREDICATE ||
		    (o->flags & OPTION_TEMPLATE)) {
			const struct expression *e = *(struct expression *const *)at;
			if (e != NULL)
				print_expression(to, depth, o->name, e);
		} else if (o->type == OPTION_NODE && *(struct step *const *)at != NULL) {
			print_steps(to, depth, *(struct step *const *)at);
		} else if (o->type == OPTION_BEAN && *(const struct bean *const *)at != NULL) {
			const struct bean *bean = *(const struct bean *const *)at;
			print_indent(to, depth);
			(void)fprintf(to, "%s: %s %s\n", o->name, bean->name ? bean->name : "",
			    bean->class->name);
			print_options(to, depth + 1, bean->class->options, bean->conf);
		} else if (o->type == OPTION_NODES || o->type == OPTION_BRANCHES) {
			const struct step_list *list = at;
			for (size_t i = 0; i < list->n; i++)
				print_steps(to, depth, list->items[i]);
		} else if (o->type == OPTION_STEPS && *(struct block *const *)at != NULL) {
			print_steps(to, depth, (*(struct block *const *)at)->first);
		}
	}
}

static void
print_step(FILE *to, unsigned depth, const struct step *st)
{
	print_indent(to, depth);
	(void)fprintf(
	    to, "%u %s %s %u:%u", st->index, st->eip->name, st->id, st->at.line, st->at.column);
	if (st->owner != NULL)
		(void)fprintf(to, " owner=%s run=%u", st->owner, st->call_run);
	if (st->effect)
		(void)fputs(" effect", to);
	if (st->body_once)
		(void)fputs(" body_once", to);
	if (st->overlaps)
		(void)fputs(" overlaps", to);
	if (st->reply_streams)
		(void)fputs(" reply_streams", to);
	if (st->endpoint != NULL)
		(void)fprintf(to, " endpoint=%u", st->endpoint->index);
	if (st->state != NULL)
		(void)fprintf(to, " state=%u", st->state->index);
	for (uint32_t i = 0; i < st->remotes_n; i++)
		(void)fprintf(to, "%s%u", i == 0 ? " remotes=" : ",", st->remotes[i]->slot);
	(void)fputc('\n', to);
	print_access(to, depth + 1, "reads", &st->reads);
	print_access(to, depth + 1, "writes", &st->writes);
	print_options(to, depth + 1, st->eip->options, st->conf);
	if (st->expr != NULL)
		print_expression(to, depth + 1, "expression", st->expr);
	if (st->format != NULL) {
		print_indent(to, depth + 1);
		(void)fprintf(to, "format: %s\n", st->format->desc->name);
		print_options(to, depth + 2, st->format->desc->options, st->format->conf);
	}
	print_parts(to, depth + 1, st);
	print_steps(to, depth + 1, st->block.first);
}

/* A child such as `when` has no next: it is printed alone. */
static void
print_steps(FILE *to, unsigned depth, const struct step *first)
{
	for (const struct step *st = first; st != NULL; st = st->next)
		print_step(to, depth, st);
}

static void
print_endpoint(FILE *to, const struct endpoint *ep)
{
	(void)fprintf(to, "endpoint %u %s ", ep->index, ep->consumer ? "from" : "to");
	print_quoted(to, ep->key);
	if (ep->component->owner != NULL)
		(void)fprintf(to, " owner=%s", ep->component->owner);
	if (ep->target != NULL)
		(void)fprintf(to, " route=%s", ep->target->id);
	if (ep->rest_query != NULL)
		(void)fprintf(to, " query=%s", ep->rest_query);
	(void)fputc('\n', to);
	print_options(to, 1, ep->component->options, ep->conf);
}

static void
print_route(FILE *to, const struct route *r)
{
	(void)fprintf(to, "route %s %s:%u:%u from=%u home=%s%s%s\n", r->id, r->at.file, r->at.line,
	    r->at.column, r->from->index, r->home ? r->home : "caller",
	    r->body_streams ? " body_streams" : "", r->auto_startup ? "" : " stopped");
	if (r->description != NULL)
		(void)fprintf(to, "  description: %s\n", r->description);
	if (r->group != NULL)
		(void)fprintf(to, "  group: %s\n", r->group);
	for (uint32_t i = 0; i < r->handlers_n; i++)
		(void)fprintf(to, "  handler %s\n", r->handlers[i]->id);
	print_steps(to, 1, r->block.first);
}

void
program_dump(const struct program *p, FILE *to)
{
	(void)fputs("kinds:", to);
	for (int i = 0; i < kind_count(); i++) {
		if (p->kinds >> i & 1)
			(void)fprintf(to, " %s", kind_at(i)->kind);
	}
	(void)fputc('\n', to);
	for (uint32_t i = 0; i < p->files_n; i++)
		(void)fprintf(to, "file %s\n", p->files[i].copy);
	for (uint32_t i = 0; i < p->states_n; i++)
		(void)fprintf(to, "state %u %s %s %s owner=%s\n", i, p->states[i]->desc->name,
		    p->states[i]->route_id, p->states[i]->node_id, p->states[i]->owner);
	for (uint32_t i = 0; i < p->endpoints_n; i++)
		print_endpoint(to, p->endpoints[i]);
	for (uint32_t i = 0; i < p->steps_n; i++) {
		if (p->steps[i]->eip->flags & EIP_ROOT)
			print_step(to, 0, p->steps[i]);
	}
	for (uint32_t i = 0; i < p->routes_n; i++)
		print_route(to, p->routes[i]);
}
