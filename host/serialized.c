#include "serialized.h"

#include <stdlib.h>
#include <string.h>

#include "listing.h"

/* Values of proto-max-bulk-len, which no API function returns. */
#define STRING_LIMIT_LEAST (1024 * 1024)
#define STRING_LIMIT_DEFAULT (512 * 1024 * 1024)

/* At least the server's overhead for a string. */
#define STRING_HEADER 64

/* The longest string that clients can receive and the server can hold. */
static uint64_t string_limit(call *c) {
    char digits[COUNT_TEXT] = "";
    size_t length = 0;

    RedisModuleCallReply *reply = RedisModule_Call(c->ctx, "CONFIG", "cc", "GET", "proto-max-bulk-len");
    RedisModuleCallReply *value = reply ? RedisModule_CallReplyArrayElement(reply, 1) : NULL;
    const char *text = value ? RedisModule_CallReplyStringPtr(value, &length) : NULL;
    if (text && length < sizeof digits) memcpy(digits, text, length);
    if (reply) RedisModule_FreeCallReply(reply);
    uint64_t limit = strtoull(digits, NULL, 10);
    return limit ? limit : STRING_LIMIT_DEFAULT;
}

int string_length(call *c, const bitmap *b, uint32_t format, uint64_t *length) {
    if (!succeeded(c, core_serialized_bytes(b, format, length))) return 0;
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
    /* For the bytes, and for the server's copy. */
    if (needed > STRING_LIMIT_LEAST && !has_room(c, needed, 2)) return REDISMODULE_OK;
    if (!succeeded(c, core_serialize(b, format, &bytes, &length))) return REDISMODULE_OK;
    RedisModule_ReplyWithStringBuffer(c->ctx, bytes, length);
    RedisModule_Free(bytes);
    return REDISMODULE_OK;
}
