/* The worker kind that runs jq. */
#ifndef HINNY_TRANSFORMERS_JQ_KIND_H
#define HINNY_TRANSFORMERS_JQ_KIND_H

extern const struct worker_kind jq_kind;

#endif
