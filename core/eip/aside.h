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
/* variableReceive: the message of `from` goes to the variable of ex: the body (null when it
 * streams), and each header as header:VARIABLE.NAME. From ex itself it is taken, its body is null
 * then and must not have been a stream; from another one it is shared. */
void aside_receive(struct exchange *ex, const struct exchange *from, const char *variable);

#endif
