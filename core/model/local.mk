# Values, exchanges, programs, the wire frame.
core_model_sources = \
	core/model/collect.c \
	core/model/endpoint.c \
	core/model/exception.c \
	core/model/exchange.c \
	core/model/frame.c \
	core/model/frame_exception.c \
	core/model/frame_message.c \
	core/model/frame_value.c \
	core/model/headers.c \
	core/model/json.c \
	core/model/json_access.c \
	core/model/page.c \
	core/model/pattern.c \
	core/model/stream.c \
	core/model/value.c \
	core/model/value_class.c \
	core/model/value_compare.c \
	core/model/value_convert.c \
	core/model/value_text.c \
	core/model/value_xml.c
