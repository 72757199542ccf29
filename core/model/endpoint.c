/* Which endpoints a pattern means. */
#include "core/model/headers.h"
#include "core/model/program.h"

#include <stdio.h>

bool
endpoint_matches(const struct pattern *p, const struct endpoint *ep)
{
	char plain[512];
	const char *key = endpoint_name(ep), *slashes = strstr(key, "://");
	struct str texts[] = { str_of(ep->uri), str_of(key), { plain, 0 } };
	if (p == NULL)
		return true;
	if (slashes) {
		int n = snprintf(plain, sizeof(plain), "%.*s:%s", (int)(slashes - key), key, slashes + 3);
		texts[2].n = n < (int)sizeof(plain) ? (size_t)n : sizeof(plain) - 1;
	}
	for (size_t i = 0; i < 3; i++) {
		struct str text = texts[i], base;
		(void)str_split(&text, '?', &base);
		if (texts[i].n && (pattern_match(p, texts[i]) || pattern_match(p, base)))
			return true;
	}
	return false;
}
