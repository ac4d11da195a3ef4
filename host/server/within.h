/* within.h -- WITHIN expression numkeys key [key ...] at the end of commands of integers: only the ids that the expression has
 * count. Its keys are bitmaps of either family, or integers. */
#pragma once

#include "server/expression.h"

typedef struct within {
    int at; /* of the expression, 0 without WITHIN */
    int argc; /* of the whole call */
    query query;
    const bitmap *ids; /* NULL for all */
    bitmap *made; /* ids, if they had to be computed */
} within;

/* Cuts WITHIN and what follows off the call's arguments. From `least` to `most` are to remain. */
int parse_within(call *c, int least, int most, within *n);
/* Opens the keys of WITHIN. Like those below, the caller must call end_within afterwards. */
int open_within(call *c, within *n);
/* Finds the ids that count. */
int find_within(call *c, within *n);
/* Opens a key to read, which is an empty bitmap if it is missing, and the keys of WITHIN, and finds the ids that count; unless the
 * call is offloaded, for which this returns 0, too. */
int open_to_ask(call *c, int at, const bitmap **b, within *n);
void end_within(call *c, within *n);
