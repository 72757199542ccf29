/* The worker that sends to and receives from Kafka. */
#include "transports/kafka/kafka.h"
#include "workers/worker.h"

int
main(int argc, char **argv)
{
	return worker_main(&kafka_kind, argc, argv);
}
