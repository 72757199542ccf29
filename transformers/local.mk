# The home's side of transformers (in every process).
transformers_sources = \
	transformers/xslt/xslt_home.c
# The worker kind: what hinny-xform is put together of.
transformers_xform_sources = \
	transformers/xform.c
