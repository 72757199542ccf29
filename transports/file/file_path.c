/* Names of files. */
#include "transports/file/file_path.h"

#include <ctype.h>

static struct str
from(struct str s, size_t i)
{
	return (struct str){ s.p + i, s.n - i };
}

const char *
path_join(struct arena *a, const char *directory, struct str name)
{
	struct str dir = str_of(directory);

	while (name.n > 0 && name.p[0] == '/')
		name = from(name, 1);
	if (dir.n == 0 || str_eq(dir, STR_LIT(".")))
		return arena_strndup(a, name.p, name.n);
	if (dir.p[dir.n - 1] == '/')
		dir.n--;
	return arena_printf(a, "%.*s/%.*s", STR_FMT(dir), STR_FMT(name));
}

bool
path_leads_up(struct str path)
{
	struct str item;

	while (str_split(&path, '/', &item)) {
		if (str_eq(item, STR_LIT("..")))
			return true;
	}
	return false;
}

const char *
path_plain(struct arena *a, struct str path)
{
	char *out = arena_alloc(a, path.n + 2);
	struct str item;
	size_t n = 0;

	if (path.n > 0 && path.p[0] == '/')
		out[n++] = '/';
	while (str_split(&path, '/', &item)) {
		if (item.n == 0 || str_eq(item, STR_LIT(".")))
			continue;
		if (n > 0 && out[n - 1] != '/')
			out[n++] = '/';
		memcpy(out + n, item.p, item.n);
		n += item.n;
	}
	out[n] = '\0';
	return out;
}

struct str
path_parent(struct str path)
{
	const char *slash = path.n > 0 ? memrchr(path.p, '/', path.n) : NULL;

	if (slash == NULL)
		return (struct str){ "", 0 };
	return (struct str){ path.p, slash == path.p ? 1 : (size_t)(slash - path.p) };
}

struct str
path_last(struct str path)
{
	const char *slash = path.n > 0 ? memrchr(path.p, '/', path.n) : NULL;

	return slash == NULL ? path : from(path, (size_t)(slash - path.p) + 1);
}

struct str
path_extension(struct str path)
{
	struct str name = path_last(path);
	const char *dot = name.n > 0 ? memrchr(name.p, '.', name.n) : NULL;

	return dot == NULL ? (struct str){ "", 0 } : from(name, (size_t)(dot - name.p) + 1);
}

static bool
same_char(char a, char b, bool case_sensitive)
{
	return case_sensitive ? a == b : tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Within one component. The last "*" is what is tried again: no more is ever needed. */
static bool
word_matches(struct str pattern, struct str word, bool case_sensitive)
{
	size_t p = 0, w = 0, star = SIZE_MAX, again = 0;

	while (w < word.n) {
		if (p < pattern.n && pattern.p[p] == '*') {
			star = p++;
			again = w;
		} else if (p < pattern.n &&
		    (pattern.p[p] == '?' || same_char(pattern.p[p], word.p[w], case_sensitive))) {
			p++;
			w++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			w = ++again;
		} else {
			return false;
		}
	}
	while (p < pattern.n && pattern.p[p] == '*')
		p++;
	return p == pattern.n;
}

/* Cuts a component off; false at the end. */
static bool
next_word(struct str *path, struct str *word)
{
	while (path->n > 0 && path->p[0] == '/')
		*path = from(*path, 1);
	if (path->n == 0)
		return false;
	const char *slash = memchr(path->p, '/', path->n);
	size_t n = slash != NULL ? (size_t)(slash - path->p) : path->n;
	*word = (struct str){ path->p, n };
	*path = from(*path, n);
	return true;
}

/* As word_matches, with components for characters and "**" for "*". */
static bool
one_matches(struct str pattern, struct str path, bool case_sensitive)
{
	struct str behind_star = { NULL, 0 }, again = { NULL, 0 }, p, w, rest;
	bool open = pattern.n > 0 && pattern.p[pattern.n - 1] == '/';

	for (;;) {
		bool more = next_word(&pattern, &p);
		if (more && str_eq(p, STR_LIT("**"))) {
			behind_star = pattern;
			again = path;
			continue;
		}
		bool left = next_word(&path, &w);
		if (!more && (!left || open))
			return true;
		if (more && left && word_matches(p, w, case_sensitive))
			continue;
		rest = again;
		if (behind_star.p == NULL || !next_word(&rest, &w))
			return false;
		again = rest;
		pattern = behind_star;
		path = rest;
	}
}

bool
path_ant_matches(struct str patterns, struct str path, bool case_sensitive)
{
	struct str item;

	while (str_split(&patterns, ',', &item)) {
		item = str_trim(item);
		if (item.n > 0 && one_matches(item, path, case_sensitive))
			return true;
	}
	return false;
}

bool
path_word_in(struct str list, struct str word)
{
	struct str item;

	while (str_split(&list, ',', &item)) {
		if (str_caseeq(str_trim(item), word))
			return true;
	}
	return false;
}
