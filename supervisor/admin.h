/*
 * The admin socket: a unix socket that speaks lines of JSON (docs/admin.md). Who may connect: root,
 * the user that hinnyd runs as, members of admin.group. Commands are the rows of
 * admin_commands.def.
 */
#ifndef HINNY_SUPERVISOR_ADMIN_H
#define HINNY_SUPERVISOR_ADMIN_H

#include "core/base/error.h"

struct admin;
struct supervisor;

/* NULL with err. Reads the settings of the first generation: the socket stays where it is until the
 * end. */
struct admin *admin_open(struct supervisor *sv, struct hinny_error *err);
void admin_close(struct admin *ad); /* also all connections; NULL is fine */

#endif
