/* The client's side of the admin socket: finds the broker, asks, reads lines. Blocking: there is
 * nothing else to do. */
#include "supervisor/cli/cli.h"

#include "core/base/assert.h"
#include "core/base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { READ_SIZE = 65536, ANSWER_MAX = 256 << 20 };

static char *
join(const char *dir, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", dir, name) == -1)
		abort();
	return path;
}

/* -- finding the broker -- */

struct found {
	char *path; /* of the first */
	size_t n;
};

/* Run folders of `hinny run`: hinny-XXXXXX, of this user, with an admin socket in it. */
static void
look_in(const char *base, struct found *f)
{
	DIR *dir = opendir(base);
	struct dirent *e;
	struct stat st;

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		if (strncmp(e->d_name, "hinny-", 6) != 0)
			continue;
		char *folder = join(base, e->d_name), *path = join(folder, "admin.sock");
		bool mine = stat(path, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_uid == geteuid();
		if (mine && f->n++ == 0)
			f->path = mem_strdup(path);
		free(path);
		free(folder);
	}
	if (dir != NULL)
		(void)closedir(dir);
}

/* Malloc'ed; NULL: said. */
static char *
find_socket(const struct cli_args *args)
{
	const char *env = getenv("HINNY_DIR"), *runtime = getenv("XDG_RUNTIME_DIR");
	struct found f = { 0 };

	if (args->socket != NULL)
		return mem_strdup(args->socket);
	if (args->dir != NULL)
		return join(args->dir, "admin.sock");
	if (env != NULL && env[0] != '\0')
		return join(env, "admin.sock");
	if (access(HINNY_RUNDIR_DEFAULT "/admin.sock", F_OK) == 0)
		return mem_strdup(HINNY_RUNDIR_DEFAULT "/admin.sock");
	if (runtime != NULL)
		look_in(runtime, &f);
	look_in("/tmp", &f);
	if (f.n == 1)
		return f.path;
	if (f.n == 0)
		cli_error("no broker found: none in " HINNY_RUNDIR_DEFAULT
			  " and no \"hinny run\" of this user; say which by --dir or --socket");
	else
		cli_error("%zu brokers found; say which by --dir or --socket (hinny run names its "
		          "run folder when it is ready)",
		    f.n);
	free(f.path);
	return NULL;
}

bool
cli_connect(const struct cli_args *args, struct cli_client *cl)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	*cl = (struct cli_client){ .fd = -1 };
	cl->path = find_socket(args);
	if (cl->path == NULL)
		return false;
	if (strlen(cl->path) >= sizeof at.sun_path) {
		cli_error("cannot connect to \"%s\": the path has more than %zu bytes", cl->path,
		    sizeof at.sun_path - 1);
		cli_disconnect(cl);
		return false;
	}
	(void)snprintf(at.sun_path, sizeof at.sun_path, "%s", cl->path); /* fits */
	cl->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (cl->fd != -1 && connect(cl->fd, (struct sockaddr *)&at, sizeof at) == 0)
		return true;
	if (errno == ENOENT || errno == ECONNREFUSED)
		cli_error("no broker answers at \"%s\": %s", cl->path, strerror(errno));
	else
		cli_error("cannot connect to \"%s\": %s", cl->path, strerror(errno));
	cli_disconnect(cl);
	return false;
}

void
cli_disconnect(struct cli_client *cl)
{
	if (cl->fd != -1)
		(void)close(cl->fd);
	free(cl->path);
	free(cl->in);
	*cl = (struct cli_client){ .fd = -1 };
}

/* -- lines -- */

static bool
write_all(int fd, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t sent = send(fd, p, n, MSG_NOSIGNAL);
		if (sent == -1 && errno == EINTR)
			continue;
		if (sent == -1)
			return false;
		p += sent;
		n -= (size_t)sent;
	}
	return true;
}

