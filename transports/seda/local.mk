# seda: the descriptor (in every process) and what runs it (in hinny-flow).
transports_seda_desc_sources = transports/seda/seda_desc.c
transports_seda_sources = transports/seda/seda.c
