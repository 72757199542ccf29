# The in-process patterns, one file each, and the engine.
core_eip_sources = \
	core/eip/aggregation.c \
	core/eip/choice.c \
	core/eip/convert.c \
	core/eip/delay.c \
	core/eip/do_try.c \
	core/eip/eip_names.c \
	core/eip/engine.c \
	core/eip/engine_child.c \
	core/eip/engine_errors.c \
	core/eip/engine_message.c \
	core/eip/engine_slots.c \
	core/eip/exchange_pattern.c \
	core/eip/fan_out.c \
	core/eip/filter.c \
	core/eip/items.c \
	core/eip/log_level.c \
	core/eip/log_step.c \
	core/eip/loop_step.c \
	core/eip/marshal.c \
	core/eip/multicast.c \
	core/eip/on_exception.c \
	core/eip/pipeline.c \
	core/eip/remove.c \
	core/eip/rollback.c \
	core/eip/script.c \
	core/eip/set.c \
	core/eip/set_body.c \
	core/eip/set_many.c \
	core/eip/split.c \
	core/eip/stop.c \
	core/eip/throw_exception.c \
	core/eip/to.c \
	core/eip/validate.c
