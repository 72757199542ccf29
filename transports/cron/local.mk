# cron, quartz: the descriptors (in every process) and what runs them (in hinny-flow).
transports_cron_desc_sources = \
	transports/cron/cron_desc.c \
	transports/cron/cron_next.c \
	transports/cron/cron_parse.c
transports_cron_sources = transports/cron/cron.c
