/* The worker that runs XSLT, XPath and XML Schema in a jail. */
#include "transformers/xform.h"
#include "workers/worker.h"

int
main(int argc, char **argv)
{
	return worker_main(&xform_kind, argc, argv);
}
