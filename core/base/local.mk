# Foundations: arena, buffers, lists, hash, strings, clock, units, log, errors, asserts. libc only.
core_base_sources = \
	core/base/arena.c \
	core/base/assert.c \
	core/base/blob.c \
	core/base/buf.c \
	core/base/clock.c \
	core/base/digest.c \
	core/base/error.c \
	core/base/hash.c \
	core/base/log.c \
	core/base/mem.c \
	core/base/str.c \
	core/base/str_nearest.c \
	core/base/str_utf8.c \
	core/base/units.c
