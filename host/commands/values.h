/* values.h -- what commands of integers share: bounds and ranges of values, and lists of ids. */
#pragma once

#include "server/reply.h"

/* The numbers of ASK_RANGE. */
enum { RANGE_LOW, RANGE_HIGH, RANGE_OPTIONS, RANGE_START, RANGE_STOP, RANGE_LIMIT, RANGE_NUMBERS };

/* The two bounds of values, as ZCOUNT's: bounds[0] and bounds[1]. */
int parse_bounds(call *c, int low_at, int high_at, uint64_t *bounds);
/* Ranks, of ids only, and no limit. */
void set_ranks(uint64_t wanted[RANGE_NUMBERS], int64_t start, int64_t stop);
/* Replies an array of ids, each followed by its value if `values`. */
void reply_ids(call *c, const uint64_t *list, size_t count, int values);
