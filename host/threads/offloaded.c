#include "threads/offloaded.h"

#include "threads/sharing.h"
#include "server/reply.h"
#include "core/workspace.h"

static const offloaded *offloaded_of(const call *c) { return c->snapshot->offloaded; }

static int read_retained(call *c, int at, const bitmap **b) {
    *b = c->snapshot->values[at];
    return *b != NOT_OPENED || reply_error(c, "ERR Roaring: internal error (no such value in the snapshot)");
}

/* A call is offloaded only if none of the flags that handlers check is set. */
static int no_flags(const call *c) {
    (void)c;
    return 0;
}

static uint64_t former_string_limit(const call *c) { return offloaded_of(c)->string_limit; }

/* Some servers count errors in variables that only the main thread may use. */
static void send_error_locked(const call *c, const char *text) {
    RedisModule_ThreadSafeContextLock(c->ctx);
    RedisModule_ReplyWithError(c->ctx, text);
    RedisModule_ThreadSafeContextUnlock(c->ctx);
}

static void copy_seed(const call *c, uint64_t seed[SEED_WORDS]) {
    for (int i = 0; i < SEED_WORDS; i++) seed[i] = offloaded_of(c)->seed[i];
}

/* The main thread stores the result once this thread has ended the call. */
static int keep_result(call *c, int at, enum replaced replaced, result r) {
    (void)at;
    (void)replaced;
    c->snapshot->offloaded->result = r;
    c->snapshot->offloaded->stores = 1;
    return REDISMODULE_OK;
}

static int keep_packed(call *c, packing *p) {
    c->snapshot->offloaded->packed = p;
    c->snapshot->offloaded->stores = 1;
    return REDISMODULE_OK;
}

void run_offloaded(offloaded *o, worker *w) {
    const environment env = {
        .settings = &o->settings,
        .open_read = read_retained,
        .open_either = read_retained,
        .context_flags = no_flags,
        .string_limit = former_string_limit,
        .send_error = send_error_locked,
        .random_seed = copy_seed,
        .store_and_count = keep_result,
        .put_packed = keep_packed,
    };
    call c = {.ctx = o->ctx,
              .argv = o->argv,
              .argc = o->argc,
              .family = o->snapshot.family,
              .row = o->row,
              .worker = w,
              .env = &env,
              .snapshot = &o->snapshot};
    w->count_in_parts = count_in_parts;
    w->from_bytes = (uint64_t)o->settings.threads_from_bytes;
    sandbox_watch(w, &o->cancelled);
    o->handler(&c);
    sandbox_lift_time_limit(w);
    sandbox_watch(w, NULL);
    workspace_drop(w);
}
