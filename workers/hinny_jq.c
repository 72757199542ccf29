/* The worker that runs jq in a jail. */
#include "transformers/jq/jq_kind.h"
#include "workers/worker.h"

int
main(int argc, char **argv)
{
	return worker_main(&jq_kind, argc, argv);
}
