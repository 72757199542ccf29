/* The admin socket: connections, lines, the dispatch of commands. A client cannot hold the
 * supervisor up: everything is bounded and nothing blocks. */
#include "supervisor/admin.h"

#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/config/settings.h"
#include "supervisor/admin_priv.h"
#include "supervisor/generation.h"
#include "supervisor/supervisor_priv.h"

#include <errno.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { READ_SIZE = 4096, GROUPS_MAX = 256, BACKLOG = 128 };

static const struct command {
	const char *name;
	admin_command_fn *fn;
	const char *arguments;
} commands[] = {
#define ADMIN_COMMAND(name, function, arguments, help) { name, admin_##function, arguments },
#include "supervisor/admin_commands.def"
#undef ADMIN_COMMAND
};

/* -- answers -- */

static void
on_conn_closed(struct loop_fd *fd)
{
	struct admin_conn *c = CONTAINER_OF(fd, struct admin_conn, fd);

	buf_fini(&c->in);
	buf_fini(&c->out);
	free(c);
}

void
admin_conn_close(struct admin_conn *c)
{
	if (c->closed)
		return;
	c->closed = true;
	list_remove(&c->node);
	list_remove(&c->waiter.node);
	loop_defer_cancel(&c->next);
	c->ad->conns_n--;
	int fd = c->fd.fd;
	loop_fd_close(&c->fd, on_conn_closed);
	(void)close(fd);
}

/* Its further requests wait: one is being answered, or the client does not read its answers. */
static bool
is_held(const struct admin_conn *c)
{
	return c->busy || c->out.n > ADMIN_UNREAD_MAX;
}

static void
watch_conn(struct admin_conn *c)
{
	if (c->closed)
		return;
	/* A held one is watched too: its end must be seen. */
	bool read = !c->ended && !(is_held(c) && c->in.n > 0);
	loop_fd_watch(&c->fd, (read ? LOOP_READ : 0) | (c->out.n > 0 ? LOOP_WRITE : 0));
}

/* A client that has shut its sending side still gets its answers. */
static void
end_or_watch(struct admin_conn *c)
{
	if (!c->closed && c->ended && !c->busy && c->out.n == 0 && c->in.n == 0)
		admin_conn_close(c);
	else
		watch_conn(c);
}

bool
admin_flush(struct admin_conn *c)
{
	while (c->out.n > 0) {
		ssize_t n = send(c->fd.fd, c->out.p, c->out.n, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN)
			return false;
		if (n == -1) {
			admin_conn_close(c);
			return false;
		}
		buf_consume(&c->out, (size_t)n);
	}
	return true;
}

static int
add_json(const char *p, size_t n, void *arg)
{
	return buf_add(arg, p, n) == HINNY_OK ? 0 : -1;
}

static void
answer(struct admin_conn *c, json_t *object)
{
	size_t before = c->out.n;

	c->busy = false;
	if (json_dump_callback(object, add_json, &c->out, JSON_COMPACT) == -1 ||
	    buf_add_char(&c->out, '\n') != HINNY_OK) {
		c->out.n = before;
		/* If this does not fit either the client gets nothing. */
		(void)buf_add_str(
		    &c->out, STR_LIT("{\"ok\":false,\"error\":\"answer too large\"}\n"));
	}
	json_decref(object);
	(void)admin_flush(c); /* what is left goes when the socket has room */
	if (!c->closed && c->in.n > 0)
		loop_defer(&c->sv->lp, &c->next);
	end_or_watch(c);
}

void
admin_reply(struct admin_conn *c, json_t *result)
{
	answer(c, json_pack("{s:b, s:o}", "ok", 1, "result", result));
}

void
admin_fail(struct admin_conn *c, const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) == -1)
		fatal("out of memory");
	va_end(ap);
	json_t *object = json_pack("{s:b, s:s}", "ok", 0, "error", text);
	if (object == NULL) /* a text that is no UTF-8 */
		object =
		    json_pack("{s:b, s:s}", "ok", 0, "error", "failed; the reason cannot be shown");
	free(text);
	answer(c, object);
}

/* -- requests -- */

static const struct command *
find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}

static const char *
nearest_command(const char *name)
{
	const char *names[ARRAY_LEN(commands) + 1];

	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		names[i] = commands[i].name;
	names[ARRAY_LEN(commands)] = NULL;
	return str_nearest(str_of(name), names);
}

static bool
is_argument(const struct command *cmd, const char *key)
{
	struct str rest = str_of(cmd->arguments), item;

	while (str_split(&rest, ' ', &item)) {
		if (item.n > 0 && str_eq(item, str_of(key)))
			return true;
	}
	return strcmp(key, "command") == 0;
}

