/*
 * hinny send: one message to an endpoint of the broker, the answer to standard output. The
 * supervisor hands the connection to a worker; the body goes there and comes back without passing
 * through it.
 */
#include "supervisor/cli/cli.h"

#include "core/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { COPY_SIZE = 65536 };

/* NAME=VALUE pairs as an object; NULL: said. */
static json_t *
headers_of(const struct cli_args *args)
{
	json_t *o = json_object();

	for (size_t i = 0; i < args->headers_n; i++) {
		const char *eq = strchr(args->headers[i], '=');
		char *name = eq != NULL
		    ? mem_strndup(args->headers[i], (size_t)(eq - args->headers[i]))
		    : NULL;
		if (name == NULL || name[0] == '\0' ||
		    json_object_set_new(o, name, json_string(eq + 1)) == -1) {
			cli_error(
			    "send: --header: expected NAME=VALUE, got \"%s\"", args->headers[i]);
			free(name);
			json_decref(o);
			return NULL;
		}
		free(name);
	}
	return o;
}

/* The body's descriptor; -1: there is none (a terminal and no FILE); -2: said. */
static int
open_body(const struct cli_args *args)
{
	const char *file = args->rest_n > 1 ? args->rest[1] : NULL;

	if (file == NULL && isatty(STDIN_FILENO))
		return -1;
	if (file == NULL || strcmp(file, "-") == 0)
		return STDIN_FILENO;
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		cli_error("send: cannot open \"%s\": %s", file, strerror(errno));
	return fd == -1 ? -2 : fd;
}

/* The worker may answer, and close, before it has all: that is no error here. */
static bool
copy_body(int from, int to)
{
	char buf[COPY_SIZE];
	ssize_t n = 0;

	while (from != -1 && (n = read(from, buf, sizeof buf)) > 0) {
		for (ssize_t at = 0; at < n;) {
			ssize_t sent = send(to, buf + at, (size_t)(n - at), MSG_NOSIGNAL);
			if (sent == -1 && errno != EINTR)
				return true;
			at += sent > 0 ? sent : 0;
		}
	}
	if (n == -1)
		cli_error("send: cannot read the body: %s", strerror(errno));
	(void)shutdown(to, SHUT_WR); /* the end of the body */
	return n != -1;
}

/* All that comes until the end, as it is. Malloc'ed. */
static char *
read_rest(struct cli_client *cl, size_t *n)
{
	char *all = mem_alloc(cl->in_n + 1);
	size_t have = cl->in_n, cap = cl->in_n + 1;
	ssize_t got;

	if (have > 0)
		memcpy(all, cl->in, have);
	for (;;) {
		if (cap - have < COPY_SIZE) {
			cap = cap * 2 + COPY_SIZE;
			all = mem_realloc(all, cap);
		}
		got = recv(cl->fd, all + have, cap - have - 1, 0);
		if (got == 0 || (got == -1 && errno != EINTR))
			break;
		have += got > 0 ? (size_t)got : 0;
	}
	all[have] = '\0';
	*n = have;
	return all;
}

static int
print_answer(struct cli_client *cl, bool as_json)
{
	json_error_t err;
	char *line = cli_read_line(cl);
	json_t *head = line != NULL ? json_loads(line, 0, &err) : NULL;
	size_t n;

	free(line);
	if (!json_is_object(head)) {
		cli_error("send: the worker ended without an answer");
		json_decref(head);
		return CLI_FAILED;
	}
	bool ok = json_is_true(json_object_get(head, "ok"));
	const char *why = json_string_value(json_object_get(head, "error")),
		   *class = json_string_value(json_object_get(head, "exception"));
	char *body = read_rest(cl, &n);
	if (as_json) {
		json_t *text = json_stringn(body, n);
		(void)json_object_set_new(head, "body",
		    text != NULL ? text : json_null()); /* bytes that are no UTF-8 are left out */
		cli_print_json(head);
	} else if (ok && fwrite(body, 1, n, stdout) != n) {
		cli_error("send: cannot write the answer: %s", strerror(errno));
		ok = false;
	}
	if (!ok && why != NULL)
		cli_error("%s%s%s", class != NULL ? class : "", class != NULL ? ": " : "", why);
	free(body);
	json_decref(head);
	return ok ? EXIT_SUCCESS : CLI_FAILED;
}

static int
send_message(const struct cli_args *args, struct cli_client *cl, json_t *headers, int body)
{
	json_t *answer = cli_ask(cl,
	    json_pack("{s:s, s:s, s:o}", "command", "send", "endpoint", args->rest[0], "headers",
		headers));
	bool ok = json_is_true(json_object_get(answer, "ok"));

	if (answer != NULL && !ok)
		cli_error("%s", json_string_value(json_object_get(answer, "error")));
	json_decref(answer);
	if (!ok || !copy_body(body, cl->fd))
		return CLI_FAILED;
	return print_answer(cl, args->json);
}

static int
run(const struct cli_args *args)
{
	struct cli_client cl;
	int status = CLI_FAILED;
	json_t *headers = headers_of(args);
	int body = headers != NULL ? open_body(args) : -2;

	if (body != -2 && cli_connect(args, &cl)) {
		status = send_message(args, &cl, headers, body);
		headers = NULL; /* taken */
		cli_disconnect(&cl);
	}
	if (body >= 0 && body != STDIN_FILENO)
		(void)close(body);
	json_decref(headers);
	return status;
}

const struct cli_command cli_send = {
	.name = "send",
	.arguments = "ENDPOINT [FILE|-]",
	.help = "send one message, such as to direct:orders, and print the answer",
	.options = "header json dir socket",
	.rest_min = 1,
	.rest_max = 2,
	.run = run,
};
