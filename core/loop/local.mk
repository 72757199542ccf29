# The event loop.
core_loop_sources = \
	core/loop/loop.c \
	core/loop/loop_fd.c \
	core/loop/loop_resolve.c \
	core/loop/loop_signal.c \
	core/loop/loop_timer.c \
	core/loop/loop_wake.c \
	core/loop/loop_work.c
