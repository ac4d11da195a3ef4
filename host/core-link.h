/* core-link.h -- the interface between the compiled core (core.c, once per CPU level) and the sandbox that
 * calls it.
 *
 *   sandbox.c --> struct core (generated: build/core.h) --> core.c --> the core's imports --> sandbox.c
 *
 * To make a call, fill a frame, then call core->enter(&frame) and exported functions. enter() copies the
 * frame, but not what it points to: that must exist until the call ends. Each level handles one call at a
 * time, and imports must not call the core. */
#ifndef ROAR_CORE_LINK_H
#define ROAR_CORE_LINK_H

#include <stdint.h>

#include "per-thread.h"

/* A block of memory: writable as memory 0, otherwise read-only. `size` is exact, in bytes. */
typedef struct span {
    uint8_t *base;
    uint32_t size;
} span;

/* Everything that the core can access during one call. */
typedef struct frame {
    span memory;                    /* memory 0: the arena */
    const span *operands;           /* what left and right can show */
    uint32_t operand_count;
    uint64_t *arguments;            /* argument.value(i), argument.handBack() */
    uint32_t argument_count;
    uint8_t *output;                /* output.* appends here */
    uint64_t output_size;
} frame;

/* Why a call was cut short. */
enum trap {
    TRAP_MEMORY = 1,                /* an access outside memory 0 */
    TRAP_OPERAND,                   /* an access outside an operand, or a missing operand */
    TRAP_ARGUMENT,                  /* a missing argument */
    TRAP_OUTPUT,                    /* more output than the buffer holds */
    TRAP_ARITHMETIC,                /* division by zero, or a conversion out of range */
    TRAP_UNREACHABLE,               /* the core executed `unreachable` */
    TRAP_RECURSION,                 /* calls nested more deeply than any valid bitmap needs */
    TRAP_GROWTH                     /* sandbox_grow returned less than requested */
};

static inline const char *trap_text(enum trap trap) {
    switch (trap) {
    case TRAP_MEMORY: return "access outside the bitmap";
    case TRAP_OPERAND: return "access outside an operand";
    case TRAP_ARGUMENT: return "no such argument";
    case TRAP_OUTPUT: return "more output than announced";
    case TRAP_ARITHMETIC: return "arithmetic fault";
    case TRAP_UNREACHABLE: return "unreachable code";
    case TRAP_RECURSION: return "calls nested too deep";
    case TRAP_GROWTH: return "memory did not grow";
    }
    return "unknown trap";
}

/* Called by core.c, defined in sandbox.c. */

/* Ends the call by _longjmp. */
__attribute__((noreturn, cold)) void sandbox_trap(enum trap trap);

/* Makes memory 0, which is smaller, at least `bytes` bytes large. Keeps its content, and returns where it is
 * now. Ends the call by _longjmp if out of memory. */
span sandbox_grow(uint32_t bytes);

/* The core has done as many units of work as this last returned, or sandbox_first_work since the call began.
 * WORK_BATCH units take a few microseconds, or some milliseconds where containers are large. May end the call
 * by _longjmp. */
#define WORK_BATCH 1024
__attribute__((leaf, cold)) uint32_t sandbox_worked(void);
extern PER_THREAD uint32_t sandbox_first_work;

/* The core writes the members of a reply here, and calls sandbox_take_members when the buffer is full and a
 * member follows. */
#define MEMBERS_BATCH 4096
extern PER_THREAD uint64_t sandbox_members[MEMBERS_BATCH];
void sandbox_take_members(void);

#endif
