/*
 * The files of the generation, as the transformers see them: by names that begin at the
 * generation's folder ("/order.xsl"), each read at most once.
 *
 * The folder rule: what a stylesheet or schema includes, imports or opens with document() lies in
 * its own folder or below. Before READY files are read from the generation's folder;
 * xml_files_seal() then keeps what document() may ask for in memory, and from there on no file is
 * opened at all, so that the jail needs no way to open one.
 */
#ifndef HINNY_TRANSFORMERS_XML_FILES_H
#define HINNY_TRANSFORMERS_XML_FILES_H

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/hash.h"

#include <stdbool.h>
#include <stdint.h>

enum { XML_FILES_MAX = 64 << 20, XML_FILES_DEPTH = 16 };

struct xml_files {
	int dirfd; /* borrowed */
	bool sealed;
	struct arena arena; /* names and records */
	struct hash files;  /* by name: struct xml_file */
	struct hash roots;  /* folders that are kept whole */
	size_t bytes;       /* held now */
	const char *root;   /* the folder rule for what is open now: "/", "/sub/"; NULL: nothing may
	                       be opened */
	/* what the files that were read since they were cleared speak of */
	bool scanned_document, scanned_element_available;
};

void xml_files_init(struct xml_files *fs, int dirfd);
void xml_files_fini(struct xml_files *fs);

/* The folder of a file: "/a/b.xsl" gives "/a/". In the arena of fs. */
const char *xml_files_folder(struct xml_files *fs, const char *name);
/* How people know a name: "/f0/part/a.xsl", the copy of what lies below a named file's folder, is
 * "part/a.xsl". */
const char *xml_files_shown(const char *name);
/* What may be opened from now on; returns what it was before. */
const char *xml_files_set_root(struct xml_files *fs, const char *root);
/* Everything in and below the folder stays readable after xml_files_seal(). */
void xml_files_keep(struct xml_files *fs, const char *folder);

/*
 * The contents of the file that a URL names, under the folder rule; they live as long as fs, or,
 * unless kept, until xml_files_seal(). HINNY_EREFUSED: outside the root, or no name of ours
 * (another scheme); HINNY_ENOENT; HINNY_ELIMIT; HINNY_EIO.
 */
enum hinny_rc xml_files_read(
    struct xml_files *fs, const char *url, struct str *out, struct hinny_error *err);

/* Reads what is kept, forgets the rest; afterwards only memory is read. HINNY_ELIMIT: the folders
 * hold more than XML_FILES_MAX. */
enum hinny_rc xml_files_seal(struct xml_files *fs, struct hinny_error *err);

#endif
