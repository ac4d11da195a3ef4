/* values.h -- calls into the core for integers that ids have. Their arenas are blocks as those of bitmaps (core/bitmap.h), with
 * other content: the functions there, core_change_value, and those that copy, measure or validate take both. */
#pragma once

#include "core/numbers.h"
#include "core/querying.h"

status core_value(worker *w, const bitmap *b, uint64_t id, int64_t *value, uint32_t *found);

/* A question about the values of b, and its numbers, which the core may overwrite unless the answer adds up over ranges of ids. If `ids` is not NULL, only these count. */
typedef struct asked {
    enum ask what;
    uint32_t count;
    uint64_t *numbers;
} asked;
/* Sets *length to how many numbers a list with a limit has; a longer one is not replied. */
status core_ask(worker *w, const asked *a, const bitmap *b, const bitmap *ids, numbers *reply,
                uint64_t *length);

/* An operand of a query to be made: of a comparison, or the ids of a key that has values. Keys are counted from 1. */
typedef struct comparison {
    uint64_t operand; /* counted from 1 */
    uint64_t key, other, how; /* the other key is 0 if values are compared with bounds */
    int64_t low, high;
    uint64_t place; /* in the text, counted from 1 */
} comparison;
/* All of them. Only ids from `first` to `last` matter, and if `near` is not 0, members of that key. */
typedef struct comparisons {
    uint64_t near, first, last;
    comparison list[];
} comparisons;
/* Lists the comparisons of a query, as a struct comparisons. */
status core_comparisons(worker *w, const query *q, numbers *reply);
/* The ids for which comparison i of the query's keys holds. The keys have values, or are missing. Adds to *more
 * whether there are ids before q->first, 1, and behind q->last, 2. */
status core_compare(worker *w, const query *q, const comparisons *all, size_t i, bitmap **ids,
                    uint32_t *more);
/* Whether memory that is no empty bitmap has values. */
static inline int has_values(span s) { return (*s.base | 1) == 3; }

/* One key of several. *overflows is set if a sum is no value; then nothing is made. */
status core_merge_values(worker *w, const operands *sources, enum aggregate how, result *r, int *overflows);
/* Removes the ids whose values are from `low` to `high`, of which there are many: writes the others anew. If `ids` is not NULL, only
 * these go. */
status core_remove_values(worker *w, bitmap **b, const bitmap *ids, int64_t low, int64_t high);
