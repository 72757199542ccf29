/*
 * Listening sockets, by their text in http.listen.
 *
 * A bound socket of ours has SO_REUSEPORT, so that its siblings can be bound beside it, and until
 * it listens no SO_REUSEADDR, so that another broker's probe (which has SO_REUSEADDR and not
 * SO_REUSEPORT) sees it: two brokers that start at once cannot both have the port. Connections that
 * an earlier broker left do not matter to the probe.
 */
#include "supervisor/listeners.h"

#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/str.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { SYSTEMD_FIRST_FD = 3, SYSTEMD_FDS_MAX = 1024, TEXT_SIZE = 128 };

enum listener_type { LISTENER_TCP, LISTENER_UNIX, LISTENER_SYSTEMD };

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

struct listener {
	struct list node;
	char *text;
	enum listener_type type;
	union address at;
	socklen_t at_size;
	int *fds;
	unsigned n, cap;
	unsigned listening; /* fds[0 .. listening-1] */
	unsigned wanted;    /* sockets that the prepared generation wants; 0: none */
	unsigned before;    /* sockets there were before it was prepared */
	bool steered;       /* a filter says which sockets get new connections */
	bool v6only;
};

/* -- the environment -- */

static char **
split_names(const char *names, int n)
{
	char **out = mem_zalloc(((size_t)n + 1) * sizeof *out);
	struct str rest = str_of(names != NULL ? names : ""), item;

	for (int i = 0; i < n; i++)
		out[i] =
		    str_split(&rest, ':', &item) ? mem_strndup(item.p, item.n) : mem_strdup("");
	return out;
}

static int
inherited_count(void)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	int64_t n;

	if (pid == NULL || !str_to_int64(str_of(pid), &n) || n != getpid())
		return 0;
	if (fds == NULL || !str_to_int64(str_of(fds), &n) || n < 0 || n > SYSTEMD_FDS_MAX)
		return 0;
	return (int)n;
}

void
listeners_init(struct listeners *ls)
{
	*ls = (struct listeners){ .inherited = inherited_count() };
	list_init(&ls->all);
	if (ls->inherited > 0)
		ls->inherited_names = split_names(getenv("LISTEN_FDNAMES"), ls->inherited);
	for (int i = 0; i < ls->inherited; i++)
		(void)fcntl(SYSTEMD_FIRST_FD + i, F_SETFD,
		    FD_CLOEXEC);      /* a bad one shows when it is used */
	(void)unsetenv("LISTEN_PID"); /* the names are valid: these cannot fail */
	(void)unsetenv("LISTEN_FDS");
	(void)unsetenv("LISTEN_FDNAMES");
}

/* -- one listener -- */

static void
close_from(struct listener *l, unsigned first)
{
	while (l->n > first) {
		l->n--;
		if (l->type != LISTENER_SYSTEMD)
			(void)close(l->fds[l->n]);
	}
	if (l->listening > l->n)
		l->listening = l->n;
}

static void
listener_free(struct listener *l)
{
	bool had_path = l->type == LISTENER_UNIX && l->n > 0;

	list_remove(&l->node);
	close_from(l, 0);
	if (had_path)
		(void)unlink(l->at.un.sun_path);
	free(l->fds);
	free(l->text);
	free(l);
}

static void
add_fd(struct listener *l, int fd)
{
	if (l->n == l->cap) {
		l->cap = l->cap ? l->cap * 2 : 4;
		l->fds = mem_realloc(l->fds, l->cap * sizeof *l->fds);
	}
	l->fds[l->n++] = fd;
}

static int
set_option(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof value);
}

static int
open_socket(const struct listener *l)
{
	int fd = socket(l->at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd != -1 && l->at.any.sa_family == AF_INET6 &&
	    set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, l->v6only) == -1) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

/* A socket bound and closed again: fails when anybody has the port. With port 0 the port that the
 * system chose is kept for all. */
static int
probe(struct listener *l)
{
	int fd = open_socket(l);
	int rc = -1;

	if (fd == -1)
		return -1;
	l->at_size = l->at.any.sa_family == AF_INET6 ? sizeof l->at.in6 : sizeof l->at.in;
	if (set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1) == 0 &&
	    bind(fd, &l->at.any, l->at_size) == 0)
		rc = getsockname(fd, &l->at.any, &l->at_size);
	int saved = errno;
	(void)close(fd);
	errno = saved;
	return rc;
}

