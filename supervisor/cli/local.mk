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
	supervisor/cli/cmd_test.c \
	supervisor/cli/cmd_trace.c \
	supervisor/cli/hinny.c \
	supervisor/cli/options.c \
	supervisor/cli/print.c \
	supervisor/cli/test_check.c \
	supervisor/cli/test_edit.c \
	supervisor/cli/test_file.c \
	supervisor/cli/test_json.c \
	supervisor/cli/test_read.c \
	supervisor/cli/test_report.c \
	supervisor/cli/test_run.c
