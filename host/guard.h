/* guard.h -- how reading.c, building.c and writing.c call the core.
 *
 * IN_CORE(&f, *result = core.function(...)) makes a call with frame f; its value is a status. Traps and
 * failed growth leave the core by _longjmp, which skips frames of core code only: no function of the server
 * is on the stack in between, because a member sink returns before the core continues. _setjmp does not save
 * the signal mask, which would cost a system call. Calls come from the server's main thread, one at a
 * time. */
#ifndef ROAR_GUARD_H
#define ROAR_GUARD_H

#include <setjmp.h>
#include <stdatomic.h>

#include "core.h"
#include "sandbox.h"

/* Variables of this library, which code can access without the global offset table. */
#define OURS __attribute__((visibility("hidden")))

/* The core of the chosen level. */
extern OURS PER_THREAD struct core core;

/* The call that is running. */
extern OURS PER_THREAD struct running {
    jmp_buf leave;
    bitmap *growable;           /* memory 0 if it may grow; NULL while reading */
    status ended;               /* why the last call that did not finish was cut short */
    int builds;                 /* memory 0 is the workspace */
    int grew;                   /* memory 0 has grown */
    uint32_t wasteful, used;
    uint32_t cut_to;            /* bytes that memory 0 should be cut to, 0 if it should stay */
    member_sink *sink;          /* NULL except in calls that list members */
    void *context;
} current;

/* Runs `enter` and `work`, statements that call the core; its value is OK, or why the call was cut short.
 * C11 7.13.1.1 permits _setjmp only in a few contexts, among them this comparison. Locals that `work`
 * changes may be read afterwards only if the value is OK. */
#define GUARDED(enter, work)               \
    ({                                     \
        status ended;                      \
        if (_setjmp(current.leave) == 0) { \
            enter;                         \
            work;                          \
            ended = OK;                    \
        } else {                           \
            ended = current.ended;         \
        }                                  \
        ended;                             \
    })

#define IN_CORE(f, work) GUARDED(core.enter(f), work)

/* For work that builds a bitmap, which built() ends, and for work that changes one, which wrote() ends. */
#define BUILDING_IN(f, work) GUARDED(core.enter(f), work; current.used = core.used())
#define CHANGING_IN(f, work) GUARDED(core.enter(f), work; note_waste())

/* Like BUILDING_IN, and sets `members` to the number of members of what was built. */
#define COUNTING_IN(f, work, members) BUILDING_IN(f, work; (members) = members_held())

/* For work that reads or changes a bitmap and needs nothing else in the frame. */
#define READING(b, work) GUARDED(read_alone(b), work)
#define CHANGING(b, work) GUARDED(change_alone(b), work)

/* Notes what is to be given back of memory 0 after a change. */
static inline void note_waste(void) {
    current.wasteful = core.wasteful();
    current.cut_to = core.shrunkBytes();
}

/* Members of memory 0. The core counts modulo 2^64, so 0 means no offset or all of them. */
static inline cardinality members_held(void) {
    uint64_t members = core.cardinality();
    return members || core.isEmpty() ? members : TWO_TO_64;
}

static inline frame reading(const bitmap *b) {
    current.growable = NULL;
    return (frame){.memory = span_of(b)};
}

static inline void read_alone(const bitmap *b) {
    current.growable = NULL;
    core.enter_alone(arena(b), arena_bytes(b));
}

/* Sorts them only if that is likely to bring offsets of the same container together. */
status group_offsets(uint64_t *offsets, uint32_t count);
/* Replaces *b by a bitmap of the same members without free blocks. */
status rewrite(bitmap **b);

/* Replaces *b by a bitmap with that change, which has *members members. `expected` is an estimate of the
 * bytes that it needs. */
status rebuild_range(bitmap **b, const stretch *r, uint64_t expected, cardinality *members);
/* Adds the members of `more` and sets *expected to 0; or changes nothing if it is quicker to build the
 * union, and sets *expected to the bytes that this may take. */
status merge_in_place(bitmap **b, const bitmap *more, cardinalities *members, uint64_t *expected);
/* Replaces *b by the union of both, which has *members members. */
status rebuild_union(bitmap **b, const bitmap *more, uint64_t expected, cardinality *members);

/* For the census. */
void count_refused(void);
void count_trap(void);
void count_damaged(void);
void count_overdue(void);

/* Whether sandbox_trap_count has been called since. */
int take_asked_trap(void);
/* The way of assembly/trap.ts that executes `unreachable`. */
#define WAY_UNREACHABLE 31

/* The most bytes that an arena may have. */
extern OURS _Atomic uint32_t arena_most;
static inline uint32_t arena_limit(void) { return atomic_load_explicit(&arena_most, memory_order_relaxed); }

#endif
