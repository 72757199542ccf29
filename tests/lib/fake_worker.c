/*
 * A worker that plays what a test wants, to see what the supervisor makes of it. Copies (links) of
 * it stand in a folder of the test's own as hinny-http, hinny-xform … What it does is read from
 * $HINNY_FAKE/KIND.INDEX, or $HINNY_FAKE/KIND, when it starts: one word a line.
 *
 *   refuse TEXT      says REFUSED with TEXT
 *   die STATUS       exits before READY
 *   crash            kills itself before READY
 *   silent           never says READY
 *   short            exits with status 3 right after START
 *   hang             answers no ping
 *   slow MS          is drained only so long after DRAIN
 *   keep             is never drained
 *   stubborn         does not obey STOP
 *   call             its page shows a call that runs from READY on
 *   sources MS       says SOURCES_STOPPED only so long after DRAIN
 *   build TEXT       says HELLO with another build stamp
 *
 * It serves its listening sockets: every request on a connection is answered "KIND.INDEX GENERATION
 * PID", and it writes what it is told into $HINNY_FAKE/log. A request for /exit makes it exit with
 * status 4, for /crash kill itself.
 */
#include "core/base/assert.h"
#include "core/base/mem.h"
#include "core/ipc/channel.h"
#include "core/model/page.h"
#include "workers/fds.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LISTENERS_MAX = 16, EXIT_SHORT = 3, EXIT_ASKED = 4 };

struct listener {
	struct fake *fk;
	struct loop_fd fd;
	bool until_empty;
};

struct fake {
	struct loop lp;
	struct channel *channel;
	struct page *page;
	const char *dir;
	char kind[32], text[256], build[64];
	unsigned index, listeners_n;
	uint64_t incarnation, generation;
	bool check;
	bool refuse, die, crash, silent, is_short, hang, keep, stubborn, call;
	int status, slow_ms, sources_ms;
	int inherited; /* listening sockets */
	bool draining;
	struct loop_timer drained, sources;
	struct listener listeners[LISTENERS_MAX];
	unsigned connections;
};

struct conn {
	struct fake *fk;
	struct loop_fd fd;
};

/* -- what it is told to play -- */

static void
note(struct fake *fk, const char *what)
{
	char line[256], path[256];

	(void)snprintf(path, sizeof path, "%s/log", fk->dir); /* a test's paths are short */
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	int n = snprintf(line, sizeof line, "%s.%u %llu %ld %s\n", fk->kind, fk->index,
	    (unsigned long long)fk->generation, (long)getpid(), what);
	if (fd == -1 || write(fd, line, (size_t)n) != n)
		_exit(99);
	(void)close(fd);
}

static void
read_line(struct fake *fk, char *line)
{
	char *value = strchr(line, ' ');
	const struct {
		const char *word;
		bool *flag;
		int *number;
		char *text;
		size_t size;
	} words[] = {
		{ "refuse", &fk->refuse, NULL, fk->text, sizeof fk->text },
		{ "die", &fk->die, &fk->status, NULL, 0 },
		{ "crash", &fk->crash, NULL, NULL, 0 },
		{ "silent", &fk->silent, NULL, NULL, 0 },
		{ "short", &fk->is_short, NULL, NULL, 0 },
		{ "hang", &fk->hang, NULL, NULL, 0 },
		{ "keep", &fk->keep, NULL, NULL, 0 },
		{ "stubborn", &fk->stubborn, NULL, NULL, 0 },
		{ "call", &fk->call, NULL, NULL, 0 },
		{ "slow", NULL, &fk->slow_ms, NULL, 0 },
		{ "sources", NULL, &fk->sources_ms, NULL, 0 },
		{ "build", NULL, NULL, fk->build, sizeof fk->build },
	};

	if (value != NULL)
		*value++ = '\0';
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (strcmp(words[i].word, line) != 0)
			continue;
		if (words[i].flag != NULL)
			*words[i].flag = true;
		if (words[i].number != NULL && value != NULL)
			*words[i].number = atoi(value);
		if (words[i].text != NULL && value != NULL)
			(void)snprintf(words[i].text, words[i].size, "%s",
			    value); /* a test's texts are short */
		return;
	}
	_exit(98);
}

static void
read_part(struct fake *fk)
{
	char path[300], line[300];

	(void)snprintf(path, sizeof path, "%s/%s.%u", fk->dir, fk->kind,
	    fk->index); /* a test's paths are short */
	FILE *f = fopen(path, "re");
	if (f == NULL) {
		(void)snprintf(path, sizeof path, "%s/%s", fk->dir, fk->kind);
		f = fopen(path, "re");
	}
	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] != '\0')
			read_line(fk, line);
	}
	if (f != NULL)
		(void)fclose(f);
}

