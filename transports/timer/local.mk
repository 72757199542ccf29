# timer: the descriptor (in every process) and what runs it (in every worker).
transports_timer_desc_sources =
transports_timer_sources =
