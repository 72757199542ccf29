/* Descriptor of the file component. */
#include "transports/file/file_conf.h"

#include "core/config/compile.h"

#include <stddef.h>

#define AT(m) offsetof(struct file_conf, m)
#define DAYS ((int64_t)365 * 86400 * 1000)

/* clang-format off */
#define TEXT(option, side, member, text) \
	{ .name = option, .type = OPTION_STRING, .flags = side, .offset = AT(member), .help = text }
#define FLAG(option, side, member, value, text) \
	{ .name = option, .type = OPTION_BOOL, .dflt = value, .flags = side, .offset = AT(member), \
	    .help = text }
#define TIME(option, side, member, value, text) \
	{ .name = option, .type = OPTION_DURATION, .dflt = value, .flags = side, .min = 0, \
	    .max = DAYS, .offset = AT(member), .help = text }
#define COUNT(option, side, member, value, text) \
	{ .name = option, .type = OPTION_INT, .dflt = value, .flags = side, .min = 0, \
	    .max = INT32_MAX, .offset = AT(member), .help = text }
#define FROM OPTION_CONSUMER
#define TO OPTION_PRODUCER
/* clang-format on */

static const struct option_desc options[] = {
	{ .name = "directoryName",
	    .type = OPTION_STRING,
	    .flags = OPTION_REQUIRED | OPTION_PATH,
	    .offset = AT(directory),
	    .help = "folder; a relative one starts at the working folder of hinnyd" },
	TEXT("charset", 0, charset, "character set of the files; default: bytes as they are"),
	TEXT("fileName", 0, file_name,
	    "the one file to read; name of the file to write; may be Simple"),
	TEXT("doneFileName", 0, done_file_name,
	    "from: only files beside which there is this one, such as ${file:name}.done; to: written "
	    "behind the file"),
	FLAG("jailStartingDirectory", TO, jail, "true", "refuses names that lead out of the folder"),
	FLAG("autoCreate", 0, auto_create, "true", "makes folders that are missing"),
	FLAG("delete", FROM, delete, "false", "deletes files that were processed"),
	FLAG("noop", FROM, noop, "false", "leaves files where they are; each is read once"),
	TEXT("move", FROM, move, "where files that were processed go; default .camel"),
	TEXT("moveFailed", FROM, move_failed, "where files go whose exchange failed"),
	TEXT("preMove", FROM, pre_move, "where files go before they are processed"),
	FLAG("recursive", FROM, recursive, "false", "reads the folders below too"),
	COUNT("minDepth", FROM, min_depth, "0", "of a file below the folder; the folder itself is 1"),
	{ .name = "maxDepth",
	    .type = OPTION_INT,
	    .dflt = "2147483647",
	    .flags = FROM,
	    .min = 0,
	    .max = INT32_MAX,
	    .offset = AT(max_depth),
	    .help = "of a file below the folder; the folder itself is 1" },
	TEXT("include", FROM, include, "regular expression of the whole name, in any letter case"),
	TEXT("exclude", FROM, exclude, "regular expression of the whole name, in any letter case"),
	TEXT("includeExt", FROM, include_ext, "list of extensions"),
	TEXT("excludeExt", FROM, exclude_ext, "list of extensions"),
	TEXT("antInclude", FROM, ant_include, "list of Ant patterns of the path: **/*.xml"),
	TEXT("antExclude", FROM, ant_exclude, "list of Ant patterns of the path"),
	FLAG("antFilterCaseSensitive", FROM, ant_case, "true", "letter case counts in them"),
	TEXT("filterFile", FROM, filter_file, "Simple predicate: ${file:size} > 5000"),
	FLAG("includeHiddenFiles", FROM, hidden_files, "false", "files whose name begins with a dot"),
	FLAG("includeHiddenDirs", FROM, hidden_dirs, "false", "folders whose name begins with a dot"),
	FLAG("idempotent", FROM, idempotent, "false", "passes over files that were read before"),
	TEXT("idempotentKey", FROM, idempotent_key, "what tells files apart; default: their path"),
	TEXT("sortBy", FROM, sort_by, "file:name, reverse:file:modified;ignoreCase:file:name …"),
	FLAG("shuffle", FROM, shuffle, "false", "reads in random order"),
	COUNT("maxMessagesPerPoll", FROM, max_messages, "0", "files of one poll; 0: all"),
	FLAG("eagerMaxMessagesPerPoll", FROM, eager_max, "true", "limits before sorting"),
	TIME("delay", FROM, delay_ms, "500", "from the end of a poll to the next"),
	TIME("initialDelay", FROM, initial_delay_ms, "1000", "before the first poll"),
	COUNT("repeatCount", FROM, repeat_count, "0", "polls in all; 0: no end"),
	FLAG("greedy", FROM, greedy, "false", "polls again at once after a poll that found files"),
	FLAG("sendEmptyMessageWhenIdle", FROM, send_empty, "false",
	    "a poll without files makes an exchange without a body"),
	FLAG("directoryMustExist", FROM, must_exist, "false", "a poll without the folder is an error"),
	FLAG("startingDirectoryMustExist", FROM, starting_must_exist, "false",
	    "the folder must be there at the start"),
	{ .name = "readLock",
	    .type = OPTION_ENUM,
	    .values = "none|markerFile|changed",
	    .dflt = "none",
	    .flags = FROM,
	    .offset = AT(read_lock),
	    .help = "how to know that nobody writes the file any more" },
	TIME("readLockCheckInterval", FROM, lock_check_ms, "1000", "changed: between two looks"),
	TIME("readLockTimeout", FROM, lock_timeout_ms, "10000", "changed: after it the next poll"),
	COUNT("readLockMinLength", FROM, lock_min_length, "1", "changed: bytes at least"),
	TIME("readLockMinAge", FROM, lock_min_age_ms, "0", "changed: age at least"),
	FLAG("readLockMarkerFile", FROM, lock_marker, "true", "changed: has a marker file too"),
	{ .name = "exchangePattern",
	    .type = OPTION_ENUM,
	    .values = "InOnly|InOut",
	    .dflt = "InOnly",
	    .flags = FROM,
	    .offset = AT(pattern),
	    .help = "pattern of the exchanges" },
	{ .name = "fileExist",
	    .type = OPTION_ENUM,
	    .values = "Override|Append|Fail|Ignore|Move|TryRename",
	    .dflt = "Override",
	    .flags = TO,
	    .offset = AT(exist),
	    .help = "what becomes of a file of that name" },
	TEXT("appendChars", TO, append_chars, "Append: what follows each body; \\n, \\r, \\t"),
	TEXT("tempPrefix", TO, temp_prefix, "writes to a file with this in front of its name first"),
	TEXT("tempFileName", TO, temp_file_name, "writes to a file of this name first"),
	TEXT("moveExisting", TO, move_existing, "Move: where the file that is there goes"),
	FLAG("eagerDeleteTargetFile", TO | OPTION_LABEL, labels, "true",
	    "without meaning here: a temporary file takes the target's place at once"),
	FLAG("allowNullBody", TO, allow_null, "false", "null makes an empty file"),
	FLAG("flatten", TO, flatten, "false", "the last part of the name alone"),
	FLAG("keepLastModified", TO, keep_modified, "false", "time of the header CamelFileLastModified"),
	TEXT("chmod", TO, chmod, "permissions of the file, such as 640"),
	TEXT("chmodDirectory", TO, chmod_dir, "permissions of folders that are made"),
	FLAG("readLockDeleteOrphanLockFiles", FROM | OPTION_LABEL, labels, "true",
	    "without meaning here: marker files are opened with a lock of the system"),
	{ .name = "readLockLoggingLevel",
	    .type = OPTION_ENUM,
	    .values = "TRACE|DEBUG|INFO|WARN|ERROR|OFF",
	    .dflt = "DEBUG",
	    .flags = FROM | OPTION_LABEL,
	    .offset = AT(label_level),
	    .help = "without meaning here" },
	{ .name = "runLoggingLevel",
	    .type = OPTION_ENUM,
	    .values = "TRACE|DEBUG|INFO|WARN|ERROR|OFF",
	    .dflt = "TRACE",
	    .flags = FROM | OPTION_LABEL,
	    .offset = AT(label_level),
	    .help = "without meaning here: hinny status has the counters" },
	COUNT("bufferSize", OPTION_LABEL, label_number, "131072", "without meaning here"),
	COUNT("browseLimit", OPTION_LABEL, label_number, "100", "without meaning here"),
	FLAG("idempotentEager", FROM | OPTION_LABEL, labels, "true",
	    "without meaning here: one file at a time"),
	FLAG("lazyStartProducer", TO | OPTION_LABEL, labels, "false", "without meaning here"),
	FLAG("synchronous", OPTION_LABEL, labels, "false", "without meaning here"),
	FLAG("autoCreateStepwise", OPTION_LABEL, labels, "false", "without meaning here"),
	OPTIONS_END,
};

