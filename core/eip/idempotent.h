/* The repository of idempotent consumers: a state that steps share by the bean's name. */
#ifndef HINNY_EIP_IDEMPOTENT_H
#define HINNY_EIP_IDEMPOTENT_H

#include "core/model/descriptor.h"

/* Operations. Keys are texts of at most IDEMPOTENT_KEY_MAX bytes; [key, holder] is a list of the
 * key and the number of the exchange in its process. */
enum {
	KEYS_ADD,       /* [key, holder], which holds it: true when it is new */
	KEYS_HAS,       /* key: true when it is there */
	KEYS_PUT,       /* key: it is there, confirmed */
	KEYS_CONFIRM,   /* key: nobody holds it any more, it stays */
	KEYS_REMOVE,    /* key */
	KEYS_GIVE_BACK, /* [key, holder]: removed if that exchange holds it */
	KEYS_OPS
};
enum { IDEMPOTENT_KEY_MAX = 16384 };

extern const struct state_desc idempotent_keys;

#endif