/* -- serving -- */

static void
on_conn_closed(struct loop_fd *w)
{
	free(CONTAINER_OF(w, struct conn, fd));
}

static void
close_conn(struct conn *c)
{
	int fd = c->fd.fd;

	c->fk->connections--;
	PAGE_SET(c->fk->page->connections, c->fk->connections);
	loop_fd_close(&c->fd, on_conn_closed);
	(void)close(fd);
}

static void
answer(struct conn *c)
{
	struct fake *fk = c->fk;
	char body[128], text[256];
	int n = snprintf(body, sizeof body, "%s.%u %llu %ld", fk->kind, fk->index,
	    (unsigned long long)fk->generation, (long)getpid());
	int m = snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n%s\r\n%s", n,
	    fk->draining ? "Connection: close\r\n" : "", body);

	PAGE_ADD(fk->page->requests, 1);
	if (send(c->fd.fd, text, (size_t)m, MSG_NOSIGNAL) != m || fk->draining)
		close_conn(c);
}

static void
on_conn(struct loop_fd *w, unsigned events)
{
	struct conn *c = CONTAINER_OF(w, struct conn, fd);
	char head[4096];
	ssize_t n = recv(w->fd, head, sizeof head - 1, 0);

	(void)events;
	if (n <= 0) {
		if (n == 0 || errno != EAGAIN)
			close_conn(c);
		return;
	}
	head[n] = '\0';
	if (strstr(head, "/exit") != NULL) {
		PAGE_ADD(c->fk->page->requests, 1);
		_exit(EXIT_ASKED);
	}
	if (strstr(head, "/crash") != NULL)
		(void)raise(SIGKILL);
	answer(c);
}

