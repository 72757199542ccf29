/* What the options of a kafka endpoint must be to go together; works out the rest of its conf. */
#ifndef HINNY_KAFKA_KAFKA_CHECK_H
#define HINNY_KAFKA_KAFKA_CHECK_H

#include "core/config/compile.h"

int kafka_check(struct compile *c, struct endpoint *ep);
/* Its part in kafka_check_security.c. */
int kafka_check_security(struct compile *c, struct endpoint *ep);

#endif