static int
bind_tcp(struct listener *l)
{
	int fd = open_socket(l);

	if (fd == -1)
		return -1;
	if (set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1) == 0 &&
	    set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1) == 0 &&
	    bind(fd, &l->at.any, l->at_size) == 0 &&
	    set_option(fd, SOL_SOCKET, SO_REUSEADDR, 0) == 0) {
		add_fd(l, fd);
		return 0;
	}
	int saved = errno;
	(void)close(fd);
	errno = saved;
	return -1;
}

/* A socket file that nobody answers at was left by a process that is gone. */
static void
remove_dead_socket(const struct listener *l)
{
	struct stat st;

	if (stat(l->at.un.sun_path, &st) == -1 || !S_ISSOCK(st.st_mode))
		return;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return;
	if (connect(fd, &l->at.any, l->at_size) == -1 && errno == ECONNREFUSED)
		(void)unlink(l->at.un.sun_path);
	(void)close(fd);
}

static int
bind_unix(struct listener *l)
{
	remove_dead_socket(l);
	int fd = open_socket(l);
	if (fd == -1)
		return -1;
	if (bind(fd, &l->at.any, l->at_size) == 0) {
		add_fd(l, fd);
		return 0;
	}
	int saved = errno;
	(void)close(fd);
	errno = saved;
	return -1;
}

static enum hinny_rc
bind_more(struct listener *l, struct hinny_error *err)
{
	if (l->n >= l->wanted)
		return HINNY_OK;
	if (l->type == LISTENER_TCP && l->n == 0 && probe(l) == -1)
		return hinny_error_errno(err, errno, "cannot listen on %s", l->text);
	while (l->n < l->wanted) {
		if ((l->type == LISTENER_UNIX ? bind_unix(l) : bind_tcp(l)) == -1)
			return hinny_error_errno(err, errno, "cannot listen on %s", l->text);
	}
	return HINNY_OK;
}

/* -- addresses -- */

static enum hinny_rc
parse_host(struct listener *l, const struct listen_address *at, struct hinny_error *err)
{
	char host[INET6_ADDRSTRLEN];
	struct str h = str_of(at->host);

	if (h.n >= 2 && h.p[0] == '[' && h.p[h.n - 1] == ']')
		h = (struct str){ h.p + 1, h.n - 2 };
	if (str_caseeq(h, STR_LIT("localhost")))
		h = STR_LIT("127.0.0.1");
	(void)snprintf(host, sizeof host, "%.*s", STR_FMT(h)); /* what is cut is no address */
	if (h.n < sizeof host && inet_pton(AF_INET, host, &l->at.in.sin_addr) == 1) {
		l->at.in.sin_family = AF_INET;
		l->at.in.sin_port = htons(at->port);
		return HINNY_OK;
	}
	if (h.n < sizeof host && inet_pton(AF_INET6, host, &l->at.in6.sin6_addr) == 1) {
		l->at.in6.sin6_family = AF_INET6;
		l->at.in6.sin6_port = htons(at->port);
		l->v6only = true;
		return HINNY_OK;
	}
	return hinny_error_set(err, HINNY_EINVAL,
	    "cannot listen on %s: expected an IP address such as 127.0.0.1, [::1] or 0.0.0.0",
	    at->text);
}

static bool
has_ipv6(void)
{
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd != -1)
		(void)close(fd);
	return fd != -1;
}

/* A port alone: every address, of both families by one socket where the system has IPv6. */
static void
any_host(struct listener *l, uint16_t port)
{
	if (has_ipv6()) {
		l->at.in6.sin6_family = AF_INET6;
		l->at.in6.sin6_port = htons(port);
		return;
	}
	l->at.in.sin_family = AF_INET;
	l->at.in.sin_port = htons(port);
}

static enum hinny_rc
parse_unix(struct listener *l, const struct listen_address *at, struct hinny_error *err)
{
	l->type = LISTENER_UNIX;
	if (strlen(at->unix_path) >= sizeof l->at.un.sun_path)
		return hinny_error_set(err, HINNY_ELIMIT,
		    "cannot listen on %s: the path has more than %zu bytes", at->text,
		    sizeof l->at.un.sun_path - 1);
	l->at.un.sun_family = AF_UNIX;
	(void)snprintf(l->at.un.sun_path, sizeof l->at.un.sun_path, "%s", at->unix_path); /* fits */
	l->at_size = sizeof l->at.un;
	return HINNY_OK;
}

