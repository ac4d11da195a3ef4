/* values.c -- RI.*: questions about values: counts, sums, ranks, and distributions. */
#include "commands/values.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/values.h"
#include "handlers.h"
#include "server/args.h"
#include "server/listing.h"
#include "server/within.h"

static int reply_value(call *c, uint64_t value) {
    return RedisModule_ReplyWithLongLong(c->ctx, (long long)value);
}

void reply_ids(call *c, const uint64_t *list, size_t count, int values) {
    RedisModule_ReplyWithArray(c->ctx, (long)count);
    for (size_t i = 0; i < count; i++) {
        if (values && i % 2) reply_value(c, list[i]);
        else reply_offset(c, list[i]);
    }
}

/* --- Bounds --- */

/* A bound as ZCOUNT's: an integer, after "(" if it is excluded, or an end. Sets *none if no value is beyond it. */
static int parse_bound(call *c, int at, int is_low, int64_t *bound, int *none) {
    size_t length;
    long long value;
    const char *text = RedisModule_StringPtrLen(c->argv[at], &length);
    const int is_least = argument_is(c, at, "-inf");
    if (is_least || argument_is(c, at, "+inf") || argument_is(c, at, "inf")) {
        *none |= is_low != is_least;
        return *bound = is_least ? INT64_MIN : INT64_MAX, 1;
    }
    const int open = length > 0 && *text == '(';
    RedisModuleString *number = RedisModule_CreateString(NULL, text + open, length - (size_t)open);
    const int right = RedisModule_StringToLongLong(number, &value) == REDISMODULE_OK;
    RedisModule_FreeString(NULL, number);
    if (!right) return reply_error(c, "ERR min or max is not an integer");
    if (open && value == (is_low ? INT64_MAX : INT64_MIN)) *none = 1;
    else value += open ? (is_low ? 1 : -1) : 0;
    *bound = value;
    return 1;
}

static void set_bounds(uint64_t *bounds, int64_t low, int64_t high) {
    bounds[RANGE_LOW] = (uint64_t)low;
    bounds[RANGE_HIGH] = (uint64_t)high;
}

/* +inf as the lower one, or -inf as the upper one, excludes all values. */
int parse_bounds(call *c, int low_at, int high_at, uint64_t *bounds) {
    int none = 0;
    int64_t low, high;
    if (!parse_bound(c, low_at, 1, &low, &none) || !parse_bound(c, high_at, 0, &high, &none)) return 0;
    if (none) set_bounds(bounds, INT64_MAX, INT64_MIN);
    else set_bounds(bounds, low, high);
    return 1;
}

void set_ranks(uint64_t wanted[RANGE_NUMBERS], int64_t start, int64_t stop) {
    wanted[RANGE_OPTIONS] = 0;
    wanted[RANGE_START] = (uint64_t)start;
    wanted[RANGE_STOP] = (uint64_t)stop;
    wanted[RANGE_LIMIT] = UINT64_MAX;
}

/* --- Answers --- */

/* Replies the core's reply to a question. */
typedef void replier(call *c, const asked *a, const numbers *n);

/* Asks a question about the first key. */
static int answer(call *c, within *n, const asked *a, replier *reply) {
    numbers found = {0};
    uint64_t length = 0;
    const bitmap *b;
    if (open_to_ask(c, 1, &b, n) && succeeded(c, core_ask(c->worker, a, b, n->ids, &found, &length))
        && list_fits(c, length, c->family->last))
        reply(c, a, &found);
    RedisModule_Free(found.list);
    end_within(c, n);
    return REDISMODULE_OK;
}

/* The number, or nil if there is none. */
static void reply_only(call *c, const asked *a, const numbers *n) {
    (void)a;
    if (n->count) reply_integer(c, n->list[0]);
    else RedisModule_ReplyWithNull(c->ctx);
}

/* COUNT key min max [WITHIN ...] */
int ri_count_command(call *c) {
    within n;
    uint64_t bounds[2];
    if (!parse_within(c, 4, 4, &n) || !parse_bounds(c, 2, 3, bounds)) return REDISMODULE_OK;
    return answer(c, &n, &(asked){ASK_COUNT, 2, bounds}, reply_only);
}

static void reply_rank(call *c, const asked *a, const numbers *n) {
    (void)a;
    if (n->list[1]) reply_integer(c, n->list[0]);
    else RedisModule_ReplyWithNull(c->ctx);
}

/* RANK key id [REV] [WITHIN ...] */
int ri_rank_command(call *c) {
    within n;
    uint64_t of[2];
    if (!parse_within(c, 3, 4, &n)) return REDISMODULE_OK;
    of[1] = c->argc == 4 && argument_is(c, 3, "REV");
    if (c->argc == 4 && !of[1]) return reply_syntax_error(c);
    if (!parse_offset(c, 2, "id", &of[0])) return REDISMODULE_OK;
    return answer(c, &n, &(asked){ASK_RANK, 2, of}, reply_rank);
}

/* --- Sums --- */

