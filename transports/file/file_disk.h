/*
 * What is done to disks: each a job with its inputs and outcomes, run on a thread of the pool.
 * Nothing here knows of exchanges. Paths are NUL-terminated and belong to whoever made the job.
 */
#ifndef HINNY_FILE_FILE_DISK_H
#define HINNY_FILE_FILE_DISK_H

#include "core/base/blob.h"
#include "core/base/str.h"
#include "transports/file/file_conf.h"

#include <stdbool.h>
#include <stdint.h>

enum disk_outcome {
	DISK_OK,
	DISK_IGNORED, /* fileExist=Ignore: it is there */
	DISK_EXISTS,  /* fileExist=Fail: it is there */
	DISK_BUSY,    /* somebody else has it, or it is gone: another time */
	DISK_LARGE,   /* beyond the limit */
	DISK_FAILED,  /* errnum, at */
};

/* Writes body and tail to path. */
struct disk_write {
	const char *path;
	const char *temp;     /* written first, then renamed; NULL: path itself */
	const char *existing; /* FILE_EXIST_MOVE: where the old one goes */
	const char *done;     /* empty file to make afterwards, or NULL */
	struct str body, tail;
	enum file_exist exist;
	bool make_folders;
	unsigned mode, dir_mode; /* 0: as it comes */
	int64_t modified_ms;     /* -1: now */
	enum disk_outcome outcome;
	int errnum;
	const char *at; /* what failed */
};
void disk_write(struct disk_write *w);

/* Takes a file: locks it, moves it before it is processed, reads it. */
struct disk_take {
	const char *path;
	const char *marker;  /* made, and to be deleted by disk_finish; or NULL */
	const char *move_to; /* or NULL; it is at that place afterwards */
	uint64_t max;
	enum disk_outcome outcome;
	int errnum;
	const char *at;
	struct blob *blob; /* DISK_OK: one reference for the caller */
	int fd, marker_fd; /* held with a lock until disk_finish; -1 */
};
void disk_take(struct disk_take *t);

/* Lets go of it. */
struct disk_finish {
	const char *path;
	const char *move_to; /* or NULL */
	const char *marker;  /* deleted; or NULL */
	const char *done;    /* deleted; or NULL */
	bool delete;
	int fd, marker_fd;
	enum disk_outcome outcome;
	int errnum;
	const char *at;
};
void disk_finish(struct disk_finish *f);

/* Size and time of a file that may still be written; false: it is gone. */
bool disk_look(const char *path, int64_t *size, int64_t *modified_ms);
/* Makes a folder and those above it; 0 or the error. */
int disk_make_folder(const char *path, unsigned mode);
/* Makes the folder that path is in. */
int disk_make_parent(const char *path, unsigned mode);

#endif
