/* dump.h -- a bitmap as DUMP gives it and RESTORE takes it. */
#ifndef ROAR_DUMP_H
#define ROAR_DUMP_H

#include "sandbox.h"
#include "types.h"

/* *dumped is RedisModule_Alloc'ed, and the caller's to free. */
status dump(const family *f, const bitmap *b, char **dumped, size_t *length);

#endif
