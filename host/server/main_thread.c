#include "server/main_thread.h"

#include <stdlib.h>
#include <string.h>

#include "server/keys.h"
#include "server/text.h"

static int read_key(call *c, int at, const bitmap **b) {
    RedisModuleKey *key = RedisModule_OpenKey(c->ctx, c->argv[at], REDISMODULE_READ);
    *b = NULL;
    int right = 1;
    if (key) {
        *b = bitmap_in(c, key);
        right = is_right(c, key, *b);
        RedisModule_CloseKey(key);
    }
    return right;
}

static int read_either(call *c, int at, const bitmap **b) {
    RedisModuleKey *key = RedisModule_OpenKey(c->ctx, c->argv[at], REDISMODULE_READ);
    for (family *f = families; f < families + (c->takes_integers ? TYPES : FAMILIES); f++) {
        if (RedisModule_ModuleTypeGetType(key) == f->type) c->family = f;
    }
    RedisModule_CloseKey(key);
    return c->env->open_read(c, at, b);
}

static int server_context_flags(const call *c) { return RedisModule_GetContextFlags(c->ctx); }

static void server_send_error(const call *c, const char *text) { RedisModule_ReplyWithError(c->ctx, text); }

static void server_random_seed(const call *c, uint64_t seed[SEED_WORDS]) {
    (void)c;
    RedisModule_GetRandomBytes((unsigned char *)seed, SEED_WORDS * sizeof *seed);
}

/* The default of proto-max-bulk-len, which no API function returns. */
#define STRING_LIMIT_DEFAULT (512 * 1024 * 1024)

static uint64_t server_string_limit(const call *c) {
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

/* A key of integers is deleted rather than left without ids. */
static int store_nothing(call *c, int at) {
    RedisModuleKey *key = open_writable(c, at);
    if (key == NULL) return REDISMODULE_OK;
    if (RedisModule_KeyType(key) == REDISMODULE_KEYTYPE_EMPTY) RedisModule_CloseKey(key);
    else delete_key(c, c->argv[at], key, "set");
    return reply_integer(c, 0);
}

static int store_result(call *c, int at, enum replaced replaced, result r) {
    if (r.members == 0 && c->family >= families + FAMILIES) {
        bitmap_free(r.b);
        return store_nothing(c, at);
    }
    return store(c, at, replaced, r.b) ? reply_count(c, r.members) : REDISMODULE_OK;
}

/* The key may be gone, or hold something else, by now. */
static int put_in_key(call *c, packing *p) {
    open_key k;
    if (!open_write(c, 1, &k)) {
        packing_free(p);
        return REDISMODULE_OK;
    }
    const status s = packing_put(p, &k.value);
    if (k.value == NULL) abandon(&k);
    else if (!commit_silently(c, &k, s)) return REDISMODULE_OK;
    return reply_ok(c);
}

const environment main_thread = {
    .settings = &own_settings,
    .open_read = read_key,
    .open_either = read_either,
    .context_flags = server_context_flags,
    .string_limit = server_string_limit,
    .send_error = server_send_error,
    .random_seed = server_random_seed,
    .store_and_count = store_result,
    .put_packed = put_in_key,
};
