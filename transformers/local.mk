# What transformers share in every process.
transformers_sources = \
	transformers/xslt/xslt_home.c
