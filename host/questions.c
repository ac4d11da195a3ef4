/* questions.c -- hands long questions over to threads, and takes the answers. Main thread, but for work(). */
#include "questions.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "config.h"
#include "keys.h"

/* A call that reads a lot stays on the main thread for this long, in microseconds. Many a question over
 * large bitmaps is answered by then. The detour may double that: waking a thread, and another processor whose
 * caches are cold. */
#define BRIEF 1500

/* And for a microsecond more for each argument, which is what the detour takes for a key: to hold it, copy a
 * small bitmap, and read it again. Most questions over thousands of small bitmaps are answered by then. */
#define BRIEF_PER_ARGUMENT 1

/* So many kinds of questions are told apart, by as much of their second word. */
#define KINDS 1024
#define KIND_BYTES 64

/* The answer to more questions than this is not put off. */
#define WAITING_MOST 1024

/* Blocks that only snapshots hold may take this many bytes, or half of what all bitmaps take. */
#define HELD_ONLY_LEAST (64u << 20)

/* Calls with up to this many arguments need no allocation to note what they open. */
#define FEW 64

/* The core needs a fixed amount of it, some levels of recursion included. Some C libraries provide less. */
#define STACK_BYTES (8u << 20)

/* Names that C libraries have had since long before 2.34, where glibc moved them and gave them a version that
 * older ones lack. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SANITIZES_THREADS /* which replaces the newest versions */
#endif
#endif
#if defined(__GLIBC__) && !defined(SANITIZES_THREADS)
#if defined(__x86_64__)
#define OLD_VERSION "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define OLD_VERSION "GLIBC_2.17"
#endif
__asm__(".symver pthread_create,pthread_create@" OLD_VERSION);
__asm__(".symver pthread_attr_setstacksize,pthread_attr_setstacksize@" OLD_VERSION);
__asm__(".symver pthread_sigmask,pthread_sigmask@" OLD_VERSION);
#endif

const bitmap *const not_opened = (const bitmap *)-1;

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* --- Threads and their queue --------------------------------------------------------------------------- */

/* All but the atomic fields are used with the lock. INFO, which a crashed process writes, too, takes none. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* for threads without work */
    pthread_cond_t ended; /* for those that share theirs */
    question *first, *last;
    shared *shared; /* of which parts are left */
    uint32_t threads, most; /* how many there are; how many may run at once */
    enum held held;
    _Atomic uint32_t running, waiting;
    _Atomic uint32_t helping, helped; /* with what others share; how often */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .changed = PTHREAD_COND_INITIALIZER,
          .ended = PTHREAD_COND_INITIALIZER};

static int may_begin(void) { return pool.held != HOLD_QUESTIONS && pool.running + pool.helping < pool.most; }

static question *take_question(void) {
    question *q = pool.first;
    pool.first = q->next;
    pool.waiting--;
    pool.running++;
    return q;
}

static void let_go(const question *q) {
    for (int at = 0; at < q->argc; at++) {
        const bitmap *b = q->snapshot.values[at];
        if (b && b != not_opened) bitmap_let_go(b);
    }
}

/* While clients are paused, as before a failover, nothing may be written. */
static int is_paused(void) { return RedisModule_AvoidReplicaTraffic && RedisModule_AvoidReplicaTraffic(); }

/* How often to check whether they still are, in milliseconds. */
#define PAUSE_CHECK 10

/* A timer's call. */
static void unblock_when_unpaused(RedisModuleCtx *ctx, void *data) {
    question *q = data;
    if (is_paused() && !q->cancelled) RedisModule_CreateTimer(ctx, PAUSE_CHECK, unblock_when_unpaused, q);
    else RedisModule_UnblockClient(q->client, q);
}

static void unblock_unpaused(question *q) {
    RedisModule_ThreadSafeContextLock(q->ctx);
    unblock_when_unpaused(q->ctx, q);
    RedisModule_ThreadSafeContextUnlock(q->ctx);
}

/* Once the client is unblocked, the question is the main thread's again. Before that the thread counts as
 * idle, so that what the client asks next can be shared with it. */
static void answer(question *q) {
    uint64_t started = now();
    RedisModule_BlockedClientMeasureTimeStart(q->client);
    if (!q->cancelled) answer_question(q);
    if (!q->stores) let_go(q);
    RedisModule_BlockedClientMeasureTimeEnd(q->client);
    q->microseconds = now() - started;
    pool.running--;
    if (q->stores) unblock_unpaused(q);
    else RedisModule_UnblockClient(q->client, q);
}

