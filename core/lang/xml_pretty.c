/* XML text with line breaks. */
#include "core/lang/xml_pretty.h"

enum { DEPTH_MAX = 256 };

struct pretty {
	struct buf *b;
	struct str text;
	size_t i;
	struct str open[DEPTH_MAX]; /* names of the elements that are open */
	size_t depth;
};

static enum hinny_rc
put_line(struct pretty *p, size_t depth, struct str line)
{
	enum hinny_rc rc = p->b->n > 0 ? buf_add_char(p->b, '\n') : HINNY_OK;
	for (size_t i = 0; rc == HINNY_OK && i < depth; i++)
		rc = buf_add(p->b, "  ", 2);
	return rc == HINNY_OK ? buf_add_str(p->b, line) : rc;
}

/* The position behind the first `mark` from i on; SIZE_MAX. */
static size_t
behind(struct str s, size_t i, const char *mark)
{
	size_t at = str_find((struct str){ s.p + i, s.n - i }, str_of(mark));
	return at == SIZE_MAX ? SIZE_MAX : i + at + strlen(mark);
}

/* The position behind the ">" of the tag at i, quotes respected; SIZE_MAX. */
static size_t
tag_end(struct str s, size_t i)
{
	char quote = 0;
	for (; i < s.n; i++) {
		char c = s.p[i];
		if (quote != 0)
			quote = c == quote ? 0 : quote;
		else if (c == '"' || c == '\'')
			quote = c;
		else if (c == '>')
			return i + 1;
	}
	return SIZE_MAX;
}

static struct str
tag_name(struct str tag)
{
	size_t begin = tag.n > 1 && tag.p[1] == '/' ? 2 : 1, end = begin;
	while (end < tag.n && strchr(" \t\r\n/>", tag.p[end]) == NULL)
		end++;
	return (struct str){ tag.p + begin, end - begin };
}

static enum hinny_rc
put_end(struct pretty *p, struct str name)
{
	if (p->depth == 0 || !str_eq(p->open[p->depth - 1], name))
		return HINNY_EINVAL;
	p->depth--;
	enum hinny_rc rc = put_line(p, p->depth, STR_LIT("</"));
	if (rc == HINNY_OK)
		rc = buf_add_str(p->b, name);
	return rc == HINNY_OK ? buf_add_char(p->b, '>') : rc;
}

static enum hinny_rc
put_tag(struct pretty *p, struct str tag)
{
	struct str name = tag_name(tag);
	bool empty = tag.p[tag.n - 2] == '/';
	if (name.n == 0)
		return HINNY_EINVAL;
	if (tag.p[1] == '/')
		return put_end(p, name);
	if (p->depth == DEPTH_MAX)
		return HINNY_ELIMIT;
	struct str inside = { tag.p, tag.n - (empty ? 2 : 1) };
	enum hinny_rc rc = put_line(p, p->depth, str_trim(inside));
	if (rc == HINNY_OK)
		rc = buf_add_char(p->b, '>');
	p->open[p->depth++] = name;
	return rc == HINNY_OK && empty ? put_end(p, name) : rc;
}

/* What begins with "<" at p->i. */
static enum hinny_rc
put_markup(struct pretty *p)
{
	static const struct {
		const char *begin, *end;
	} whole[] = { { "<!--", "-->" }, { "<![CDATA[", "]]>" }, { "<?", "?>" } };
	struct str rest = { p->text.p + p->i, p->text.n - p->i };
	size_t end = SIZE_MAX;
	for (size_t k = 0; k < sizeof whole / sizeof *whole; k++) {
		if (!str_starts(rest, whole[k].begin))
			continue;
		end = behind(p->text, p->i + strlen(whole[k].begin), whole[k].end);
		if (end == SIZE_MAX)
			return HINNY_EINVAL;
		struct str line = { rest.p, end - p->i };
		p->i = end;
		return put_line(p, p->depth, line);
	}
	end = tag_end(p->text, p->i);
	if (end == SIZE_MAX || end - p->i < 3)
		return HINNY_EINVAL;
	struct str tag = { rest.p, end - p->i };
	p->i = end;
	return tag.p[1] == '!' ? put_line(p, p->depth, tag) : put_tag(p, tag);
}

enum hinny_rc
xml_pretty(struct buf *b, struct str text)
{
	struct pretty p = { .b = b, .text = text };
	enum hinny_rc rc = HINNY_OK;
	while (rc == HINNY_OK && p.i < text.n) {
		size_t begin = p.i;
		while (p.i < text.n && text.p[p.i] != '<')
			p.i++;
		struct str between = str_trim((struct str){ text.p + begin, p.i - begin });
		if (between.n > 0)
			rc = put_line(&p, p.depth, between);
		if (rc == HINNY_OK && p.i < text.n)
			rc = put_markup(&p);
	}
	return rc == HINNY_OK && p.depth > 0 ? HINNY_EINVAL : rc;
}
