/* segments.h -- writes to *b, which has segments. They are changed one after the other, as bitmaps of their own. */
#pragma once

#include "core/building.h"

/* How many members a bitmap had before a change, and has after it. */
typedef struct cardinalities {
    cardinality before, after;
} cardinalities;

/* A change of a bitmap that is one arena. */
typedef status segment_change(worker *w, bitmap **b, void *how);

/* Makes the change in segment i of *b. */
status in_segment(worker *w, bitmap **b, uint32_t i, segment_change *make, void *how);
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
