# log: the descriptor (in every process) and what runs it (in every worker).
transports_log_desc_sources =
transports_log_sources =
