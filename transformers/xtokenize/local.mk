# xtokenize: the descriptor (in every process) and what runs it (in hinny-xform).
transformers_xtokenize_desc_sources =
transformers_xtokenize_sources =
