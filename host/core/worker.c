#include "core/worker.h"

#include <string.h>

#include "core/cpu.h"
#include "api/redismodule.h"

uint32_t segment_bytes = SEGMENT_BYTES_DEFAULT;
worker main_worker = {.first_work = FIRST_WORK};

const char *worker_begin(worker *w, const char *wanted) {
    const struct core *chosen = choose_core(wanted, w != &main_worker);
    if (chosen == NULL) return NULL;
    if (w != &main_worker) memset(w, 0, sizeof *w);
    w->core = *chosen;
    w->first_work = FIRST_WORK;
    return w->core.level;
}

void worker_end(worker *w) {
    bitmap_free(w->kept);
    RedisModule_Free(w->views);
    RedisModule_Free(w->known.text.base);
    RedisModule_Free(w->known.tree.base);
}
