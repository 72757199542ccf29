# The jail of the transformers that meet foreign documents (in hinny-xform and hinny-jq).
transformers_jail_sources = \
	transformers/jail/jail.c \
	transformers/jail/landlock.c
