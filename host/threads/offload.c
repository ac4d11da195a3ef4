#include "threads/offload.h"

#include <string.h>

#include "threads/costs.h"
#include "server/keys.h"
#include "server/listing.h"
#include "server/main_thread.h"
#include "threads/offloaded.h"

/* Blocks to which only snapshots have references may take this many bytes, or half of the bytes of all
 * bitmaps. */
#define ONLY_RETAINED_LEAST (64u << 20)

/* Calls with up to this many arguments need no allocation to note the values that they open. */
#define FEW 64

static offload_report report;

offload_report report_offloads(void) { return report; }

static int is_write(const command *row) { return strncmp(row->flags, "write", strlen("write")) == 0; }

/* --- Threads ------------------------------------------------------------------------------------------- */

static void release_values(const offloaded *o) {
    for (int at = 0; at < o->argc; at++) {
        const bitmap *b = o->snapshot.values[at];
        if (b && b != NOT_OPENED) bitmap_release(b);
    }
}

/* While clients are paused, as before a failover, nothing may be written. */
static int is_paused(void) { return RedisModule_AvoidReplicaTraffic && RedisModule_AvoidReplicaTraffic(); }

/* Milliseconds between two checks whether clients are still paused. */
#define PAUSE_CHECK 10

/* Also the callback of the timer. */
static void unblock_when_unpaused(RedisModuleCtx *ctx, void *data) {
    offloaded *o = data;
    if (is_paused() && !o->cancelled) RedisModule_CreateTimer(ctx, PAUSE_CHECK, unblock_when_unpaused, o);
    else RedisModule_UnblockClient(o->client, o);
}

static void unblock_unpaused(offloaded *o) {
    RedisModule_ThreadSafeContextLock(o->ctx);
    unblock_when_unpaused(o->ctx, o);
    RedisModule_ThreadSafeContextUnlock(o->ctx);
}

/* Once the client is unblocked, the call belongs to the main thread again. The thread counts as idle shortly
 * before, so that it can share the client's next call. */
static void run(job *j, worker *w) {
    offloaded *o = (offloaded *)j;
    uint64_t started = now();
    RedisModule_BlockedClientMeasureTimeStart(o->client);
    w->helped = 0;
    if (!o->cancelled) run_offloaded(o, w);
    if (!o->stores) release_values(o);
    RedisModule_BlockedClientMeasureTimeEnd(o->client);
    o->microseconds = now() - started;
    o->saved = o->microseconds + w->helped;
    job_is_done();
    if (o->stores) unblock_unpaused(o);
    else RedisModule_UnblockClient(o->client, o);
}

/* --- Storing a result ---------------------------------------------------------------------------------- */

enum { UNCHANGED, CHANGED, GONE };

/* Whether the value of the key at `at` is still the one that was opened, `retained`. A retained block does not
 * change; a small one was copied, so the contents are compared. */
static int change_of(call *c, int at, const bitmap *retained) {
    RedisModuleKey *key = RedisModule_OpenKey(c->ctx, c->argv[at], REDISMODULE_READ);
    const bitmap *b = bitmap_in(c, key);
    const int empty = RedisModule_KeyType(key) == REDISMODULE_KEYTYPE_EMPTY;
    int same = b == retained && (b || empty);
    if (b && retained && !counts_references(b) && block_number(b) == block_number(retained)) {
        same = memcmp(arena(b), arena(retained), arena_bytes(b)) == 0;
    }
    RedisModule_CloseKey(key);
    return same ? UNCHANGED : empty ? GONE : CHANGED;
}

/* The first change found among the sources. */
static int change_of_sources(call *c, const offloaded *o) {
    int change = UNCHANGED;
    c->takes_integers = 1;
    for (int at = 0; change == UNCHANGED && at < o->argc; at++) {
        const bitmap *retained = o->snapshot.values[at];
        if (retained != NOT_OPENED) change = change_of(c, at, retained);
    }
    c->takes_integers = 0;
    return change;
}