/* --- Parts of a question ------------------------------------------------------------------------------- */

uint32_t idle_threads(void) {
    pthread_mutex_lock(&pool.lock);
    uint32_t busy = pool.running + pool.helping + pool.waiting;
    uint32_t idle = busy < pool.most ? pool.most - busy : 0;
    pthread_mutex_unlock(&pool.lock);
    return idle;
}

/* As all functions whose names say so, called with the lock. */
static void unlist_locked(const shared *s) {
    for (shared **at = &pool.shared; *at; at = &(*at)->next) {
        if (*at != s) continue;
        *at = s->next;
        return;
    }
}

void begin_sharing(shared *s) {
    pthread_mutex_lock(&pool.lock);
    s->next = pool.shared;
    pool.shared = s;
    pthread_cond_broadcast(&pool.changed);
    pthread_mutex_unlock(&pool.lock);
}

int take_part(shared *s, uint32_t *part) {
    pthread_mutex_lock(&pool.lock);
    while (pool.held == HOLD_PARTS) pthread_cond_wait(&pool.ended, &pool.lock);
    int any = s->taken < s->parts;
    if (any) *part = s->taken++;
    if (s->taken == s->parts) unlist_locked(s);
    pthread_mutex_unlock(&pool.lock);
    return any;
}

void stop_sharing(shared *s) {
    pthread_mutex_lock(&pool.lock);
    s->taken = s->parts;
    unlist_locked(s);
    pthread_mutex_unlock(&pool.lock);
}

void end_sharing(shared *s) {
    pthread_mutex_lock(&pool.lock);
    while (s->helpers) pthread_cond_wait(&pool.ended, &pool.lock);
    pool.helped += (uint32_t)s->helped;
    pthread_mutex_unlock(&pool.lock);
}

static void help_locked(void) {
    shared *s = pool.shared;
    s->helped = 1;
    s->helpers++;
    pool.helping++;
    pthread_mutex_unlock(&pool.lock);
    s->help(s);
    pthread_mutex_lock(&pool.lock);
    pool.helping--;
    if (--s->helpers == 0) pthread_cond_broadcast(&pool.ended);
}

/* --- Threads ------------------------------------------------------------------------------------------- */

static void answer_locked(void) {
    question *q = take_question();
    pthread_mutex_unlock(&pool.lock);
    answer(q);
    pthread_mutex_lock(&pool.lock);
}

static void *work(void *unused) {
    (void)unused;
    use_all_processors();
    start_answering();
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        if (may_begin() && pool.first) answer_locked();
        else if (may_begin() && pool.shared) help_locked();
        else {
            pthread_cond_wait(&pool.changed, &pool.lock);
            continue;
        }
        if (pool.first || pool.shared) pthread_cond_signal(&pool.changed);
    }
    return NULL;
}

