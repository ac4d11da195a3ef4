/* query.c -- minimum and maximum, ranks, and lists of members. */
#include "handlers.h"
#include "server/args.h"
#include "server/listing.h"
#include "server/prepare.h"

#include <inttypes.h>
#include <string.h>

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

/* --- COUNTS -------------------------------------------------------------------------------------------- */

/* Counting the members of a range takes about as long as reading this many bytes of bitmaps. */
#define COUNTED_BYTES 1024

/* The smallest and the largest offset of a range take the place of its number of members until this is known. */
static uint64_t low_of(cardinality ends) { return (uint64_t)ends; }
static uint64_t high_of(cardinality ends) { return (uint64_t)(ends >> 64); }

static int parse_ranges(call *c, int at, cardinality *ranges, uint32_t count) {
    uint64_t low, high;

    for (uint32_t i = 0; i < count; i++, at += 2) {
        if (!parse_offset(c, at, "min", &low) || !parse_offset(c, at + 1, "max", &high)) return 0;
        ranges[i] = (cardinality)high << 64 | low;
    }
    return 1;
}

static status count_ranges(worker *w, const bitmap *b, cardinality *ranges, uint32_t count) {
    status done = OK;
    for (uint32_t i = 0; done == OK && i < count; i++) {
        done = core_count_between(w, b, low_of(ranges[i]), high_of(ranges[i]), &ranges[i]);
        if (done == OK && i % 64 == 0) done = sandbox_check_time(w);
    }
    return done;
}

static int reply_ranges(call *c, cardinality *ranges, uint32_t count) {
    const bitmap *b;

    limit_time(c);
    if (!parse_ranges(c, 3, ranges, count) || !open_read(c, 1, &b)) return REDISMODULE_OK;
    if (offloads(c, (uint64_t)count * COUNTED_BYTES)) return REDISMODULE_OK;
    if (succeeded(c, count_ranges(c->worker, b ? b : bitmap_empty(), ranges, count)))
        reply_counts(c, ranges, count);
    return REDISMODULE_OK;
}

/* COUNTS key numranges min max [min max ...] -- the number of members in each range [min, max]. */
int counts_command(call *c) {
    size_t length;
    uint64_t count;
    const char *text = RedisModule_StringPtrLen(c->argv[2], &length);

    if (!parse_number(text, length, UINT32_MAX, &count) || count == 0)
        return reply_error(c, "ERR numranges should be greater than 0");
    if ((uint64_t)c->argc != 3 + 2 * count)
        return reply_error(c, "ERR syntax error: numranges is not the number of ranges");
    cardinality *ranges = try_alloc(count * sizeof *ranges);
    if (ranges == NULL) return reply_failure(c, OUT_OF_MEMORY);
    reply_ranges(c, ranges, (uint32_t)count);
    RedisModule_Free(ranges);
    return REDISMODULE_OK;
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

/* Opens the key at 1, and counts its members in the range of the next two arguments. Options follow. */
static int open_between(call *c, uint64_t *low, uint64_t *high, int words, page *p, const bitmap **b,
                        cardinality *members) {
    *members = 0;
    if (!parse_offset(c, 2, "min", low) || !parse_offset(c, 3, "max", high)) return 0;
    if (!parse_page(c, 4, words, p) || !open_read(c, 1, b)) return 0;
    return *b == NULL || succeeded(c, core_count_between(c->worker, *b, *low, *high, members));
}

/* RANGE key min max [REV] [LIMIT n] -- the first n members in [min, max], or the last n in descending order. */
int range_command(call *c) {
    uint64_t min, max;
    cardinality members, before = 0;
    page p;
    const bitmap *b;

    if (!open_between(c, &min, &max, PAGE_REV, &p, &b, &members)) return REDISMODULE_OK;
    if (!p.down) return reply_members(c, b, min, least(members, p.limit));
    if (members && min && !succeeded(c, core_count_between(c->worker, b, 0, min - 1, &before)))
        return REDISMODULE_OK;
    return reply_members_before(c, b, before + members, least(members, p.limit));
}

/* RANGES key min max [LIMIT n] -- the first n runs of consecutive members in [min, max], as pairs. */
int ranges_command(call *c) {
    uint64_t min, max;
    cardinality members;
    page p;
    const bitmap *b;

    limit_time(c);
    if (!open_between(c, &min, &max, 0, &p, &b, &members)) return REDISMODULE_OK;
    const uint64_t most = (uint64_t)least(members, p.limit);
    if (most == 0) return RedisModule_ReplyWithArray(c->ctx, 0);
    if (offloads_listing(c, most < UINT64_MAX / 2 ? 2 * most : most)) return REDISMODULE_OK;
    return reply_runs(c, b, min, max, most);
}

/* SCAN key cursor [COUNT n] -- the next cursor, then n members from the cursor on. The next cursor is the
 * smallest member not yet returned, or 0 at the end. A member that is present throughout is returned exactly
 * once, whatever is written in between. */
int scan_command(call *c) {
    uint64_t cursor, wanted, largest, next = 0;
    cardinality before = 0, rest = 0, members = 0;
    char text[COUNT_TEXT];
    const bitmap *b;

    if (!parse_scan(c, &cursor, &wanted) || !open_read(c, 1, &b)) return REDISMODULE_OK;
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
