/* bitfields.h -- calls that read and write fields of bits. As for other writes, *b moves when it grows (writing.h). */
#pragma once

#include "core/reading.h"

/* The outcome of a write to a field: its old value, for undoing, the reply, whether the new value was written (else
 * there is no reply), and whether the field changed. */
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

/* Makes a step that writes, and sets its outcome. */
status core_write_field(worker *w, bitmap **b, field_step *step);
/* Runs the steps one after the other, and makes all of their writes or none. Sets each step's outcome.written
 * and outcome.reply. *changed is the number of words of 64 bits that changed. */
status core_change_fields(worker *w, bitmap **b, field_step *steps, uint32_t count, uint32_t *changed);
