/* reply.h -- replies. */
#pragma once

#include "server/command.h"
#include "core/calls.h"
#include "server/text.h"

/* Replies with the error for the status of a call into the core; s is not OK. Returns 0. */
int reply_failure(call *c, status s);
static inline int succeeded(call *c, status s) { return s == OK || reply_failure(c, s); }
/* These two return 0. */
int reply_error(call *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define ERRORMSG_SYNTAX "ERR syntax error"
int reply_syntax_error(call *c);
/* These return REDISMODULE_OK. */
int reply_ok(call *c);
/* RESP2 integers end at 2^63 - 1: larger values become bulk strings. */
int reply_count(call *c, cardinality number);
static inline int reply_integer(call *c, uint64_t number) { return reply_count(c, number); }
/* The number of members of b; 0 if b is NULL. */
int reply_cardinality(call *c, const bitmap *b);

/* Replies part / whole, which is at most 1, as a string: the exact ratio if it has at most nine decimal
 * places, else the nearest double. Takes at most RATIO_BYTES of the reply. */
int reply_ratio(call *c, cardinality part, cardinality whole);
#define RATIO_BYTES 32

/* --- Offsets: integers up to 2^63 - 1, unless the setting r64-replies asks for strings --- */

int offset_is_string(const call *c, uint64_t offset);
int reply_offset(call *c, uint64_t offset);
/* Replies `count` > 0 ascending offsets as elements of an array that has been begun. */
void reply_offsets(call *c, const uint64_t *offsets, size_t count);
