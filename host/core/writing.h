/* writing.h -- calls that change a bitmap. *b moves when it grows, even if the call fails.
 *
 * A trap marks the bitmap as damaged. If out of memory, its members stay as they were. If *b is shared, it
 * becomes a copy, unless the write changes nothing. core_write_field copies it in any case. */
#pragma once

#include "core/building.h"
#include "core/reading.h"

/* The outcome of a write to a field: its old value, the reply, whether the new value was written (else there
 * is no reply), and whether the field changed. */
typedef struct outcome {
    int64_t old, reply;
    uint32_t written, changed;
} outcome;

/* One step of a command that reads and writes several fields. */
typedef struct field_step {
    enum { FIELD_GET, FIELD_SET, FIELD_INCRBY } action;
    enum overflow overflow;
    field at;
    int64_t value;
    outcome outcome;
} field_step;

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
/* Makes a step that writes, and sets its outcome. */
status core_write_field(worker *w, bitmap **b, field_step *step);
/* Runs the steps one after the other, and makes all of their writes or none. Sets each step's outcome.written
 * and outcome.reply. *changed is the number of words of 64 bits that changed. */
status core_change_fields(worker *w, bitmap **b, field_step *steps, uint32_t count, uint32_t *changed);
/* Only the test build can trap on request: makes the core violate the sandbox while it reads or writes *b,
 * in one of the ways of assembly/trap.ts. */
status core_trap(worker *w, bitmap **b, int while_writing, uint32_t way);

/* A change of one place: of the value of the id `offset`. */
typedef struct point_change {
    uint64_t offset;
    void (*make)(worker *w, struct point_change *p);
    int64_t value;
    uint32_t rules, done;
} point_change;
/* Makes the change in the segment of the offset. */
status core_change_point(worker *w, bitmap **b, point_change *p);
