/* Runtimes that every worker has: they need no library, or are the home's side of calls. Part of how executables are put together, as the mains are. */
#include "transformers/xslt/xslt_home.h"
#include "transports/direct/direct.h"
#include "transports/kamelet/kamelet.h"
#include "transports/language/language.h"
#include "transports/log/log.h"
#include "workers/worker_priv.h"

const struct component_ops *const worker_common_components[] = { &direct_ops, &kamelet_ops, &language_ops, &log_ops, &xslt_home_ops, NULL };
