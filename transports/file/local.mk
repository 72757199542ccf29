# file: the descriptor (in every process) and what runs it (in hinny-file).
transports_file_desc_sources = \
	transports/file/file_desc.c
transports_file_sources = \
	transports/file/file_charset.c \
	transports/file/file_consumer.c \
	transports/file/file_disk.c \
	transports/file/file_kind.c \
	transports/file/file_name.c \
	transports/file/file_path.c \
	transports/file/file_producer.c \
	transports/file/file_receive.c \
	transports/file/file_scan.c \
	transports/file/file_seen.c \
	transports/file/file_sort.c \
	transports/file/file_store.c
