# Patterns with shared state, and the main of hinny-flow in hinny_flow.c.
workers_flow_sources = workers/flow/hinny_flow.c
