/* change.h -- the beginning and the end of calls that change memory 0. */
#pragma once

#include "core/building.h"
#include "core/guard.h"

/* Makes a bitmap that queries on threads still read a copy, or one that has the same members as another key. */
status make_changeable(bitmap **b);
/* To be entered with CHANGING_IN, and ended by wrote(). setting() also passes offsets. */
static inline frame writing(worker *w, bitmap *b) {
    frame f = reading(w, b);
    w->current.growable = b;
    w->current.wasteful = w->current.cut_to = w->current.grew = 0;
    return f;
}
frame setting(worker *w, bitmap *b, uint64_t *offsets, uint64_t count);
/* The rare part of wrote(). */
status rewritten_or_marked(worker *w, status s, bitmap **b);
/* Ends a call that wrote to *b, which is one arena: updates *b if the block moved, rewrites it if it has too many free
 * blocks or is so large that it becomes a bitmap with segments, or gives back the part of the block that is not needed,
 * and marks it as damaged after a trap. */
static inline status wrote(worker *w, status s, bitmap **b) {
    *b = w->current.growable;
    if (s != OK || w->current.wasteful || (is_oversize(*b) && !w->in_segment))
        return rewritten_or_marked(w, s, b);
    if (w->current.cut_to) *b = bitmap_shrink(*b, w->current.cut_to);
    return OK;
}
/* Ends the undoing of a write that ran out of memory. If undoing fails, too, the bitmap is damaged. */
status undone(worker *w, status s, bitmap **b);
