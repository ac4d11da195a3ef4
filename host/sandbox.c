/* sandbox.c -- what all calls into the core share: the chosen core, traps, growth, and the census. */
#include "cpu.h"
#include "guard.h"
#include "workspace.h"

#include <time.h>

struct core core;
struct running current;
uint64_t sandbox_members[MEMBERS_BATCH];

static enum trap last_trap;
static census totals;           /* except bitmaps and bytes, which bitmap.c counts */
static uint32_t arena_most = ARENA_MOST;

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
    last_trap = trap;
    totals.traps++;
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
    if (b == NULL) sandbox_trap(TRAP_GROWTH);       /* functions that only read have no reason to grow */
    if (bytes > arena_most) leave(OUT_OF_MEMORY);
    uint64_t size = arena_bytes(b), ample = size + growth(size);
    if (ample > arena_most) ample = arena_most;
    bitmap *grown = bitmap_grow(b, ample > bytes ? ample : bytes);
    if (grown == NULL) grown = bitmap_grow(b, bytes);
    if (grown == NULL) leave(OUT_OF_MEMORY);
    current.growable = grown;
    current.grew = 1;
    return (span){arena(grown), arena_bytes(grown)};
}

void sandbox_take_members(void) {
    if (current.sink == NULL) sandbox_trap(TRAP_OUTPUT);
    current.sink(current.context, sandbox_members, MEMBERS_BATCH);
}

static struct {
    uint64_t milliseconds, started;                 /* 0: no limit; the clock has not started */
    int (*is_exempt)(const void *context);
    const void *context;
} time_limit;

void sandbox_limit_time(uint64_t milliseconds, int (*is_exempt)(const void *context), const void *context) {
    time_limit.milliseconds = milliseconds;
    time_limit.started = 0;
    time_limit.is_exempt = is_exempt;
    time_limit.context = context;
}

void sandbox_lift_time_limit(void) { time_limit.milliseconds = 0; }

/* Microseconds; never 0. */
static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000 + 1;
}

void sandbox_worked(void) {
    if (time_limit.milliseconds == 0) return;
    if (time_limit.started == 0) time_limit.started = now();
    else if (now() - time_limit.started > time_limit.milliseconds * 1000) {
        if (time_limit.is_exempt(time_limit.context)) {
            time_limit.milliseconds = 0;
            return;
        }
        totals.overdue++;
        leave(OUT_OF_TIME);
    }
}

const char *sandbox_last_trap(void) { return trap_text(last_trap); }

census sandbox_census(void) {
    census now = totals;
    bitmap_totals(&now.bitmaps, &now.bytes);
    if (workspace_bytes()) {                        /* the workspace is no key's value */
        now.bitmaps--;
        now.bytes -= workspace_bytes();
    }
    return now;
}

void count_refused(void) { totals.refused++; }
void count_damaged(void) { totals.damaged++; }

void sandbox_limit_arenas(uint32_t bytes) { arena_most = bytes < ARENA_MOST ? bytes : ARENA_MOST; }
uint32_t arena_limit(void) { return arena_most; }
