# What the XML transformers share: parsing, files, character sets (in hinny-xform).
transformers_xml_sources = \
	transformers/xml/document.c \
	transformers/xml/encodings.c \
	transformers/xml/errors.c \
	transformers/xml/files.c \
	transformers/xml/functions.c \
	transformers/xml/memory.c \
	transformers/xml/numbers.c \
	transformers/xml/parse.c \
	transformers/xml/write.c \
	transformers/xml/xml.c
