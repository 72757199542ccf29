# From YAML to a bundle to a program.
core_config_sources = \
	core/config/beans.c \
	core/config/bundle.c \
	core/config/bundle_load.c \
	core/config/bundle_read.c \
	core/config/bundle_save.c \
	core/config/compile.c \
	core/config/compile_file.c \
	core/config/copy_files.c \
	core/config/copy_scan.c \
	core/config/descriptors.c \
	core/config/diagnostics.c \
	core/config/doc.c \
	core/config/dump.c \
	core/config/endpoint_parse.c \
	core/config/endpoint_uri.c \
	core/config/expression_parse.c \
	core/config/format_parse.c \
	core/config/intercepts.c \
	core/config/node.c \
	core/config/option.c \
	core/config/options_parse.c \
	core/config/placeholder.c \
	core/config/plan.c \
	core/config/plan_calls.c \
	core/config/plan_states.c \
	core/config/plan_streams.c \
	core/config/properties.c \
	core/config/read.c \
	core/config/refused.c \
	core/config/scopes.c \
	core/config/settings.c \
	core/config/steps.c \
	core/config/walk.c \
	core/config/yaml.c
