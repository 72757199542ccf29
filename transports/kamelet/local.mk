# kamelet: the descriptor (in every process) and what runs it (in every worker).
transports_kamelet_desc_sources = transports/kamelet/kamelet_desc.c
transports_kamelet_sources = transports/kamelet/kamelet.c
