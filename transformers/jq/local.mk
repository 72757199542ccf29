# jq: the descriptor (core/lang/jq.c, in every process) and what runs it (in hinny-jq).
transformers_jq_sources = \
	transformers/jq/jq_compile.c \
	transformers/jq/jq_impl.c \
	transformers/jq/jq_kind.c \
	transformers/jq/jq_value.c
