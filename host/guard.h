/* guard.h -- how reading.c, building.c and writing.c call the core.
 *
 * A call:  frame f = ...;  IN_CORE(&f, *result = core.function(...))  is OK, or what cut the call short. Traps and
 * failed growth leave the core by _longjmp, past core code only: nothing of the server is on the stack between the two,
 * because a member sink runs to its end before the core goes on. _setjmp does not save the signal mask, which would
 * cost a system call. Calls come from the server's main thread, one at a time. */
#ifndef ROAR_GUARD_H
#define ROAR_GUARD_H

#include <setjmp.h>

#include "core.h"
#include "sandbox.h"

/* Known to be in this library, so that code reaches them without a table of addresses. */
#define OURS __attribute__((visibility("hidden")))

/* The one that was chosen. */
extern OURS struct core core;

/* The call that is running. */
extern OURS struct running {
    jmp_buf leave;
    bitmap *growable;           /* memory 0 while it may grow; NULL while reading */
    status ended;               /* why the last call that was cut short was */
    int builds;                 /* whether memory 0 is the workspace */
    uint32_t wasteful, used;
    member_sink *sink;          /* NULL but in core_members */
    void *context;
} call;

/* Does `work`, statements that call the core, and is OK, or why it was cut short. C11 (7.13.1.1) allows _setjmp in few places:
 * such a condition is one. Local variables that `work` changes may be read afterwards only if it is OK. */
#define GUARDED(enter, work)            \
    ({                                  \
        status ended;                   \
        if (_setjmp(call.leave) == 0) { \
            enter;                      \
            work;                       \
            ended = OK;                 \
        } else {                        \
            ended = call.ended;         \
        }                               \
        ended;                          \
    })

#define IN_CORE(f, work) GUARDED(core.enter(f), work)

/* Work that builds a bitmap, for built(); and work that changes one, for wrote(). */
#define BUILDING_IN(f, work) GUARDED(core.enter(f), work; call.used = core.used())
#define CHANGING_IN(f, work) GUARDED(core.enter(f), work; call.wasteful = core.wasteful())

/* Work that reads a bitmap and needs nothing else; and work that changes one. */
#define READING(b, work) GUARDED(read_alone(b), work)
#define CHANGING(b, work) GUARDED(change_alone(b), work)

static inline frame reading(const bitmap *b) {
    call.growable = NULL;
    return (frame){.memory = {arena(b), b->size}};
}

static inline void read_alone(const bitmap *b) {
    call.growable = NULL;
    core.enter_alone(arena(b), b->size);
}

/* Brings offsets into ascending order; unless `always`, only where that is likely to bring neighbours together. */
status sort_offsets(uint64_t *offsets, uint32_t count, uint32_t always);
/* Makes *b a bitmap of the same members without holes. */
status rewrite(bitmap **b);

/* For the census. */
void count_refused(void);
void count_damaged(void);

/* How large an arena may become. */
uint32_t arena_limit(void);

#endif
