# xpath: the descriptor (in every process) and what runs it (in hinny-xform).
transformers_xpath_desc_sources =
transformers_xpath_sources =
