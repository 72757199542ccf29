/* The worker that is home to timers, and to the patterns whose state several workers share. */
#include "transports/cron/cron.h"
#include "transports/mock/mock.h"
#include "transports/seda/seda.h"
#include "transports/timer/timer.h"
#include "workers/worker.h"

static const struct component_ops *const components[] = { &cron_ops, &mock_ops, &quartz_ops, &scheduler_ops, &seda_ops, &stub_ops, &timer_ops, NULL };

static const struct worker_kind flow_kind = {
	.kind = "flow",
	.components = components,
};

int
main(int argc, char **argv)
{
	return worker_main(&flow_kind, argc, argv);
}
