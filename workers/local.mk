# The worker skeleton. The mains hinny_http.c and hinny_xform.c are named in Makefile.am.
workers_sources =
