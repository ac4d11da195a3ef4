#include "server/keys.h"

RedisModuleKey *open_writable(call *c, int at) {
    RedisModuleKey *key = RedisModule_OpenKey(c->ctx, c->argv[at], REDISMODULE_READ | REDISMODULE_WRITE);
    if (key == NULL) reply_error(c, "TRYAGAIN Roaring: the key cannot be written while it is saved");
    return key;
}

/* Inlined, because it is part of every write of a single bit. */
__attribute__((always_inline)) static inline int open_to(call *c, enum replaced may_hold, int at,
                                                         open_key *k) {
    k->name = c->argv[at];
    k->key = open_writable(c, at);
    if (k->key == NULL) return 0;
    k->stored = k->value = bitmap_in(c, k->key);
    k->bytes = k->stored ? bitmap_bytes(k->stored) : 0;
    int right = may_hold == ANY_TYPE ? is_sound(c, k->stored) : is_right(c, k->key, k->stored);
    if (!right) abandon(k);
    return right;
}

int open_write(call *c, int at, open_key *k) { return open_to(c, BITMAP, at, k); }

/* Counts the key's value, b, which is new or has changed. */
static inline void count_value(call *c, open_key *k, const bitmap *b) {
    uint64_t bytes = bitmap_bytes(b);
    if (bytes != k->bytes) count_values(c->family, k->stored == NULL, bytes - k->bytes);
    k->bytes = bytes;
}

/* Makes b the key's value. A bitmap that it held is not freed. Any other old value is discarded, together
 * with its TTL. */
static void put(call *c, open_key *k, bitmap *b) {
    if (k->stored) RedisModule_ModuleTypeReplaceValue(k->key, c->family->type, b, NULL);
    else RedisModule_ModuleTypeSetValue(k->key, c->family->type, b);
    count_value(c, k, b);
}

/* Makes k->value an empty bitmap if the key is missing. */
static int create_missing(call *c, open_key *k) {
    if (k->value == NULL) k->value = bitmap_create(0);
    if (k->value) return 1;
    abandon(k);
    return reply_failure(c, OUT_OF_MEMORY);
}

int open_create(call *c, int at, open_key *k) { return open_to(c, BITMAP, at, k) && create_missing(c, k); }

/* Commands from the primary or from an AOF were accepted there. */
static int is_above_maxmemory(const call *c) {
    return !was_accepted(c) && (context_flags(c) & REDISMODULE_CTX_FLAGS_OOM) != 0;
}

int open_create_below_maxmemory(call *c, int at, open_key *k) {
    if (!open_write(c, at, k)) return 0;
    if (k->stored || !is_above_maxmemory(c)) return create_missing(c, k);
    abandon(k);
    return reply_error(c, "OOM command not allowed when used memory > 'maxmemory'.");
}

void abandon(open_key *k) { RedisModule_CloseKey(k->key); }

void announce_here(call *c, RedisModuleString *name, const char *event) {
    RedisModule_SignalModifiedKey(c->ctx, name);
    RedisModule_NotifyKeyspaceEvent(c->ctx, REDISMODULE_NOTIFY_STRING, event, name);
}

void announce(call *c, RedisModuleString *name, const char *event) {
    announce_here(c, name, event);
    RedisModule_ReplicateVerbatim(c->ctx);
}

void delete_key(call *c, RedisModuleString *name, RedisModuleKey *key, const char *event) {
    RedisModule_DeleteKey(key);
    RedisModule_CloseKey(key);
    announce(c, name, event);
    RedisModule_NotifyKeyspaceEvent(c->ctx, REDISMODULE_NOTIFY_GENERIC, "del", name);
}

int commit_silently(call *c, open_key *k, status done) {
    int created = k->stored == NULL;

    if (created && done != OK) bitmap_free(k->value);
    else if (k->value != k->stored) put(c, k, k->value);
    else count_value(c, k, k->value);
    RedisModule_CloseKey(k->key);
    return succeeded(c, done);
}

int commit(call *c, open_key *k, status done, int changed, const char *event) {
    if (!commit_silently(c, k, done)) return 0;
    if (k->stored == NULL || changed) announce(c, k->name, event);
    return 1;
}

static void replace(call *c, open_key *k, bitmap *b) {
    put(c, k, b);
    if (k->stored) RedisModule_SetExpire(k->key, REDISMODULE_NO_EXPIRE);
    bitmap_free(k->stored);
    RedisModule_CloseKey(k->key);
    announce(c, k->name, "set");
}

int store(call *c, int at, enum replaced replaced, bitmap *b) {
    open_key k;
    int opened = open_to(c, replaced, at, &k);

    if (opened) replace(c, &k, b);
    else bitmap_free(b);
    return opened;
}
