/* change.h -- parts of calls that change memory 0, for the files that have such calls. */
#pragma once

#include "core/guard.h"
#include "core/writing.h"

/* Makes a bitmap that queries on threads still read a copy, or one that has the same members as another key. */
status make_changeable(bitmap **b);
/* To be entered with CHANGING_IN, and ended by wrote(). setting() also passes offsets. */
frame writing(worker *w, bitmap *b);
frame setting(worker *w, bitmap *b, uint64_t *offsets, uint64_t count);
/* Ends a call that wrote to *b, which is one arena: updates *b if the block moved, rewrites it if it has too many free
 * blocks or is so large that it becomes a bitmap with segments, or gives back the part of the block that is not needed,
 * and marks it as damaged after a trap. */
status wrote(worker *w, status s, bitmap **b);
/* Ends the undoing of a write that ran out of memory. If undoing fails, too, the bitmap is damaged. */
status undone(worker *w, status s, bitmap **b);

/* --- Segments: a write changes them one after the other, as bitmaps of their own. *b has segments. --- */

/* A change of a bitmap that is one arena. */
typedef status change(worker *w, bitmap **b, void *how);

/* Makes the change in segment i of *b. */
status in_segment(worker *w, bitmap **b, uint32_t i, change *make, void *how);
/* Ends a write to segment i of *b, which took `bytes` bytes before and now has `members` members. */
void wrote_segment(worker *w, bitmap **b, uint32_t i, uint64_t bytes, uint64_t members);
/* Adds the members of `more`. Builds what changes aside, so that all members are added or none. */
status merge_segments(worker *w, bitmap **b, const bitmap *more, cardinalities *members);

/* A stretch to change, and the members before and after. */
typedef struct stretching {
    const stretch *of;
    cardinalities *members;
    uint32_t in_place; /* whether it must be changed in place */
    uint32_t rebuilds; /* set: it was not, because building a new bitmap is quicker */
} stretching;

/* Builds the segments from .. to - 1 anew, aside. */
status rebuild_segments(worker *w, bitmap **b, uint32_t from, uint32_t to, stretching *c);
