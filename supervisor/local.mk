# The supervisor; hinnyd.c is its main and not listed here, as hinny has the rest as well.
supervisor_sources = \
	supervisor/admin.c \
	supervisor/admin_ask.c \
	supervisor/admin_commands.c \
	supervisor/admin_status.c \
	supervisor/check.c \
	supervisor/drain.c \
	supervisor/generation.c \
	supervisor/handover.c \
	supervisor/limits.c \
	supervisor/listeners.c \
	supervisor/peers.c \
	supervisor/ping.c \
	supervisor/process.c \
	supervisor/process_spawn.c \
	supervisor/process_table.c \
	supervisor/reload.c \
	supervisor/rundir.c \
	supervisor/sdnotify.c \
	supervisor/shared.c \
	supervisor/spawn.c \
	supervisor/states.c \
	supervisor/supervisor.c \
	supervisor/watch.c
