#include "server/saving.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "server/config.h"

/* A worker that no save uses, to spare the next one its preparation. */
static worker *_Atomic spare;

static worker *take_worker(void) {
    worker *w = atomic_exchange(&spare, NULL);
    if (w) return w;
    w = try_alloc(sizeof *w);
    if (w) worker_begin(w, wanted_level());
    return w;
}

static void return_worker(worker *w) {
    worker *none = NULL;
    if (atomic_compare_exchange_strong(&spare, &none, w)) return;
    worker_end(w);
    RedisModule_Free(w);
}

/* An RDB file must hold a value for every key, so a damaged bitmap is saved as an empty one, with a line in
 * the log. If there is not enough memory to save an undamaged bitmap, the process ends, which the server
 * reports as a failed save: a file that lacks a value would be worse. */
static void save_with(worker *w, serializer *serialize, RedisModuleIO *rdb, const bitmap *b) {
    char key[LOGGABLE_BYTES];
    char *payload;
    size_t length;

    status s = is_damaged(b) ? TRAPPED : serialize(w, b, &payload, &length);
    if (s == TRAPPED) {
        RedisModule_LogIOError(rdb, REDISMODULE_LOGLEVEL_WARNING,
                               "key '%s': saving an empty bitmap in its place: %s", key_of(rdb, key),
                               is_damaged(b) ? "it is damaged" : sandbox_last_trap(w));
        s = serialize(w, bitmap_empty(), &payload, &length);
    }
    if (s != OK) {
        RedisModule_LogIOError(rdb, REDISMODULE_LOGLEVEL_WARNING, "key '%s': cannot be saved: %s",
                               key_of(rdb, key), failure(w, s));
        abort();
    }
    RedisModule_SaveStringBuffer(rdb, payload, length);
    RedisModule_Free(payload);
}

void save_value(serializer *serialize, RedisModuleIO *rdb, const bitmap *b) {
    worker *w = take_worker();
    if (w == NULL) {
        RedisModule_LogIOError(rdb, REDISMODULE_LOGLEVEL_WARNING, "no memory to save with");
        abort();
    }
    save_with(w, serialize, rdb, b);
    return_worker(w);
}

static status serialize_R(worker *w, const bitmap *b, char **payload, size_t *length) {
    return core_serialize(w, b, families[R].format, payload, length);
}

static status serialize_R64(worker *w, const bitmap *b, char **payload, size_t *length) {
    return core_serialize(w, b, families[R64].format, payload, length);
}

void save_bitmap(const family *f, RedisModuleIO *rdb, const bitmap *b) {
    save_value(f == &families[R] ? serialize_R : serialize_R64, rdb, b);
}
