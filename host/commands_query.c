/* commands_query.c -- minimum and maximum, ranks, and lists of members. */
#include "args.h"
#include "config.h"
#include "core-link.h"
#include "keys.h"
#include "reply.h"

#include <inttypes.h>
#include <string.h>

/* The default COUNT of SCAN. */
#define SCAN_COUNT 10

static int reply_extreme(call *c, int end) {
    uint32_t found = 0;
    uint64_t member;
    const bitmap *b;

    if (!open_read(c, 1, &b)) return REDISMODULE_OK;
    if (b && !succeeded(c, core_extreme(b, end, &found, &member))) return REDISMODULE_OK;
    return found ? reply_integer(c, member) : RedisModule_ReplyWithLongLong(c->ctx, -1);
}

/* MIN key */
int min_command(call *c) { return reply_extreme(c, 0); }

/* MAX key */
int max_command(call *c) { return reply_extreme(c, 1); }

/* RANK key offset -- the number of members less than or equal to offset. */
int rank_command(call *c) {
    uint64_t offset;
    cardinality members = 0;
    const bitmap *b;

    if (!parse_offset(c, 2, "offset", &offset)) return REDISMODULE_OK;
    if (!open_read(c, 1, &b)) return REDISMODULE_OK;
    if (b && !succeeded(c, core_count_between(b, 0, offset, &members))) return REDISMODULE_OK;
    return reply_count(c, members);
}

/* A rank; negative ranks count from the end, and -1 is the last. */
static int parse_rank(call *c, int at, uint64_t *rank, int *from_end) {
    long long value = 0;

    *from_end = RedisModule_StringToLongLong(c->argv[at], &value) == REDISMODULE_OK && value < 0;
    *rank = 0 - (uint64_t)value;
    return *from_end || parse_limit(c, at, rank);
}

/* SELECT key rank -- the member with this rank. */
int select_command(call *c) {
    uint64_t rank, member;
    int from_end;
    cardinality members = 0;
    const bitmap *b;

    if (!parse_rank(c, 2, &rank, &from_end)) return REDISMODULE_OK;
    if (!open_read(c, 1, &b)) return REDISMODULE_OK;
    if (b && !succeeded(c, core_cardinality(b, &members))) return REDISMODULE_OK;
    if (from_end ? rank > members : rank >= members) return RedisModule_ReplyWithNull(c->ctx);
    if (from_end) rank = (uint64_t)(members - rank);
    if (!succeeded(c, core_select(b, rank, &member))) return REDISMODULE_OK;
    return reply_integer(c, member);
}

/* --- Lists ---------------------------------------------------------------------------------------------------------- */

/* A reply under construction. A single batch, which arrives after the core has finished, begins with its length. The length of a longer
 * reply is set at the end, so that the reply is complete even if the core is cut short. */
typedef struct listing {
    call *call;
    uint64_t most;
    long replied;
    int postponed;
} listing;

static void reply_batch(void *context, const uint64_t *members, size_t length) {
    listing *l = context;
    if (l->replied == 0) {
        l->postponed = length == MEMBERS_BATCH && length != l->most;
        RedisModule_ReplyWithArray(l->call->ctx, l->postponed ? REDISMODULE_POSTPONED_LEN : (long)length);
    }
    if (members[length - 1] > INT64_MAX)
        for (size_t i = 0; i < length; i++) reply_integer(l->call, members[i]);
    else
        for (size_t i = 0; i < length; i++) RedisModule_ReplyWithLongLong(l->call->ctx, (long long)members[i]);
    l->replied += (long)length;
}

/* Ends the reply, whose members have been listed with this status. */
static int end_listing(listing *l, status done) {
    if (!succeeded(l->call, done)) {
        if (l->replied) l->replied++;               /* the error becomes the last element */
    } else if (l->replied == 0) {
        RedisModule_ReplyWithArray(l->call->ctx, 0);
    }
    if (l->postponed) RedisModule_ReplySetArrayLength(l->call->ctx, l->replied);
    return REDISMODULE_OK;
}

/* Whether a reply may have so many members. */
static int is_listable(call *c, cardinality members) {
    if (members <= reply_limit()) return 1;
    return reply_error(c, "ERR Roaring: reply too large: maximum %" PRIu64 " elements", reply_limit());
}

/* Replies this many members from `from` on; b must have them. */
static int reply_members(call *c, const bitmap *b, uint64_t from, cardinality members) {
    if (!is_listable(c, members)) return REDISMODULE_OK;
    if (members == 0) return RedisModule_ReplyWithArray(c->ctx, 0);
    listing l = {.call = c, .most = (uint64_t)members};
    return end_listing(&l, core_members(b, from, l.most, reply_batch, &l));
}