static enum hinny_rc
find_inherited(const struct listeners *ls, struct listener *l, const struct listen_address *at,
    struct hinny_error *err)
{
	int listening = 0;
	socklen_t size = sizeof listening;

	l->type = LISTENER_SYSTEMD;
	for (int i = 0; i < ls->inherited; i++) {
		if (strcmp(ls->inherited_names[i], at->fd_name) != 0)
			continue;
		if (l->n > 0)
			return hinny_error_set(err, HINNY_EINVAL,
			    "cannot listen on %s: several descriptors have this name", at->text);
		add_fd(l, SYSTEMD_FIRST_FD + i);
	}
	if (l->n == 0)
		return hinny_error_set(err, HINNY_ENOENT,
		    "cannot listen on %s: no descriptor of this name was passed (LISTEN_FDNAMES)",
		    at->text);
	if (getsockopt(l->fds[0], SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) == -1 ||
	    listening == 0)
		return hinny_error_set(err, HINNY_EINVAL,
		    "cannot listen on %s: the descriptor is no listening stream socket", at->text);
	int flags = fcntl(l->fds[0], F_GETFL);
	if (flags == -1 ||
	    fcntl(l->fds[0], F_SETFL, flags | O_NONBLOCK) ==
		-1) /* several workers accept; one must not wait when another was faster */
		return hinny_error_errno(err, errno, "cannot listen on %s", at->text);
	l->listening = 1;
	return HINNY_OK;
}

static struct listener *
find(const struct listeners *ls, const char *text)
{
	LIST_FOREACH (&ls->all, node, tmp) {
		struct listener *l = LIST_ENTRY(node, struct listener, node);
		if (strcmp(l->text, text) == 0)
			return l;
	}
	return NULL;
}

/* A listener without sockets yet; NULL with err. */
static struct listener *
make(struct listeners *ls, const struct listen_address *at, struct hinny_error *err)
{
	struct listener *l = MEM_NEW(struct listener);
	enum hinny_rc rc = HINNY_OK;

	l->text = mem_strdup(at->text);
	list_append(&ls->all, &l->node);
	if (at->fd_name != NULL)
		rc = find_inherited(ls, l, at, err);
	else if (at->unix_path != NULL)
		rc = parse_unix(l, at, err);
	else if (at->host != NULL)
		rc = parse_host(l, at, err);
	else
		any_host(l, at->port);
	if (rc == HINNY_OK)
		return l;
	listener_free(l);
	return NULL;
}

/* -- a generation's sockets -- */

static enum hinny_rc
prepare_one(struct listeners *ls, const struct listen_address *at, unsigned workers,
    struct hinny_error *err)
{
	struct listener *l = find(ls, at->text);

	if (l != NULL && l->wanted > 0)
		return hinny_error_set(err, HINNY_EINVAL, "cannot listen on %s twice", at->text);
	if (l == NULL)
		l = make(ls, at, err);
	if (l == NULL)
		return HINNY_EINVAL;
	l->wanted = l->type == LISTENER_TCP ? workers : 1;
	return bind_more(l, err);
}

enum hinny_rc
listeners_prepare(struct listeners *ls, const struct settings_http *http, unsigned workers,
    struct hinny_error *err)
{
	enum hinny_rc rc = HINNY_OK;

	LIST_FOREACH (&ls->all, node, tmp) {
		struct listener *l = LIST_ENTRY(node, struct listener, node);
		l->before = l->n;
		l->wanted = 0;
	}
	ls->backlog = http->backlog;
	for (size_t i = 0; i < http->listen_n && workers > 0 && rc == HINNY_OK; i++)
		rc = prepare_one(ls, &http->listen[i], workers, err);
	if (rc != HINNY_OK)
		listeners_discard(ls);
	return rc;
}

int
listeners_fd(const struct listeners *ls, const struct listen_address *at, unsigned index)
{
	const struct listener *l = find(ls, at->text);

	ASSERT(l != NULL && l->n > 0);
	return l->fds[index < l->n ? index : l->n - 1];
}

void
listeners_discard(struct listeners *ls)
{
	LIST_FOREACH (&ls->all, node, tmp) {
		struct listener *l = LIST_ENTRY(node, struct listener, node);
		if (l->before == 0)
			listener_free(l);
		else
			close_from(l, l->before);
	}
}

/* New connections go to the first n sockets of the group from now on (they began to listen first).
 */
