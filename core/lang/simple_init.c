/*
 * The init block of Simple: `$init{`, one statement a line, `}init$`, then the template or
 * predicate.
 *
 *   $name := expression;     sets the exchange variable name, and $name stands for it from there on
 *   $name ~:= ${a} ~> ${b};  declares a function, called as ${name()} or ${name(argument)}
 *   // comment
 */
#include "core/lang/simple_priv.h"

#include "core/base/assert.h"

enum { STATEMENTS_MAX = 100 };

struct init_block {
	struct simple_parser *p;
	struct str names[STATEMENTS_MAX];
	struct simple_node *values[STATEMENTS_MAX];
	size_t n;
};

static bool
is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	    c == '_';
}

size_t
simple_declared_at(const struct simple_parser *p, struct str s, size_t i)
{
	if (p->declared_n == 0 || s.p[i] != '$')
		return 0;
	size_t end = i + 1;
	while (end < s.n && is_name_char(s.p[end]))
		end++;
	struct str name = { s.p + i + 1, end - i - 1 };
	for (size_t k = 0; k < p->declared_n; k++)
		if (p->declared[k].function == NULL && str_eq(p->declared[k].name, name))
			return end - i;
	return 0;
}

struct simple_node *
simple_declared_variable(struct simple_parser *p, struct str name)
{
	struct simple_node *node = simple_node_new(p, SIMPLE_VARIABLE, name.p, 0);
	node->u.key.scope = SIMPLE_IN_VARIABLES;
	node->u.key.full = (struct str){ name.p + 1, name.n - 1 };
	simple_record_key(p, &node->u.key);
	return node;
}

struct simple_node *
simple_declared_call(struct simple_parser *p, struct str f, bool *found)
{
	const char *open = memchr(f.p, '(', f.n);
	*found = false;
	if (open == NULL || f.p[f.n - 1] != ')')
		return NULL;
	struct str name = { f.p, (size_t)(open - f.p) };
	struct simple_node *function = NULL;
	for (size_t k = 0; k < p->declared_n; k++)
		if (p->declared[k].function != NULL && str_eq(p->declared[k].name, name))
			function = p->declared[k].function;
	if (function == NULL)
		return NULL;
	*found = true;
	struct str args = str_trim((struct str){ open + 1, (size_t)(f.p + f.n - open) - 2 });
	struct simple_node *chain = simple_node_new(p, SIMPLE_CHAIN, f.p, 2);
	chain->kids[0] = args.n > 0 ? simple_parse_argument(p, args, 'e') : simple_body(p, f.p);
	chain->kids[1] = function;
	return chain->kids[0] != NULL ? chain : NULL;
}

static void
declare(struct simple_parser *p, struct str name, struct simple_node *function)
{
	struct simple_declared *all = arena_alloc(p->arena, (p->declared_n + 1) * sizeof *all);
	if (p->declared_n > 0)
		memcpy(all, p->declared, p->declared_n * sizeof *all);
	all[p->declared_n++] = (struct simple_declared){ name, function };
	p->declared = all;
}

/* One statement without its ";". False: reported. */
static bool
read_statement(struct init_block *b, struct str s)
{
	struct simple_parser *p = b->p;
	size_t n = 1;
	while (n < s.n && is_name_char(s.p[n]))
		n++;
	struct str name = { s.p + 1, n - 1 };
	struct str rest = str_trim((struct str){ s.p + n, s.n - n });
	bool function = str_starts(rest, "~:=");
	if (s.p[0] != '$' || name.n == 0 || !(function || str_starts(rest, ":=")))
		return simple_error(p, s.p, "an init block holds lines of $name := value;") != NULL;
	size_t mark = function ? 3 : 2;
	struct str text = str_trim((struct str){ rest.p + mark, rest.n - mark });
	if (text.n == 0)
		return simple_error(p, s.p, "$%.*s has no value", STR_FMT(name)) != NULL;
	bool was = p->in_chain;
	p->in_chain = was || function;
	struct simple_node *value = simple_parse_argument(p, text, 'e');
	p->in_chain = was;
	if (value == NULL)
		return false;
	if (function) {
		declare(p, name, value);
		return true;
	}
	if (b->n == STATEMENTS_MAX)
		return simple_error(p, s.p, "more than %d statements", STATEMENTS_MAX) != NULL;
	b->names[b->n] = name;
	b->values[b->n++] = value;
	declare(p, name, NULL);
	return true;
}

/* The statement at the beginning of *rest, up to a ";" that ends a line. False at the end. */
static bool
next_statement(struct str *rest, struct str *out)
{
	*rest = str_trim(*rest);
	for (size_t i = 0; i < rest->n; i++) {
		bool comment = str_starts(*rest, "//");
		size_t next = i + 1;
		while (next < rest->n &&
		    (rest->p[next] == ' ' || rest->p[next] == '\r' || rest->p[next] == '\t'))
			next++;
		bool line = next == rest->n || rest->p[next] == '\n';
		if (comment ? (rest->p[i] != '\n' && i + 1 < rest->n)
			    : !(rest->p[i] == ';' && line))
			continue;
		*out = str_trim((struct str){ rest->p, comment ? 0 : i });
		*rest = (struct str){ rest->p + i + 1, rest->n - i - 1 };
		return true;
	}
	*out = *rest;
	*rest = (struct str){ rest->p + rest->n, 0 };
	return out->n > 0;
}

struct simple_node *
simple_parse_init(struct simple_parser *p, struct str s, struct str *rest, bool *found)
{
	struct str trimmed = str_trim(s);
	*rest = s;
	*found = str_starts(trimmed, "$init{");
	if (!*found)
		return NULL;
	struct str inside = { trimmed.p + 6, trimmed.n - 6 }, statement;
	size_t end = str_find(inside, STR_LIT("}init$"));
	if (end == SIZE_MAX)
		return simple_error(p, trimmed.p, "expected symbol }init$ but was eol");
	*rest = str_trim((struct str){ inside.p + end + 6, inside.n - end - 6 });
	inside.n = end;
	struct init_block b = { .p = p };
	while (next_statement(&inside, &statement))
		if (statement.n > 0 && !read_statement(&b, statement))
			return NULL;
	struct simple_node *node = simple_node_new(p, SIMPLE_INIT, trimmed.p, (uint32_t)b.n + 1);
	struct str *names = arena_alloc(p->arena, b.n * sizeof *names + 1);
	memcpy(names, b.names, b.n * sizeof *names);
	memcpy(node->kids, b.values, b.n * sizeof *node->kids);
	node->u.names = names;
	p->effects = true;
	return node;
}
