/*
 * xpath, the part that every process has: options, the record of what an expression reads. The
 * runtime is transformers/xpath. e->conf is a struct xpath_conf, e->code is NULL.
 */
#ifndef HINNY_LANG_XPATH_H
#define HINNY_LANG_XPATH_H

#include "core/lang/source.h"
#include "core/model/descriptor.h"

enum xpath_result { XPATH_NODESET, XPATH_NUMBER, XPATH_STRING, XPATH_BOOLEAN, XPATH_NODE };

struct xpath_conf {
	int result;              /* enum xpath_result, of resultQName */
	bool result_given;       /* resultQName was written */
	struct pairs namespaces; /* prefix, URI */
	const char *result_name; /* as written */
	const char *source_text;
	struct source source;                                   /* parsed source_text */
	const char *document_type, *object_model, *factory_ref; /* refused */
	bool saxon, log_namespaces;                             /* refused when true */
	bool pre_compile, thread_safety;
};

extern const struct language_desc xpath_language;

#endif
