# Values, exchanges, programs, the wire frame.
core_model_sources =
