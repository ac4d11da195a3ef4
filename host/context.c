/* context.c -- what a command asks the server, on the main thread. */
#include "context.h"

#include <stdlib.h>
#include <string.h>

#include "keys.h"
#include "listing.h"
#include "questions.h"

int reply_damaged(call *c) {
    return reply_error(
        c, "ERR Roaring: this bitmap is damaged because a write to it failed; it can only be deleted");
}

int open_read(call *c, int at, const bitmap **b) {
    RedisModuleKey *key = RedisModule_OpenKey(c->ctx, c->argv[at], REDISMODULE_READ);
    *b = NULL;
    int right = 1;
    if (key) {
        *b = bitmap_in(c, key);
        right = is_right(c, key, *b);
        RedisModule_CloseKey(key);
    }
    if (c->snapshot) note_opened(c, at, *b);
    return right;
}

int open_either(call *c, int at, const bitmap **b) {
    RedisModuleKey *key = RedisModule_OpenKey(c->ctx, c->argv[at], REDISMODULE_READ);
    for (family *f = families; f < families + FAMILIES; f++) {
        if (RedisModule_ModuleTypeGetType(key) == f->type) c->family = f;
    }
    RedisModule_CloseKey(key);
    return open_read(c, at, b);
}

int context_flags(const call *c) { return RedisModule_GetContextFlags(c->ctx); }

void send_error(const call *c, const char *text) { RedisModule_ReplyWithError(c->ctx, text); }

void random_seed(const call *c, uint64_t seed[SEED_WORDS]) {
    (void)c;
    RedisModule_GetRandomBytes((unsigned char *)seed, SEED_WORDS * sizeof *seed);
}

/* The default of proto-max-bulk-len, which no API function returns. */
#define STRING_LIMIT_DEFAULT (512 * 1024 * 1024)

uint64_t string_limit(const call *c) {
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
