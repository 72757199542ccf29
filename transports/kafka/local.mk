# kafka: the descriptor (in every process) and what runs it (in hinny-kafka).
transports_kafka_desc_sources = \
	transports/kafka/kafka_check.c \
	transports/kafka/kafka_check_security.c \
	transports/kafka/kafka_desc.c \
	transports/kafka/kafka_jaas.c \
	transports/kafka/kafka_java.c \
	transports/kafka/kafka_names.c
transports_kafka_sources = \
	transports/kafka/kafka_ask.c \
	transports/kafka/kafka_client.c \
	transports/kafka/kafka_consumer.c \
	transports/kafka/kafka_consumer_assign.c \
	transports/kafka/kafka_consumer_batch.c \
	transports/kafka/kafka_consumer_commit.c \
	transports/kafka/kafka_consumer_group.c \
	transports/kafka/kafka_consumer_message.c \
	transports/kafka/kafka_consumer_name.c \
	transports/kafka/kafka_consumer_pump.c \
	transports/kafka/kafka_error.c \
	transports/kafka/kafka_kind.c \
	transports/kafka/kafka_poll.c \
	transports/kafka/kafka_producer.c \
	transports/kafka/kafka_props.c \
	transports/kafka/kafka_queue.c \
	transports/kafka/kafka_record.c \
	transports/kafka/kafka_scram.c \
	transports/kafka/kafka_send.c \
	transports/kafka/kafka_window.c
