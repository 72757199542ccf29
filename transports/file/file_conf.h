/* What the options of a file endpoint are. */
#ifndef HINNY_FILE_FILE_CONF_H
#define HINNY_FILE_FILE_CONF_H

#include "core/lang/regex.h"
#include "core/model/descriptor.h"
#include "core/model/program.h"

/* Positions in the option table. */
enum file_exist {
	FILE_EXIST_OVERRIDE,
	FILE_EXIST_APPEND,
	FILE_EXIST_FAIL,
	FILE_EXIST_IGNORE,
	FILE_EXIST_MOVE,
	FILE_EXIST_TRY_RENAME,
};
enum file_lock { FILE_LOCK_NONE, FILE_LOCK_MARKER, FILE_LOCK_CHANGED };

enum { FILE_SORTS_MAX = 4 };

/* One of the keys of sortBy. */
struct file_sort {
	struct expression *key;
	bool reverse, ignore_case;
};

struct file_conf {
	const char *directory, *charset, *file_name, *done_file_name;
	bool jail, auto_create;
	/* from */
	const char *move, *move_failed, *pre_move;
	const char *include, *exclude, *include_ext, *exclude_ext, *ant_include, *ant_exclude;
	const char *filter_file, *idempotent_key, *sort_by;
	bool delete, noop, recursive, hidden_files, hidden_dirs, must_exist, starting_must_exist;
	bool idempotent, send_empty, shuffle, greedy, ant_case, eager_max, lock_marker;
	int64_t min_depth, max_depth, max_messages, delay_ms, initial_delay_ms, repeat_count;
	int read_lock, pattern;
	int64_t lock_check_ms, lock_timeout_ms, lock_min_length, lock_min_age_ms;
	/* to */
	int exist;
	const char *append_chars, *temp_prefix, *temp_file_name, *move_existing, *chmod, *chmod_dir;
	bool allow_null, flatten, keep_modified;
	bool labels;
	int label_level;
	int64_t label_number; /* options without meaning here */
	/* worked out by the check */
	struct expression *name_expr, *done_expr, *move_expr, *move_failed_expr, *pre_move_expr;
	struct expression *filter_expr, *key_expr, *temp_expr, *move_existing_expr;
	struct file_sort sorts[FILE_SORTS_MAX];
	unsigned sorts_n;
	struct regex *include_re, *exclude_re;
	unsigned mode, dir_mode; /* 0: as it comes */
	bool done_is_for_all;    /* one done file for all files of a folder */
};

#endif
