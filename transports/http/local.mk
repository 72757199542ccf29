# platform-http and http: the descriptors (in every process) and what runs them (in hinny-http).
transports_http_desc_sources = \
	transports/http/http_desc.c \
	transports/http/platform_http_desc.c
transports_http_sources =
