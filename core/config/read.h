/* Reading files for configuration: bounded, once. */
#ifndef HINNY_CONFIG_READ_H
#define HINNY_CONFIG_READ_H

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/str.h"

#include <stddef.h>

/* The whole file, NUL-terminated, in the arena. HINNY_EIO: cannot be read (a folder neither);
 * HINNY_ELIMIT: more than max bytes. */
enum hinny_rc read_file(
    struct arena *a, const char *path, size_t max, struct str *out, struct hinny_error *err);
/* The same; errors speak of `shown` instead of the path. */
enum hinny_rc read_file_shown(struct arena *a, const char *path, const char *shown, size_t max,
    struct str *out, struct hinny_error *err);
/* `name` as a path: as it is when absolute, else below `folder`. */
const char *read_path(struct arena *a, const char *folder, const char *name);
/* "a/./b//../c" becomes "a/c"; ".." at the front of a relative path stays. In the arena. */
const char *read_normal_path(struct arena *a, const char *path);
/* The folder of a path, "." when it has none. */
const char *read_folder(struct arena *a, const char *path);

#endif
