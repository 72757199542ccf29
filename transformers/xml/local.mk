# What the XML transformers share: parsing, the jail, character sets (in hinny-xform).
transformers_xml_sources =
