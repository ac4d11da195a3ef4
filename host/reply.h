/* reply.h -- replies. */
#ifndef ROAR_REPLY_H
#define ROAR_REPLY_H

#include "command.h"
#include "sandbox.h"

/* Replies with the error for the status of a call into the core; s is not OK. Returns 0. */
int reply_failure(call *c, status s);
static inline int succeeded(call *c, status s) { return s == OK || reply_failure(c, s); }
/* These two return 0. */
int reply_error(call *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
int reply_syntax_error(call *c);
/* These return REDISMODULE_OK. */
int reply_ok(call *c);
/* RESP2 integers end at 2^63 - 1: larger values become bulk strings. */
int reply_integer(call *c, uint64_t value);
int reply_count(call *c, cardinality members);
#define COUNT_TEXT 24
const char *count_text(cardinality members, char text[COUNT_TEXT]);
/* The payload that EXPORT replies. */
int reply_exported(call *c, const bitmap *b);
/* The first `limit` members of the query from `from` on, unless they are too many for a reply. */
int reply_query_members(call *c, const query *q, uint64_t from, uint64_t limit);
/* The number of members of b; 0 if b is NULL. */
int reply_cardinality(call *c, const bitmap *b);

#endif
