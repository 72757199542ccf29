# validator: the descriptor (in every process) and what runs it (in hinny-xform).
transformers_validator_desc_sources = \
	transformers/validator/validator_desc.c
transformers_validator_sources = \
	transformers/validator/validator.c