static void
on_listening(struct loop_fd *w, unsigned events)
{
	struct listener *l = CONTAINER_OF(w, struct listener, fd);
	int fd = accept4(w->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct hinny_error err;

	(void)events;
	if (fd == -1)
		return;
	struct conn *c = MEM_NEW(struct conn);
	c->fk = l->fk;
	c->fk->connections++;
	PAGE_SET(c->fk->page->connections, c->fk->connections);
	if (loop_fd_init(&l->fk->lp, &c->fd, fd, on_conn, &err) != HINNY_OK)
		_exit(97);
	loop_fd_watch(&c->fd, LOOP_READ);
}

static void
listen_on(struct fake *fk, int fd, bool until_empty)
{
	struct hinny_error err;
	struct listener *l = &fk->listeners[fk->listeners_n++];

	l->fk = fk;
	l->until_empty = until_empty;
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	if (fk->listeners_n > LISTENERS_MAX ||
	    loop_fd_init(&fk->lp, &l->fd, fd, on_listening, &err) != HINNY_OK)
		_exit(97);
	loop_fd_watch(&l->fd, LOOP_READ);
}

static void
stop_listening(struct fake *fk)
{
	for (unsigned i = 0; i < fk->listeners_n; i++) {
		int fd = fk->listeners[i].fd.fd;
		if (!fk->listeners[i].fd.open)
			continue;
		loop_fd_close(&fk->listeners[i].fd, NULL);
		(void)close(fd);
	}
}

/* -- control -- */

static void
on_drained(struct loop_timer *t)
{
	CONTAINER_OF(t, struct fake, drained)->slow_ms = 0;
}

static void
on_sources(struct loop_timer *t)
{
	struct fake *fk = CONTAINER_OF(t, struct fake, sources);

	note(fk, "SOURCES_STOPPED");
	(void)channel_send_type(fk->channel, FRAME_SOURCES_STOPPED);
}

static void
drain(struct fake *fk)
{
	if (!fk->draining) {
		stop_listening(fk);
		loop_timer_start(&fk->drained, fk->slow_ms, 0);
		loop_timer_start(&fk->sources, fk->sources_ms, 0);
	}
	fk->draining = true;
}

static void
pong(struct fake *fk, uint64_t sequence)
{
	struct control_message m = { .type = FRAME_PONG, .fd = -1 };
	bool busy = fk->draining && (fk->keep || fk->slow_ms > 0);

	m.pong = (struct control_pong){ .sequence = sequence,
		.exchanges = busy,
		.connections = fk->connections,
		.draining = fk->draining };
	(void)channel_send(fk->channel, &m, NULL); /* a full socket is what a test may want */
}

static void
on_message(void *owner, const struct control_message *m)
{
	struct fake *fk = owner;

	if (m->type != FRAME_PING)
		note(fk, control_name(m->type));
	switch (m->type) {
	case FRAME_START:
		for (int fd = WORKER_FD_LISTEN;
		     fcntl(fd, F_GETFD) != -1 && fd < WORKER_FD_LISTEN + fk->inherited; fd++)
			listen_on(fk, fd, false);
		if (fk->is_short)
			_exit(EXIT_SHORT);
		return;
	case FRAME_LISTENER:
		listen_on(fk, m->fd, m->listener.until_empty);
		return;
	case FRAME_PING:
		if (!fk->hang)
			pong(fk, m->ping.sequence);
		return;
	case FRAME_DRAIN:
		drain(fk);
		return;
	case FRAME_STOP:
		if (!fk->stubborn)
			_exit(0);
		return;
	default:
		return;
	}
}

static void
on_closed(void *owner, const struct hinny_error *err)
{
	(void)err;
	note(owner, "END");
	_exit(0);
}

static const struct channel_ops channel_ops = { on_message, on_closed };

static void
say_hello(struct fake *fk)
{
	struct control_message m = { .type = FRAME_HELLO, .fd = -1 };

	m.hello = (struct control_hello){ .build = str_of(fk->build),
		.kind = str_of(fk->kind),
		.index = fk->index,
		.incarnation = fk->incarnation,
		.generation = fk->generation,
		.page_route = sizeof(struct page_route) };
	(void)channel_send(fk->channel, &m, NULL); /* the supervisor is there or this is over */
}

static void
say_refused(struct fake *fk)
{
	struct control_message m = { .type = FRAME_REFUSED, .fd = -1 };

	m.refused = (struct control_refused){ .text = str_of(fk->text), .problems = 1 };
	(void)channel_send(fk->channel, &m, NULL);
	channel_flush(fk->channel, 1000);
	_exit(125);
}

static void
say_ready(struct fake *fk)
{
	struct control_message m = { .type = FRAME_READY, .fd = -1 };
	char inbox[64];

	(void)snprintf(inbox, sizeof inbox, "fake/%s.%u", fk->kind, fk->index); /* short */
	if (fk->call) {
		PAGE_SET(fk->page->call_started_ns, (uint64_t)monotime_now().ns);
		PAGE_SET(fk->page->call_id, 77);
		PAGE_SET(fk->page->call_home, 5);
	}
	m.ready = (struct control_ready){ .kind = str_of(fk->kind),
		.incarnation = fk->incarnation,
		.generation = fk->generation,
		.inbox = str_of(inbox) };
	(void)channel_send(fk->channel, &m, NULL);
	if (fk->check) {
		channel_flush(fk->channel, 1000);
		_exit(0);
	}
}

static void
parse_arguments(struct fake *fk, int argc, char **argv)
{
	const char *name = strstr(argv[0], "hinny-");

	(void)snprintf(fk->kind, sizeof fk->kind, "%s", name != NULL ? name + 6 : "?"); /* short */
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--check") == 0)
			fk->check = true;
		else if (i + 1 < argc && strcmp(argv[i], "--index") == 0)
			fk->index = (unsigned)atoi(argv[++i]);
		else if (i + 1 < argc && strcmp(argv[i], "--incarnation") == 0)
			fk->incarnation = strtoull(argv[++i], NULL, 10);
		else if (i + 1 < argc && strcmp(argv[i], "--generation") == 0)
			fk->generation = strtoull(argv[++i], NULL, 10);
		else if (i + 1 < argc && strcmp(argv[i], "--listeners") == 0)
			fk->inherited = atoi(argv[++i]);
	}
}

int
main(int argc, char **argv)
{
	static struct fake fake;
	struct fake *fk = &fake;
	struct hinny_error err;

	fk->dir = getenv("HINNY_FAKE");
	(void)snprintf(fk->build, sizeof fk->build, "%s", control_build); /* short */
	parse_arguments(fk, argc, argv);
	if (fk->dir == NULL || loop_init(&fk->lp, &err) != HINNY_OK)
		return 96;
	read_part(fk);
	loop_timer_init(&fk->lp, &fk->drained, on_drained);
	loop_timer_init(&fk->lp, &fk->sources, on_sources);
	note(fk, fk->check ? "CHECK" : "BEGIN");
	fk->page = fk->check ? page_create(1, &(int){ -1 }) : page_open(WORKER_FD_PAGE);
	if (fk->crash)
		(void)raise(SIGABRT);
	if (fk->die)
		_exit(fk->status);
	fk->channel =
	    channel_new(&fk->lp, WORKER_FD_CONTROL, CONTROL_WORKER, &channel_ops, fk, &err);
	if (fk->channel == NULL || fk->page == NULL)
		return 95;
	say_hello(fk);
	if (fk->refuse)
		say_refused(fk);
	if (!fk->silent)
		say_ready(fk);
	loop_run(&fk->lp);
	return 0;
}
