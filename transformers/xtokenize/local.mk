# xtokenize: the descriptor (core/lang/xtokenize.c, in every process) and what runs it (in hinny-xform).
transformers_xtokenize_desc_sources =
transformers_xtokenize_sources = \
	transformers/xtokenize/tokenizer.c \
	transformers/xtokenize/xtokenize_impl.c
