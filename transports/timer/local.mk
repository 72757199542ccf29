# timer, scheduler: the descriptors (in every process) and what runs them (in hinny-flow).
transports_timer_desc_sources = \
	transports/timer/scheduler_desc.c \
	transports/timer/timer_desc.c
transports_timer_sources = transports/timer/timer.c
