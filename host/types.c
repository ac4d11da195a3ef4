/* types.c -- the callbacks of the data types: loading, saving, copying, measuring, defragmenting, freeing.
 *
 * Loading, rewriting and digests call the core on the main thread, saving on any. Freeing does not call it, so
 * it may run in the lazy-free thread. */
#include "types.h"

#include <stdlib.h>

#include "files.h"

/* The size of one command's payload in a rewritten AOF. */
#define CHUNK_BYTES (4 * 1024 * 1024)

family families[FAMILIES] = {
    [R] = {.prefix = "R.",
           .type_name = "reroaring",
           .label = "bitmap",
           .bits = "32",
           .last = UINT32_MAX,
           .format = NATIVE,
           .exported = PORTABLE,
           .imported = PORTABLE,
           .import = "R.IMPORT"},
    [R64] = {.prefix = "R64.",
             .type_name = "roaring64",
             .label = "bitmap64",
             .bits = "64",
             .last = UINT64_MAX,
             .format = WIDE,
             .exported = PORTABLE_WIDE,
             .imported = WIDE_PARTS,
             .import = "R64.IMPORT",
             .lenient = 1},
};

/* The payload is one string, in the family's format. */
static void *load(const family *f, RedisModuleIO *rdb, int encver) {
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
    status s = core_deserialize(&p, &r, &fault);
    RedisModule_Free(bytes);
    if (s == OK && fault == NULL) return r.b;
    RedisModule_LogIOError(rdb, REDISMODULE_LOGLEVEL_WARNING, "key '%s': invalid %s payload of %zu bytes: %s",
                           key_of(rdb), f->type_name, length, s == OK ? fault : failure(s));
    return NULL;
}

/* Writes IMPORT commands, one per chunk: together they are as long as the payload. Lists of members could be
 * a thousand times longer, for runs. */
static void rewrite(const family *f, RedisModuleIO *aof, RedisModuleString *key, const bitmap *b) {
    uint64_t from = 0;
    uint32_t more = 1;
    status s = is_damaged(b) ? TRAPPED : OK;

    while (s == OK && more) {
        bitmap *chunk;
        char *payload;
        size_t length;

        if ((s = core_slice(b, &from, CHUNK_BYTES, &chunk, &more)) != OK) break;
        if ((s = core_serialize(chunk, f->imported, &payload, &length)) == OK) {
            RedisModule_EmitAOF(aof, f->import, "sb", key, payload, length);
            RedisModule_Free(payload);
        }
        bitmap_free(chunk);
    }
    if (s == OK) return;
    RedisModule_LogIOError(aof, REDISMODULE_LOGLEVEL_WARNING, "key '%s': not in the AOF: %s", key_of(aof),
                           is_damaged(b) ? "it is damaged" : failure(s));
    if (s == OUT_OF_MEMORY) abort();
}

static void *load_r(RedisModuleIO *rdb, int encver) { return load(&families[R], rdb, encver); }
static void *load_r64(RedisModuleIO *rdb, int encver) { return load(&families[R64], rdb, encver); }
static void save_r(RedisModuleIO *rdb, void *b) { save_bitmap(&families[R], rdb, b); }
static void save_r64(RedisModuleIO *rdb, void *b) { save_bitmap(&families[R64], rdb, b); }
static void rewrite_r(RedisModuleIO *aof, RedisModuleString *key, void *b) {
    rewrite(&families[R], aof, key, b);
}
static void rewrite_r64(RedisModuleIO *aof, RedisModuleString *key, void *b) {
    rewrite(&families[R64], aof, key, b);
}

static size_t memory(const void *b) { return bitmap_memory(b); }

static void release(void *b) { bitmap_free(b); }

/* In units of 64 KiB: the server frees a value in its background thread above 64 units. */
static size_t free_effort(RedisModuleString *key, const void *b) {
    (void)key;
    return 1 + bitmap_memory(b) / 65536;
}

/* For a damaged bitmap NULL, which makes COPY fail. */
static void *copy(RedisModuleString *from, RedisModuleString *to, const void *b) {
    (void)from;
    (void)to;
    return is_damaged(b) ? NULL : bitmap_copy(b);
}

static uint64_t moved;

/* A bitmap is one block without pointers, so there is nothing to resume: DefragAlloc moves a block as a
 * whole, or leaves it where it is. The servers' jemalloc moves only blocks that share a slab, up to 14 KiB.
 * A larger block has pages of its own, and moving it would free nothing, so no call copies more than 14 KiB,
 * however large the bitmap is. */
static int defrag(RedisModuleDefragCtx *ctx, RedisModuleString *key, void **b) {
    (void)key;
    if (bitmap_is_shared(*b)) return 0;
    void *there = RedisModule_DefragAlloc(ctx, block_of(*b));
    if (there) {
        *b = bitmap_moved(*b, there);
        moved++;
    }
    return 0;
}

uint64_t moved_bitmaps(void) { return moved; }

/* Digests the payload of the packed bitmap, which is the same for equal sets, whatever their containers. */
static void digest(const family *f, RedisModuleDigest *digest, const bitmap *b) {
    bitmap *packed;
    char *payload;
    size_t length;

    if (core_pack(b, &packed) == OK) {
        if (core_serialize(packed, f->format, &payload, &length) == OK) {
            RedisModule_DigestAddStringBuffer(digest, payload, length);
            RedisModule_Free(payload);
        }
        bitmap_free(packed);
    }
    RedisModule_DigestEndSequence(digest);
}

static void digest_r(RedisModuleDigest *d, void *b) { digest(&families[R], d, b); }
static void digest_r64(RedisModuleDigest *d, void *b) { digest(&families[R64], d, b); }

int register_types(RedisModuleCtx *ctx) {
    RedisModuleTypeMethods methods = {
        .version = REDISMODULE_TYPE_METHOD_VERSION,
        .mem_usage = memory,
        .free = release,
        .copy = copy,
        .defrag = defrag,
        .free_effort = free_effort,
        .unlink = NULL,             /* nothing outside the value refers to it */
        .aux_load = NULL,           /* there is nothing to save but the values */
        .aux_save = NULL,
    };

    methods.rdb_load = load_r;
    methods.rdb_save = save_r;
    methods.aof_rewrite = rewrite_r;
    methods.digest = digest_r;
    families[R].type = RedisModule_CreateDataType(ctx, families[R].type_name, ENCODING_VERSION, &methods);
    methods.rdb_load = load_r64;
    methods.rdb_save = save_r64;
    methods.aof_rewrite = rewrite_r64;
    methods.digest = digest_r64;
    families[R64].type = RedisModule_CreateDataType(ctx, families[R64].type_name, ENCODING_VERSION, &methods);
    return families[R].type && families[R64].type ? REDISMODULE_OK : REDISMODULE_ERR;
}
