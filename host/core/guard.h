/* guard.h -- how reading.c, building.c and writing.c call the core.
 *
 * IN_CORE(w, &f, *result = w->core.function(w, ...)) makes a call with frame f; its value is a status. Traps and
 * failed growth leave the core by _longjmp, which skips frames of core code only: no function of the server
 * is on the stack in between, because a member sink returns before the core continues. _setjmp does not save
 * the signal mask, which would cost a system call. A worker makes one call at a time. */
#pragma once

#include <setjmp.h>

#include "core/operands.h"
#include "core/worker.h"

/* Runs `enter` and `work`, statements that call the core; its value is OK, or why the call was cut short.
 * C11 7.13.1.1 permits _setjmp only in a few contexts, among them this comparison. Locals that `work`
 * changes may be read afterwards only if the value is OK. */
#define GUARDED(w, enter, work)                 \
    ({                                          \
        status ended;                           \
        if (_setjmp((w)->current.leave) == 0) { \
            enter;                              \
            work;                               \
            ended = OK;                         \
        } else {                                \
            ended = (w)->current.ended;         \
        }                                       \
        ended;                                  \
    })

#define IN_CORE(w, f, work) GUARDED(w, (w)->core.enter(w, f), work)

/* For work that builds a bitmap, which built() ends, and for work that changes one, which wrote() ends. */
#define BUILDING_IN(w, f, work) GUARDED(w, (w)->core.enter(w, f), work; note_result(w))
#define CHANGING_IN(w, f, work) GUARDED(w, (w)->core.enter(w, f), work; note_waste(w))

/* Like BUILDING_IN, and sets `members` to the number of members of the bitmap that was built. */
#define COUNTING_IN(w, f, work, members) BUILDING_IN(w, f, work; (members) = members_held(w))

/* For work that reads or changes a bitmap and needs nothing else in the frame. */
#define READING(w, b, work) GUARDED(w, read_alone(w, b), work)
#define CHANGING(w, b, work) GUARDED(w, change_alone(w, b), work)

/* Notes how much of memory 0 is to be given back after a change. */
static inline void note_waste(worker *w) {
    w->current.wasteful = w->core.wasteful(w);
    w->current.cut_to = w->core.shrunkBytes(w);
}

/* Notes what the last segment of a result has, or the only one. */
static inline void note_result(worker *w) {
    w->current.used = w->core.used(w);
    if (w->closed == NULL) return;
    w->current.members = w->core.cardinality(w);
    if (w->current.members) w->current.first = w->core.start(w);
}

/* Members of memory 0, and of the segments of a result that are closed. The core counts modulo 2^64, so 0 means no offset or all of them. */
static inline cardinality members_held(worker *w) {
    cardinality members = w->core.cardinality(w);
    if (w->closed) members += root_members(w->closed, w->closed->count);
    return members || (w->closed == NULL && w->core.isEmpty(w)) ? members : TWO_TO_64;
}

static inline frame reading(worker *w, const bitmap *b) {
    w->current.growable = NULL;
    return (frame){.memory = span_of(b)};
}

static inline void read_alone(worker *w, const bitmap *b) {
    const frame f = reading(w, b);
    if (f.memory.of) w->core.enter(w, &f);
    else w->core.enter_alone(w, f.memory.base, f.memory.size);
}
