# The list of components.
transports_sources =