/* ---- expressions in options ---- */

static bool
has_simple(const char *text)
{
	return strstr(text, "${") != NULL || strstr(text, "$simple{") != NULL;
}

/* 0, or -1 having reported. NULL text gives NULL. */
static int
compile_option(struct compile *c, struct endpoint *ep, const char *name, const char *text,
    bool predicate, struct expression **out)
{
	*out = NULL;
	if (text == NULL)
		return 0;
	const char *language = predicate || has_simple(text) ? "simple" : "constant";
	struct expression *e = compile_expression(c, language, text, predicate, ep->at);
	if (e == NULL)
		return -1;
	if (e->owner != NULL || e->parts_n > 0)
		return compile_error(c, ep->at,
		    "%s: \"%s\" needs another worker, which the option of a file cannot wait for", name,
		    text);
	*out = e;
	return 0;
}

/* "done" is a folder beside the file: its name stays. */
static int
compile_target(struct compile *c, struct endpoint *ep, const char *name, const char *text,
    struct expression **out)
{
	if (text != NULL && !has_simple(text)) {
		size_t n = strlen(text);
		while (n > 1 && text[n - 1] == '/')
			n--;
		text = arena_printf(compile_arena(c), "%s%.*s/${file:onlyname}",
		    text[0] == '/' ? "" : "${file:parent}/", (int)n, text);
	}
	return compile_option(c, ep, name, text, false, out);
}

