/* census.c -- what INFO shows about bitmaps and the core. Any thread may count. */
#include <stdatomic.h>

#include "core/census.h"

#include "core/workspace.h"

/* Nothing else depends on these, so their order relative to other accesses is relaxed. */
static _Atomic uint64_t refused, traps, damaged, overdue;
_Atomic uint32_t arena_most = ARENA_MOST;

static void count(_Atomic uint64_t *events) { atomic_fetch_add_explicit(events, 1, memory_order_relaxed); }
static uint64_t read(_Atomic uint64_t *events) { return atomic_load_explicit(events, memory_order_relaxed); }

void count_refused(void) { count(&refused); }
void count_trap(void) { count(&traps); }
void count_damaged(void) { count(&damaged); }
void count_overdue(void) { count(&overdue); }

census sandbox_census(void) {
    census now = {.refused = read(&refused),
                  .traps = read(&traps),
                  .damaged = read(&damaged),
                  .overdue = read(&overdue)};
    bitmap_totals(&now.bitmaps, &now.bytes);
    if (workspace_bytes(&main_worker)) {                        /* the workspace is not a key's value */
        now.bitmaps--;
        now.bytes -= workspace_bytes(&main_worker);
    }
    return now;
}

void sandbox_limit_arenas(uint32_t bytes) {
    atomic_store_explicit(&arena_most, bytes < ARENA_MOST ? bytes : ARENA_MOST, memory_order_relaxed);
}

static _Atomic int trap_asked;

void sandbox_trap_count(void) { trap_asked = 1; }
int take_asked_trap(void) { return atomic_exchange(&trap_asked, 0); }