static bool
steer(struct listener *l, unsigned n)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_RANDOM)),
		BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, n),
		BPF_STMT(BPF_RET | BPF_A, 0),
	};
	struct sock_fprog program = { .len = ARRAY_LEN(code), .filter = code };

	l->steered = setsockopt(l->fds[0], SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program,
			 sizeof program) == 0;
	return l->steered;
}

static enum hinny_rc
begin_to_listen(const struct listeners *ls, struct listener *l, struct hinny_error *err)
{
	for (; l->listening < l->n; l->listening++) {
		int fd = l->fds[l->listening];
		if (l->type == LISTENER_TCP && set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1) == -1)
			return hinny_error_errno(err, errno, "cannot listen on %s", l->text);
		if (listen(fd, (int)ls->backlog) == -1)
			return hinny_error_errno(err, errno, "cannot listen on %s", l->text);
	}
	return HINNY_OK;
}

/* Where the filter cannot be had, sockets that are too many are served for ever. */
static void
hand_out_orphans(struct listener *l, listener_orphan_fn *orphan, void *arg)
{
	if (l->n <= l->wanted || !steer(l, l->wanted))
		return;
	for (unsigned i = l->wanted; i < l->n; i++)
		orphan(arg, l->fds[i]);
	close_from(l, l->wanted);
}

enum hinny_rc
listeners_commit(
    struct listeners *ls, listener_orphan_fn *orphan, void *arg, struct hinny_error *err)
{
	LIST_FOREACH (&ls->all, node, tmp) {
		struct listener *l = LIST_ENTRY(node, struct listener, node);
		if (l->wanted > 0 && begin_to_listen(ls, l, err) != HINNY_OK)
			return err->rc;
	}
	LIST_FOREACH (&ls->all, node, tmp) {
		struct listener *l = LIST_ENTRY(node, struct listener, node);
		if (l->wanted == 0) {
			listener_free(l);
			continue;
		}
		if (l->steered && l->n == l->wanted)
			(void)steer(l, l->n); /* it has grown: at worst the new ones get nothing */
		if (l->type == LISTENER_TCP)
			hand_out_orphans(l, orphan, arg);
	}
	return HINNY_OK;
}

void
listeners_close(struct listeners *ls)
{
	LIST_FOREACH (&ls->all, node, tmp)
		listener_free(LIST_ENTRY(node, struct listener, node));
}

void
listeners_fini(struct listeners *ls)
{
	listeners_close(ls);
	for (int i = 0; i < ls->inherited; i++)
		free(ls->inherited_names[i]);
	free(ls->inherited_names);
	ls->inherited_names = NULL;
	ls->inherited = 0;
}

/* -- what people see -- */

static const char *
print_address(const struct listener *l, char text[TEXT_SIZE])
{
	char host[INET6_ADDRSTRLEN];
	union address at = l->at;
	socklen_t size = sizeof at;

	if (l->type == LISTENER_UNIX)
		return l->text;
	if (l->type == LISTENER_SYSTEMD && (getsockname(l->fds[0], &at.any, &size) == -1))
		return l->text;
	if (at.any.sa_family == AF_INET &&
	    inet_ntop(AF_INET, &at.in.sin_addr, host, sizeof host) != NULL)
		(void)snprintf(
		    text, TEXT_SIZE, "http://%s:%u", host, ntohs(at.in.sin_port)); /* fits */
	else if (at.any.sa_family == AF_INET6 &&
	    inet_ntop(AF_INET6, &at.in6.sin6_addr, host, sizeof host) != NULL)
		(void)snprintf(
		    text, TEXT_SIZE, "http://[%s]:%u", host, ntohs(at.in6.sin6_port)); /* fits */
	else
		return l->text;
	return text;
}

void
listeners_each(const struct listeners *ls, void (*fn)(void *arg, const char *text), void *arg)
{
	char text[TEXT_SIZE];

	LIST_FOREACH (&ls->all, node, tmp) {
		const struct listener *l = LIST_ENTRY(node, struct listener, node);
		if (l->listening > 0)
			fn(arg, print_address(l, text));
	}
}

static void
add_text(void *arg, const char *text)
{
	struct buf *out = arg;

	(void)buf_printf(
	    out, "%s%s", out->n > 0 ? ", " : "", text); /* a short text; the buffer has no bound */
}

void
listeners_print(const struct listeners *ls, struct buf *out)
{
	listeners_each(ls, add_text, out);
}