static int
compile_expressions(struct compile *c, struct endpoint *ep)
{
	struct file_conf *conf = ep->conf;
	int rc = 0;

	rc |= compile_option(c, ep, "fileName", conf->file_name, false, &conf->name_expr);
	rc |= compile_option(c, ep, "doneFileName", conf->done_file_name, false, &conf->done_expr);
	rc |= compile_target(c, ep, "move", conf->move, &conf->move_expr);
	rc |= compile_target(c, ep, "moveFailed", conf->move_failed, &conf->move_failed_expr);
	rc |= compile_target(c, ep, "preMove", conf->pre_move, &conf->pre_move_expr);
	rc |= compile_target(c, ep, "moveExisting", conf->move_existing, &conf->move_existing_expr);
	rc |= compile_option(c, ep, "filterFile", conf->filter_file, true, &conf->filter_expr);
	rc |= compile_option(c, ep, "idempotentKey", conf->idempotent_key, false, &conf->key_expr);
	rc |= compile_option(c, ep, "tempFileName", conf->temp_file_name, false, &conf->temp_expr);
	return rc;
}

static int
compile_sort(struct compile *c, struct endpoint *ep, struct str item)
{
	struct file_conf *conf = ep->conf;
	struct file_sort *sort = &conf->sorts[conf->sorts_n];

	if (conf->sorts_n == FILE_SORTS_MAX)
		return compile_error(c, ep->at, "sortBy: more than %d keys", FILE_SORTS_MAX);
	for (;;) {
		if (str_starts(item, "reverse:")) {
			sort->reverse = true;
			item = (struct str){ item.p + 8, item.n - 8 };
		} else if (str_starts(item, "ignoreCase:")) {
			sort->ignore_case = true;
			item = (struct str){ item.p + 11, item.n - 11 };
		} else {
			break;
		}
	}
	const char *text = arena_strndup(compile_arena(c), item.p, item.n);
	if (!has_simple(text))
		text = arena_printf(compile_arena(c), "${%s}", text);
	conf->sorts_n++;
	return compile_option(c, ep, "sortBy", text, false, &sort->key);
}

static int
compile_sorts(struct compile *c, struct endpoint *ep)
{
	struct file_conf *conf = ep->conf;
	struct str rest = str_of(conf->sort_by), item;
	int rc = 0;

	while (conf->sort_by != NULL && str_split(&rest, ';', &item)) {
		item = str_trim(item);
		if (item.n > 0)
			rc |= compile_sort(c, ep, item);
	}
	return rc;
}

static int
compile_regex(struct compile *c, struct endpoint *ep, const char *name, const char *text,
    struct regex **out)
{
	struct hinny_error err;

	if (text == NULL || regex_compile(compile_arena(c), str_of(text), REGEX_NOCASE, out, &err) ==
		HINNY_OK)
		return 0;
	return compile_error(c, ep->at, "%s: \"%s\": %s", name, text, err.text);
}

