/* The worker that serves and calls HTTP. */
#include "transports/http/http.h"
#include "workers/worker.h"

int
main(int argc, char **argv)
{
	return worker_main(&http_kind, argc, argv);
}
