/* files.h -- saving, and what the log says of loading, saving and rewriting. */
#ifndef ROAR_FILES_H
#define ROAR_FILES_H

#include "sandbox.h"
#include "text.h"
#include "types.h"

/* Writes a value to an RDB file, on any thread, for a server that saves without fork. It is in the second
 * build (per-thread.h), which the main thread and child processes use for it, too. */
void save_bitmap(const family *f, RedisModuleIO *rdb, const bitmap *b);

/* The name of the key that is being loaded or saved, if the server knows it. */
static inline const char *key_of(RedisModuleIO *io) {
    size_t length;
    const RedisModuleString *key = RedisModule_GetKeyNameFromIO(io);
    if (key == NULL) return "(unknown)";
    const char *name = RedisModule_StringPtrLen(key, &length);
    return loggable(name, length);
}

static inline const char *failure(status s) { return s == TRAPPED ? sandbox_last_trap() : "out of memory"; }

#endif