/* An integer of 128 bits as an integer, or as a string if it is beyond 64 bits. */
static void reply_wide(call *c, __int128 number) {
    char text[48], *at = text + sizeof text;
    if (number == (int64_t)number) {
        reply_value(c, (uint64_t)number);
        return;
    }
    unsigned __int128 rest = number < 0 ? -(unsigned __int128)number : (unsigned __int128)number;
    for (; rest > 0; rest /= 10) *--at = (char)('0' + (int)(rest % 10));
    if (number < 0) *--at = '-';
    RedisModule_ReplyWithStringBuffer(c->ctx, at, (size_t)(text + sizeof text - at));
}

/* The core replies the number of ids, and the sum in parts of 32 bits, the lowest first. */
static void reply_sum(call *c, const asked *a, const numbers *n) {
    unsigned __int128 sum = 0;
    (void)a;
    for (int part = 0; part < 4; part++) sum += (unsigned __int128)n->list[part + 1] << (32 * part);
    RedisModule_ReplyWithArray(c->ctx, 2);
    reply_integer(c, n->list[0]);
    reply_wide(c, (__int128)sum);
}

/* The shortest text that is the same double. */
static void reply_double(call *c, double number) {
    char text[40];
    int digits = 1;
    do snprintf(text, sizeof text, "%.*g", digits, number);
    while (strtod(text, NULL) != number && digits++ < 17);
    RedisModule_ReplyWithStringBuffer(c->ctx, text, strlen(text));
}

/* The core replies the number of ids, the two halves of the sum, and the extremes. */
static void reply_statistics(call *c, const asked *a, const numbers *n) {
    static const char *const names[] = {"count", "sum", "min", "max", "mean"};
    const uint64_t ids = n->list[0];
    const __int128 sum = (__int128)((unsigned __int128)n->list[2] << 64 | n->list[1]);
    (void)a;
    if (RedisModule_ReplyWithMap) RedisModule_ReplyWithMap(c->ctx, 5);
    else RedisModule_ReplyWithArray(c->ctx, 10);
    for (int i = 0; i < 5; i++) {
        RedisModule_ReplyWithStringBuffer(c->ctx, names[i], strlen(names[i]));
        if (i == 0) reply_integer(c, ids);
        else if (i == 1) reply_wide(c, sum);
        else if (ids == 0) RedisModule_ReplyWithNull(c->ctx);
        else if (i < 4) reply_value(c, n->list[i + 1]);
        else reply_double(c, (double)sum / (double)ids);
    }
}

/* SUM key [WITHIN ...] */
int ri_sum_command(call *c) {
    within n;
    return parse_within(c, 2, 2, &n) ? answer(c, &n, &(asked){.what = ASK_SUM}, reply_sum) : REDISMODULE_OK;
}

/* STATS key [WITHIN ...] */
int ri_stats_command(call *c) {
    within n;
    if (!parse_within(c, 2, 2, &n)) return REDISMODULE_OK;
    return answer(c, &n, &(asked){.what = ASK_STATISTICS}, reply_statistics);
}

/* --- RANGE --- */

/* With BYVALUE, start and stop are bounds; in the reverse order, as in ZRANGE, the greater one comes first. */
static int parse_by_value(call *c, uint64_t *wanted, int64_t offset, int64_t count) {
    const int reverse = (wanted[RANGE_OPTIONS] & RANGE_DESCENDING) != 0;
    if (!parse_bounds(c, reverse ? 3 : 2, reverse ? 2 : 3, wanted)) return 0;
    wanted[RANGE_START] = (uint64_t)offset;
    wanted[RANGE_STOP] = (uint64_t)(count < 0                    ? -1
                                    : count > INT64_MAX - offset ? INT64_MAX
                                                                 : offset + count - 1);
    if (offset < 0 || count == 0) set_bounds(wanted, INT64_MAX, INT64_MIN);
    return 1;
}

static int parse_range(call *c, uint64_t wanted[RANGE_NUMBERS]) {
    int by_value = 0, limited = 0;
    int64_t start, stop, offset = 0, count = -1;
    wanted[RANGE_OPTIONS] = 0;
    for (int at = 4; at < c->argc; at++) {
        if (argument_is(c, at, "BYVALUE")) by_value = 1;
        else if (argument_is(c, at, "REV")) wanted[RANGE_OPTIONS] |= RANGE_DESCENDING;
        else if (argument_is(c, at, "WITHVALUES")) wanted[RANGE_OPTIONS] |= RANGE_VALUES;
        else if (argument_is(c, at, "LIMIT") && at + 2 < c->argc) {
            if (!parse_index(c, at + 1, &offset) || !parse_index(c, at + 2, &count)) return 0;
            limited = 1;
            at += 2;
        } else return reply_syntax_error(c);
    }
    wanted[RANGE_LIMIT] = list_most(c, UINT64_MAX, c->family->last);
    if (by_value) return parse_by_value(c, wanted, offset, count);
    if (limited)
        return reply_error(c, "ERR syntax error, LIMIT is only supported in combination with BYVALUE");
    set_bounds(wanted, INT64_MIN, INT64_MAX);
    if (!parse_index(c, 2, &start) || !parse_index(c, 3, &stop)) return 0;
    wanted[RANGE_START] = (uint64_t)start;
    wanted[RANGE_STOP] = (uint64_t)stop;
    return 1;
}

