# The command hinny, with its main in hinny.c.
supervisor_cli_sources =
