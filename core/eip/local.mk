# The in-process patterns, one file each, and the engine.
core_eip_sources =
