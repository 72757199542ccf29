# direct: the descriptor (in every process) and what runs it (in every worker).
transports_direct_desc_sources = transports/direct/direct_desc.c
transports_direct_sources = transports/direct/direct.c
