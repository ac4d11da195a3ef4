/* types.c -- what the server asks of a data type: saving, loading, copying, measuring, and freeing.
 *
 * Only loading and saving call the core. Freeing does not, so that it may happen in the lazy-free thread. */
#include "types.h"

#include "dump.h"
#include "sandbox.h"

family families[FAMILIES] = {
    [R] = {.prefix = "R.", .type_name = "reroaring", .label = "bitmap", .bits = "32", .last = UINT32_MAX, .format = 0},
    [R64] = {.prefix = "R64.", .type_name = "roaring64", .label = "bitmap64", .bits = "64", .last = UINT64_MAX, .format = 1, .lenient = 1},
};

/* Of the value that is being loaded or saved, where the server knows it. */
static const char *key_of(RedisModuleIO *io) {
    const RedisModuleString *key = RedisModule_GetKeyNameFromIO(io);
    return key ? RedisModule_StringPtrLen(key, NULL) : "(unknown)";
}

static const char *failure(status s) { return s == TRAPPED ? sandbox_last_trap() : "out of memory"; }

/* One string: see the formats of the two families. */
static void *load(const family *f, RedisModuleIO *rdb, int encver) {
    size_t length;
    const char *fault;
    bitmap *b = NULL;

    if (encver != ENCODING_VERSION) {
        RedisModule_LogIOError(rdb, REDISMODULE_LOGLEVEL_WARNING, "%s of unknown version %d", f->type_name, encver);
        return NULL;
    }
    char *payload = RedisModule_LoadStringBuffer(rdb, &length);
    if (payload == NULL) return NULL;           /* the server knows: HANDLE_IO_ERRORS */
    status s = core_deserialize(f->format, payload, length, &b, &fault);
    RedisModule_Free(payload);
    if (s == OK && fault == NULL) return b;
    RedisModule_LogIOError(rdb, REDISMODULE_LOGLEVEL_WARNING, "key '%.128s': invalid %s payload of %zu bytes: %s",
                           key_of(rdb), f->type_name, length, s == OK ? fault : failure(s));
    return NULL;
}

/* An RDB file has to hold something for every key: what cannot be saved is saved as an empty bitmap, and logged. */
static void save(const family *f, RedisModuleIO *rdb, const bitmap *b) {
    char *payload;
    size_t length;

    if (b->flags & BITMAP_DAMAGED) {
        RedisModule_LogIOError(rdb, REDISMODULE_LOGLEVEL_WARNING, "key '%.128s': saving a damaged bitmap", key_of(rdb));
    }
    status s = core_serialize(b, f->format, 0, 0, &payload, &length);
    if (s != OK) {
        RedisModule_LogIOError(rdb, REDISMODULE_LOGLEVEL_WARNING, "key '%.128s': saving an empty bitmap in its place: %s",
                               key_of(rdb), failure(s));
        bitmap *empty = bitmap_create(0);
        s = empty ? core_serialize(empty, f->format, 0, 0, &payload, &length) : OUT_OF_MEMORY;
        bitmap_free(empty);
        if (s != OK) return;
    }
    RedisModule_SaveStringBuffer(rdb, payload, length);
    RedisModule_Free(payload);
}

/* One RESTORE, whose size is the value's own: members would be a thousand times that where they lie in runs. */
static void rewrite(const family *f, RedisModuleIO *aof, RedisModuleString *key, const bitmap *b) {
    char *dumped;
    size_t length;

    status s = dump(f, b, &dumped, &length);
    if (s != OK) {
        RedisModule_LogIOError(aof, REDISMODULE_LOGLEVEL_WARNING, "key '%.128s': not written to the AOF: %s", key_of(aof), failure(s));
        return;
    }
    RedisModule_EmitAOF(aof, "RESTORE", "scb", key, "0", dumped, length);
    RedisModule_Free(dumped);
}

static void *load_r(RedisModuleIO *rdb, int encver) { return load(&families[R], rdb, encver); }
static void *load_r64(RedisModuleIO *rdb, int encver) { return load(&families[R64], rdb, encver); }
static void save_r(RedisModuleIO *rdb, void *b) { save(&families[R], rdb, b); }
static void save_r64(RedisModuleIO *rdb, void *b) { save(&families[R64], rdb, b); }
static void rewrite_r(RedisModuleIO *aof, RedisModuleString *key, void *b) { rewrite(&families[R], aof, key, b); }
static void rewrite_r64(RedisModuleIO *aof, RedisModuleString *key, void *b) { rewrite(&families[R64], aof, key, b); }

static size_t memory(const void *b) { return bitmap_memory(b); }

static void release(void *b) { bitmap_free(b); }

/* NULL makes COPY an error: a damaged bitmap is not to spread. */
static void *copy(RedisModuleString *from, RedisModuleString *to, const void *b) {
    (void)from, (void)to;
    return ((const bitmap *)b)->flags & BITMAP_DAMAGED ? NULL : bitmap_copy(b);
}

/* One block with nothing inside that points anywhere. */
static int defrag(RedisModuleDefragCtx *ctx, RedisModuleString *key, void **b) {
    (void)key;
    void *moved = RedisModule_DefragAlloc(ctx, *b);
    if (moved) *b = moved;
    return 0;
}

/* Of the payload of the packed bitmap: the same for equal sets, whatever their containers were. */
static void digest(const family *f, RedisModuleDigest *digest, const bitmap *b) {
    bitmap *packed;
    char *payload;
    size_t length;

    if (core_pack(b, &packed) == OK) {
        if (core_serialize(packed, f->format, 0, 0, &payload, &length) == OK) {
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
        .free_effort = NULL,        /* one free(), whatever the size: not worth a thread */
        .unlink = NULL,             /* nothing outside the value knows of it */
        .aux_load = NULL,           /* nothing to save but the values */
        .aux_save = NULL,
    };

    methods.rdb_load = load_r, methods.rdb_save = save_r, methods.aof_rewrite = rewrite_r, methods.digest = digest_r;
    families[R].type = RedisModule_CreateDataType(ctx, families[R].type_name, ENCODING_VERSION, &methods);
    methods.rdb_load = load_r64, methods.rdb_save = save_r64, methods.aof_rewrite = rewrite_r64, methods.digest = digest_r64;
    families[R64].type = RedisModule_CreateDataType(ctx, families[R64].type_name, ENCODING_VERSION, &methods);
    return families[R].type && families[R64].type ? REDISMODULE_OK : REDISMODULE_ERR;
}
