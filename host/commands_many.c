/* commands_many.c -- one question asked of many bitmaps. */
#include "keys.h"
#include "listing.h"

/* MBITCOUNT key [key ...] -- the number of members of each key. A key of another type refuses the whole call,
 * so the numbers are collected before the reply begins. */
int mbitcount_command(call *c) {
    const bitmap *b;
    int keys = c->argc - 1, read = 0;

    cardinality *counts = RedisModule_Alloc((size_t)keys * sizeof *counts);
    for (; read < keys; read++) {
        counts[read] = 0;
        if (!open_read(c, read + 1, &b)) break;
        if (b && !succeeded(c, core_cardinality(b, &counts[read]))) break;
    }
    if (read == keys) reply_counts(c, counts, (uint32_t)keys);
    RedisModule_Free(counts);
    return REDISMODULE_OK;
}
