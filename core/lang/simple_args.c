/* The arguments of a function, by the letters of its row in simple_functions.def. */
#include "core/lang/simple_priv.h"

bool
simple_read_class(struct simple_parser *p, struct str item, enum value_class_id *id)
{
	struct str name = item, inner;
	if (simple_unquote(p, item, &inner))
		name = inner;
	*id = value_class_find(name);
	return *id != CLASS_NONE ||
	    simple_error(p, item.p, "unknown type %.*s", STR_FMT(name)) != NULL;
}

static struct simple_node *
parse_class(struct simple_parser *p, struct str item)
{
	enum value_class_id id;
	return simple_read_class(p, item, &id) ? simple_const(p, item.p, value_int(id)) : NULL;
}

static struct simple_node *
parse_argument(struct simple_parser *p, struct str item, char letter)
{
	struct str inner;
	if (letter == 'p' || letter == 'I')
		return simple_parse_predicate(p, item);
	if (letter == 'c')
		return parse_class(p, item);
	if (p->in_chain && str_eq(item, STR_LIT("$param")))
		return simple_body(p, item.p);
	if (simple_unquote(p, item, &inner))
		return simple_parse_template(p, letter == 'q' ? item : inner, SIMPLE_ESCAPES);
	return simple_parse_template(p, item, SIMPLE_ESCAPES | SIMPLE_OPERATORS);
}

/* Quotes around it go, blanks around these stay. */
static struct simple_node *
parse_untrimmed(struct simple_parser *p, struct str item)
{
	struct str trimmed = str_trim(item), inner;
	if (p->in_chain && str_eq(trimmed, STR_LIT("$param")))
		return simple_body(p, item.p);
	if (!simple_unquote(p, trimmed, &inner))
		return simple_parse_template(p, item, SIMPLE_ESCAPES | SIMPLE_OPERATORS);
	struct simple_node *node = simple_parse_template(p, inner, SIMPLE_ESCAPES);
	if (node == NULL || trimmed.n == item.n)
		return node;
	size_t before = (size_t)(trimmed.p - item.p), after = item.n - before - trimmed.n;
	struct simple_node *all = simple_node_new(p, SIMPLE_CONCAT, item.p, 3);
	all->kids[0] = simple_const(p, item.p, value_str((struct str){ item.p, before }));
	all->kids[1] = node;
	all->kids[2] =
	    simple_const(p, item.p, value_str((struct str){ trimmed.p + trimmed.n, after }));
	return all;
}

/* The one argument of a function, which may have commas in it. */
static struct simple_node *
parse_whole(struct simple_parser *p, struct str item, bool keep_quotes)
{
	struct str inner;
	unsigned quotes = keep_quotes ? 0 : SIMPLE_NO_QUOTES;
	if (p->in_chain && str_eq(item, STR_LIT("$param")))
		return simple_body(p, item.p);
	if (simple_unquote(p, item, &inner))
		return simple_parse_template(p, inner, SIMPLE_ESCAPES | quotes);
	return simple_parse_template(p, item, SIMPLE_ESCAPES | SIMPLE_OPERATORS | quotes);
}

/* A text in which functions are text, too. */
static struct simple_node *
parse_plain(struct simple_parser *p, struct str item)
{
	return simple_const(p, item.p, value_str(simple_without_quotes(p->arena, item)));
}

struct simple_node *
simple_parse_argument(struct simple_parser *p, struct str item, char letter)
{
	bool was = p->in_chain;
	if (letter == 'u' || letter == 'v')
		return parse_untrimmed(p, item);
	if (letter == 'w' || letter == 'y')
		return parse_whole(p, item, letter == 'y');
	if (letter == 'j')
		return parse_plain(p, item);
	p->in_chain = was || letter == 'i' || letter == 'I';
	struct simple_node *node = parse_argument(p, str_trim(item), letter);
	p->in_chain = was;
	return node;
}

enum { ARGS_MAX = 100 };

/* Cuts the text between the parentheses into trimmed items; -1 when there are too many. */
static int
split_args(struct simple_parser *p, struct str args, const char *letters, struct str *items)
{
	int n = 0;
	bool any = letters[0] != '\0' && letters[1] == '*'; /* empty ones do not count */
	if (str_trim(args).n == 0)
		return 0;
	struct str rest = args;
	if (letters[0] == 'w' || letters[0] == 'y') {
		items[0] = args;
		return 1;
	}
	while (n < ARGS_MAX && simple_next_arg(p, &rest, &items[n]))
		n += !any || items[n].n > 0;
	return rest.p == NULL ? n : -1;
}

/* Does the body stand in for an argument of this letter that is not given? */
static bool
is_source(char letter)
{
	return (letter | 32) == 's' || letter == 'v' || letter == 'w' || letter == 'y';
}

/* How many kids the call gets, and whether a leading s takes the body. */
static size_t
count_kids(const struct simple_function *fn, int given, bool *body_first)
{
	size_t letters = strlen(fn->args);
	bool repeats = letters > 0 && fn->args[letters - 1] == '*';
	*body_first = (fn->args[0] == 's' || fn->args[0] == 'v') && letters > 1 && !repeats && given < fn->max;
	if (repeats)
		return given > 0 ? (size_t)given : fn->args[letters - 2] == 's';
	return letters;
}

static bool
wrong_count(
    struct simple_parser *p, struct str args, const struct simple_function *fn, int given)
{
	if (fn->min == fn->max)
		return simple_error(p, args.p, "function %s takes %d argument%s, not %d", fn->name,
			   fn->min, fn->min == 1 ? "" : "s", given) != NULL;
	return simple_error(p, args.p, "function %s takes %d to %d arguments, not %d", fn->name,
		   fn->min, fn->max, given) != NULL;
}

bool
simple_parse_args(struct simple_parser *p, struct str args, const struct simple_function *fn,
    struct simple_node *call)
{
	struct str items[ARGS_MAX];
	int given = split_args(p, args, fn->args, items);
	if (given < fn->min || given > fn->max)
		return wrong_count(p, args, fn, given);
	bool body_first;
	size_t n = count_kids(fn, given, &body_first), letters = strlen(fn->args);
	call->n = (uint32_t)n;
	call->kids = n > 0 ? arena_zalloc(p->arena, n * sizeof *call->kids) : NULL;
	int next = 0;
	for (size_t k = 0; k < n; k++) {
		char letter = fn->args[k < letters ? k : letters - 1];
		if (letter == '*')
			letter = fn->args[letters - 2];
		if (letter == 'b' || (k == 0 && body_first) ||
		    (is_source(letter) && next >= given)) {
			call->kids[k] = simple_body(p, args.p);
		} else if (next < given) {
			call->kids[k] = simple_parse_argument(p, items[next++], letter);
			if (call->kids[k] == NULL)
				return false;
		}
	}
	return true;
}
