/* core-link.h -- the seam between the compiled core (core.c, once per CPU level) and the sandbox that calls it.
 *
 *   sandbox.c --> struct core (generated: build/core.h) --> core.c --> imports of the core --> back into sandbox.c
 *
 * A call: fill a frame, core->enter(&frame), one exported function. Nothing of a frame is kept when the call is over, but
 * enter() copies only the pointers: what they point to must live until then. One call at a time per level, and no core
 * function may be called from within an import. */
#ifndef ROAR_CORE_LINK_H
#define ROAR_CORE_LINK_H

#include <stdint.h>

/* A readable block; as memory 0 also a writable one. `size` is exact to the byte. */
typedef struct span {
    uint8_t *base;
    uint32_t size;
} span;

/* All that one call of the core can see and touch. */
typedef struct frame {
    span memory;                    /* memory 0: the arena */
    const span *operands;           /* what left and right can be made to show */
    uint32_t operand_count;
    uint64_t *arguments;            /* argument.value(i), argument.handBack() */
    uint32_t argument_count;
    uint8_t *output;                /* where output.* appends */
    uint64_t output_size;
} frame;

/* Why a call was cut short. */
enum trap {
    TRAP_MEMORY = 1,                /* an access outside memory 0 */
    TRAP_OPERAND,                   /* an access outside an operand, or an operand that was not handed over */
    TRAP_ARGUMENT,                  /* an argument that was not handed over */
    TRAP_OUTPUT,                    /* more output than announced */
    TRAP_ARITHMETIC,                /* division by zero, or a conversion out of range */
    TRAP_UNREACHABLE,               /* the core gave up by itself */
    TRAP_RECURSION,                 /* calls nested deeper than any sound bitmap needs */
    TRAP_GROWTH                     /* sandbox_grow returned less than was asked for */
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

/* Leaves the call by longjmp. */
__attribute__((noreturn, cold)) void sandbox_trap(enum trap trap);

/* Makes memory 0 at least `bytes` large, keeping what it holds, and returns where it is now; leaves the call by
 * longjmp when that cannot be. Called only when memory 0 is smaller. */
span sandbox_grow(uint32_t bytes);

/* Where the core puts the members of a reply, and what it calls when so many are there and one more is to come. */
#define MEMBERS_BATCH 4096
extern uint64_t sandbox_members[MEMBERS_BATCH];
void sandbox_take_members(void);

#endif
