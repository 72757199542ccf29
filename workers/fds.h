/* Descriptors that a worker inherits, by number. Nothing else is inherited. (Compare Postfix master_proto.h.) */
#ifndef HINNY_WORKERS_FDS_H
#define HINNY_WORKERS_FDS_H

enum worker_fd {
	WORKER_FD_CONTROL = 3,    /* stream socketpair to hinnyd: frames */
	WORKER_FD_BUNDLE = 4,     /* sealed memory file */
	WORKER_FD_PAGE = 5,       /* shared page, read-write (core/model/page.h) */
	WORKER_FD_GENERATION = 6, /* folder of the generation's copied files */
	WORKER_FD_RUN = 7,        /* run folder */
	WORKER_FD_LISTEN = 8,     /* and following: listening sockets, in the order of http.listen */
};

#endif
