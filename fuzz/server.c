/* server.c -- stands in for the server's allocator in fuzz targets. */
#include <stdlib.h>
#include <string.h>

#include "api/redismodule.h"

/* Without MallocUsableSize, an arena has exactly the size requested. */
void *(*RedisModule_Alloc)(size_t bytes) = malloc;
void *(*RedisModule_TryAlloc)(size_t bytes) = malloc;
void *(*RedisModule_Realloc)(void *block, size_t bytes) = realloc;
void *(*RedisModule_TryRealloc)(void *block, size_t bytes) = realloc;
void (*RedisModule_Free)(void *block) = free;

/* The same bytes each time, so that an input does the same each time. */
static void no_random_bytes(unsigned char *bytes, size_t count) { memset(bytes, 0x5b, count); }
void (*RedisModule_GetRandomBytes)(unsigned char *bytes, size_t count) = no_random_bytes;
size_t (*RedisModule_MallocSize)(void *block);
size_t (*RedisModule_MallocUsableSize)(void *block);