/* Replies the first `limit` members of the query from `from` on. Unless the limit is small, counts them first. */
int reply_query_members(call *c, const query *q, uint64_t from, uint64_t limit) {
    cardinality members = limit;
    if (limit > reply_limit()) {
        if (!succeeded(c, core_query_cardinality(q, from, &members))) return REDISMODULE_OK;
        if (members > limit) members = limit;
        if (!is_listable(c, members)) return REDISMODULE_OK;
    }
    listing l = {.call = c, .most = (uint64_t)members};
    return end_listing(&l, core_query_members(q, from, l.most, reply_batch, &l));
}

static cardinality least(cardinality a, cardinality b) { return a < b ? a : b; }

/* GETINTARRAY key -- all members in ascending order. */
int getintarray_command(call *c) {
    cardinality members = 0;
    const bitmap *b;

    if (!open_read(c, 1, &b)) return REDISMODULE_OK;
    if (b && !succeeded(c, core_cardinality(b, &members))) return REDISMODULE_OK;
    return reply_members(c, b, 0, members);
}

/* RANGEINTARRAY key start end -- the members with ranks start to end inclusive. */
int rangeintarray_command(call *c) {
    uint64_t start, end, first = 0;
    cardinality members = 0;
    const bitmap *b;

    if (!parse_offset(c, 2, "start", &start) || !parse_offset(c, 3, "end", &end)) return REDISMODULE_OK;
    if (start <= end && end - start >= reply_limit()) {
        return reply_error(c, "Roaring: range too large: maximum %" PRIu64 " elements", reply_limit());
    }
    if (!open_read(c, 1, &b)) return REDISMODULE_OK;
    if (b && !succeeded(c, core_cardinality(b, &members))) return REDISMODULE_OK;
    members = start > end || start >= members ? 0 : least(members, (cardinality)end + 1) - start;
    if (members && !succeeded(c, core_select(b, start, &first))) return REDISMODULE_OK;
    return reply_members(c, b, first, members);
}

/* RANGE key min max [LIMIT n] -- the first n members in [min, max]. */
int range_command(call *c) {
    uint64_t min, max, limit = UINT64_MAX;
    cardinality members = 0;
    const bitmap *b;

    if (!parse_offset(c, 2, "min", &min) || !parse_offset(c, 3, "max", &max)) return REDISMODULE_OK;
    if (c->argc > 4 && (c->argc != 6 || !argument_is(c, 4, "LIMIT"))) return reply_syntax_error(c);
    if (c->argc > 4 && !parse_limit(c, 5, &limit)) return REDISMODULE_OK;
    if (!open_read(c, 1, &b)) return REDISMODULE_OK;
    if (b && !succeeded(c, core_count_between(b, min, max, &members))) return REDISMODULE_OK;
    return reply_members(c, b, min, least(members, limit));
}

/* SCAN key cursor [COUNT n] -- the next cursor, then n members from the cursor on. The next cursor is the smallest member not yet
 * returned, or 0 at the end. A member that is present throughout is returned exactly once, whatever is written in between. */
int scan_command(call *c) {
    uint64_t cursor, wanted = SCAN_COUNT, next = 0;
    cardinality before = 0, rest = 0;
    char text[COUNT_TEXT];
    const bitmap *b;

    if (!parse_offset(c, 2, "cursor", &cursor)) return REDISMODULE_OK;
    if (c->argc > 3 && (c->argc != 5 || !argument_is(c, 3, "COUNT"))) return reply_syntax_error(c);
    if (c->argc > 3 && !parse_limit(c, 4, &wanted)) return REDISMODULE_OK;
    if (wanted == 0) return reply_syntax_error(c);
    if (!open_read(c, 1, &b)) return REDISMODULE_OK;
    if (b && !succeeded(c, core_count_between(b, cursor, UINT64_MAX, &rest))) return REDISMODULE_OK;
    cardinality members = least(rest, least(wanted, reply_limit()));
    if (members < rest) {
        if (cursor && !succeeded(c, core_count_between(b, 0, cursor - 1, &before))) return REDISMODULE_OK;
        if (!succeeded(c, core_select(b, (uint64_t)(before + members), &next))) return REDISMODULE_OK;
    }
    const char *digits = count_text(next, text);
    RedisModule_ReplyWithArray(c->ctx, 2);
    RedisModule_ReplyWithStringBuffer(c->ctx, digits, strlen(digits));
    return reply_members(c, b, cursor, members);
}
