/* YAML as JSON, and JSON side by side, for hinny test. */
#ifndef HINNY_SUPERVISOR_CLI_TEST_JSON_H
#define HINNY_SUPERVISOR_CLI_TEST_JSON_H

#include "core/config/node.h"

#include <jansson.h>

/* Plain scalars are null, true, false or numbers where YAML 1.2 says so. A new reference. */
json_t *test_json_of(const struct node *n);

#endif
