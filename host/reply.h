/* reply.h -- replies. */
#ifndef ROAR_REPLY_H
#define ROAR_REPLY_H

#include "command.h"
#include "sandbox.h"
#include "text.h"

/* Replies with the error for the status of a call into the core; s is not OK. Returns 0. */
int reply_failure(call *c, status s);
static inline int succeeded(call *c, status s) { return s == OK || reply_failure(c, s); }
/* These two return 0. */
int reply_error(call *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
int reply_syntax_error(call *c);
/* These return REDISMODULE_OK. */
int reply_ok(call *c);
/* RESP2 integers end at 2^63 - 1: larger values become bulk strings. */
int reply_count(call *c, cardinality number);
static inline int reply_integer(call *c, uint64_t number) { return reply_count(c, number); }
/* The payload that EXPORT replies. */
int reply_exported(call *c, const bitmap *b);
/* The number of members of b; 0 if b is NULL. */
int reply_cardinality(call *c, const bitmap *b);

/* --- Offsets: an offset is an integer up to 2^63 - 1, unless the setting r64-replies asks for a string --- */

int offset_is_string(const call *c, uint64_t offset);
int reply_offset(call *c, uint64_t offset);
/* Replies `count` > 0 ascending offsets as elements of an array that has been begun. */
void reply_offsets(call *c, const uint64_t *offsets, size_t count);

/* --- Limits: whether a reply may be built, of `bytes` bytes or with `members` offsets, the largest of which is `largest`. Else replies
 *     with an error. The bytes of an array's header are not counted, and every member counts as much as the largest. --- */

/* Whether the command comes from the primary or from an AOF. It was accepted there, so limits of this node do not apply: scripts in an AOF
 * may write what they read. */
int was_accepted(const call *c);
/* Ends what the command asks the core from here on after the time of the setting question-ms. */
void limit_question(const call *c);
/* The most members that a reply may have, where it would have that many. */
uint64_t list_limit(const call *c, cardinality members);
int reply_fits(call *c, cardinality bytes);
int list_fits(call *c, cardinality members, uint64_t largest);
/* The most of `wanted` offsets that a reply may have. */
uint64_t list_most(const call *c, uint64_t wanted, uint64_t largest);
/* The largest of the first `members` > 0 members from `from` on, which b must have, or of those within the limit of members; an upper
 * bound if it cannot matter for the limits. Returns 0 after an error reply. */
int list_largest(call *c, const bitmap *b, uint64_t from, cardinality members, uint64_t *largest);

/* Replies an array of that many members from `from` on, which b must have, if it is within the limits. */
int reply_members(call *c, const bitmap *b, uint64_t from, cardinality members);
/* Replies an array of the first `most` members of the query from `from` on, if it is within the limits. Counts the members first only if
 * so many might not be. */
int reply_query_members(call *c, const query *q, uint64_t from, uint64_t most);

#endif
