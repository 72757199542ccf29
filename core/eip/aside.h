/* A message that is put aside while a step sends or receives another: variableSend, variableReceive,
 * pattern. */
#ifndef HINNY_EIP_ASIDE_H
#define HINNY_EIP_ASIDE_H

#include "core/model/exchange.h"

struct aside {
	enum exchange_pattern pattern;
	bool message; /* body and headers are */
	struct value body;
	struct headers headers;
};

/* Keeps the pattern, and with `message` body and headers, in ex's arena. The exchange stays as it
 * is. */
void aside_keep(struct exchange *ex, struct aside *as, bool message);
/* Gives back what was kept. */
void aside_return(struct exchange *ex, struct aside *as);
/* variableReceive: the message that is there goes to the variable: its body, and each header as
 * header:VARIABLE.NAME. The body is null then. It must not be a stream. */
void aside_receive(struct exchange *ex, const char *variable);

#endif