/* Ends a write whose result a thread has computed: stores the result if the sources are unchanged. Otherwise
 * the main thread runs the handler again. In a cluster, a source that is gone may have moved to another node
 * together with its slot. Then the destination must not be created here. */
static int store_result(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    offloaded *o = RedisModule_GetBlockedClientPrivateData(ctx);
    call c = main_call(ctx, argv, argc, o->snapshot.family, o->row);

    if (!o->stores) return REDISMODULE_OK; /* it has replied with an error */
    if (is_paused()) return reply_error(&c, "TRYAGAIN Roaring: writes are paused");
    if (o->packed) {
        packing *p = o->packed;
        o->packed = NULL;
        return put_packed(&c, p);
    }
    const int change = change_of_sources(&c, o);
    if (change == UNCHANGED) {
        const result r = o->result;
        o->result.b = NULL;
        return store_and_count(&c, o->row->first, ANY_TYPE, r);
    }
    if (change == GONE && (context_flags(&c) & REDISMODULE_CTX_FLAGS_CLUSTER)) {
        return reply_error(&c, "TRYAGAIN Roaring: a source was deleted or moved meanwhile");
    }
    report.repeated++;
    o->row->handler(&c);
    sandbox_lift_time_limit(&main_worker);
    return REDISMODULE_OK;
}

/* --- Offloading ---------------------------------------------------------------------------------------- */

/* The offloaded calls whose clients wait, the newest first. */
static offloaded *newest;

static void list(offloaded *o) {
    o->newer = NULL;
    o->older = newest;
    if (newest) newest->newer = o;
    newest = o;
}

static void unlist(const offloaded *o) {
    if (o->newer) o->newer->older = o->older;
    else newest = o->older;
    if (o->older) o->older->newer = o->newer;
}

static void cancel(RedisModuleCtx *ctx, RedisModuleBlockedClient *client) {
    (void)ctx;
    for (offloaded *o = newest; o; o = o->older) {
        if (o->client == client) o->cancelled = 1;
    }
}

static void discard(offloaded *o) {
    for (int at = 0; at < o->argc; at++) RedisModule_FreeString(NULL, o->argv[at]);
    RedisModule_Free(o);
}

/* Ends a call whose reply has been sent, or whose client has gone. */
static void end_offloaded(RedisModuleCtx *ctx, void *data) {
    offloaded *o = data;
    (void)ctx;
    report.done++;
    if (o->microseconds > report.longest) report.longest = o->microseconds;
    account((int64_t)o->saved);
    if (!o->cancelled) learn_time(o->kind, o->argc, o->saved);
    if (o->stores) release_values(o);
    bitmap_free(o->result.b);
    packing_free(o->packed);
    unlist(o);
    RedisModule_FreeThreadSafeContext(o->ctx);
    discard(o);
}

/* Retains the values that the call has opened. */
static int retain_values(offloaded *o, const snapshot *opened) {
    o->snapshot = *opened;
    o->snapshot.offloaded = o;
    o->snapshot.values = (const bitmap **)(o->argv + o->argc);
    for (int at = 0; at < o->argc; at++) {
        const bitmap *b = opened->values[at], *retained = b;
        if (b && b != NOT_OPENED) retained = bitmap_retain(b);
        o->snapshot.values[at] = b && retained == NULL ? NOT_OPENED : retained;
        if (b == NULL || retained) continue;
        o->argc = at;
        return 0;
    }
    return 1;
}

