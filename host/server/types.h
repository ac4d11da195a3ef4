/* types.h -- the data types of both families. */
#pragma once

#include <stdint.h>

#include "server/families.h"

/* The version of both types' payloads in RDB files. There is only this one. */
#define ENCODING_VERSION 1

/* Callbacks for values that are blocks of core/bitmap.h, whatever these hold. */
size_t value_memory(const void *b);
size_t free_effort(RedisModuleString *key, const void *b);
void release_value(const family *f, bitmap *b);
void *copy_value(const family *f, const bitmap *b);
int defrag_value(RedisModuleDefragCtx *ctx, RedisModuleString *key, void **b);

/* Creates both data types; a REDISMODULE_ status. */
int register_types(RedisModuleCtx *ctx);

/* The number of bitmaps that active defragmentation has moved since the module was loaded. */
uint64_t moved_bitmaps(void);