static void
run_request(struct admin_conn *c, json_t *request)
{
	const char *name = json_string_value(json_object_get(request, "command")), *key;
	json_t *value;

	if (name == NULL) {
		admin_fail(c, "expected an object with \"command\"");
		return;
	}
	const struct command *cmd = find_command(name);
	if (cmd == NULL) {
		const char *near = nearest_command(name);
		admin_fail(c,
		    near != NULL ? "unknown command \"%s\", did you mean \"%s\""
				 : "unknown command \"%s\"",
		    name, near);
		return;
	}
	json_object_foreach(request, key, value)
	{
		if (!is_argument(cmd, key)) {
			admin_fail(c, "command \"%s\": unknown argument \"%s\"", name, key);
			return;
		}
	}
	cmd->fn(c, request);
}

static void
handle_line(struct admin_conn *c, struct str line)
{
	json_error_t err;

	if (str_trim(line).n == 0)
		return;
	json_t *request = json_loadb(line.p, line.n, JSON_REJECT_DUPLICATES, &err);
	c->busy = true;
	if (request == NULL)
		admin_fail(c, "request is no JSON: %s", err.text);
	else
		run_request(c, request);
	json_decref(request);
}

/* One request after another: the next when the last was answered. */
static void
handle_lines(struct admin_conn *c)
{
	while (!c->closed && !is_held(c)) {
		const char *end = c->in.n > 0 ? memchr(c->in.p, '\n', c->in.n) : NULL;
		if (end == NULL) {
			if (c->ended)
				buf_clear(&c->in); /* half a request */
			break;
		}
		size_t n = (size_t)(end - c->in.p) + 1;
		char *line = mem_strndup(c->in.p, n - 1);
		buf_consume(&c->in, n);
		handle_line(c, (struct str){ line, n - 1 });
		free(line);
	}
}

static void
on_next(struct loop_defer *d)
{
	struct admin_conn *c = CONTAINER_OF(d, struct admin_conn, next);

	handle_lines(c);
	end_or_watch(c);
}

/* False: nothing more to read now. */
static bool
read_some(struct admin_conn *c)
{
	if (buf_reserve(&c->in, READ_SIZE) != HINNY_OK) {
		admin_fail(c, "request has more than %d bytes", (int)ADMIN_REQUEST_MAX);
		admin_conn_close(c);
		return false;
	}
	ssize_t n = recv(c->fd.fd, c->in.p + c->in.n, READ_SIZE, MSG_DONTWAIT);
	if (n == -1 && errno == EINTR)
		return true;
	if (n == -1 && errno == EAGAIN)
		return false;
	if (n <= 0) {
		c->ended = true;
		return false;
	}
	c->in.n += (size_t)n;
	return true;
}

static void
on_conn(struct loop_fd *fd, unsigned events)
{
	struct admin_conn *c = CONTAINER_OF(fd, struct admin_conn, fd);

	if ((events & LOOP_WRITE) != 0)
		(void)admin_flush(c); /* what is left goes when the socket has room */
	while (!c->closed && (events & LOOP_READ) != 0 && read_some(c))
		;
	if (!c->closed)
		handle_lines(c);
	end_or_watch(c);
}

/* -- connections -- */

static bool
in_group(int fd, gid_t primary, gid_t group)
{
	gid_t groups[GROUPS_MAX];
	socklen_t size = sizeof groups;

	if (group == (gid_t)-1)
		return false;
	if (primary == group)
		return true;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) == -1)
		return false;
	for (size_t i = 0; i < size / sizeof groups[0]; i++) {
		if (groups[i] == group)
			return true;
	}
	return false;
}

static bool
may_connect(const struct admin *ad, int fd)
{
	struct ucred cred;
	socklen_t size = sizeof cred;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) == -1)
		return false;
	if (cred.uid == 0 || cred.uid == geteuid() || in_group(fd, cred.gid, ad->group))
		return true;
	log_warning("admin socket: user %u is not allowed", (unsigned)cred.uid);
	return false;
}

static void
refuse(int fd, const char *why)
{
	(void)send(fd, why, strlen(why), MSG_NOSIGNAL | MSG_DONTWAIT); /* a courtesy */
	(void)close(fd);
}

static void
open_conn(struct admin *ad, int fd)
{
	struct hinny_error err;
	struct admin_conn *c = MEM_NEW(struct admin_conn);

	if (loop_fd_init(&ad->sv->lp, &c->fd, fd, on_conn, &err) != HINNY_OK) {
		(void)close(fd);
		free(c);
		return;
	}
	c->ad = ad;
	c->sv = ad->sv;
	buf_init(&c->in, ADMIN_REQUEST_MAX);
	buf_init(&c->out, ADMIN_ANSWER_MAX);
	list_init(&c->waiter.node);
	loop_defer_init(&c->next, on_next);
	list_append(&ad->conns, &c->node);
	ad->conns_n++;
	watch_conn(c);
}