static offloaded *make_offloaded(call *c, handler *run_there) {
    size_t each = sizeof(RedisModuleString *) + sizeof(bitmap *);
    offloaded *o = try_alloc(sizeof *o + (size_t)c->argc * each);
    if (o == NULL) return NULL;
    memset(o, 0, sizeof *o);
    o->argv = (RedisModuleString **)(o + 1);
    o->argc = c->argc;
    if (!retain_values(o, c->snapshot)) {
        release_values(o);
        RedisModule_Free(o);
        return NULL;
    }
    for (int at = 0; at < o->argc; at++) o->argv[at] = RedisModule_HoldString(NULL, c->argv[at]);
    o->row = c->row;
    o->snapshot.family = c->family;
    o->kind = kind_of(c, c->snapshot->bytes);
    o->handler = run_there;
    o->job.run = run;
    o->settings = *c->env->settings;
    o->string_limit = string_limit(c);
    random_seed(c, o->seed);
    return o;
}

static int offload(call *c, handler *run_there) {
    offloaded *o = make_offloaded(c, run_there);
    if (o == NULL) return 0;
    o->client = RedisModule_BlockClient(c->ctx, store_result, NULL, end_offloaded, 0);
    o->ctx = RedisModule_GetThreadSafeContext(o->client);
    RedisModule_SetDisconnectCallback(o->client, cancel);
    list(o);
    enqueue(&o->job);
    return 1;
}

/* Whether the client caches replies until the server reports that a key has been written. It must get its
 * reply before such a report, or it would keep a reply that is out of date. */
static int is_tracking(const call *c) {
    RedisModuleClientInfo info = {.version = 1};
    return RedisModule_GetClientInfoById
        && RedisModule_GetClientInfoById(&info, RedisModule_GetClientId(c->ctx)) == REDISMODULE_OK
        && info.flags & REDISMODULE_CLIENTINFO_FLAG_TRACKING;
}

/* Whether the server has all functions that threads need. */
static int can_block(void) {
    return RedisModule_HoldString && RedisModule_BlockClient && RedisModule_UnblockClient
        && RedisModule_SetDisconnectCallback && RedisModule_BlockedClientMeasureTimeStart
        && RedisModule_BlockedClientMeasureTimeEnd && RedisModule_GetThreadSafeContext
        && RedisModule_FreeThreadSafeContext && RedisModule_ThreadSafeContextLock
        && RedisModule_ThreadSafeContextUnlock && RedisModule_GetBlockedClientPrivateData
        && RedisModule_CreateTimer;
}

/* Whether the call cannot wait, or its client cannot. Servers before 7.0 build replies of threads in
 * RESP2. */
static int must_stay(const call *c) {
    int staying = REDISMODULE_CTX_FLAGS_LUA | REDISMODULE_CTX_FLAGS_MULTI | REDISMODULE_CTX_FLAGS_REPLICATED
                | REDISMODULE_CTX_FLAGS_LOADING | REDISMODULE_CTX_FLAGS_DENY_BLOCKING;
    if (!RedisModule_TryAlloc) staying |= REDISMODULE_CTX_FLAGS_RESP3;
    return (context_flags(c) & staying) != 0 || (!is_write(c->row) && is_tracking(c));
}

static uint64_t only_retained_most(void) {
    uint64_t bitmaps, bytes;
    bitmap_totals(&bitmaps, &bytes);
    return bytes / 2 > ONLY_RETAINED_LEAST ? bytes / 2 : ONLY_RETAINED_LEAST;
}

static int may_offload(void *context) {
    const call *c = context;
    if (!can_block() || must_stay(c)) return 0;
    int may = !is_queue_full() && bitmap_bytes_only_retained() <= only_retained_most()
           && has_threads((uint32_t)c->env->settings->threads);
    report.stayed += !may;
    return may;
}

/* --- Handlers ------------------------------------------------------------------------------------------ */

static uint64_t from_bytes(const call *c) { return (uint64_t)c->env->settings->threads_from_bytes; }

static int offload_from(call *c, uint64_t bytes) {
    c->snapshot->offloads = bytes >= from_bytes(c) && may_offload(c);
    return c->snapshot->offloads;
}

/* Offloads the reply of a write, which lists members of b and takes as long as reading `bytes` bytes. On the
 * thread, `reply` finds b as the value of the command's first key. Returns 0 if the caller has to reply. */
