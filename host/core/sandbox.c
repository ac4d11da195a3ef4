/* sandbox.c -- what all calls into the core share: the chosen core, traps, growth, and limits on time. */
#include "core/sandbox.h"

#include "core/census.h"
#include "core/guard.h"
#include "core/numbers.h"
#include "core/workspace.h"
#include "api/redismodule.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

/* Units of work that a brief call may do before the clock is read: a few large containers. */
#define FIRST_BRIEF_WORK 16

_Noreturn void sandbox_leave(worker *w, status why) {
    w->current.ended = why;
    _longjmp(w->current.leave, 1);
}

_Noreturn void sandbox_trap(worker *w, enum trap trap) {
    w->last_trap = trap_text(trap);
    count_trap();
    sandbox_leave(w, TRAPPED);
}

/* Below this size, an arena grows by what it needs: the slack of the allocator's size classes, if the server
 * reports it, is enough for bitmaps that grow bit by bit. */
#define GROWS_BY_CLASSES (1u << 20)

/* Segments for which a result has room when the first one is complete. */
#define CLOSED_ROOM 8

/* The least number of bytes by which memory 0 of `size` bytes grows. */
static uint64_t growth(worker *w, uint64_t size) {
    if (w->current.builds) return size;
    return RedisModule_MallocUsableSize && size < GROWS_BY_CLASSES ? 0 : size / 8;
}

span sandbox_grow(worker *w, uint32_t bytes) {
    bitmap *b = w->current.growable;
    if (b == NULL) sandbox_trap(w, TRAP_GROWTH); /* functions that only read have no reason to grow */
    const uint32_t most = arena_limit();
    if (bytes > most) sandbox_leave(w, OUT_OF_MEMORY);
    uint64_t size = arena_bytes(b), ample = size + growth(w, size);
    if (ample > most) ample = most;
    const uint64_t held = bitmap_bytes(b);
    bitmap *grown = bitmap_grow(b, ample > bytes ? ample : bytes);
    if (grown == NULL) grown = bitmap_grow(b, bytes);
    if (grown == NULL) sandbox_leave(w, OUT_OF_MEMORY);
    keep_growable(w, grown, held);
    w->current.grew = 1;
    return (span){.base = arena(grown), .size = arena_bytes(grown)};
}

span sandbox_close(worker *w, uint32_t used, uint32_t held, uint64_t first, uint64_t members) {
    bitmap *full = w->current.growable;
    if (!w->current.builds || (uint64_t)used + held > arena_bytes(full)) sandbox_trap(w, TRAP_GROWTH);
    if (w->closed == NULL) w->closed = root_make(CLOSED_ROOM);
    bitmap *next = w->closed && used <= arena_limit() ? workspace_next(held) : NULL;
    if (next == NULL) sandbox_leave(w, OUT_OF_MEMORY);
    memcpy(arena(next) + arena_bytes(next) - held, arena(full) + arena_bytes(full) - held, held);
    w->current.growable = next;
    full = bitmap_shrink(full, used);
    if (!root_add(&w->closed, (segment){first, members, full, 0})) {
        bitmap_free(full);
        sandbox_leave(w, OUT_OF_MEMORY);
    }
    return span_of(next);
}

span *sandbox_views(worker *w, const span *shown, uint32_t count) {
    if (count >= w->views_room) {
        const uint32_t room = count + count / 2 + OPERANDS_FEW;
        span *views = try_alloc(room * sizeof *views);
        if (views == NULL) sandbox_leave(w, OUT_OF_MEMORY);
        if (w->views) memcpy(views, w->views, w->views_room * sizeof *views);
        if (shown == w->views) shown = views;
        RedisModule_Free(w->views);
        w->views = views;
        w->views_room = room;
    }
    if (shown != w->views) memcpy(w->views, shown, count * sizeof *shown);
    return w->views;
}

void sandbox_limit_time(worker *w, uint64_t milliseconds, int (*is_exempt)(const void *context),
                        const void *context) {
    w->time_limit.milliseconds = milliseconds;
    w->time_limit.started = 0;
    w->time_limit.is_exempt = is_exempt;
    w->time_limit.context = context;
}

/* Microseconds; never 0. */
static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000 + 1;
}

