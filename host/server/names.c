/* names.c -- the data type of names for ids: its callbacks, and names as arguments. A payload is a string for each chunk, and an empty one. */
#include "server/names.h"

#include <stdlib.h>

#include "core/names.h"
#include "server/reply.h"
#include "server/saving.h"
#include "server/types.h"

#define NAMES_VERSION 1

family dictionaries = {
    .prefix = "RN.", .type_name = "roarnames", .label = "names", .bits = "32", .last = UINT32_MAX};

/* Adds the next chunk to *b. Returns 0 if it is the last one, or if loading fails: then *b is NULL. */
static int load_chunk(RedisModuleIO *rdb, bitmap **b) {
    char shown[LOGGABLE_BYTES];
    size_t length = 0;
    const char *fault = NULL;
    char *chunk = RedisModule_LoadStringBuffer(rdb, &length);
    status s = chunk && length ? names_load(&main_worker, b, chunk, length, &fault) : OK;
    RedisModule_Free(chunk);
    if (chunk && s == OK && fault == NULL) return length > 0;
    bitmap_free(*b);
    *b = NULL;
    if (chunk) { /* otherwise the server handles it: HANDLE_IO_ERRORS */
        RedisModule_LogIOError(rdb, REDISMODULE_LOGLEVEL_WARNING,
                               "key '%s': invalid roarnames payload of %zu bytes: %s", key_of(rdb, shown),
                               length, s == OK ? fault : failure(&main_worker, s));
    }
    return 0;
}

static void *load(RedisModuleIO *rdb, int encver) {
    bitmap *b = encver == NAMES_VERSION ? bitmap_create(0) : NULL;
    if (b == NULL) {
        RedisModule_LogIOError(rdb, REDISMODULE_LOGLEVEL_WARNING, "cannot load roarnames of version %d",
                               encver);
        return NULL;
    }
    while (load_chunk(rdb, &b)) {}
    if (b) count_values(&dictionaries, 1, bitmap_bytes(b));
    return b;
}

/* Writes all chunks to an AOF, or without a key to an RDB file. */
static void write_chunks(worker *w, RedisModuleIO *io, RedisModuleString *key, const bitmap *b) {
    char shown[LOGGABLE_BYTES], *chunk = NULL;
    size_t length;
    status s = is_damaged(b) ? TRAPPED : OK;
    for (uint32_t i = 0; s == OK && (s = names_chunk(w, b, i, &chunk, &length)) == OK && chunk; i++) {
        if (key) RedisModule_EmitAOF(io, "RN.LOAD", "sb", key, chunk, length);
        else RedisModule_SaveStringBuffer(io, chunk, length);
        RedisModule_Free(chunk);
    }
    if (s == OK) return;
    RedisModule_LogIOError(io, REDISMODULE_LOGLEVEL_WARNING, "key '%s': saving only a part of it: %s",
                           key_of(io, shown), is_damaged(b) ? "it is damaged" : failure(w, s));
    if (s == OUT_OF_MEMORY) abort();
}

static void save(RedisModuleIO *rdb, void *b) {
    worker *w = begin_saving(rdb);
    write_chunks(w, rdb, NULL, b);
    end_saving(w);
    RedisModule_SaveStringBuffer(rdb, "", 0);
}

static void rewrite(RedisModuleIO *aof, RedisModuleString *key, void *b) {
    write_chunks(&main_worker, aof, key, b);
}

/* Digests all ids and names, which are the same for equal dictionaries, however they are divided. */
static void digest(RedisModuleDigest *d, void *b) {
    span name;
    uint64_t id = 0;
    for (; names_next(&main_worker, b, &id, &name) == OK && id != NO_ID; id++) {
        RedisModule_DigestAddStringBuffer(d, (const char *)&id, sizeof id);
        RedisModule_DigestAddStringBuffer(d, (const char *)name.base, name.size);
    }
    RedisModule_DigestEndSequence(d);
}

OWN_TYPE_CALLBACKS(dictionaries);

int register_names(RedisModuleCtx *ctx) {
    uint64_t seed[2];
    RedisModule_GetRandomBytes((unsigned char *)seed, sizeof seed);
    names_seed(seed);
    dictionaries.type = RedisModule_CreateDataType(ctx, dictionaries.type_name, NAMES_VERSION, &methods);
    return dictionaries.type ? REDISMODULE_OK : REDISMODULE_ERR;
}

/* --- Arguments --- */

void end_naming(naming *n) {
    operands_end(&n->names);
    RedisModule_Free(n->ids);
}

int begin_naming(call *c, int at, naming *n) {
    size_t length;
    operands_begin(&n->names);
    operands_add_span(&n->names, (span){0});
    n->changed = 0;
    n->ids = try_alloc((size_t)(c->argc - at) * sizeof *n->ids);
    if (n->ids == NULL) return reply_failure(c, OUT_OF_MEMORY);
    for (; at < c->argc; at++) {
        const char *text = RedisModule_StringPtrLen(c->argv[at], &length);
        operands_add_span(&n->names, (span){.base = (uint8_t *)text, .size = (uint32_t)length});
        if (length > 0 && length <= NAME_MOST) continue;
        end_naming(n);
        return reply_error(c, "ERR invalid name: must have 1 to %d bytes", NAME_MOST);
    }
    return 1;
}