static int offload_reply(call *c, handler *reply, const bitmap *b, uint64_t bytes) {
    snapshot s = {.family = c->family, .bytes = bitmap_bytes(b)};
    if (!c->env->settings->threads || bytes < from_bytes(c) || !may_offload(c)) return 0;
    s.values = try_alloc((size_t)c->argc * sizeof *s.values);
    if (s.values == NULL) return 0;
    for (int at = 0; at < c->argc; at++) s.values[at] = at == c->row->first ? b : NOT_OPENED;
    c->snapshot = &s;
    int left = offload(c, reply);
    c->snapshot = NULL;
    RedisModule_Free(s.values);
    return left;
}

static int list_first_key(call *c, int (*lister)(call *c, const bitmap *b, uint64_t members)) {
    const bitmap *b;
    cardinality count = 0;

    if (!open_read(c, 1, &b)) return REDISMODULE_OK;
    if (!succeeded(c, core_cardinality(c->worker, b, &count))) return REDISMODULE_OK;
    return lister(c, b, (uint64_t)count);
}

static int list_first_ascending(call *c) { return list_first_key(c, list_ascending); }
static int list_first_descending(call *c) { return list_first_key(c, list_descending); }

void reply_removed(call *c, const bitmap *b, uint64_t count, int is_descending) {
    handler *reply = is_descending ? list_first_descending : list_first_ascending;
    if (offload_reply(c, reply, b, count * LISTED_BYTES)) return;
    (is_descending ? list_descending : list_ascending)(c, b, count);
}

static int offload_at_once(call *c) {
    const uint32_t kind = kind_of(c, c->snapshot->bytes);
    if (!is_long(kind) || is_overdrawn() || !may_offload(c)) return 0;
    note_offloaded(kind);
    return c->snapshot->offloads = 1;
}

static int offload_listing(call *c, uint64_t listed) {
    uint64_t least = from_bytes(c);
    if (least == 0) return offload_from(c, 0);
    const brief limit = {brief_time(c->argc), c->snapshot->bytes >= least, listed >= least / LISTED_BYTES};
    if (limit.reads_much && offload_at_once(c)) return 1;
    sandbox_be_brief(c->worker, &limit, may_offload, c);
    return 0;
}

static int read_and_note(call *c, int at, const bitmap **b) {
    int opened = main_thread.open_read(c, at, b);
    c->snapshot->values[at] = *b;
    if (*b) c->snapshot->bytes += bitmap_bytes(*b);
    return opened;
}

/* Runs a call on the main thread that could not be offloaded. */
static void run_here(call *c) {
    c->family = c->snapshot->family;
    c->snapshot = NULL;
    c->env = &main_thread;
    c->row->handler(c);
}

static void run_noting(call *c, snapshot *s) {
    environment noting = main_thread;
    noting.open_read = read_and_note;
    noting.offloads = offload_from;
    noting.offloads_listing = offload_listing;
    c->snapshot = s;
    c->env = &noting;
    c->row->handler(c);
    if (c->ended == NOT_BRIEF) {
        learn_long(kind_of(c, s->bytes));
        s->offloads = 1;
    }
    if (s->offloads && !offload(c, c->row->handler)) run_here(c);
}

void run_or_offload(call *c) {
    const bitmap *few[FEW];
    size_t bytes = (size_t)c->argc * sizeof *few;
    snapshot s = {.values = c->argc <= FEW ? few : try_alloc(bytes), .family = c->family};
    if (s.values == NULL) {
        c->row->handler(c);
        return;
    }
    memset(s.values, 0xff, bytes); /* NOT_OPENED */
    account_for_copies();
    uint64_t started = is_overdrawn() ? now() : 0;
    run_noting(c, &s);
    if (started) account((int64_t)(now() - started));
    if (s.values != few) RedisModule_Free(s.values);
}
