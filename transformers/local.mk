# What transformers share in every process.
transformers_sources =
