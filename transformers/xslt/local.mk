# xslt: the descriptor (in every process) and what runs it (in hinny-xform).
transformers_xslt_desc_sources = \
	transformers/xslt/xslt_desc.c
transformers_xslt_sources =
