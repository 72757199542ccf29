/*
 * Where Kamelets lie: NAME.kamelet.yaml is looked for in the folders of --kamelets, of the setting
 * `kamelets` and of the property camel.component.kamelet.location, then beside the file that uses
 * it and in the folder "kamelets" there, then in the working folder and in "kamelets" there.
 */
#ifndef HINNY_CONFIG_KAMELETS_H
#define HINNY_CONFIG_KAMELETS_H

#include "core/config/bundle_priv.h"
#include "core/config/template.h"

struct kamelet_folders {
	const char **items; /* as they are called in messages */
	size_t n;
};

/* The folders that hold for all files. */
struct kamelet_folders kamelet_folders_of(
    struct bundle *b, const struct bundle_options *opt, struct diagnostics *ds);
/* The file of a Kamelet that `from` uses, as it is called in messages; NULL: nowhere. */
const char *kamelet_find(
    struct bundle *b, const struct kamelet_folders *folders, const char *name, const char *from);
/* Of those that could have been found: the nearest name, or NULL. */
const char *kamelet_nearest(
    struct bundle *b, const struct kamelet_folders *folders, const char *name, const char *from);
/* "a, b and c": where it was looked for. */
const char *kamelet_places(
    struct bundle *b, const struct kamelet_folders *folders, const char *from);
/* Reads a file; NULL when there is no Kamelet in it (reported). */
struct template *kamelet_read(struct bundle *b, const char *file, struct diagnostics *ds);
/* Is it called NAME.kamelet.yaml? */
bool kamelet_is_file(const char *name);
/* Letters, digits, "-", "_", "." and no more: nothing that leads out of a folder. */
bool kamelet_is_name(struct str name);

#endif
