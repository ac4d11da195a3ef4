/* saving.h -- saving of values, and the key's name for log lines about loading, saving and rewriting. */
#pragma once

#include "core/calls.h"
#include "server/text.h"
#include "server/families.h"

/* Writes a value to an RDB file, on any thread: servers that save without fork do so on one of theirs. */
void save_bitmap(const family *f, RedisModuleIO *rdb, const bitmap *b);

/* A worker for a save on this thread. Lack of memory ends the process, which the server reports as a failed save. */
worker *begin_saving(RedisModuleIO *rdb);
void end_saving(worker *w);

/* The name of the key that is being loaded or saved, if the server knows it. */
static inline const char *key_of(RedisModuleIO *io, char text[LOGGABLE_BYTES]) {
    const RedisModuleString *key = RedisModule_GetKeyNameFromIO(io);
    return key ? loggable(key, text) : "(unknown)";
}

static inline const char *failure(const worker *w, status s) {
    return s == TRAPPED ? sandbox_last_trap(w) : "out of memory";
}