static void
on_listening(struct loop_fd *fd, unsigned events)
{
	struct admin *ad = CONTAINER_OF(fd, struct admin, listening);
	int conn;

	(void)events;
	while ((conn = accept4(fd->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) != -1) {
		if (!may_connect(ad, conn))
			refuse(conn, "{\"ok\":false,\"error\":\"not allowed\"}\n");
		else if (ad->conns_n >= ADMIN_CONNECTIONS_MAX)
			refuse(conn, "{\"ok\":false,\"error\":\"too many connections\"}\n");
		else
			open_conn(ad, conn);
	}
}

/* -- the socket -- */

static enum hinny_rc
find_group(const char *name, gid_t *gid, struct hinny_error *err)
{
	*gid = (gid_t)-1;
	if (name == NULL)
		return HINNY_OK;
	errno = 0;
	struct group *gr = getgrnam(name);
	if (gr == NULL && errno != 0)
		return hinny_error_errno(err, errno, "cannot look up admin.group \"%s\"", name);
	if (gr == NULL)
		return hinny_error_set(err, HINNY_ENOENT, "admin.group: no group \"%s\"", name);
	*gid = gr->gr_gid;
	return HINNY_OK;
}

static enum hinny_rc
parse_mode(const char *text, mode_t *mode, struct hinny_error *err)
{
	char *end;
	unsigned long n = strtoul(text, &end, 8);

	if (*text == '\0' || *end != '\0' || n > 0777)
		return hinny_error_set(err, HINNY_EINVAL,
		    "admin.mode: expected octal permissions such as \"0660\", got \"%s\"", text);
	*mode = (mode_t)n;
	return HINNY_OK;
}

/* Bound with no permissions at all, which are given at the end: nobody slips in between. The run
 * folder is locked, so a socket that is there is an old one. */
static int
bind_socket(const char *path, mode_t mode, gid_t group, struct hinny_error *err)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof at.sun_path) {
		(void)hinny_error_set(err, HINNY_ELIMIT,
		    "cannot open admin socket \"%s\": the path has more than %zu bytes", path,
		    sizeof at.sun_path - 1);
		return -1;
	}
	(void)snprintf(at.sun_path, sizeof at.sun_path, "%s", path); /* fits */
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1) {
		(void)hinny_error_errno(err, errno, "cannot open admin socket");
		return -1;
	}
	(void)unlink(path); /* mostly not there */
	mode_t mask = umask(0777);
	int rc = bind(fd, (struct sockaddr *)&at, sizeof at);
	(void)umask(mask);
	if (rc == -1 || (group != (gid_t)-1 && chown(path, (uid_t)-1, group) == -1) ||
	    chmod(path, mode) == -1 || listen(fd, BACKLOG) == -1) {
		(void)hinny_error_errno(err, errno, "cannot open admin socket \"%s\"", path);
		(void)close(fd);
		return -1;
	}
	return fd;
}

static char *
socket_path(const struct supervisor *sv, const struct settings *s)
{
	char *path;

	if (s->admin.socket != NULL)
		return mem_strdup(s->admin.socket);
	if (asprintf(&path, "%s/admin.sock", sv->run.path) == -1)
		fatal("out of memory");
	return path;
}

struct admin *
admin_open(struct supervisor *sv, struct hinny_error *err)
{
	const struct generation *gen = LIST_FIRST(&sv->generations, struct generation, node);
	const struct settings *s = generation_settings(gen);
	gid_t group = (gid_t)-1;
	mode_t mode = 0;

	if (find_group(s->admin.group, &group, err) != HINNY_OK ||
	    parse_mode(s->admin.mode, &mode, err) != HINNY_OK)
		return NULL;
	char *path = socket_path(sv, s);
	int fd = bind_socket(path, mode, group, err);
	if (fd == -1) {
		free(path);
		return NULL;
	}
	struct admin *ad = MEM_NEW(struct admin);
	ad->sv = sv;
	ad->path = path;
	ad->group = group;
	list_init(&ad->conns);
	(void)loop_fd_init(
	    &sv->lp, &ad->listening, fd, on_listening, err); /* fails for bad descriptors only */
	loop_fd_watch(&ad->listening, LOOP_READ);
	return ad;
}

void
admin_close(struct admin *ad)
{
	if (ad == NULL)
		return;
	LIST_FOREACH (&ad->conns, node, tmp)
		admin_conn_close(LIST_ENTRY(node, struct admin_conn, node));
	int fd = ad->listening.fd;
	loop_fd_close(&ad->listening, NULL);
	(void)close(fd);
	(void)unlink(ad->path);
	free(ad->path);
	loop_free_later(&ad->sv->lp, ad);
}
