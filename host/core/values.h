/* values.h -- calls into the core for integers that ids have. Their arenas are blocks as those of bitmaps
 * (core/bitmap.h), with other content: the functions there and core_cardinality, core_validate and tighten take
 * both. `ids` is a bitmap of the ids that count, NULL for all. */
#pragma once

#include "core/calls.h"

/* Which values ints_set stores: those of the options of ZADD; and whether the change may be revoked, until
 * ints_settle. */
enum { ONLY_NEW = 1, ONLY_PRESENT = 2, ONLY_GREATER = 4, ONLY_LESS = 8, REVOCABLE = 16 };
/* What a change has done. */
enum { DID_NOTHING, ADDED_ID, CHANGED_VALUE };

/* These set *done. *value becomes the old value of an id whose value has changed or that was removed. */
status ints_set(worker *w, bitmap **b, uint64_t id, int64_t *value, uint32_t rules, uint32_t *done);
status ints_remove(worker *w, bitmap **b, uint64_t id, int64_t *value, uint32_t *done);
/* *value is what to add, and becomes the new value. Nothing is done if that would overflow. */
status ints_add(worker *w, bitmap **b, uint64_t id, int64_t *value, uint32_t *done);
status ints_settle(worker *w, bitmap **b, uint64_t id);

status ints_get(worker *w, const bitmap *b, uint64_t id, int64_t *value, uint32_t *found);
/* Lists up to `limit` ids from `from` on, each followed by its value. */
status ints_list(worker *w, const bitmap *b, uint64_t from, uint64_t limit, member_sink *sink, void *context);

/* Values from `low` to `high`. */
typedef struct bounds {
    int64_t low, high;
} bounds;
#define ALL_VALUES ((bounds){INT64_MIN, INT64_MAX})

status ints_count(worker *w, const bitmap *b, const bitmap *ids, bounds values, uint64_t *count);
typedef struct ints_sum {
    uint64_t count;
    __int128 sum;
    int64_t least, greatest; /* if there are any, and `whole` was set */
} ints_sum;
status ints_add_up(worker *w, const bitmap *b, const bitmap *ids, int whole, ints_sum *sum);
status ints_rank(worker *w, const bitmap *b, const bitmap *ids, uint64_t id, int64_t value, int reverse,
                 uint64_t *rank);
/* Ids in the order of (value, id). */
typedef struct ints_range {
    bounds values;
    int64_t start, stop; /* ranks as ZRANGE's */
    uint32_t reverse, with_values;
} ints_range;
status ints_ranked(worker *w, const bitmap *b, const bitmap *ids, const ints_range *r, member_sink *sink,
                   void *context);
/* Sets the values that have these ranks, which become values. */
status ints_at_ranks(worker *w, const bitmap *b, const bitmap *ids, uint64_t *ranks, uint32_t count);
/* Replaces edges, which ascend, by how many ids have at least that value. */
status ints_edges(worker *w, const bitmap *b, const bitmap *ids, uint64_t *edges, uint32_t count,
                  uint64_t *all);
/* Lists all values, each followed by how many ids have it. */
status ints_distinct(worker *w, const bitmap *b, const bitmap *ids, member_sink *sink, void *context);

/* A comparison in an expression: of a key, counted from 1, with another one or with bounds. */
typedef struct comparison {
    uint64_t key, other, how;
    int64_t low, high;
    uint64_t place; /* in the text, counted from 1 */
    uint64_t uses_key, uses_other; /* whether these are operands, too */
} comparison;
#define COMPARISON_NUMBERS (sizeof(comparison) / sizeof(uint64_t))
/* Lists the comparisons of a query, COMPARISON_NUMBERS numbers each. */
/* How to compare with bounds: values between them. */
#define EQUAL_VALUES 5
status core_comparisons(worker *w, const query *q, member_sink *sink, void *context);
/* The ids, up to `greatest`, for which the comparison of the operands a and b holds; b is NULL unless it is of two
 * keys. Both have values, or are empty. */
status core_compare(worker *w, const comparison *how, span a, const span *b, uint64_t greatest, bitmap **ids);
/* Whether memory that is no empty bitmap has values. */
static inline int has_values(span s) { return s.size > 0 && (*s.base | 1) == 3; }

/* What becomes of the values that several sources have for an id. */
enum aggregate { AGGREGATE_SUM, AGGREGATE_MIN, AGGREGATE_MAX };
/* *overflows is set if a sum is not a value; then nothing is made. */
status ints_merge(worker *w, const operands *sources, enum aggregate how, bitmap **b, uint32_t *overflows);

/* The payload, which the caller must RedisModule_Free. */
status ints_serialize(worker *w, const bitmap *b, char **payload, size_t *length);
/* *fault says what is wrong with the payload. If it is valid, *fault is NULL and *b is set. */
status ints_deserialize(worker *w, const char *payload, size_t length, bitmap **b, const char **fault);
