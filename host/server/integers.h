/* integers.h -- the data type of RI.* commands. Calls of these have it as their family. */
#pragma once

#include "server/keys.h"

extern family integers;

/* The value of a key of integers, NULL if it holds another type or nothing. */
static inline bitmap *integers_in(RedisModuleKey *key) {
    return RedisModule_ModuleTypeGetType(key) == integers.type ? RedisModule_ModuleTypeGetValue(key) : NULL;
}

int register_integers(RedisModuleCtx *ctx);
/* Makes r.b the value of the key at `at`, or deletes the key if r.b has no ids, and replies their number. */
int store_integers(call *c, int at, result r);
