# The worker skeleton. The mains hinny_http.c and hinny_xform.c are named in Makefile.am.
workers_sources = \
	workers/bind.c \
	workers/common.c \
	workers/consumers.c \
	workers/control.c \
	workers/engine_ops.c \
	workers/evaluate.c \
	workers/main.c \
	workers/reply.c \
	workers/send.c \
	workers/served.c \
	workers/trace.c \
	workers/state.c \
	workers/state_handover.c
