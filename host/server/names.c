/* names.c -- the data type of names for ids: its callbacks. Blocks, sharing and freeing are those of bitmaps. A payload is
 * a string for each chunk, and an empty one. */
#include "server/names.h"

#include <stdlib.h>

#include "core/names.h"
#include "server/saving.h"
#include "server/types.h"

#define NAMES_VERSION 1

family dictionaries = {
    .prefix = "RN.", .type_name = "roarnames", .label = "names", .bits = "32", .last = UINT32_MAX, .import = "RN.LOAD"};

static void refuse(RedisModuleIO *rdb, const char *why) {
    char shown[LOGGABLE_BYTES];
    RedisModule_LogIOError(rdb, REDISMODULE_LOGLEVEL_WARNING, "key '%s': invalid roarnames payload: %s",
                           key_of(rdb, shown), why);
}

/* Adds a chunk, which it frees. Returns 0 if there is no other one. */
static int load_chunk(RedisModuleIO *rdb, bitmap **b, char *chunk, size_t length) {
    const char *fault;
    status s = length ? names_load(&main_worker, b, chunk, length, &fault) : OK;
    RedisModule_Free(chunk);
    if (length == 0) return 0;
    if (s == OK && fault == NULL) return 1;
    refuse(rdb, s == OK ? fault : failure(&main_worker, s));
    bitmap_free(*b);
    *b = NULL;
    return 0;
}

static void *load(RedisModuleIO *rdb, int encver) {
    size_t length;
    int more = 1;
    bitmap *b = encver == NAMES_VERSION ? bitmap_create(0) : NULL;
    if (b == NULL) {
        refuse(rdb, encver == NAMES_VERSION ? "out of memory" : "it is of an unknown version");
        return NULL;
    }
    while (more) {
        char *chunk = RedisModule_LoadStringBuffer(rdb, &length);
        if (chunk == NULL) { /* the server handles it: HANDLE_IO_ERRORS */
            bitmap_free(b);
            return NULL;
        }
        more = load_chunk(rdb, &b, chunk, length);
    }
    if (b) count_values(&dictionaries, 1, bitmap_bytes(b));
    return b;
}

/* Passes each chunk of b on, until one cannot be made. */
static status for_chunks(worker *w, const bitmap *b, void (*call)(void *context, const char *chunk, size_t length),
                         void *context) {
    char *chunk = NULL;
    size_t length;
    status s = is_damaged(b) ? TRAPPED : OK;
    for (uint32_t i = 0; s == OK; i++) {
        s = names_chunk(w, b, i, &chunk, &length);
        if (s != OK || chunk == NULL) break;
        call(context, chunk, length);
        RedisModule_Free(chunk);
    }
    return s;
}

static void save_chunk(void *rdb, const char *chunk, size_t length) {
    RedisModule_SaveStringBuffer(rdb, chunk, length);
}

static void save(RedisModuleIO *rdb, void *b) {
    worker *w = begin_saving(rdb);
    end_saving(w, rdb, b, for_chunks(w, b, save_chunk, rdb));
    RedisModule_SaveStringBuffer(rdb, "", 0);
}

typedef struct rewriting {
    RedisModuleIO *aof;
    RedisModuleString *key;
} rewriting;

static void emit_chunk(void *context, const char *chunk, size_t length) {
    const rewriting *r = context;
    RedisModule_EmitAOF(r->aof, dictionaries.import, "sb", r->key, chunk, length);
}

static void rewrite(RedisModuleIO *aof, RedisModuleString *key, void *b) {
    char shown[LOGGABLE_BYTES];
    rewriting r = {aof, key};
    status s = for_chunks(&main_worker, b, emit_chunk, &r);
    if (s == OK) return;
    RedisModule_LogIOError(aof, REDISMODULE_LOGLEVEL_WARNING, "key '%s': not in the AOF: %s", key_of(aof, shown),
                           is_damaged(b) ? "it is damaged" : failure(&main_worker, s));
    if (s == OUT_OF_MEMORY) abort();
}

static void release(void *b) {
    count_values(&dictionaries, -1, -bitmap_bytes(b));
    bitmap_free(b);
}

static void *copy(RedisModuleString *from, RedisModuleString *to, const void *b) {
    (void)from, (void)to;
    bitmap *copied = is_damaged(b) ? NULL : bitmap_copy(b);
    if (copied) count_values(&dictionaries, 1, bitmap_bytes(copied));
    return copied;
}

/* Digests all ids and names, which are the same for equal dictionaries, however they are divided. */
static void digest(RedisModuleDigest *d, void *b) {
    span name;
    uint64_t id = 0;
    for (; names_next(&main_worker, b, &id, NO_ID - 1, &name) == OK && id != NO_ID; id++) {
        RedisModule_DigestAddStringBuffer(d, (const char *)&id, sizeof id);
        RedisModule_DigestAddStringBuffer(d, (const char *)name.base, name.size);
    }
    RedisModule_DigestEndSequence(d);
}

int register_names(RedisModuleCtx *ctx) {
    static RedisModuleTypeMethods methods = {.version = REDISMODULE_TYPE_METHOD_VERSION,
                                             .rdb_load = load,
                                             .rdb_save = save,
                                             .aof_rewrite = rewrite,
                                             .digest = digest,
                                             .free = release,
                                             .copy = copy,
                                             .mem_usage = value_memory,
                                             .defrag = defrag_value,
                                             .free_effort = free_effort};
    uint64_t seed[2];
    RedisModule_GetRandomBytes((unsigned char *)seed, sizeof seed);
    names_seed(seed);
    dictionaries.type = RedisModule_CreateDataType(ctx, dictionaries.type_name, NAMES_VERSION, &methods);
    return dictionaries.type ? REDISMODULE_OK : REDISMODULE_ERR;
}
