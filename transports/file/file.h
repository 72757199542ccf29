/* file: reads and writes files (Camel: File component). Its runtime is the worker hinny-file. */
#ifndef HINNY_FILE_FILE_H
#define HINNY_FILE_FILE_H

#include "workers/worker.h"

extern const struct worker_kind file_kind;

#endif
