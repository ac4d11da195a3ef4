/* query.c -- minimum and maximum, ranks, and lists of members. */
#include "handlers.h"
#include "server/args.h"
#include "server/listing.h"

#include <inttypes.h>
#include <string.h>

/* The default COUNT of SCAN. */
#define SCAN_COUNT 10

/* Replies what core_minimum or core_maximum finds in b; -1 if it finds nothing. */
static int reply_found(call *c, const bitmap *b,
                       status (*find)(worker *w, const bitmap *b, uint32_t *found, uint64_t *member)) {
    uint32_t found;
    uint64_t member;

    if (!succeeded(c, find(c->worker, b, &found, &member))) return REDISMODULE_OK;
    return found ? reply_offset(c, member) : RedisModule_ReplyWithLongLong(c->ctx, -1);
}

/* MIN key */
int min_command(call *c, const bitmap *b) { return reply_found(c, b, core_minimum); }

/* MAX key */
int max_command(call *c, const bitmap *b) { return reply_found(c, b, core_maximum); }

/* RANK key offset -- the number of members less than or equal to offset. */
int rank_command(call *c, const bitmap *b, uint64_t offset) {
    cardinality members;
    if (!succeeded(c, core_count_between(c->worker, b, 0, offset, &members))) return REDISMODULE_OK;
    return reply_count(c, members);
}

/* SELECT key rank -- the member with this rank, from the end if the rank was negative. */
int select_command(call *c, const bitmap *b, uint64_t rank, int from_end) {
    uint64_t member;
    cardinality members;

    if (!succeeded(c, core_cardinality(c->worker, b, &members))) return REDISMODULE_OK;
    if (from_end ? rank > members : rank >= members) return RedisModule_ReplyWithNull(c->ctx);
    if (from_end) rank = (uint64_t)(members - rank);
    if (!succeeded(c, core_select(c->worker, b, rank, &member))) return REDISMODULE_OK;
    return reply_offset(c, member);
}

/* --- Lists --------------------------------------------------------------------------------------------- */

static cardinality least(cardinality a, cardinality b) { return a < b ? a : b; }

/* GETINTARRAY key -- all members in ascending order. */
int getintarray_command(call *c, const bitmap *b) {
    cardinality members;
    if (!succeeded(c, core_cardinality(c->worker, b, &members))) return REDISMODULE_OK;
    return reply_members(c, b, 0, members);
}

/* RANGEINTARRAY key start end -- the members with ranks start to end inclusive. */
int rangeintarray_command(call *c) {
    uint64_t start, end, first = 0;
    cardinality members = 0;
    const bitmap *b;

    if (!parse_offset(c, 2, "start", &start) || !parse_offset(c, 3, "end", &end)) return REDISMODULE_OK;
    cardinality asked = start <= end ? (cardinality)end - start + 1 : 0;
    if (asked > list_limit(c, asked)) {
        return reply_error(c,
                           "Roaring: range too large: maximum %" PRIu64 " elements (redis-roar.reply-limit)",
                           list_limit(c, asked));
    }
    if (!open_read(c, 1, &b)) return REDISMODULE_OK;
    if (b && !succeeded(c, core_cardinality(c->worker, b, &members))) return REDISMODULE_OK;
    members = asked == 0 || start >= members ? 0 : least(members, (cardinality)end + 1) - start;
    if (members && !succeeded(c, core_select(c->worker, b, start, &first))) return REDISMODULE_OK;
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
    if (b && !succeeded(c, core_count_between(c->worker, b, min, max, &members))) return REDISMODULE_OK;
    return reply_members(c, b, min, least(members, limit));
}

/* SCAN key cursor [COUNT n] -- the next cursor, then n members from the cursor on. The next cursor is the
 * smallest member not yet returned, or 0 at the end. A member that is present throughout is returned exactly
 * once, whatever is written in between. */
int scan_command(call *c) {
    uint64_t cursor, wanted = SCAN_COUNT, largest, next = 0;
    cardinality before = 0, rest = 0, members = 0;
    char text[COUNT_TEXT];
    const bitmap *b;

    if (!parse_offset(c, 2, "cursor", &cursor)) return REDISMODULE_OK;
    if (c->argc > 3 && (c->argc != 5 || !argument_is(c, 3, "COUNT"))) return reply_syntax_error(c);
    if (c->argc > 3 && !parse_limit(c, 4, &wanted)) return REDISMODULE_OK;
    if (wanted == 0) return reply_syntax_error(c);
    if (!open_read(c, 1, &b)) return REDISMODULE_OK;
    if (b && !succeeded(c, core_count_between(c->worker, b, cursor, UINT64_MAX, &rest)))
        return REDISMODULE_OK;
    if (rest > 0) {
        if (!list_largest(c, b, cursor, least(rest, wanted), &largest)) return REDISMODULE_OK;
        members = list_most(c, (uint64_t)least(rest, wanted), largest);
    }
    if (members < rest) {
        if (cursor && !succeeded(c, core_count_between(c->worker, b, 0, cursor - 1, &before)))
            return REDISMODULE_OK;
        if (!succeeded(c, core_select(c->worker, b, (uint64_t)(before + members), &next)))
            return REDISMODULE_OK;
    }
    if (offloads(c, (uint64_t)members * LISTED_BYTES)) return REDISMODULE_OK;
    const char *digits = count_text(next, text);
    RedisModule_ReplyWithArray(c->ctx, 2);
    RedisModule_ReplyWithStringBuffer(c->ctx, digits, strlen(digits));
    return list_members(c, b, cursor, (uint64_t)members);
}
