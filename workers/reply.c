/* An answer that goes to a client's socket by itself, as fast as the client reads it. */
#include "workers/worker_priv.h"

#include "core/base/log.h"
#include "core/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct reply {
	struct worker *wk;
	struct loop_fd fd;
	int socket;
	struct buf out;
	size_t written;
};

static void
reply_free(struct reply *rp)
{
	close(rp->socket);
	buf_fini(&rp->out);
	rp->wk->sends--;
	free(rp);
}

static void
reply_closed(struct loop_fd *w)
{
	reply_free(CONTAINER_OF(w, struct reply, fd));
}

static void
reply_write(struct loop_fd *w, unsigned events)
{
	struct reply *rp = CONTAINER_OF(w, struct reply, fd);
	(void)events;
	while (rp->written < rp->out.n) {
		ssize_t n = send(rp->socket, rp->out.p + rp->written, rp->out.n - rp->written, MSG_NOSIGNAL);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN) {
			loop_fd_watch(w, LOOP_WRITE);
			return;
		}
		if (n == -1)
			break; /* the client is gone */
		rp->written += (size_t)n;
	}
	loop_fd_close(w, reply_closed);
}

void
reply_start(struct worker *wk, int fd, struct buf *bytes)
{
	struct hinny_error err;
	struct reply *rp = MEM_NEW(struct reply);
	rp->wk = wk;
	rp->socket = fd;
	rp->out = *bytes;
	buf_init(bytes, 0);
	wk->sends++;
	int flags = fcntl(fd, F_GETFL);
	if (flags == -1 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) == -1 ||
	    loop_fd_init(&wk->lp, &rp->fd, fd, reply_write, &err) != HINNY_OK) {
		log_error("cannot answer a question: %s", strerror(errno));
		reply_free(rp);
		return;
	}
	reply_write(&rp->fd, LOOP_WRITE);
}