static void reply_range(call *c, const asked *a, const numbers *n) {
    reply_ids(c, n->list, n->count, (a->numbers[RANGE_OPTIONS] & RANGE_VALUES) != 0);
}

/* RANGE key start stop [BYVALUE] [REV] [LIMIT offset count] [WITHVALUES] [WITHIN ...] */
int ri_range_command(call *c) {
    within n;
    uint64_t wanted[RANGE_NUMBERS];
    if (!parse_within(c, 4, INT_MAX, &n) || !parse_range(c, wanted)) return REDISMODULE_OK;
    return answer(c, &n, &(asked){ASK_RANGE, RANGE_NUMBERS, wanted}, reply_range);
}

/* --- QUANTILE and HISTOGRAM --- */

/* Asks a question with a list of numbers from `at` on, each parsed by `parse`. */
static int answer_list(call *c, within *n, enum ask what, int at, uint32_t count,
                       int (*parse)(call *c, int at, int is_first, uint64_t *number), replier *reply) {
    uint64_t *list = try_alloc(count * sizeof *list);
    int right = list != NULL || reply_failure(c, OUT_OF_MEMORY);
    for (uint32_t i = 0; right && i < count; i++) right = parse(c, at + (int)i, i == 0, &list[i]);
    if (right) answer(c, n, &(asked){what, count, list}, reply);
    RedisModule_Free(list);
    return REDISMODULE_OK;
}

/* The core gets the bits of a double. */
static int parse_quantile(call *c, int at, int is_first, uint64_t *number) {
    char *end;
    size_t length;
    const char *text = RedisModule_StringPtrLen(c->argv[at], &length);
    const double q = strtod(text, &end);
    (void)is_first;
    memcpy(number, &q, sizeof q);
    if (length > 0 && end == text + length && q >= 0 && q <= 1) return 1;
    return reply_error(c, "ERR Roaring: a quantile is a number from 0 to 1");
}

static void reply_quantiles(call *c, const asked *a, const numbers *n) {
    RedisModule_ReplyWithArray(c->ctx, a->count);
    for (uint32_t i = 0; i < a->count; i++) {
        if (n->count) reply_value(c, n->list[i]);
        else RedisModule_ReplyWithNull(c->ctx);
    }
}

/* QUANTILE key q [q ...] [WITHIN ...] */
int ri_quantile_command(call *c) {
    within n;
    if (!parse_within(c, 3, INT_MAX, &n)) return REDISMODULE_OK;
    return answer_list(c, &n, ASK_QUANTILES, 2, (uint32_t)c->argc - 2, parse_quantile, reply_quantiles);
}

static int parse_edge(call *c, int at, int is_first, uint64_t *number) {
    int64_t edge;
    if (!parse_index(c, at, &edge)) return 0;
    *number = (uint64_t)edge;
    return is_first || edge > (int64_t)number[-1] || reply_error(c, "ERR Roaring: edges must ascend");
}

static void reply_edges(call *c, const asked *a, const numbers *n) {
    (void)a;
    RedisModule_ReplyWithArray(c->ctx, (long)n->count);
    for (size_t i = 0; i < n->count; i++) reply_integer(c, n->list[i]);
}

static void reply_distinct(call *c, const asked *a, const numbers *n) {
    (void)a;
    RedisModule_ReplyWithArray(c->ctx, (long)(n->count / 2));
    for (size_t i = 0; i < n->count; i += 2) {
        RedisModule_ReplyWithArray(c->ctx, 2);
        reply_value(c, n->list[i]);
        reply_integer(c, n->list[i + 1]);
    }
}

/* HISTOGRAM key [EDGES n edge ...] [TOP k] [WITHIN ...] */
int ri_histogram_command(call *c) {
    within n;
    uint64_t count = 0, values[] = {0, 0};
    if (!parse_within(c, 2, INT_MAX, &n)) return REDISMODULE_OK;
    if (c->argc > 3 && argument_is(c, 2, "EDGES")) {
        if (!parse_limit(c, 3, &count)) return REDISMODULE_OK;
        if (count == 0 || count != (uint64_t)c->argc - 4) return reply_syntax_error(c);
        return answer_list(c, &n, ASK_EDGES, 4, (uint32_t)count, parse_edge, reply_edges);
    }
    if (c->argc != 2 && (c->argc != 4 || !argument_is(c, 2, "TOP"))) return reply_syntax_error(c);
    if (c->argc == 4 && !parse_limit(c, 3, &values[0])) return REDISMODULE_OK;
    if (c->argc == 4 && values[0] == 0) return reply_error(c, "ERR TOP should be greater than 0");
    values[1] = list_most(c, UINT64_MAX, c->family->last);
    return answer(c, &n, &(asked){ASK_DISTINCT, 2, values}, reply_distinct);
}
