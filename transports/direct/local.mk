# direct: the descriptor (in every process) and what runs it (in every worker).
transports_direct_desc_sources =
transports_direct_sources =
