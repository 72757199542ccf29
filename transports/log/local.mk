# log: the descriptor (in every process) and what runs it (in every worker).
transports_log_desc_sources = transports/log/log_desc.c
transports_log_sources = \
	transports/log/log_send.c \
	transports/log/log_text.c
