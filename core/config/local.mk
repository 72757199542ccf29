# From YAML to a bundle to a program.
core_config_sources =
