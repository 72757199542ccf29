# Calls between workers. Goes into the workers only.
core_ipc_sources = \
	core/ipc/call.c \
	core/ipc/chunk.c \
	core/ipc/inbox.c \
	core/ipc/intake.c \
	core/ipc/link.c \
	core/ipc/operation.c \
	core/ipc/peer.c \
	core/ipc/poison.c \
	core/ipc/serve.c

# The control socket: of workers and supervisor alike.
core_ipc_control_sources = \
	core/ipc/channel.c \
	core/ipc/control.c
