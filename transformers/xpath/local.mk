# xpath: the descriptor (core/lang/xpath.c, in every process) and what runs it (in hinny-xform).
transformers_xpath_desc_sources =
transformers_xpath_sources = \
	transformers/xpath/xpath_functions.c \
	transformers/xpath/xpath_impl.c \
	transformers/xpath/xpath_names.c \
	transformers/xpath/xpath_want.c
