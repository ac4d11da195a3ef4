/* types.c -- the callbacks of the data types: loading, saving, copying, measuring, defragmenting, freeing.
 *
 * Loading, rewriting and digests call the core on the main thread, saving on any. Freeing does not call it, so
 * it may run in the lazy-free thread. */
#include "server/types.h"

#include <stdlib.h>
#include <string.h>

#include "core/values.h"
#include "server/saving.h"

/* The size of one command's payload in a rewritten AOF. */
#define CHUNK_BYTES (4 * 1024 * 1024)

/* The payload is one string, in the family's format. */
static void *load(const family *f, RedisModuleIO *rdb, int encver) {
    char shown[LOGGABLE_BYTES];
    size_t length;
    const char *fault;
    result r;

    if (encver != ENCODING_VERSION) {
        RedisModule_LogIOError(rdb, REDISMODULE_LOGLEVEL_WARNING, "%s of unknown version %d", f->type_name,
                               encver);
        return NULL;
    }
    char *bytes = RedisModule_LoadStringBuffer(rdb, &length);
    if (bytes == NULL) return NULL;             /* the server handles it: HANDLE_IO_ERRORS */
    const encoded p = {.format = f->format, .bytes = bytes, .length = length};
    status s = core_deserialize(&main_worker, &p, &r, &fault);
    RedisModule_Free(bytes);
    if (s == OK && fault == NULL) {
        count_values(f, 1, bitmap_bytes(r.b));
        return r.b;
    }
    RedisModule_LogIOError(rdb, REDISMODULE_LOGLEVEL_WARNING, "key '%s': invalid %s payload of %zu bytes: %s",
                           key_of(rdb, shown), f->type_name, length,
                           s == OK ? fault : failure(&main_worker, s));
    return NULL;
}

/* Ids and values of one command in a rewritten AOF. */
#define PAIRS 256

/* Writes SET commands. */
static status rewrite_values(RedisModuleIO *aof, RedisModuleString *key, const bitmap *b) {
    RedisModuleString *words[2 * PAIRS];
    numbers found = {0};
    status s = OK;
    uint64_t from = 0, length;
    do {
        char digits[COUNT_TEXT];
        found.count = 0;
        s = core_ask(&main_worker, &(asked){ASK_LIST, 2, (uint64_t[]){from, PAIRS}}, b, NULL, &found,
                     &length);
        for (size_t i = 0; i < found.count; i += 2) {
            const char *id = count_text(found.list[i], digits);
            words[i] = RedisModule_CreateString(NULL, id, strlen(id));
            words[i + 1] = RedisModule_CreateStringFromLongLong(NULL, (long long)found.list[i + 1]);
            from = found.list[i] + 1; /* 0 after the greatest id */
        }
        if (found.count > 0) RedisModule_EmitAOF(aof, "RI.SET", "sv", key, words, found.count);
        for (size_t i = 0; i < found.count; i++) RedisModule_FreeString(NULL, words[i]);
    } while (s == OK && found.count == 2 * PAIRS && from);
    RedisModule_Free(found.list);
    return s;
}

/* Writes IMPORT commands, one per chunk: together they are as long as the payload. For runs, lists of members
 * could be a thousand times longer. */
static status rewrite_chunks(const family *f, RedisModuleIO *aof, RedisModuleString *key, const bitmap *b) {
    uint64_t from = 0;
    uint32_t more = 1;
    status s = OK;

    while (s == OK && more) {
        bitmap *chunk;
        char *payload;
        size_t length;

        if ((s = core_slice(&main_worker, b, &from, CHUNK_BYTES, &chunk, &more)) != OK) break;
        if ((s = core_serialize(&main_worker, chunk, f->imported, &payload, &length)) == OK) {
            RedisModule_EmitAOF(aof, f->import, "sb", key, payload, length);
            RedisModule_Free(payload);
        }
        bitmap_free(chunk);
    }
    return s;
}

static void rewrite(const family *f, RedisModuleIO *aof, RedisModuleString *key, const bitmap *b) {
    char shown[LOGGABLE_BYTES];
    status s = is_damaged(b)      ? TRAPPED
             : f == &families[RI] ? rewrite_values(aof, key, b)
                                  : rewrite_chunks(f, aof, key, b);
    if (s == OK) return;
    RedisModule_LogIOError(aof, REDISMODULE_LOGLEVEL_WARNING, "key '%s': not in the AOF: %s",
                           key_of(aof, shown), is_damaged(b) ? "it is damaged" : failure(&main_worker, s));
    if (s == OUT_OF_MEMORY) abort();
}

size_t value_memory(const void *b) { return bitmap_memory(b); }

void release_value(const family *f, bitmap *b) {
    count_values(f, -1, -bitmap_bytes(b));
    bitmap_free(b);
}

/* In units of 64 KiB: the server frees a value in its background thread above 64 units. */
size_t free_effort(RedisModuleString *key, const void *b) {
    (void)key;
    return 1 + bitmap_bytes(b) / 65536;
}

/* For a damaged bitmap NULL, which makes COPY fail. */
void *copy_value(const family *f, const bitmap *b) {
    bitmap *copied = is_damaged(b) ? NULL : bitmap_copy(b);
    if (copied) count_values(f, 1, bitmap_bytes(copied));
    return copied;
}

static uint64_t moved;

static void move(RedisModuleDefragCtx *ctx, bitmap **b) {
    void *there = RedisModule_DefragAlloc(ctx, block_of(*b));
    if (there == NULL) return;
    *b = bitmap_moved(*b, there);
    moved++;
}

/* There is nothing to resume: DefragAlloc moves a block as a whole, or leaves it where it is. The servers' jemalloc moves
 * only blocks that share a slab, up to 14 KiB. A larger block has pages of its own, and moving it would free nothing,
 * so only small segments are tried, and no call copies more than these. */
int defrag_value(RedisModuleDefragCtx *ctx, RedisModuleString *key, void **b) {
    (void)key;
    if (bitmap_is_shared(*b)) return 0;
    root *r = root_of(*b);
    for (uint32_t i = 0; r && i < r->count; i++) {
        if (block_number(r->of[i].b)) move(ctx, &r->of[i].b);
    }
    move(ctx, (bitmap **)b);
    return 0;
}

uint64_t moved_bitmaps(void) { return moved; }

/* Digests the payload of the packed bitmap, which is the same for equal sets, whatever their containers. */
static void digest(const family *f, RedisModuleDigest *digest, const bitmap *b) {
    result packed;
    char *payload;
    size_t length;

    if (core_pack(&main_worker, b, &packed) == OK) {
        if (core_serialize(&main_worker, packed.b, f->format, &payload, &length) == OK) {
            RedisModule_DigestAddStringBuffer(digest, payload, length);
            RedisModule_Free(payload);
        }
        bitmap_free(packed.b);
    }
    RedisModule_DigestEndSequence(digest);
}

/* The server does not pass the family to callbacks, so each family has its own. */
TYPE_CALLBACKS;

/* Without unlink, because nothing outside of a value refers to it, and without aux_load and aux_save, because
 * there is nothing to save but the values. */
int register_types(RedisModuleCtx *ctx) {
    for (int i = 0; i < TYPES; i++) {
        family *f = &families[i];
        f->type = RedisModule_CreateDataType(ctx, f->type_name, ENCODING_VERSION, &methods[i]);
        if (f->type == NULL) return REDISMODULE_ERR;
    }
    return REDISMODULE_OK;
}
