# kafka: the descriptor (in every process) and what runs it (in hinny-kafka).
transports_kafka_desc_sources = \
	transports/kafka/kafka_check.c \
	transports/kafka/kafka_desc.c \
	transports/kafka/kafka_jaas.c
transports_kafka_sources = \
	transports/kafka/kafka_client.c \
	transports/kafka/kafka_error.c \
	transports/kafka/kafka_kind.c \
	transports/kafka/kafka_poll.c \
	transports/kafka/kafka_producer.c \
	transports/kafka/kafka_props.c \
	transports/kafka/kafka_queue.c \
	transports/kafka/kafka_record.c \
	transports/kafka/kafka_send.c
