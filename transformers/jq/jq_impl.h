/* The runtime of the jq language, in hinny-jq. The part that every process has is
 * core/lang/jq.h. */
#ifndef HINNY_TRANSFORMERS_JQ_IMPL_H
#define HINNY_TRANSFORMERS_JQ_IMPL_H

#include "core/model/descriptor.h"

struct jq_runtime;

/* prepare: the owner is a worker whose data is a struct jq_runtime. */
extern const struct language_impl jq_impl;

struct jq_runtime *jq_runtime_new(uint64_t max_output);
void jq_runtime_free(struct jq_runtime *rt);

#endif
