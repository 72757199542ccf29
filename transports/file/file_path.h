/* Names of files: joined, made plain, matched. Nothing here touches a disk. */
#ifndef HINNY_FILE_FILE_PATH_H
#define HINNY_FILE_FILE_PATH_H

#include "core/base/arena.h"

#include <stdbool.h>

/* directory/name; a name that begins with slashes is taken to be relative. "" and "." are no
 * directory: the name alone. */
const char *path_join(struct arena *a, const char *directory, struct str name);
/* Does a component of it say ".."? */
bool path_leads_up(struct str path);
/* Without "." and "//" within; a slash at the end is cut. */
const char *path_plain(struct arena *a, struct str path);
/* What stands in front of the last slash; "" when there is none ("/" of "/x"). */
struct str path_parent(struct str path);
struct str path_last(struct str path);
/* What stands behind the last dot of the last component; empty when there is none. */
struct str path_extension(struct str path);
/* Ant's patterns: "?" one character, "*" any within a component, "**" any components; one that ends
 * in a slash has "**" behind it. Of several with commas between them one must match. */
bool path_ant_matches(struct str patterns, struct str path, bool case_sensitive);
/* Is the word one of a list with commas, in any letter case? */
bool path_word_in(struct str list, struct str word);

#endif
