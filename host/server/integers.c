/* integers.c -- the data type of integers for ids: its callbacks. Blocks, sharing and freeing are those of bitmaps. */
#include "server/integers.h"

#include <stdlib.h>

#include "core/values.h"
#include "server/saving.h"

#define INTEGERS_VERSION 1

family integers = {.prefix = "RI.",
                   .import = "RI.SET",
                   .type_name = "roar-ints",
                   .label = "integers",
                   .bits = "64",
                   .last = UINT64_MAX,
                   .lenient = 1};

static void *load(RedisModuleIO *rdb, int encver) {
    char shown[LOGGABLE_BYTES];
    size_t length;
    const char *fault;
    bitmap *b;
    if (encver != INTEGERS_VERSION) {
        RedisModule_LogIOError(rdb, REDISMODULE_LOGLEVEL_WARNING, "roar-ints of unknown version %d", encver);
        return NULL;
    }
    char *bytes = RedisModule_LoadStringBuffer(rdb, &length);
    if (bytes == NULL) return NULL; /* the server handles it: HANDLE_IO_ERRORS */
    status s = ints_deserialize(&main_worker, bytes, length, &b, &fault);
    RedisModule_Free(bytes);
    if (s == OK && fault == NULL) {
        count_values(&integers, 1, bitmap_bytes(b));
        return b;
    }
    RedisModule_LogIOError(rdb, REDISMODULE_LOGLEVEL_WARNING,
                           "key '%s': invalid roar-ints payload of %zu bytes: %s", key_of(rdb, shown), length,
                           s == OK ? fault : failure(&main_worker, s));
    return NULL;
}

static void save(RedisModuleIO *rdb, void *b) { save_value(ints_serialize, rdb, b); }

/* Ids and values of one command in a rewritten AOF. */
#define PAIRS 256

typedef struct emitted {
    RedisModuleString *words[2 * PAIRS];
    uint64_t next;
    size_t count;
} emitted;

static void emit(void *context, const uint64_t *numbers, size_t count) {
    emitted *e = context;
    decimal d = {0};
    size_t length;
    for (size_t i = 0; i < count; i += 2) {
        const char *digits = print_offset(&d, numbers[i], &length);
        e->words[e->count++] = RedisModule_CreateString(NULL, digits, length);
        e->words[e->count++] = RedisModule_CreateStringFromLongLong(NULL, (long long)numbers[i + 1]);
        e->next = numbers[i] + 1;
    }
}

static void rewrite(RedisModuleIO *aof, RedisModuleString *key, void *b) {
    char shown[LOGGABLE_BYTES];
    emitted e = {.count = 2 * PAIRS};
    status s = is_damaged(b) ? TRAPPED : OK;
    while (s == OK && e.count == 2 * PAIRS) {
        if (e.next == 0 && e.words[0]) break; /* the last id is the greatest */
        e.count = 0;
        s = ints_list(&main_worker, b, e.next, PAIRS, emit, &e);
        if (s == OK && e.count > 0) RedisModule_EmitAOF(aof, "RI.SET", "sv", key, e.words, e.count);
        for (size_t i = 0; i < e.count; i++) RedisModule_FreeString(NULL, e.words[i]);
    }
    if (s == OK) return;
    RedisModule_LogIOError(aof, REDISMODULE_LOGLEVEL_WARNING, "key '%s': not in the AOF: %s",
                           key_of(aof, shown), is_damaged(b) ? "it is damaged" : failure(&main_worker, s));
    if (s == OUT_OF_MEMORY) abort();
}

static size_t memory(const void *b) { return bitmap_memory(b); }

static void release(void *b) {
    count_values(&integers, -1, -bitmap_bytes(b));
    bitmap_free(b);
}

static size_t free_effort(RedisModuleString *key, const void *b) {
    (void)key;
    return 1 + bitmap_memory(b) / 65536;
}

static void *copy(RedisModuleString *from, RedisModuleString *to, const void *b) {
    (void)from, (void)to;
    bitmap *copied = is_damaged(b) ? NULL : bitmap_copy(b);
    if (copied) count_values(&integers, 1, bitmap_bytes(copied));
    return copied;
}

/* As for bitmaps: one block, which moves as a whole or not at all. */
static int defrag(RedisModuleDefragCtx *ctx, RedisModuleString *key, void **b) {
    (void)key;
    if (bitmap_is_shared(*b)) return 0;
    void *there = RedisModule_DefragAlloc(ctx, block_of(*b));
    if (there) *b = bitmap_moved(*b, there);
    return 0;
}

static void digest(RedisModuleDigest *d, void *b) {
    char *payload;
    size_t length;
    if (ints_serialize(&main_worker, b, &payload, &length) == OK) {
        RedisModule_DigestAddStringBuffer(d, payload, length);
        RedisModule_Free(payload);
    }
    RedisModule_DigestEndSequence(d);
}

int register_integers(RedisModuleCtx *ctx) {
    static RedisModuleTypeMethods methods = {.version = REDISMODULE_TYPE_METHOD_VERSION,
                                             .rdb_load = load,
                                             .rdb_save = save,
                                             .aof_rewrite = rewrite,
                                             .digest = digest,
                                             .free = release,
                                             .copy = copy,
                                             .mem_usage = memory,
                                             .defrag = defrag,
                                             .free_effort = free_effort};
    integers.type = RedisModule_CreateDataType(ctx, integers.type_name, INTEGERS_VERSION, &methods);
    return integers.type ? REDISMODULE_OK : REDISMODULE_ERR;
}

int store_integers(call *c, int at, result r) {
    if (r.members > 0) return store(c, at, ANY_TYPE, r.b) ? reply_count(c, r.members) : REDISMODULE_OK;
    bitmap_free(r.b);
    RedisModuleKey *key = open_writable(c, at);
    if (key == NULL) return REDISMODULE_OK;
    const int there = RedisModule_KeyType(key) != REDISMODULE_KEYTYPE_EMPTY;
    if (there) RedisModule_DeleteKey(key);
    RedisModule_CloseKey(key);
    if (there) {
        announce(c, c->argv[at], "set");
        RedisModule_NotifyKeyspaceEvent(c->ctx, REDISMODULE_NOTIFY_GENERIC, "del", c->argv[at]);
    }
    return reply_integer(c, 0);
}