void sandbox_be_brief(worker *w, const brief *limit, int (*may_offload)(void *context), void *context) {
    w->brevity.allowed = limit->microseconds;
    w->brevity.began = limit->reads_much ? now() : 0;
    w->brevity.done = 0;
    w->brevity.batch = w->first_work = limit->reads_much ? FIRST_BRIEF_WORK : FIRST_WORK;
    w->brevity.lists = limit->lists_much;
    w->brevity.may_offload = may_offload;
    w->brevity.context = context;
}

static void end_brevity(worker *w) {
    w->brevity.may_offload = NULL;
    w->first_work = FIRST_WORK;
}

void sandbox_watch(worker *w, _Atomic int *flag) { w->cancelled = flag; }

void sandbox_lift_time_limit(worker *w) {
    w->time_limit.milliseconds = 0;
    end_brevity(w);
}

void sandbox_lend_limits(worker *w, limits *l) {
    if (w->time_limit.started == 0) w->time_limit.started = now();
    *l = (limits){w->time_limit, w->cancelled};
}

void sandbox_borrow_limits(worker *w, const limits *l) {
    w->time_limit = l->time;
    w->cancelled = l->cancelled;
}

void sandbox_return_limits(worker *w) {
    w->time_limit.milliseconds = 0;
    w->cancelled = NULL;
}

/* For a call that should be brief and is not: NOT_BRIEF if it may be offloaded. Checks that only once. */
static status end_long_call(worker *w) {
    int (*may_offload)(void *context) = w->brevity.may_offload;
    end_brevity(w);
    return may_offload(w->brevity.context) ? NOT_BRIEF : OK;
}

static int is_cancelled(worker *w) {
    return w->cancelled && atomic_load_explicit(w->cancelled, memory_order_relaxed);
}

static status check_time_limit(worker *w) {
    if (w->time_limit.milliseconds == 0) return OK;
    if (w->time_limit.started == 0) {
        w->time_limit.started = now();
        return OK;
    }
    if (now() - w->time_limit.started <= w->time_limit.milliseconds * 1000) return OK;
    if (w->time_limit.is_exempt(w->time_limit.context)) {
        w->time_limit.milliseconds = 0;
        return OK;
    }
    /* Other threads may share the call, which counts once. */
    if (w->cancelled == NULL || atomic_exchange(w->cancelled, 1) == 0) count_overdue();
    return OUT_OF_TIME;
}

static status check_limits(worker *w) { return is_cancelled(w) ? OUT_OF_TIME : check_time_limit(w); }

void sandbox_take_members(worker *w) {
    if (w->current.sink == NULL) sandbox_trap(w, TRAP_OUTPUT);
    status s = check_limits(w);
    if (s != OK) sandbox_leave(w, s);
    if (w->brevity.may_offload && w->brevity.lists && end_long_call(w) != OK) sandbox_leave(w, NOT_BRIEF);
    if (w->current.sink != take_numbers) end_brevity(w); /* the sink may reply */
    w->current.sink(w->current.context, w->members, MEMBERS_BATCH);
}

/* Sets the next batch to the work that takes about half of the time left, judging by the work so far. */
static void set_brief_batch(worker *w, uint64_t time) {
    w->brevity.done += w->brevity.batch;
    uint64_t left = w->brevity.began + w->brevity.allowed - time;
    uint64_t work = w->brevity.done * left / (time - w->brevity.began + 1) / 2;
    if (work > WORK_BATCH) work = WORK_BATCH;
    w->brevity.batch = work > FIRST_BRIEF_WORK ? (uint32_t)work : FIRST_BRIEF_WORK;
}

static status check_brevity(worker *w) {
    uint64_t time = now();
    if (w->brevity.began == 0) {
        w->brevity.began = time;
        w->brevity.batch = FIRST_BRIEF_WORK;
    } else if (time > w->brevity.began + w->brevity.allowed) {
        return end_long_call(w);
    } else {
        set_brief_batch(w, time);
    }
    return OK;
}

status sandbox_check_time(worker *w) {
    status s = check_limits(w);
    return s == OK && w->brevity.may_offload ? check_brevity(w) : s;
}

uint32_t sandbox_worked(worker *w) {
    status s = sandbox_check_time(w);
    if (s != OK) sandbox_leave(w, s);
    return w->brevity.may_offload ? w->brevity.batch : WORK_BATCH;
}
