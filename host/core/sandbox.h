/* sandbox.h -- what ends a call into the compiled core early: traps, lack of memory, and limits on time.
 *
 * During a call the core can access one arena, the call's operands, and nothing else; any other access ends
 * the call with TRAPPED. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "core/worker.h"

/* The reason for the last trap, in a few words. */
static inline const char *sandbox_last_trap(const worker *w) { return w->last_trap; }

/* --- How long calls may take --- */

/* Ends calls that work for longer than this with OUT_OF_TIME, unless the context is exempt, which is checked
 * only when the time is up. Successive calls share the time. 0 milliseconds: no limit. The clock starts once
 * a call turns out to be more than a few microseconds of work. */
void sandbox_limit_time(worker *w, uint64_t milliseconds, int (*is_exempt)(const void *context),
                        const void *context);
/* When a call is too long for the main thread. */
typedef struct brief {
    uint64_t microseconds;          /* of work */
    int reads_much; /* the clock starts at once, not after the first microseconds of work */
    int lists_much; /* a list of more than MEMBERS_BATCH members is too long in any case */
} brief;
/* Ends calls that exceed the limit with NOT_BRIEF if may_offload, which is called once, returns 1. Until
 * then, nothing is passed to a sink. */
void sandbox_be_brief(worker *w, const brief *limit, int (*may_offload)(void *context), void *context);
/* To be called every few microseconds during work outside the core: OK, or why the command should end. */
status sandbox_check_time(worker *w);
/* Removes both limits. Call it before the context goes away. */
void sandbox_lift_time_limit(worker *w);
/* Ends calls with OUT_OF_TIME once the flag is set, and sets it when the time is up; NULL for no flag. */
void sandbox_watch(worker *w, _Atomic int *flag);

/* The limits of a call that threads share. The clock starts when the limits are lent. */
typedef struct limits {
    struct time_limit time;
    _Atomic int *cancelled;
} limits;
void sandbox_lend_limits(worker *w, limits *l);
void sandbox_borrow_limits(worker *w, const limits *l);
void sandbox_return_limits(worker *w);

/* --- Called by core.c, defined in sandbox.c --- */

/* Ends the call by _longjmp with this status. */
__attribute__((noreturn, cold)) void sandbox_leave(worker *w, status why);

/* Makes b, to which memory 0 has moved, memory 0, which took `bytes` bytes before. */
static inline void keep_growable(worker *w, bitmap *b, uint64_t bytes) {
    root *r = w->current.row;
    w->current.growable = w->current.alone = b;
    if (r == NULL) return;
    r->of[w->current.row_at].b = b;
    r->bytes += bitmap_bytes(b) - bytes;
}

/* Ends the call by _longjmp. */
__attribute__((noreturn, cold)) void sandbox_trap(worker *w, enum trap trap);

/* Makes memory 0, which is smaller, at least `bytes` bytes large. Keeps its content, and returns where it is
 * now. Ends the call by _longjmp if out of memory. */
span sandbox_grow(worker *w, uint32_t bytes);

/* Makes the first `used` bytes of memory 0, the workspace, a segment of the result, and returns a new workspace that
 * ends with the same `held` bytes. Ends the call by _longjmp if out of memory. */
span sandbox_close(worker *w, uint32_t used, uint32_t held, uint64_t first, uint64_t members);

/* Makes room for another view, and returns all views. Ends the call by _longjmp if out of memory. */
span *sandbox_views(worker *w, const span *shown, uint32_t count);

/* Called when the core has done as many units of work as the last call returned, or at first the worker's
 * first_work. May end the call by _longjmp. */
__attribute__((leaf, cold)) uint32_t sandbox_worked(worker *w);

/* The buffer of members is full, and a member follows. */
void sandbox_take_members(worker *w);
