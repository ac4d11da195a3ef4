/* snapshot.c -- answers questions on threads, in the second build: what handlers ask the server for comes
 * from the question. Also saves bitmaps, on any thread. */
#include <stdlib.h>

#include "config.h"
#include "files.h"
#include "keys.h"
#include "listing.h"
#include "questions.h"
#include "workspace.h"

/* The handlers that may run here, by the place of their row in the command table; generated. */
extern handler *const handlers_on_threads[];

/* The question that this thread answers. */
static PER_THREAD const question *volatile asked;

/* The first access to a thread's variables may allocate them. Where that clobbers registers that the
 * compiler relies on (glibc before 2.40, with TLS descriptors), nothing must be in them: here, nothing is. */
__attribute__((noinline)) static void touch_variables(void) { asked = NULL; }

static PER_THREAD int prepared;

static void prepare(void) {
    touch_variables();
    if (!prepared) sandbox_choose_level(wanted_level());
    prepared = 1;
}

void start_answering(void) { prepare(); }

void answer_question(question *q) {
    call c = {q->ctx, q->argv, q->argc, q->snapshot.family, q->row, &q->snapshot};
    asked = q;
    sandbox_watch(&q->cancelled);
    handlers_on_threads[q->row - commands](&c);
    sandbox_lift_time_limit();
    sandbox_watch(NULL);
    workspace_drop();
}

int open_read(call *c, int at, const bitmap **b) {
    *b = c->snapshot->values[at];
    return *b != not_opened || reply_error(c, "ERR Roaring: internal error (no such value in the snapshot)");
}

int open_either(call *c, int at, const bitmap **b) {
    c->family = asked->found;
    return open_read(c, at, b);
}

/* A question leaves only if none of the flags that anybody asks for is set. */
int context_flags(const call *c) {
    (void)c;
    return 0;
}

uint64_t string_limit(const call *c) {
    (void)c;
    return asked->string_limit;
}

/* Some servers count errors in variables that only the main thread may use. */
void send_error(const call *c, const char *text) {
    RedisModule_ThreadSafeContextLock(c->ctx);
    RedisModule_ReplyWithError(c->ctx, text);
    RedisModule_ThreadSafeContextUnlock(c->ctx);
}

void random_seed(const call *c, uint64_t seed[SEED_WORDS]) {
    (void)c;
    for (int i = 0; i < SEED_WORDS; i++) seed[i] = asked->seed[i];
}

/* The main thread stores it, once this thread has ended the call. */
int store_and_count(call *c, int at, enum replaced replaced, result r) {
    (void)at;
    (void)replaced;
    c->snapshot->question->result = r;
    c->snapshot->question->stores = 1;
    return REDISMODULE_OK;
}

/* The members that these commands have removed. */
static int list_removed(call *c, int (*list)(call *c, const bitmap *b, uint64_t members)) {
    cardinality members = 0;
    const bitmap *removed = c->snapshot->values[c->row->first];
    if (!succeeded(c, core_cardinality(removed, &members))) return REDISMODULE_OK;
    return list(c, removed, (uint64_t)members);
}

int popmin_command(call *c) { return list_removed(c, list_ascending); }
int popmax_command(call *c) { return list_removed(c, list_descending); }

uint64_t asked_from_bytes(void) { return asked->from_bytes; }
uint64_t reply_limit(void) { return asked->reply_limit; }
uint64_t reply_limit_bytes(void) { return asked->reply_limit_bytes; }
uint64_t question_ms(void) { return asked->question_ms; }
int wants_strings(void) { return asked->strings; }

/* It has left already. */
int leaves(call *c, uint64_t listed) {
    (void)c;
    (void)listed;
    return 0;
}

int leaves_for(call *c, uint64_t bytes) {
    (void)c;
    (void)bytes;
    return 0;
}

void leave_now(call *c) { (void)c; }

/* An RDB file must hold a value for every key, so a damaged bitmap is saved as an empty one, with a line in
 * the log. If there is not enough memory to save an undamaged bitmap, the process ends, which the server
 * reports as a failed save: a file that lacks a value would be worse. */
void save_bitmap(const family *f, RedisModuleIO *rdb, const bitmap *b) {
    char *payload;
    size_t length;

    prepare();
    status s = is_damaged(b) ? TRAPPED : core_serialize(b, f->format, &payload, &length);
    if (s == TRAPPED) {
        RedisModule_LogIOError(rdb, REDISMODULE_LOGLEVEL_WARNING,
                               "key '%s': saving an empty bitmap in its place: %s", key_of(rdb),
                               is_damaged(b) ? "it is damaged" : sandbox_last_trap());
        s = core_serialize(bitmap_empty(), f->format, &payload, &length);
    }
    if (s != OK) {
        RedisModule_LogIOError(rdb, REDISMODULE_LOGLEVEL_WARNING, "key '%s': cannot be saved: %s",
                               key_of(rdb), failure(s));
        abort();
    }
    RedisModule_SaveStringBuffer(rdb, payload, length);
    RedisModule_Free(payload);
}
