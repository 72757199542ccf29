# The supervisor; hinnyd.c is its main and not listed here, as hinny has the rest as well.
supervisor_sources =
