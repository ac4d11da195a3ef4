/* listing.h -- replies with many elements, and how large a reply may be. */
#pragma once

#include "core/building.h"
#include "server/reply.h"

/* --- Limits ---
 *
 * How large a reply may be: `bytes` bytes, or `members` offsets of which the largest is `largest`. The bytes
 * of an array's header are not counted, and every member counts as much as the largest. A check that fails
 * has replied with an error. */

/* The limit on members, for a reply that would have that many. */
uint64_t list_limit(const call *c, cardinality members);
int reply_fits(call *c, cardinality bytes);
int list_fits(call *c, cardinality members, uint64_t largest);
/* The same for that many elements of `bytes` bytes in all. */
int list_in_limits(call *c, cardinality elements, cardinality bytes);
/* The most of `wanted` elements that a reply may have; *bytes becomes the most bytes of all of them. */
uint64_t list_room(const call *c, uint64_t wanted, uint64_t *bytes);
/* The bytes of a number of members in a reply. */
uint64_t count_bytes(cardinality members);
/* The most of `wanted` offsets that a reply may have. */
uint64_t list_most(const call *c, uint64_t wanted, uint64_t largest);
/* The largest of the first `members` > 0 members from `from` on, which b must have, but of no more than the
 * limit allows. Where even the family's last offset would keep the reply within the limits, it is that
 * offset. Returns 0 after an error reply. */
int list_largest(call *c, const bitmap *b, uint64_t from, cardinality members, uint64_t *largest);

/* Replies an array of that many members from `from` on, which b must have, if it is within the limits. */
int reply_members(call *c, const bitmap *b, uint64_t from, cardinality members);
/* --- For callers that have checked the limits, and whether the call is offloaded --- */
/* Replies an array of the first `count` members from `from` on. */
int list_members(call *c, const bitmap *b, uint64_t from, uint64_t count);
/* Replies an array of all `members` members. */
int list_ascending(call *c, const bitmap *b, uint64_t members);
/* Replies an array of the `count` members before that with rank `end`, the last one first. */
int list_before(call *c, const bitmap *b, cardinality end, uint64_t count);
static inline int list_descending(call *c, const bitmap *b, uint64_t members) {
    return list_before(c, b, members, members);
}
/* Chooses some of `count` members, which it moves to the front in their order; returns how many. */
typedef size_t member_filter(void *context, uint64_t *members, size_t count);
/* Replies an array of the `count` members of b that the filter chooses. */
int list_chosen(call *c, const bitmap *b, uint64_t count, member_filter *choose, void *context);
/* The ranks of the next `count` members to list, which the core may overwrite. */
typedef uint64_t *rank_source(void *context, uint32_t count);
/* Replies an array of `count` > 0 members of b, those with the ranks from the source, in that order. */
int list_ranked(call *c, const bitmap *b, uint64_t count, rank_source *next, void *context);
/* Replies an array of these numbers of members, if it is within the limits. */
int reply_counts(call *c, const cardinality *counts, uint32_t length);
/* Replies an array of that many members from the one with rank end - 1 on downwards, if it is within the
 * limits. */
int reply_members_before(call *c, const bitmap *b, cardinality end, cardinality members);
/* Replies an array of the first `most` runs of members in [low, high], as pairs, if it is within the limits.
 * Counts the runs first only if that many might exceed the limits. */
int reply_runs(call *c, const bitmap *b, uint64_t low, uint64_t high, uint64_t most);
/* Replies an array of the members of the page, if it is within the limits. Counts them first only if they
 * might exceed the limits. */
int reply_query_members(call *c, const query *q, const page *p);