static bool
read_more(struct cli_client *cl)
{
	if (cl->in_cap - cl->in_n < READ_SIZE) {
		if (cl->in_cap > ANSWER_MAX)
			return false;
		cl->in_cap = cl->in_cap * 2 + READ_SIZE;
		cl->in = mem_realloc(cl->in, cl->in_cap);
	}
	ssize_t n;
	do {
		n = recv(cl->fd, cl->in + cl->in_n, cl->in_cap - cl->in_n, 0);
	} while (n == -1 && errno == EINTR);
	if (n <= 0)
		return false;
	cl->in_n += (size_t)n;
	return true;
}

char *
cli_read_line(struct cli_client *cl)
{
	size_t seen = 0;

	for (;;) {
		char *end = cl->in_n > seen ? memchr(cl->in + seen, '\n', cl->in_n - seen) : NULL;
		if (end != NULL) {
			size_t n = (size_t)(end - cl->in);
			char *line = mem_strndup(cl->in, n);
			cl->in_n -= n + 1;
			memmove(cl->in, end + 1, cl->in_n);
			return line;
		}
		seen = cl->in_n;
		if (!read_more(cl))
			return NULL;
	}
}

void
cli_wait_end(struct cli_client *cl)
{
	do {
		cl->in_n = 0;
	} while (read_more(cl));
}

/* -- questions -- */

static bool
send_request(struct cli_client *cl, json_t *request)
{
	char *text = json_dumps(request, JSON_COMPACT);
	bool ok =
	    text != NULL && write_all(cl->fd, text, strlen(text)) && write_all(cl->fd, "\n", 1);

	free(text);
	json_decref(request);
	return ok;
}

bool
cli_say(struct cli_client *cl, json_t *request)
{
	bool ok = send_request(cl, request);

	if (!ok)
		cli_error("the broker closed the connection");
	return ok;
}

json_t *
cli_ask(struct cli_client *cl, json_t *request)
{
	json_error_t err;

	/* When it cannot be sent there may still be an answer that says why: "not allowed". */
	(void)send_request(cl, request);
	char *line = cli_read_line(cl);
	if (line == NULL) {
		cli_error("the broker closed the connection without an answer");
		return NULL;
	}
	json_t *answer = json_loads(line, 0, &err);
	free(line);
	if (answer == NULL || !json_is_object(answer)) {
		cli_error("the broker's answer is not understood");
		json_decref(answer);
		return NULL;
	}
	return answer;
}

json_t *
cli_result(const struct cli_args *args, json_t *request)
{
	struct cli_client cl;

	if (!cli_connect(args, &cl)) {
		json_decref(request);
		return NULL;
	}
	json_t *answer = cli_ask(&cl, request), *result = NULL;
	cli_disconnect(&cl);
	if (answer == NULL)
		return NULL;
	if (json_is_true(json_object_get(answer, "ok"))) {
		result = json_incref(json_object_get(answer, "result"));
	} else {
		const char *why = json_string_value(json_object_get(answer, "error"));
		if (args->json)
			cli_print_json(answer);
		cli_error("%s", why != NULL ? why : "failed");
	}
	json_decref(answer);
	return result;
}

json_t *
cli_ask_worker(const struct cli_args *args, json_t *request)
{
	const struct timeval limit = { .tv_sec = 1 };
	json_error_t err;
	struct cli_client cl;
	json_t *result = NULL;

	if (!cli_connect(args, &cl)) {
		json_decref(request);
		return NULL;
	}
	/* without it the worker is waited for, which is not wrong */
	(void)setsockopt(cl.fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	(void)send_request(&cl, request); /* there may still be an answer that says why */
	char *line = cli_read_line(&cl);
	cli_disconnect(&cl);
	json_t *answer = line != NULL ? json_loads(line, 0, &err) : NULL;
	free(line);
	if (json_is_true(json_object_get(answer, "ok")))
		result = json_incref(json_object_get(answer, "result"));
	json_decref(answer);
	return result;
}
