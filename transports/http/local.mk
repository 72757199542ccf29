# platform-http and http: the descriptors (in every process) and what runs them (in hinny-http).
transports_http_desc_sources = \
	transports/http/http_desc.c \
	transports/http/platform_http_desc.c
transports_http_sources = \
	transports/http/body.c \
	transports/http/chunked.c \
	transports/http/client.c \
	transports/http/client_answer.c \
	transports/http/client_conn.c \
	transports/http/conn.c \
	transports/http/head.c \
	transports/http/headers_filter.c \
	transports/http/http.c \
	transports/http/http_answer.c \
	transports/http/http_kind.c \
	transports/http/http_redirect.c \
	transports/http/http_request.c \
	transports/http/payload.c \
	transports/http/platform_http.c \
	transports/http/platform_http_reply.c \
	transports/http/pool.c \
	transports/http/route_table.c \
	transports/http/server.c \
	transports/http/server_accept.c \
	transports/http/server_body.c \
	transports/http/server_reply.c \
	transports/http/timeouts.c \
	transports/http/uri.c
