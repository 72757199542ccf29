# Languages and data formats that any worker may run.
core_lang_sources = \
	core/lang/constant.c \
	core/lang/document.c \
	core/lang/exchange_property.c \
	core/lang/expression.c \
	core/lang/header.c \
	core/lang/json_write.c \
	core/lang/jsonpath.c \
	core/lang/jsonpath_eval.c \
	core/lang/jsonpath_filter.c \
	core/lang/jsonpath_functions.c \
	core/lang/jsonpath_parse.c \
	core/lang/languages.c \
	core/lang/regex.c \
	core/lang/simple.c \
	core/lang/simple_compare.c \
	core/lang/simple_eval.c \
	core/lang/simple_fn_date.c \
	core/lang/simple_fn_json.c \
	core/lang/simple_fn_list.c \
	core/lang/simple_fn_message.c \
	core/lang/simple_fn_number.c \
	core/lang/simple_fn_text.c \
	core/lang/simple_form.c \
	core/lang/simple_functions.c \
	core/lang/simple_init.c \
	core/lang/simple_parse.c \
	core/lang/simple_path.c \
	core/lang/simple_scan.c \
	core/lang/source.c \
	core/lang/text.c \
	core/lang/timezone.c \
	core/lang/tokenize.c \
	core/lang/variable.c \
	core/lang/xpath.c \
	core/lang/xtokenize.c
