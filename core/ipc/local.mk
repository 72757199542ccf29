# Calls between workers: the only folder with nng. Goes into the workers only.
core_ipc_sources =
