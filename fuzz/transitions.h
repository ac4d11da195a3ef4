/* transitions.h -- notes which transitions writes take: from which form of a bitmap, of a leaf and of a
 * container each write leads to which. */
#pragma once

#include <stdio.h>

#include "core/calls.h"
#include "core/census.h"

/* Writes that change a bitmap in place. */
enum write {
    SET_ONE,
    CLEAR_ONE,
    SET_LIST,
    CLEAR_LIST,
    SET_RANGE,
    CLEAR_RANGE,
    FLIP_RANGE,
    FIELD,
    MERGE,
    WRITES
};

/* Around a write to offsets from `low` to `high`. The forms are known to the test build only; in others,
 * these do nothing. */
void before_write(const bitmap *b, enum write write, uint64_t low, uint64_t high);
void after_write(const bitmap *b, status s);

/* Prints a line for each transition that was taken: the table, the form before, the write, and the form
 * after. */
void print_transitions(FILE *to);
