# Languages and data formats that any worker may run.
core_lang_sources =
