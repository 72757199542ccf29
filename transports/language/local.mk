# language: the descriptor (in every process) and what runs it (in every worker).
transports_language_desc_sources = transports/language/language_desc.c
transports_language_sources = transports/language/language.c
