/* expression.h -- what commands with an expression share: its keys, and the expression itself. */
#pragma once

#include "server/command.h"
#include "server/reply.h"

/* Whether one call may have so many keys. */
int keys_fit(call *c, uint64_t keys);
/* The number of keys at `at`, which errors call `name`; the keys follow. */
int parse_key_count(call *c, int at, const char *name, uint32_t *keys);
void begin_query(const call *c, query *q);
/* Parses the expression at `at`. Places are those of characters, counted from 1. */
int parse_expression(call *c, int at, query *q);
/* Call this once the query's keys are open, before it is evaluated: makes operands of its comparisons, and of the ids
 * of keys with integers. */
int resolve_query(call *c, query *q);
/* The same for a query that is asked for a page only. Returns the query to evaluate: q itself, or *made, which ends with operands_end
 * whatever is returned; NULL after an error. */
const query *resolve_page(call *c, const query *q, const page *p, query *made);
/* Adds the q->keys keys from `at` on to the operands, and then the expression that was parsed. */
int open_query(call *c, query *q, int at);
