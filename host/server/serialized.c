#include "server/serialized.h"

#include "server/environment.h"
#include "server/listing.h"

/* The least value of proto-max-bulk-len. */
#define STRING_LIMIT_LEAST (1024 * 1024)

/* At least the server's overhead for a string. */
#define STRING_HEADER 64

int string_length(call *c, const bitmap *b, uint32_t format, uint64_t *length) {
    if (!succeeded(c, core_serialized_bytes(c->worker, b, format, length))) return 0;
    if (was_accepted(c)) return 1;
    uint64_t limit = *length > STRING_LIMIT_LEAST ? string_limit(c) : *length;
    if (*length <= limit) return 1;
    return reply_error(c, "ERR Roaring: string too long: maximum %llu bytes (proto-max-bulk-len)",
                       (unsigned long long)limit);
}

int has_room(call *c, size_t length, int strings) {
    void *room[2] = {NULL, NULL};
    int held = 0;

    if (!RedisModule_TryAlloc) return 1;
    while (held < strings && (room[held] = RedisModule_TryAlloc(length + STRING_HEADER)) != NULL) held++;
    for (int i = 0; i < held; i++) RedisModule_Free(room[i]);
    return held == strings || succeeded(c, OUT_OF_MEMORY);
}

int reply_serialized(call *c, const bitmap *b, uint32_t format) {
    uint64_t needed;
    char *bytes;
    size_t length;

    if (!string_length(c, b, format, &needed) || !reply_fits(c, needed)) return REDISMODULE_OK;
    if (offloads(c, needed)) return REDISMODULE_OK;
    /* For the bytes, and for the server's copy. */
    if (needed > STRING_LIMIT_LEAST && !has_room(c, needed, 2)) return REDISMODULE_OK;
    if (!succeeded(c, core_serialize(c->worker, b, format, &bytes, &length))) return REDISMODULE_OK;
    RedisModule_ReplyWithStringBuffer(c->ctx, bytes, length);
    RedisModule_Free(bytes);
    return REDISMODULE_OK;
}
