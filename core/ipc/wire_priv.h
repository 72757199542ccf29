/* What links and inboxes share. */
#ifndef HINNY_IPC_WIRE_PRIV_H
#define HINNY_IPC_WIRE_PRIV_H

#include "core/base/error.h"

#include <sys/un.h>

/* Names of sockets are short: HINNY_EINVAL when `path` does not fit. */
enum hinny_rc wire_address(const char *path, struct sockaddr_un *out, struct hinny_error *err);

#endif
