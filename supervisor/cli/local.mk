# The command hinny, with its main in hinny.c.
supervisor_cli_sources = \
	supervisor/cli/client.c \
	supervisor/cli/cmd_check.c \
	supervisor/cli/cmd_control.c \
	supervisor/cli/cmd_doc.c \
	supervisor/cli/cmd_eval.c \
	supervisor/cli/cmd_run.c \
	supervisor/cli/cmd_send.c \
	supervisor/cli/cmd_show.c \
	supervisor/cli/hinny.c \
	supervisor/cli/options.c \
	supervisor/cli/print.c
