# timer: the descriptor (in every process) and what runs it (in every worker).
transports_timer_desc_sources = transports/timer/timer_desc.c
transports_timer_sources = transports/timer/timer.c
