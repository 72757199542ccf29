/* Between admin.c (the socket) and the commands. */
#ifndef HINNY_SUPERVISOR_ADMIN_PRIV_H
#define HINNY_SUPERVISOR_ADMIN_PRIV_H

#include "core/base/buf.h"
#include "core/base/list.h"
#include "core/loop/loop.h"
#include "supervisor/reload.h"

#include <jansson.h>

enum {
	ADMIN_REQUEST_MAX = 1 << 20,
	ADMIN_ANSWER_MAX = 64 << 20,
	ADMIN_UNREAD_MAX = 256 << 10,
	ADMIN_CONNECTIONS_MAX = 64
};

struct admin {
	struct supervisor *sv;
	struct loop_fd listening;
	char *path;
	struct list conns; /* struct admin_conn */
	size_t conns_n;
	gid_t group; /* may connect, beside root and our own user; (gid_t)-1: nobody */
};

struct admin_conn {
	struct list node;
	struct admin *ad;
	struct supervisor *sv;
	struct loop_fd fd;
	struct loop_defer next; /* requests that came while one was busy */
	struct buf in, out;
	bool busy;  /* a command will answer later */
	bool ended; /* the client has shut its side */
	bool closed;
	struct reload_waiter waiter;
};

/* A command gets the request's object and answers now or later, exactly once: admin_reply or
 * admin_fail. */
typedef void admin_command_fn(struct admin_conn *c, json_t *request);
#define ADMIN_COMMAND(name, function, arguments, help) admin_command_fn admin_##function;
#include "supervisor/admin_commands.def"
#undef ADMIN_COMMAND

/* {"ok":true,"result":…}. Takes the reference of result. */
void admin_reply(struct admin_conn *c, json_t *result);
/* {"ok":false,"error":"…"} */
void admin_fail(struct admin_conn *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Writes out what there is; true when all has left. */
bool admin_flush(struct admin_conn *c);
void admin_conn_close(struct admin_conn *c);

#endif