/* Signals that are sent to the process are for the server's threads. */
static int start_thread(void) {
    static const int handled[] = {SIGALRM, SIGHUP, SIGINT, SIGTERM, SIGCHLD, SIGPIPE, SIGUSR1};
    sigset_t blocked, before;
    pthread_attr_t attributes;
    pthread_t thread;

    sigemptyset(&blocked);
    for (size_t i = 0; i < sizeof handled / sizeof *handled; i++) sigaddset(&blocked, handled[i]);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    int failed = pthread_create(&thread, &attributes, work, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return !failed;
}

/* Starts threads when they are first needed; they never end. Returns 0 if there is none. */
static int has_threads(void) {
    pthread_mutex_lock(&pool.lock);
    pool.most = threads();
    while (pool.threads < pool.most && start_thread()) pool.threads++;
    int any = pool.threads > 0;
    pthread_mutex_unlock(&pool.lock);
    return any;
}

static void enqueue(question *q) {
    q->next = NULL;
    pthread_mutex_lock(&pool.lock);
    if (pool.first) pool.last->next = q;
    else pool.first = q;
    pool.last = q;
    pool.waiting++;
    pthread_cond_signal(&pool.changed);
    pthread_mutex_unlock(&pool.lock);
}

void questions_hold(enum held held) {
    pthread_mutex_lock(&pool.lock);
    pool.held = held;
    pthread_cond_broadcast(&pool.changed);
    pthread_cond_broadcast(&pool.ended);
    pthread_mutex_unlock(&pool.lock);
}

/* --- What threads save and cost the main thread -------------------------------------------------------- */

static questions_report report;

/* Microseconds: what threads have saved the main thread, less what copying blocks that they held has cost it.
 * Where all sources of all queries are written all the time, copies cost more than the answers would. While
 * the account is below 0, queries get more time on the main thread. What was saved long ago does not count. */
#define SAVED_MOST 100000
static int64_t saved = SAVED_MOST;

/* The most that one of them gets. */
#define REPAID_MOST 20000

static void account(int64_t microseconds) {
    saved += microseconds;
    if (saved > SAVED_MOST) saved = SAVED_MOST;
}

/* Counts the copies since the last time. */
static void account_for_copies(void) {
    static uint64_t counted;
    const uint64_t microseconds = bitmap_copying().microseconds;
    account((int64_t)(counted - microseconds));
    counted = microseconds;
}

questions_report report_questions(void) {
    questions_report r = report;
    const copying copies = bitmap_copying();
    r.copied = copies.bitmaps;
    r.copied_bytes = copies.bytes;
    r.running = pool.running;
    r.waiting = pool.waiting;
    r.helping = pool.helping;
    r.shared = pool.helped;
    return r;
}

/* --- What to expect ------------------------------------------------------------------------------------ */

/* How many questions of a kind are still to be handed over at once. Programs ask the same questions again and
 * again, and what the main thread has done of one by then would be lost. After so many, the main thread tries
 * again: a question that it would have answered in time may well take longer on a thread. */
static uint8_t at_once[KINDS];
#define AT_ONCE 16

static uint64_t brief_time(int arguments) { return BRIEF + (uint64_t)arguments * BRIEF_PER_ARGUMENT; }

static uint64_t repaid_time(void) {
    if (saved >= 0) return 0;
    return -saved < REPAID_MOST ? (uint64_t)-saved : REPAID_MOST;
}

/* What is likely to take as long: the same command, with as many arguments, of which the first is the same
 * (an operation, an expression, or a key), and about as many bytes to read. */
static uint32_t kind(const call *c) {
    size_t length;
    const char *text = RedisModule_StringPtrLen(c->argv[1], &length);
    uint64_t hash = (uint64_t)(c->row - commands) << 32 | (uint64_t)c->argc << 6;
    for (uint64_t bytes = c->snapshot->bytes; bytes; bytes >>= 1) hash++;
    if (length > KIND_BYTES) length = KIND_BYTES;
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3; /* FNV-1a */
    return (uint32_t)(hash ^ hash >> 32) % KINDS;
}

/* From what it took on a thread: up to twice as long as on the main thread. */
static void learn(const question *q) {
    if (q->microseconds <= brief_time(q->argc)) at_once[q->kind] = 0;
    else if (q->microseconds > 2 * brief_time(q->argc)) at_once[q->kind] = AT_ONCE;
}

static int is_write(const command *row) { return strncmp(row->flags, "write", strlen("write")) == 0; }

/* --- Storing a result ---------------------------------------------------------------------------------- */

enum { UNCHANGED, CHANGED, GONE };

/* What has become of the value of the key at `at`. Nobody changes a block that is held; of a small one there is
 * a copy. */
static int change_of(call *c, int at, const bitmap *held) {
    RedisModuleKey *key = RedisModule_OpenKey(c->ctx, c->argv[at], REDISMODULE_READ);
    const bitmap *b = bitmap_in(c, key);
    const int empty = RedisModule_KeyType(key) == REDISMODULE_KEYTYPE_EMPTY;
    int same = b == held && (b || empty);
    if (b && held && block_number(b) && block_number(b) == block_number(held)) {
        same = memcmp(arena(b), arena(held), arena_bytes(b)) == 0;
    }
    RedisModule_CloseKey(key);
    return same ? UNCHANGED : empty ? GONE : CHANGED;
}

/* The first change of a source. */
static int change_of_sources(call *c, const question *q) {
    int change = UNCHANGED;
    for (int at = 0; change == UNCHANGED && at < q->argc; at++) {
        const bitmap *held = q->snapshot.values[at];
        if (held != not_opened) change = change_of(c, at, held);
    }
    return change;
}

/* Ends a write whose result a thread has computed: stores it if its sources are what they were. If not, the
 * write is done here, from its beginning. In a cluster, a source that is gone may have moved to another node
 * with all of its slot, and the destination must not be created here. */
static int store_result(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    question *q = RedisModule_GetBlockedClientPrivateData(ctx);
    call c = {ctx, argv, argc, q->snapshot.family, q->row, NULL};

    if (!q->stores) return REDISMODULE_OK; /* it has replied with an error */
    if (is_paused()) return reply_error(&c, "TRYAGAIN Roaring: writes are paused");
    const int change = change_of_sources(&c, q);
    if (change == UNCHANGED) {
        const result r = q->result;
        q->result.b = NULL;
        return store_and_count(&c, q->row->first, ANY_TYPE, r);
    }
    if (change == GONE && (context_flags(&c) & REDISMODULE_CTX_FLAGS_CLUSTER)) {
        return reply_error(&c, "TRYAGAIN Roaring: a source was deleted or moved meanwhile");
    }
    report.repeated++;
    q->row->handler(&c);
    sandbox_lift_time_limit();
    return REDISMODULE_OK;
}

/* --- Handing over -------------------------------------------------------------------------------------- */

/* Questions whose clients wait. */
static question *newest;

static void list(question *q) {
    q->newer = NULL;
    q->older = newest;
    if (newest) newest->newer = q;
    newest = q;
}

static void unlist(const question *q) {
    if (q->newer) q->newer->older = q->older;
    else newest = q->older;
    if (q->older) q->older->newer = q->newer;
}

static void cancel(RedisModuleCtx *ctx, RedisModuleBlockedClient *client) {
    (void)ctx;
    for (question *q = newest; q; q = q->older) {
        if (q->client == client) q->cancelled = 1;
    }
}

static void discard(question *q) {
    for (int at = 0; at < q->argc; at++) RedisModule_FreeString(NULL, q->argv[at]);
    RedisModule_Free(q);
}

/* Ends a question that has been answered, or whose client has gone. */
static void end_question(RedisModuleCtx *ctx, void *data) {
    question *q = data;
    (void)ctx;
    report.done++;
    if (q->microseconds > report.longest) report.longest = q->microseconds;
    account((int64_t)q->microseconds);
    if (!q->cancelled) learn(q);
    if (q->stores) let_go(q);
    bitmap_free(q->result.b);
    unlist(q);
    RedisModule_FreeThreadSafeContext(q->ctx);
    discard(q);
}

/* Holds what the call has opened. */
static int hold(question *q, const snapshot *opened) {
    q->snapshot = *opened;
    q->snapshot.question = q;
    q->snapshot.values = (const bitmap **)(q->argv + q->argc);
    for (int at = 0; at < q->argc; at++) {
        const bitmap *b = opened->values[at], *held = b;
        if (b && b != not_opened) held = bitmap_hold(b);
        q->snapshot.values[at] = b && held == NULL ? not_opened : held;
        if (b == NULL || held) continue;
        q->argc = at;
        return 0;
    }
    return 1;
}

static question *make_question(call *c) {
    size_t each = sizeof(RedisModuleString *) + sizeof(bitmap *);
    question *q = try_alloc(sizeof *q + (size_t)c->argc * each);
    if (q == NULL) return NULL;
    memset(q, 0, sizeof *q);
    q->argv = (RedisModuleString **)(q + 1);
    q->argc = c->argc;
    if (!hold(q, c->snapshot)) {
        let_go(q);
        RedisModule_Free(q);
        return NULL;
    }
    for (int at = 0; at < q->argc; at++) q->argv[at] = RedisModule_HoldString(NULL, c->argv[at]);
    q->row = c->row;
    q->found = c->family;
    q->kind = kind(c);
    q->reply_limit = reply_limit();
    q->reply_limit_bytes = reply_limit_bytes();
    q->question_ms = question_ms();
    q->from_bytes = threads_from_bytes();
    q->strings = wants_strings();
    q->string_limit = string_limit(c);
    random_seed(c, q->seed);
    return q;
}

static int hand_over(call *c) {
    question *q = make_question(c);
    if (q == NULL) return 0;
    const RedisModuleCmdFunc reply = is_write(c->row) ? store_result : NULL;
    q->client = RedisModule_BlockClient(c->ctx, reply, NULL, end_question, 0);
    q->ctx = RedisModule_GetThreadSafeContext(q->client);
    RedisModule_SetDisconnectCallback(q->client, cancel);
    list(q);
    enqueue(q);
    return 1;
}

/* Whether the client caches replies until the server tells it that a key has been written. It must get its
 * answer before it is told, or it would keep an answer that is out of date. */
static int is_tracking(const call *c) {
    RedisModuleClientInfo info = {.version = 1};
    return RedisModule_GetClientInfoById
        && RedisModule_GetClientInfoById(&info, RedisModule_GetClientId(c->ctx)) == REDISMODULE_OK
        && info.flags & REDISMODULE_CLIENTINFO_FLAG_TRACKING;
}

/* Whether the server has all that threads need. What came with 6.0 and later is asked for. */
static int can_block(void) {
    return RedisModule_HoldString && RedisModule_BlockClient && RedisModule_UnblockClient
        && RedisModule_SetDisconnectCallback && RedisModule_BlockedClientMeasureTimeStart
        && RedisModule_BlockedClientMeasureTimeEnd && RedisModule_GetThreadSafeContext
        && RedisModule_FreeThreadSafeContext && RedisModule_ThreadSafeContextLock
        && RedisModule_ThreadSafeContextUnlock && RedisModule_GetBlockedClientPrivateData
        && RedisModule_CreateTimer;
}

/* Calls that cannot wait, or whose client does not. Servers before 7.0 build replies of threads in RESP2. */
static int must_stay(const call *c) {
    int staying = REDISMODULE_CTX_FLAGS_LUA | REDISMODULE_CTX_FLAGS_MULTI | REDISMODULE_CTX_FLAGS_REPLICATED
                | REDISMODULE_CTX_FLAGS_LOADING | REDISMODULE_CTX_FLAGS_DENY_BLOCKING;
    if (!RedisModule_TryAlloc) staying |= REDISMODULE_CTX_FLAGS_RESP3;
    return (context_flags(c) & staying) != 0 || (!is_write(c->row) && is_tracking(c));
}

static uint64_t held_only_most(void) {
    uint64_t bitmaps, bytes;
    bitmap_totals(&bitmaps, &bytes);
    return bytes / 2 > HELD_ONLY_LEAST ? bytes / 2 : HELD_ONLY_LEAST;
}

static int may_leave(void *context) {
    const call *c = context;
    if (!can_block() || must_stay(c)) return 0;
    int may = pool.waiting < WAITING_MOST && bitmap_bytes_held_only() <= held_only_most() && has_threads();
    report.stayed += !may;
    return may;
}

/* --- Handlers ------------------------------------------------------------------------------------------ */

int leaves_for(call *c, uint64_t bytes) {
    return c->snapshot && bytes >= threads_from_bytes() && may_leave(c) && hand_over(c);
}

int leaves_with(call *c, const bitmap *b, uint64_t bytes) {
    snapshot s = {.family = c->family, .bytes = arena_bytes(b)};
    if (!threads() || bytes < threads_from_bytes() || !may_leave(c)) return 0;
    s.values = try_alloc((size_t)c->argc * sizeof *s.values);
    if (s.values == NULL) return 0;
    for (int at = 0; at < c->argc; at++) s.values[at] = at == c->row->first ? b : not_opened;
    c->snapshot = &s;
    int left = hand_over(c);
    c->snapshot = NULL;
    RedisModule_Free(s.values);
    return left;
}

static int leaves_at_once(call *c) {
    uint8_t *left = &at_once[kind(c)];
    if (!*left || saved < 0 || !may_leave(c) || !hand_over(c)) return 0;
    --*left;
    return 1;
}

int leaves(call *c, uint64_t listed) {
    if (c->snapshot == NULL) return 0;
    uint64_t least = threads_from_bytes();
    if (least == 0) return leaves_for(c, 0);
    const brief limit = {brief_time(c->argc) + repaid_time(), c->snapshot->bytes >= least,
                         listed >= least / LISTED_BYTES};
    if (limit.reads_much && leaves_at_once(c)) return 1;
    sandbox_be_brief(&limit, may_leave, c);
    return 0;
}

void leave_now(call *c) {
    at_once[kind(c)] = AT_ONCE;
    c->snapshot->stays = !hand_over(c);
}

/* Answers a question that was to leave. */
static void answer_here(call *c) {
    c->family = c->snapshot->family;
    c->snapshot = NULL;
    c->row->handler(c);
}

void run_or_leave(call *c) {
    const bitmap *few[FEW];
    size_t bytes = (size_t)c->argc * sizeof *few;
    snapshot s = {.values = c->argc <= FEW ? few : RedisModule_Alloc(bytes), .family = c->family};
    memset(s.values, 0xff, bytes); /* not_opened */
    account_for_copies();
    uint64_t started = saved < 0 ? now() : 0;
    c->snapshot = &s;
    c->row->handler(c);
    if (s.stays) answer_here(c);
    if (started) account((int64_t)(now() - started));
    if (s.values != few) RedisModule_Free(s.values);
}
