#include "server/saving.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "server/config.h"

/* A worker that no save uses, to spare the next one its preparation. */
static worker *_Atomic spare;

worker *begin_saving(RedisModuleIO *rdb) {
    worker *w = atomic_exchange(&spare, NULL);
    if (w) return w;
    w = try_alloc(sizeof *w);
    if (w == NULL) {
        RedisModule_LogIOError(rdb, REDISMODULE_LOGLEVEL_WARNING, "no memory to save with");
        abort();
    }
    worker_begin(w, wanted_level());
    return w;
}

void end_saving(worker *w) {
    worker *none = NULL;
    if (atomic_compare_exchange_strong(&spare, &none, w)) return;
    worker_end(w);
    RedisModule_Free(w);
}

/* An RDB file must hold a value for every key, so a damaged bitmap is saved as an empty one, with a line in
 * the log. If there is not enough memory to save an undamaged bitmap, the process ends, which the server
 * reports as a failed save: a file that lacks a value would be worse. */
static void save_with(worker *w, const family *f, RedisModuleIO *rdb, const bitmap *b) {
    char key[LOGGABLE_BYTES];
    char *payload;
    size_t length;

    status s = is_damaged(b) ? TRAPPED : core_serialize(w, b, f->format, &payload, &length);
    if (s == TRAPPED) {
        RedisModule_LogIOError(rdb, REDISMODULE_LOGLEVEL_WARNING,
                               "key '%s': saving an empty bitmap in its place: %s", key_of(rdb, key),
                               is_damaged(b) ? "it is damaged" : sandbox_last_trap(w));
        s = core_serialize(w, bitmap_empty(), f->format, &payload, &length);
    }
    if (s != OK) {
        RedisModule_LogIOError(rdb, REDISMODULE_LOGLEVEL_WARNING, "key '%s': cannot be saved: %s",
                               key_of(rdb, key), failure(w, s));
        abort();
    }
    RedisModule_SaveStringBuffer(rdb, payload, length);
    RedisModule_Free(payload);
}

void save_bitmap(const family *f, RedisModuleIO *rdb, const bitmap *b) {
    worker *w = begin_saving(rdb);
    save_with(w, f, rdb, b);
    end_saving(w);
}