static int
parse_mode(struct compile *c, struct endpoint *ep, const char *name, const char *text,
    unsigned *out)
{
	size_t n = text != NULL ? strlen(text) : 0;

	if (text == NULL)
		return 0;
	if (n < 3 || n > 4 || strspn(text, "01234567") != n)
		return compile_error(c, ep->at, "%s: expected permissions such as 640, got \"%s\"",
		    name, text);
	*out = 0;
	for (size_t i = 0; i < n; i++)
		*out = *out * 8 + (unsigned)(text[i] - '0');
	return 0;
}

/* "\n" as a line feed. */
static const char *
unescape(struct compile *c, const char *text)
{
	char *out = arena_strdup(compile_arena(c), text);
	size_t n = 0;

	for (const char *p = text; *p != '\0'; p++) {
		if (p[0] == '\\' && (p[1] == 'n' || p[1] == 'r' || p[1] == 't'))
			out[n++] = *++p == 'n' ? '\n' : *p == 'r' ? '\r' : '\t';
		else
			out[n++] = *p;
	}
	out[n] = '\0';
	return out;
}

/* ---- what does not go together ---- */

static int
check_consumer(struct compile *c, struct endpoint *ep)
{
	struct file_conf *conf = ep->conf;

	if (conf->noop && (conf->delete || conf->move != NULL))
		return compile_error(c, ep->at, "noop: cannot be together with %s",
		    conf->delete ? "delete" : "move");
	if (conf->delete && conf->move != NULL)
		return compile_error(c, ep->at, "delete: cannot be together with move");
	if (conf->idempotent_key != NULL)
		conf->idempotent = true;
	else if (conf->noop && !option_given(options, conf, "idempotent"))
		conf->idempotent = true;
	conf->done_is_for_all = conf->done_file_name != NULL &&
	    strstr(conf->done_file_name, "file:") == NULL;
	if (conf->move == NULL && !conf->noop && !conf->delete &&
	    compile_target(c, ep, "move", ".camel", &conf->move_expr) != 0)
		return -1;
	return 0;
}

static int
check_producer(struct compile *c, struct endpoint *ep)
{
	struct file_conf *conf = ep->conf;

	if (conf->exist == FILE_EXIST_MOVE && conf->move_existing == NULL)
		return compile_error(c, ep->at, "fileExist: Move needs the option moveExisting");
	if (conf->exist != FILE_EXIST_MOVE && conf->move_existing != NULL)
		return compile_error(c, ep->at, "moveExisting: needs fileExist=Move");
	if (conf->append_chars != NULL && conf->exist != FILE_EXIST_APPEND)
		return compile_error(c, ep->at, "appendChars: needs fileExist=Append");
	if (conf->exist == FILE_EXIST_APPEND &&
	    (conf->temp_prefix != NULL || conf->temp_file_name != NULL))
		return compile_error(
		    c, ep->at, "fileExist: Append cannot be together with tempPrefix or tempFileName");
	if (conf->append_chars != NULL)
		conf->append_chars = unescape(c, conf->append_chars);
	if (conf->temp_prefix != NULL && strchr(conf->temp_prefix, '/') != NULL)
		return compile_error(c, ep->at, "tempPrefix: expected no slash, got \"%s\"",
		    conf->temp_prefix);
	return 0;
}

static int
file_check(struct compile *c, struct endpoint *ep)
{
	struct file_conf *conf = ep->conf;

	if (has_simple(conf->directory))
		return compile_error(c, ep->at,
		    "the folder \"%s\" cannot be Simple: use toD, or the option fileName", conf->directory);
	if (compile_expressions(c, ep) != 0 || compile_sorts(c, ep) != 0 ||
	    compile_regex(c, ep, "include", conf->include, &conf->include_re) != 0 ||
	    compile_regex(c, ep, "exclude", conf->exclude, &conf->exclude_re) != 0 ||
	    parse_mode(c, ep, "chmod", conf->chmod, &conf->mode) != 0 ||
	    parse_mode(c, ep, "chmodDirectory", conf->chmod_dir, &conf->dir_mode) != 0)
		return -1;
	return ep->consumer ? check_consumer(c, ep) : check_producer(c, ep);
}

const struct component_desc file_component = {
	.scheme = "file",
	.syntax = "file:directoryName",
	.options = options,
	.conf_size = sizeof(struct file_conf),
	.owner = "file",
	.flags = COMPONENT_CONSUMER | COMPONENT_PRODUCER | COMPONENT_EXCLUSIVE |
	    COMPONENT_KEEPS_BODY | COMPONENT_SIMPLE | COMPONENT_POLLED,
	.check = file_check,
	.help = "reads the files of a folder, and writes files",
};
