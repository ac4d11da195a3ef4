/* saving.h -- saving of values, and the key's name for log lines about loading, saving and rewriting. */
#pragma once

#include "core/calls.h"
#include "server/text.h"
#include "server/families.h"

/* Makes the payload of a value, which the caller must RedisModule_Free. */
typedef status serializer(worker *w, const bitmap *b, char **payload, size_t *length);
/* Writes a value to an RDB file, on any thread: servers that save without fork do so on one of theirs. */
void save_value(serializer *serialize, RedisModuleIO *rdb, const bitmap *b);
void save_bitmap(const family *f, RedisModuleIO *rdb, const bitmap *b);

/* The name of the key that is being loaded or saved, if the server knows it. */
static inline const char *key_of(RedisModuleIO *io, char text[LOGGABLE_BYTES]) {
    const RedisModuleString *key = RedisModule_GetKeyNameFromIO(io);
    return key ? loggable(key, text) : "(unknown)";
}

static inline const char *failure(const worker *w, status s) {
    return s == TRAPPED ? sandbox_last_trap(w) : "out of memory";
}
