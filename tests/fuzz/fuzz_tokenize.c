/* tokenize: any token compiles or is refused with an error, and then takes any text apart, into as
 * many parts as it counts. The first byte says how, then comes the token up to a 0, then the text.
 */
#include "core/lang/tokenize.h"
#include "tests/lib/lang_case.h"

#include "core/base/assert.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
set_options(struct tokenize_conf *conf, unsigned how)
{
	conf->regex = how & 1;
	conf->end_token = how & 2 ? "]" : NULL;
	conf->xml = how & 4;
	conf->inherit = how & 4 ? "o" : NULL;
	conf->group_text = how & 8 ? "2" : NULL;
	conf->skip_first = how & 16;
	conf->include_tokens = how & 32 && how & 2;
}

static void
compare(struct lang_case *lc, const struct expression *e)
{
	struct value list;
	if (expression_eval(e, lc->ex, &list) != EVAL_OK)
		return;
	struct value_iterator *it = e->language->iterate(e, lc->ex);
	size_t n = 0;
	while (it->next(it, NULL, NULL))
		n++;
	ASSERT(n == list.u.list->n && !it->failed);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lang_case lc;
	if (size < 2 || size > 4096)
		return 0;
	char *token = malloc(size);
	ASSERT(token != NULL);
	memcpy(token, data + 1, size - 1);
	token[size - 1] = '\0';
	size_t n = strlen(token) + 1;
	struct str text = { token + n, n < size ? size - 1 - n : 0 };
	if (n >= size)
		text.p = "";
	lang_case_init(&lc);
	exchange_set_body(lc.ex, value_str(text));
	struct expression *e = compile_fake_new(&lc.c, "tokenize", token, false);
	set_options(e->conf, data[0]);
	if (compile_fake_finish(&lc.c, e))
		compare(&lc, e);
	else
		ASSERT(lc.c.errors_n > 0);
	lang_case_fini(&lc);
	free(token);
	return 0;
}
