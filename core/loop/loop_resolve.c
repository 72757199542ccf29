/* Looking names up, on libuv's threads. */
#include "core/loop/loop.h"

#include "core/base/mem.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>

struct lookup {
	uv_getaddrinfo_t req;
	loop_resolve_fn *fn;
	void *arg;
};

static void
on_lookup(uv_getaddrinfo_t *req, int status, struct addrinfo *res)
{
	struct lookup *lk = CONTAINER_OF(req, struct lookup, req);

	if (status == 0 && res == NULL)
		lk->fn(lk->arg, NULL, "the name has no address");
	else
		lk->fn(lk->arg, status == 0 ? res : NULL, status == 0 ? NULL : uv_strerror(status));
	uv_freeaddrinfo(res);
	free(lk);
}

enum hinny_rc
loop_resolve(struct loop *lp, const char *host, uint16_t port, loop_resolve_fn *fn, void *arg, struct hinny_error *err)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG };
	struct lookup *lk = MEM_NEW(struct lookup);
	char service[8];

	lk->fn = fn;
	lk->arg = arg;
	(void)snprintf(service, sizeof service, "%u", (unsigned)port); /* five digits at most */
	int rc = uv_getaddrinfo(&lp->uv, &lk->req, on_lookup, host, service, &hints);
	if (rc == 0)
		return HINNY_OK;
	free(lk);
	return hinny_error_set(err, HINNY_EIO, "cannot look \"%s\" up: %s", host, uv_strerror(rc));
}
