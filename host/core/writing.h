/* writing.h -- calls that change a bitmap. *b moves when it grows, even if the call fails.
 *
 * A trap marks the bitmap as damaged. If out of memory, its members stay as they were. If *b is shared, it becomes a
 * copy: of a single arena, or of the root and of the segments that are written. core_set does so only if it changes the
 * bit. */
#pragma once

#include "core/building.h"
#include "core/reading.h"

status core_set(worker *w, bitmap **b, uint64_t offset, uint32_t value, uint32_t *previous);
/* Sets or clears the bits at all these offsets; *changed is the number of bits that changed. */
status core_set_all(worker *w, bitmap **b, uint64_t *offsets, uint32_t count, uint64_t *changed);
status core_clear_all(worker *w, bitmap **b, uint64_t *offsets, uint32_t count, uint64_t *changed);
/* How many members a bitmap had before a change, and has after it. */
typedef struct cardinalities {
    cardinality before, after;
} cardinalities;
/* Makes the change: in place, or, where that is quicker, by replacing *b. */
status core_change_range(worker *w, bitmap **b, const stretch *r, cardinalities *members);
/* Adds the members of `more` in one of these two ways. */
status core_merge(worker *w, bitmap **b, const bitmap *more, cardinalities *members);
/* Only the test build can trap on request: makes the core violate the sandbox while it reads or writes *b,
 * in one of the ways of assembly/trap.ts. */
status core_trap(worker *w, bitmap **b, int while_writing, uint32_t way);

/* --- Parts of writes --- */
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
