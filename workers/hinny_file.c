/* The worker that reads and writes files. */
#include "transports/file/file.h"
#include "workers/worker.h"

int
main(int argc, char **argv)
{
	return worker_main(&file_kind, argc, argv);
}
