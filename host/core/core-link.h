/* core-link.h -- the interface between the compiled core (core.c, once per CPU level) and the sandbox that
 * calls it.
 *
 *   sandbox.c --> struct core (generated: build/core.h) --> core.c --> the core's imports --> sandbox.c
 *
 * To make a call, fill a frame, then call core->enter(worker, &frame) and exported functions. enter() copies
 * the frame, but not the memory that it points to, which must exist until the call ends. A worker makes one
 * call at a time, and imports must not call the core. */
#pragma once

#include <stdint.h>

/* A block of memory: writable as memory 0, otherwise read-only. `size` is exact, in bytes. If the memory is a
 * bitmap with segments, it shows segment `at` of root `of`. */
typedef struct span {
    uint8_t *base;
    uint32_t size, at;
    const struct root *of;
} span;

/* Everything that the core can access during one call. */
typedef struct frame {
    span memory; /* memory 0: the arena */
    const span *operands; /* what left and right can show */
    uint32_t operand_count;
    uint64_t *arguments; /* argument.value(i), argument.handBack() */
    uint32_t argument_count;
    uint8_t *output; /* output.* appends here */
    uint64_t output_size;
} frame;

/* Why a call was cut short. trap_text() has the texts in this order. */
enum trap {
    TRAP_MEMORY = 1, /* an access outside memory 0 */
    TRAP_OPERAND, /* an access outside an operand, or a missing operand */
    TRAP_ARGUMENT, /* a missing argument */
    TRAP_OUTPUT, /* more output than the buffer holds */
    TRAP_ARITHMETIC, /* division by zero, or a conversion out of range */
    TRAP_UNREACHABLE, /* the core executed `unreachable` */
    TRAP_RECURSION, /* calls nested more deeply than any valid bitmap needs */
    TRAP_GROWTH /* sandbox_grow returned less than requested */
};

static inline const char *trap_text(enum trap trap) {
    static const char *const texts[] = {
        "unknown trap",     "access outside the bitmap",  "access outside an operand",
        "no such argument", "more output than announced", "arithmetic fault",
        "unreachable code", "calls nested too deep",      "memory did not grow"};
    return texts[trap <= TRAP_GROWTH ? trap : 0];
}

/* What a thread needs to call the core, and keeps from call to call: worker.h. */
typedef struct worker worker;

/* All that changes while a call runs, besides memory 0 and the buffers of the host. The compiler knows
 * that no store of the core changes it, so it keeps fields in registers. The main thread's state is a
 * variable whose address is never taken (core.c). Other workers have their own, and the core's functions
 * pass it on. */
struct state {
    uint8_t *memory_base;
    uint64_t memory_size; /* 64 bits, so that a bounds check is an addition and a comparison */
    const uint8_t *left_base, *right_base; /* what left and right show */
    uint64_t left_size, right_size;
    uint32_t left_shown, right_shown; /* numbers of operands, or SELF */
    /* Of memory 0, as in a span. */
    uint32_t self_at;
    const struct root *self_of;
    int64_t work_left; /* work that may be done before sandbox_worked is called */
    uint32_t recursion;
    uint32_t member_count; /* in the worker's members */
    uint32_t operand_count, argument_count;
    /* Values handed back overwrite arguments already read; there are never more of them. is_deferred: see
     * argument.defer. */
    uint32_t handed_back_count, is_deferred;
    const span *operands;
    uint64_t *arguments;
    uint8_t *output;
    uint64_t output_size, output_used;
    uint64_t *members; /* the worker's */
    worker *worker;
};

/* Work between two calls of sandbox_worked, in units that the core counts: a few microseconds, or some
 * milliseconds where containers are large. */
#define WORK_BATCH 1024

/* The core writes the members of a reply to a buffer of this many. */
#define MEMBERS_BATCH 4096
