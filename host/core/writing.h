/* writing.h -- calls that change a bitmap. *b moves when it grows, even if the call fails.
 *
 * A trap marks the bitmap as damaged. If out of memory, its members stay as they were. If *b is shared, it becomes a
 * copy: of a single arena, or of the root and of the segments that are written. core_set does so only if it changes the
 * bit. */
#pragma once

#include "core/segments.h"

status core_set(worker *w, bitmap **b, uint64_t offset, uint32_t value, uint32_t *previous);
/* Sets or clears the bits at all these offsets; *changed is the number of bits that changed. */
status core_set_all(worker *w, bitmap **b, uint64_t *offsets, uint32_t count, uint64_t *changed);
status core_clear_all(worker *w, bitmap **b, uint64_t *offsets, uint32_t count, uint64_t *changed);
/* Makes the change: in place, or, where that is quicker, by replacing *b. */
status core_change_range(worker *w, bitmap **b, const stretch *r, cardinalities *members);
/* Adds the members of `more` in one of these two ways. */
status core_merge(worker *w, bitmap **b, const bitmap *more, cardinalities *members);
/* Only the test build can trap on request: makes the core violate the sandbox while it reads or writes *b,
 * in one of the ways of assembly/trap.ts. */
status core_trap(worker *w, bitmap **b, int while_writing, uint32_t way);

/* A change of the value of an id. `value` is what to store or to add. It becomes the old value of an id that has changed or
 * was removed, and the new value if something was to be added. */
typedef struct value_change {
    enum deed deed;
    uint32_t rules; /* of enum only */
    uint64_t id;
    int64_t value;
    enum done done; /* NOTHING also if a sum would overflow */
} value_change;
status core_change_value(worker *w, bitmap **b, value_change *v);
