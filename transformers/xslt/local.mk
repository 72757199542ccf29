# xslt: the descriptor (in every process) and what runs it (in hinny-xform).
transformers_xslt_desc_sources = \
	transformers/xslt/xslt_desc.c
transformers_xslt_sources = \
	transformers/xslt/save.c \
	transformers/xslt/xslt.c \
	transformers/xslt/xslt_check.c \
	transformers/xslt/xslt_elements.c \
	transformers/xslt/xslt_libxslt.c \
	transformers/xslt/xslt_poison.c
