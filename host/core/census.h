/* census.h -- what INFO shows about bitmaps and the core, and limits that tests set. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "core/worker.h"

/* The bitmaps in memory, and counters since the module was loaded. */
typedef struct census {
    uint64_t bitmaps, bytes;        /* in memory now */
    uint64_t refused;               /* payloads */
    uint64_t traps;
    uint64_t damaged;               /* bitmaps that became damaged */
    uint64_t overdue;               /* queries that were ended because they took too long */
} census;

census sandbox_census(void);

void count_refused(void);
void count_trap(void);
void count_damaged(void);
void count_overdue(void);

/* Whether sandbox_trap_count has been called since the last call of this function. */
int take_asked_trap(void);
/* The `way` for assembly/trap.ts to execute `unreachable`. */
#define WAY_UNREACHABLE 31

/* The most bytes that an arena may have. */
extern OURS _Atomic uint32_t arena_most;
static inline uint32_t arena_limit(void) { return atomic_load_explicit(&arena_most, memory_order_relaxed); }

/* Makes the next count trap, on whatever thread it runs. */
void sandbox_trap_count(void);
/* Makes arenas fail to grow beyond `bytes`. */
void sandbox_limit_arenas(uint32_t bytes);
