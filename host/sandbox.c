/* sandbox.c -- what all calls into the core share: the chosen core, traps, growth, and limits on time. */
#include "cpu.h"
#include "guard.h"

#include <stdatomic.h>
#include <time.h>

PER_THREAD struct core core;
PER_THREAD struct running current;
PER_THREAD uint64_t sandbox_members[MEMBERS_BATCH];

/* What a call may do before it is asked for the time: so much that short ones are not, and where it has to be
 * brief, a few large containers. */
#define FIRST_WORK 128
#define FIRST_BRIEF_WORK 16
PER_THREAD uint32_t sandbox_first_work = FIRST_WORK;

static PER_THREAD const char *last_trap;

const char *sandbox_choose_level(const char *wanted) {
    const struct core *chosen = choose_core(wanted);
    if (chosen == NULL) return NULL;
    core = *chosen;
    return core.level;
}

static _Noreturn void leave(status why) {
    current.ended = why;
    _longjmp(current.leave, 1);
}

_Noreturn void sandbox_trap(enum trap trap) {
    last_trap = trap_text(trap);
    count_trap();
    leave(TRAPPED);
}

/* Arenas below this grow by what they need: the size classes of an allocator that can be asked are far enough
 * apart for bitmaps that grow bit by bit. */
#define GROWS_BY_CLASSES (1u << 20)

/* By how much memory 0 of `size` bytes grows at least. */
static uint64_t growth(uint64_t size) {
    if (current.builds) return size;
    return RedisModule_MallocUsableSize && size < GROWS_BY_CLASSES ? 0 : size / 8;
}

span sandbox_grow(uint32_t bytes) {
    bitmap *b = current.growable;
    if (b == NULL) sandbox_trap(TRAP_GROWTH); /* functions that only read have no reason to grow */
    const uint32_t most = arena_limit();
    if (bytes > most) leave(OUT_OF_MEMORY);
    uint64_t size = arena_bytes(b), ample = size + growth(size);
    if (ample > most) ample = most;
    bitmap *grown = bitmap_grow(b, ample > bytes ? ample : bytes);
    if (grown == NULL) grown = bitmap_grow(b, bytes);
    if (grown == NULL) leave(OUT_OF_MEMORY);
    current.growable = grown;
    current.grew = 1;
    return (span){arena(grown), arena_bytes(grown)};
}

static PER_THREAD struct time_limit time_limit;

/* See sandbox_be_brief; may_leave is NULL if there is no such limit. */
static PER_THREAD struct {
    uint64_t allowed, began; /* microseconds; began is 0 until the clock starts */
    uint32_t done, batch; /* units of work that were counted since; that will be next */
    int lists; /* a list of more than a batch is too long */
    int (*may_leave)(void *context);
    void *context;
} brevity;

static PER_THREAD _Atomic int *cancelled;

void sandbox_limit_time(uint64_t milliseconds, int (*is_exempt)(const void *context), const void *context) {
    time_limit.milliseconds = milliseconds;
    time_limit.started = 0;
    time_limit.is_exempt = is_exempt;
    time_limit.context = context;
}

/* Microseconds; never 0. */
static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000 + 1;
}

void sandbox_be_brief(const brief *limit, int (*may_leave)(void *context), void *context) {
    brevity.allowed = limit->microseconds;
    brevity.began = limit->reads_much ? now() : 0;
    brevity.done = 0;
    brevity.batch = sandbox_first_work = limit->reads_much ? FIRST_BRIEF_WORK : FIRST_WORK;
    brevity.lists = limit->lists_much;
    brevity.may_leave = may_leave;
    brevity.context = context;
}

static void end_brevity(void) {
    brevity.may_leave = NULL;
    sandbox_first_work = FIRST_WORK;
}

void sandbox_watch(_Atomic int *flag) { cancelled = flag; }

void sandbox_lift_time_limit(void) {
    time_limit.milliseconds = 0;
    end_brevity();
}

void sandbox_lend_limits(limits *l) {
    if (time_limit.started == 0) time_limit.started = now();
    *l = (limits){time_limit, cancelled};
}

void sandbox_borrow_limits(const limits *l) {
    time_limit = l->time;
    cancelled = l->cancelled;
}

void sandbox_return_limits(void) {
    time_limit.milliseconds = 0;
    cancelled = NULL;
}

/* For a call that should be brief and is not: NOT_BRIEF if it may leave. Asks that only once. */
static status end_long_call(void) {
    int (*may_leave)(void *context) = brevity.may_leave;
    end_brevity();
    return may_leave(brevity.context) ? NOT_BRIEF : OK;
}

static int is_cancelled(void) { return cancelled && atomic_load_explicit(cancelled, memory_order_relaxed); }

static status check_time_limit(void) {
    if (time_limit.milliseconds == 0) return OK;
    if (time_limit.started == 0) {
        time_limit.started = now();
        return OK;
    }
    if (now() - time_limit.started <= time_limit.milliseconds * 1000) return OK;
    if (time_limit.is_exempt(time_limit.context)) {
        time_limit.milliseconds = 0;
        return OK;
    }
    /* Other threads may share the question: it counts once. */
    if (cancelled == NULL || atomic_exchange(cancelled, 1) == 0) count_overdue();
    return OUT_OF_TIME;
}

static status check_limits(void) { return is_cancelled() ? OUT_OF_TIME : check_time_limit(); }

void sandbox_take_members(void) {
    if (current.sink == NULL) sandbox_trap(TRAP_OUTPUT);
    status s = check_limits();
    if (s != OK) leave(s);
    if (brevity.may_leave && brevity.lists && end_long_call() != OK) leave(NOT_BRIEF);
    end_brevity(); /* the sink may reply */
    current.sink(current.context, sandbox_members, MEMBERS_BATCH);
}

/* Sets how much work will take about half of what is left of a brief call, by what its work took so far. */
static void set_brief_batch(uint64_t time) {
    brevity.done += brevity.batch;
    uint64_t left = brevity.began + brevity.allowed - time;
    uint64_t work = brevity.done * left / (time - brevity.began + 1) / 2;
    if (work > WORK_BATCH) work = WORK_BATCH;
    brevity.batch = work > FIRST_BRIEF_WORK ? (uint32_t)work : FIRST_BRIEF_WORK;
}

static status check_brevity(void) {
    uint64_t time = now();
    if (brevity.began == 0) {
        brevity.began = time;
        brevity.batch = FIRST_BRIEF_WORK;
    } else if (time > brevity.began + brevity.allowed) {
        return end_long_call();
    } else {
        set_brief_batch(time);
    }
    return OK;
}

status sandbox_check_time(void) {
    status s = check_limits();
    return s == OK && brevity.may_leave ? check_brevity() : s;
}

uint32_t sandbox_worked(void) {
    status s = sandbox_check_time();
    if (s != OK) leave(s);
    return brevity.may_leave ? brevity.batch : WORK_BATCH;
}

const char *sandbox_last_trap(void) { return last_trap; }
void sandbox_trapped_elsewhere(const char *trap) { last_trap = trap; }
