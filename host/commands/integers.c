/* integers.c -- RI.*: integers for ids. Their replies and errors follow those of sorted sets. */
#include "server/integers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/values.h"
#include "handlers.h"
#include "server/args.h"
#include "server/expression.h"
#include "server/listing.h"
#include "server/prepare.h"

/* --- Lists of numbers --- */

/* Numbers that the core has listed, before they are replied: the limits are checked first. */
typedef struct numbers {
    uint64_t *list;
    size_t count, room;
    int failed; /* out of memory */
} numbers;

static void take_numbers(void *context, const uint64_t *more, size_t count) {
    numbers *n = context;
    if (n->failed) return;
    if (n->count + count > n->room) {
        const size_t room = (n->count + count) * 2;
        uint64_t *list = try_alloc(room * sizeof *list);
        if (list == NULL) {
            n->failed = 1;
            return;
        }
        if (n->count > 0) memcpy(list, n->list, n->count * sizeof *list);
        RedisModule_Free(n->list);
        n->list = list;
        n->room = room;
    }
    memcpy(n->list + n->count, more, count * sizeof *more);
    n->count += count;
}

static int numbers_taken(call *c, const numbers *n, status s) {
    return succeeded(c, s == OK && n->failed ? OUT_OF_MEMORY : s);
}

/* The most bytes of an integer in a reply. */
#define INTEGER_BYTES 28

static int numbers_fit(call *c, size_t count) {
    return list_in_limits(c, count, (cardinality)count * INTEGER_BYTES);
}

static int reply_value(call *c, int64_t value) { return RedisModule_ReplyWithLongLong(c->ctx, value); }

/* Replies ids, each followed by its value if `values`. */
static void reply_ids(call *c, const uint64_t *list, size_t count, int values) {
    for (size_t i = 0; i < count; i++) {
        if (values && i % 2) reply_value(c, (int64_t)list[i]);
        else reply_offset(c, list[i]);
    }
}

/* --- Arguments --- */

static int parse_id(call *c, int at, uint64_t *id) { return parse_offset(c, at, "id", id); }

#define ERRORMSG_BOUND "ERR min or max is not an integer"

/* A bound as ZCOUNT's: an integer, after "(" if it is excluded, or an end. Sets *none if no value is beyond it. */
static int parse_bound(call *c, int at, int is_low, int64_t *bound, int *none) {
    size_t length;
    long long value;
    const char *text = RedisModule_StringPtrLen(c->argv[at], &length);
    if (argument_is(c, at, "-inf")) {
        *none |= !is_low;
        return *bound = INT64_MIN, 1;
    }
    if (argument_is(c, at, "+inf") || argument_is(c, at, "inf")) {
        *none |= is_low;
        return *bound = INT64_MAX, 1;
    }
    const int open = length > 0 && *text == '(';
    RedisModuleString *number = RedisModule_CreateString(NULL, text + open, length - (size_t)open);
    const int right = RedisModule_StringToLongLong(number, &value) == REDISMODULE_OK;
    RedisModule_FreeString(NULL, number);
    if (!right) return reply_error(c, ERRORMSG_BOUND);
    if (open && value == (is_low ? INT64_MAX : INT64_MIN)) *none = 1;
    else value += open ? (is_low ? 1 : -1) : 0;
    *bound = value;
    return 1;
}

/* -inf as the greatest value, or +inf as the least one, is a bound that excludes all. */
static int parse_bounds(call *c, int low_at, int high_at, bounds *b) {
    int none = 0;
    if (!parse_bound(c, low_at, 1, &b->low, &none) || !parse_bound(c, high_at, 0, &b->high, &none)) return 0;
    if (none) *b = (bounds){INT64_MAX, INT64_MIN};
    return 1;
}

/* --- WITHIN expression numkeys key [key ...]: the ids that count --- */

typedef struct within {
    int at; /* of the expression, 0 without WITHIN */
    int argc; /* of the call with WITHIN */
    query q;
    const bitmap *ids;
    bitmap *made; /* ids, if they had to be computed */
} within;

/* Cuts WITHIN and what follows off the call's arguments, which may have it from `from` on. */
static int parse_within(call *c, int from, within *n) {
    const int argc = c->argc;
    *n = (within){.argc = argc};
    while (from < argc && !argument_is(c, from, "WITHIN")) from++;
    if (from == argc) return 1;
    if (from + 3 >= argc) return reply_syntax_error(c);
    n->at = from + 1;
    if (!parse_key_count(c, n->at + 1, "numkeys", &n->q.keys)) return 0;
    if (n->at + 2 + (int)n->q.keys != argc) return reply_syntax_error(c);
    n->q.greatest = UINT64_MAX;
    c->argc = from;
    return 1;
}

static int is_single_key(const call *c, const within *n) {
    size_t length;
    const char *text = RedisModule_StringPtrLen(c->argv[n->at], &length);
    return n->q.keys == 1 && length == 2 && memcmp(text, "#1", 2) == 0;
}

static int open_bitmaps(call *c, within *n) {
    const family *own = c->family;
    const bitmap *b = NULL;
    int right = 1;
    for (uint32_t i = 0; right && i < n->q.keys; i++) {
        c->family = &families[R64];
        c->takes_integers = 1;
        right = open_either(c, n->at + 2 + (int)i, &b);
        if (right) operands_add(&n->q.operands, b);
    }
    c->family = own;
    c->takes_integers = 0;
    if (right && is_single_key(c, n) && !(b && has_values(span_of(b)))) n->ids = b ? b : bitmap_empty();
    return right;
}

/* Opens the keys of WITHIN. The caller must end_within, whatever this returns. */
static int open_within(call *c, within *n) {
    if (n->at == 0) return 1;
    operands_begin(&n->q.operands);
    if (!parse_expression(c, n->at, &n->q) || !open_bitmaps(c, n)) return 0;
    query_add_tree(&n->q);
    return 1;
}

/* Finds the ids that count. */
static int find_within(call *c, within *n) {
    result r;
    if (n->at == 0 || n->ids) return 1;
    if (!resolve_query(c, &n->q) || !succeeded(c, core_query(c->worker, &n->q, 0, 0, &r))) return 0;
    n->ids = n->made = r.b;
    return 1;
}

/* If the call passes to a thread, that needs all arguments. */
static void end_within(call *c, within *n) {
    c->argc = n->argc;
    if (n->at) operands_end(&n->q.operands);
    bitmap_free(n->made);
}

/* --- Writes --- */

/* Ends a write, after which a key without ids is deleted. */
static int finish(call *c, open_key *k, status done, int changed, const char *event) {
    cardinality ids = 1;
    if (done == OK) done = core_cardinality(c->worker, k->value, &ids);
    if (done != OK || ids > 0) return commit(c, k, done, changed, event);
    if (k->stored == NULL) {
        bitmap_free(k->value);
        abandon(k);
        return 1;
    }
    commit_silently(c, k, done);
    RedisModuleKey *key = RedisModule_OpenKey(c->ctx, k->name, REDISMODULE_READ | REDISMODULE_WRITE);
    RedisModule_DeleteKey(key);
    RedisModule_CloseKey(key);
    announce(c, k->name, event);
    RedisModule_NotifyKeyspaceEvent(c->ctx, REDISMODULE_NOTIFY_GENERIC, "del", k->name);
    return 1;
}

/* One pair of RI.SET, and what it has done. */
typedef struct pair {
    uint64_t id;
    int64_t value;
    uint32_t done;
} pair;

static int parse_pairs(call *c, int at, pair *p) {
    for (; at < c->argc; at += 2, p++) {
        p->done = DID_NOTHING;
        if (!parse_id(c, at, &p->id) || !parse_index(c, at + 1, &p->value)) return 0;
    }
    return 1;
}

/* Restores what the first `count` pairs have changed. Takes no memory. */
static status take_back(worker *w, bitmap **b, pair *pairs, uint32_t count) {
    status s = OK;
    uint32_t done;
    for (uint32_t i = count; s == OK && i > 0; i--) {
        pair *p = &pairs[i - 1];
        if (p->done == ADDED_ID) s = ints_remove(w, b, p->id, &p->value, &done);
        else if (p->done == CHANGED_VALUE) s = ints_set(w, b, p->id, &p->value, REVOCABLE, &done);
    }
    return s;
}

static void settle(worker *w, bitmap **b, const pair *pairs, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (pairs[i].done == CHANGED_VALUE) ints_settle(w, b, pairs[i].id);
    }
}

/* Stores all pairs or none. */
static status set_pairs(worker *w, bitmap **b, pair *pairs, uint32_t count, uint32_t rules) {
    status s = OK;
    uint32_t i = 0;
    if (count == 1) return ints_set(w, b, pairs->id, &pairs->value, rules, &pairs->done);
    while (s == OK && i < count) {
        s = ints_set(w, b, pairs[i].id, &pairs[i].value, rules | REVOCABLE, &pairs[i].done);
        if (s == OK) i++;
    }
    if (s == OUT_OF_MEMORY && take_back(w, b, pairs, i) != OK) s = TRAPPED;
    if (s != TRAPPED) settle(w, b, pairs, i);
    return s;
}

/* The options of ZADD. */
static int parse_rules(call *c, int *at, uint32_t *rules, int *counts_changes) {
    static const char *const words[] = {"NX", "XX", "GT", "LT", "CH"};
    *counts_changes = 0;
    for (*rules = 0; *at < c->argc; (*at)++) {
        uint32_t i = 0;
        while (i < 5 && !argument_is(c, *at, words[i])) i++;
        if (i == 5) break;
        if (i == 4) *counts_changes = 1;
        else *rules |= 1u << i;
    }
    if ((*rules & ONLY_NEW) && (*rules & ONLY_PRESENT))
        return reply_error(c, "ERR XX and NX options at the same time are not compatible");
    const uint32_t some = *rules & (ONLY_NEW | ONLY_GREATER | ONLY_LESS);
    if (some & (some - 1))
        return reply_error(c, "ERR GT, LT, and/or NX options at the same time are not compatible");
    return (c->argc > *at && (c->argc - *at) % 2 == 0) || reply_syntax_error(c);
}

/* RI.SET key [NX | XX] [GT | LT] [CH] id value [id value ...] -- how many ids were added, or also changed. */
int ri_set_command(call *c) {
    pair few[1], *pairs = few;
    open_key k;
    uint32_t rules;
    int at = 2, counts_changes;
    if (!parse_rules(c, &at, &rules, &counts_changes)) return REDISMODULE_OK;
    const uint32_t count = (uint32_t)(c->argc - at) / 2;
    if (count > 1) pairs = try_alloc(count * sizeof *pairs);
    if (pairs == NULL) return reply_failure(c, OUT_OF_MEMORY);
    if (parse_pairs(c, at, pairs) && open_create(c, 1, &k)) {
        uint32_t added = 0, changed = 0;
        status done = set_pairs(c->worker, &k.value, pairs, count, rules);
        for (uint32_t i = 0; i < count; i++) {
            added += pairs[i].done == ADDED_ID;
            changed += pairs[i].done != DID_NOTHING;
        }
        if (finish(c, &k, done, changed > 0, "ri.set")) reply_integer(c, counts_changes ? changed : added);
    }
    if (pairs != few) RedisModule_Free(pairs);
    return REDISMODULE_OK;
}

/* RI.INCRBY key id increment */
int ri_incrby_command(call *c) {
    uint64_t id;
    int64_t value;
    uint32_t did;
    open_key k;
    if (!parse_id(c, 2, &id) || !parse_index(c, 3, &value)) return REDISMODULE_OK;
    const int64_t more = value;
    if (!open_create(c, 1, &k)) return REDISMODULE_OK;
    status done = ints_add(c->worker, &k.value, id, &value, &did);
    if (!finish(c, &k, done, did == ADDED_ID || (did && more != 0), "ri.incrby")) return REDISMODULE_OK;
    if (did == DID_NOTHING) return reply_error(c, "ERR increment or decrement would overflow");
    return reply_value(c, value);
}

/* RI.DEL key id [id ...] */
int ri_del_command(call *c) {
    uint64_t *ids;
    uint32_t count, removed = 0, did;
    int64_t value;
    open_key k;
    if (!parse_values(c, 2, "id", &ids, &count)) return REDISMODULE_OK;
    if (open_write(c, 1, &k)) {
        status done = OK;
        for (uint32_t i = 0; k.value && done == OK && i < count; i++) {
            done = ints_remove(c->worker, &k.value, ids[i], &value, &did);
            removed += did;
        }
        if (k.value == NULL) abandon(&k), reply_integer(c, 0);
        else if (finish(c, &k, done, removed > 0, "ri.del")) reply_integer(c, removed);
    }
    free_values(c, ids);
    return REDISMODULE_OK;
}

/* RI.DELRANGE key min max [WITHIN ...] */
int ri_delrange_command(call *c) {
    within n;
    numbers found = {0};
    ints_range r = {.start = 0, .stop = -1};
    open_key k;
    int64_t value;
    uint32_t did;
    if (!parse_within(c, 4, &n)) return REDISMODULE_OK;
    if (c->argc != 4) return reply_syntax_error(c);
    if (!parse_bounds(c, 2, 3, &r.values)) return REDISMODULE_OK;
    if (open_within(c, &n) && find_within(c, &n) && open_write(c, 1, &k)) {
        status done = k.value ? ints_ranked(c->worker, k.value, n.ids, &r, take_numbers, &found) : OK;
        if (done == OK && found.failed) done = OUT_OF_MEMORY;
        for (size_t i = 0; done == OK && i < found.count; i++)
            done = ints_remove(c->worker, &k.value, found.list[i], &value, &did);
        if (k.value == NULL) abandon(&k), reply_integer(c, 0);
        else if (finish(c, &k, done, found.count > 0, "ri.delrange")) reply_integer(c, found.count);
    }
    RedisModule_Free(found.list);
    end_within(c, &n);
    return REDISMODULE_OK;
}

/* RI.MERGE dest numkeys key [key ...] [AGGREGATE SUM | MIN | MAX] */
int ri_merge_command(call *c) {
    static const char *const words[] = {"SUM", "MIN", "MAX", NULL};
    uint32_t keys, overflows;
    int how = AGGREGATE_SUM;
    operands sources;
    result r = {.b = NULL};
    const bitmap *b;
    if (!parse_key_count(c, 2, "numkeys", &keys)) return REDISMODULE_OK;
    const int end = 3 + (int)keys;
    if (c->argc != end && (c->argc != end + 2 || !argument_is(c, end, "AGGREGATE")))
        return reply_syntax_error(c);
    if (c->argc > end && (how = parse_word(c, end + 1, words, ERRORMSG_SYNTAX)) < 0) return REDISMODULE_OK;
    operands_begin(&sources);
    int right = 1;
    for (int at = 3; right && at < end; at++) {
        right = open_read(c, at, &b);
        if (right && b) operands_add(&sources, b);
    }
    if (right) right = succeeded(c, ints_merge(c->worker, &sources, (enum aggregate)how, &r.b, &overflows));
    operands_end(&sources);
    if (!right) return REDISMODULE_OK;
    if (overflows) return reply_error(c, "ERR increment or decrement would overflow");
    if (succeeded(c, core_cardinality(c->worker, r.b, &r.members))) return store_integers(c, 1, r);
    bitmap_free(r.b);
    return REDISMODULE_OK;
}

/* RI.OPTIMIZE key */
int ri_optimize_command(call *c) {
    open_key k;
    if (!open_write(c, 1, &k)) return REDISMODULE_OK;
    if (k.stored == NULL) {
        abandon(&k);
        return reply_error(c, ERRORMSG_NO_KEY);
    }
    status done = tighten(c->worker, &k.value);
    return commit_silently(c, &k, done) ? reply_ok(c) : REDISMODULE_OK;
}

/* --- Reads --- */

static int reply_value_of(call *c, const bitmap *b, uint64_t id) {
    int64_t value;
    uint32_t found = 0;
    if (b && !succeeded(c, ints_get(c->worker, b, id, &value, &found))) return REDISMODULE_OK;
    return found ? reply_value(c, value) : RedisModule_ReplyWithNull(c->ctx);
}

/* RI.GET key id */
int ri_get_command(call *c) {
    uint64_t id;
    const bitmap *b;
    if (!parse_id(c, 2, &id) || !open_read(c, 1, &b)) return REDISMODULE_OK;
    return reply_value_of(c, b, id);
}

/* RI.MGET key id [id ...] */
int ri_mget_command(call *c) {
    uint64_t *ids;
    uint32_t count;
    const bitmap *b;
    if (!parse_values(c, 2, "id", &ids, &count)) return REDISMODULE_OK;
    if (open_read(c, 1, &b) && numbers_fit(c, count)) {
        RedisModule_ReplyWithArray(c->ctx, count);
        for (uint32_t i = 0; i < count; i++) reply_value_of(c, b, ids[i]);
    }
    free_values(c, ids);
    return REDISMODULE_OK;
}

/* RI.CARD key */
int ri_card_command(call *c) {
    const bitmap *b;
    return open_read(c, 1, &b) ? reply_cardinality(c, b) : REDISMODULE_OK;
}

/* Opens the key of a read, and finds what WITHIN says unless the call is offloaded. The caller must end_within. */
static int open_for_read(call *c, const bitmap **b, within *n) {
    const int argc = c->argc;
    limit_time(c);
    if (!open_read(c, 1, b) || !open_within(c, n)) return 0;
    c->argc = n->argc;
    const int offloaded = offloads_listing(c, 0);
    c->argc = argc;
    return !offloaded && find_within(c, n);
}

/* RI.COUNT key min max [WITHIN ...] */
int ri_count_command(call *c) {
    within n;
    bounds values;
    uint64_t count = 0;
    const bitmap *b;
    if (!parse_within(c, 4, &n)) return REDISMODULE_OK;
    if (c->argc != 4) return reply_syntax_error(c);
    if (!parse_bounds(c, 2, 3, &values)) return REDISMODULE_OK;
    if (open_for_read(c, &b, &n)
        && (b == NULL || succeeded(c, ints_count(c->worker, b, n.ids, values, &count))))
        reply_integer(c, count);
    end_within(c, &n);
    return REDISMODULE_OK;
}

/* An integer of 128 bits as an integer, or as a string if it is beyond 64 bits. */
static void reply_wide(call *c, __int128 number) {
    char text[48], *at = text + sizeof text;
    if (number == (int64_t)number) {
        reply_value(c, (int64_t)number);
        return;
    }
    unsigned __int128 rest = number < 0 ? -(unsigned __int128)number : (unsigned __int128)number;
    for (; rest > 0; rest /= 10) *--at = (char)('0' + (int)(rest % 10));
    if (number < 0) *--at = '-';
    RedisModule_ReplyWithStringBuffer(c->ctx, at, (size_t)(text + sizeof text - at));
}

static int add_up(call *c, int whole, ints_sum *sum) {
    within n;
    const bitmap *b;
    *sum = (ints_sum){0};
    if (!parse_within(c, 2, &n)) return 0;
    if (c->argc != 2) return reply_syntax_error(c);
    const int right =
        open_for_read(c, &b, &n) && (b == NULL || succeeded(c, ints_add_up(c->worker, b, n.ids, whole, sum)));
    end_within(c, &n);
    return right;
}

/* RI.SUM key [WITHIN ...] */
int ri_sum_command(call *c) {
    ints_sum sum;
    if (!add_up(c, 0, &sum)) return REDISMODULE_OK;
    RedisModule_ReplyWithArray(c->ctx, 2);
    reply_integer(c, sum.count);
    reply_wide(c, sum.sum);
    return REDISMODULE_OK;
}

/* The shortest text that is the same double. */
static void reply_double(call *c, double number) {
    char text[40];
    int digits = 1;
    do snprintf(text, sizeof text, "%.*g", digits, number);
    while (strtod(text, NULL) != number && digits++ < 17);
    RedisModule_ReplyWithStringBuffer(c->ctx, text, strlen(text));
}

/* RI.STATS key [WITHIN ...] */
int ri_stats_command(call *c) {
    ints_sum sum;
    if (!add_up(c, 1, &sum)) return REDISMODULE_OK;
    if (RedisModule_ReplyWithMap) RedisModule_ReplyWithMap(c->ctx, 5);
    else RedisModule_ReplyWithArray(c->ctx, 10);
    RedisModule_ReplyWithStringBuffer(c->ctx, "count", 5);
    reply_integer(c, sum.count);
    RedisModule_ReplyWithStringBuffer(c->ctx, "sum", 3);
    reply_wide(c, sum.sum);
    RedisModule_ReplyWithStringBuffer(c->ctx, "min", 3);
    if (sum.count > 0) reply_value(c, sum.least);
    else RedisModule_ReplyWithNull(c->ctx);
    RedisModule_ReplyWithStringBuffer(c->ctx, "max", 3);
    if (sum.count > 0) reply_value(c, sum.greatest);
    else RedisModule_ReplyWithNull(c->ctx);
    RedisModule_ReplyWithStringBuffer(c->ctx, "mean", 4);
    if (sum.count > 0) reply_double(c, (double)sum.sum / (double)sum.count);
    else RedisModule_ReplyWithNull(c->ctx);
    return REDISMODULE_OK;
}

/* RI.RANK key id [REV] [WITHIN ...] */
int ri_rank_command(call *c) {
    within n;
    uint64_t id, rank = 0;
    int64_t value;
    uint32_t found = 0;
    const bitmap *b;
    if (!parse_within(c, 3, &n)) return REDISMODULE_OK;
    const int reverse = c->argc == 4 && argument_is(c, 3, "REV");
    if (c->argc != 3 + reverse) return reply_syntax_error(c);
    if (!parse_id(c, 2, &id)) return REDISMODULE_OK;
    if (open_for_read(c, &b, &n) && (b == NULL || succeeded(c, ints_get(c->worker, b, id, &value, &found)))
        && (!found || succeeded(c, ints_rank(c->worker, b, n.ids, id, value, reverse, &rank)))) {
        if (found) reply_integer(c, rank);
        else RedisModule_ReplyWithNull(c->ctx);
    }
    end_within(c, &n);
    return REDISMODULE_OK;
}

/* The options of RANGE from `at` on. */
static int parse_range(call *c, ints_range *r) {
    int by_value = 0, limited = 0;
    int64_t offset = 0, count = -1;
    for (int at = 4; at < c->argc; at++) {
        if (argument_is(c, at, "BYVALUE")) by_value = 1;
        else if (argument_is(c, at, "REV")) r->reverse = 1;
        else if (argument_is(c, at, "WITHVALUES")) r->with_values = 1;
        else if (argument_is(c, at, "LIMIT") && at + 2 < c->argc) {
            if (!parse_index(c, at + 1, &offset) || !parse_index(c, at + 2, &count)) return 0;
            limited = 1;
            at += 2;
        } else return reply_syntax_error(c);
    }
    if (limited && !by_value)
        return reply_error(c, "ERR syntax error, LIMIT is only supported in combination with BYVALUE");
    r->values = ALL_VALUES;
    if (!by_value) return parse_index(c, 2, &r->start) && parse_index(c, 3, &r->stop);
    /* In reverse order, as ZRANGE, it takes the greater bound first. */
    const int right = parse_bounds(c, r->reverse ? 3 : 2, r->reverse ? 2 : 3, &r->values);
    r->start = offset;
    r->stop = count < 0 ? -1 : count > INT64_MAX - offset ? INT64_MAX : offset + count - 1;
    if (offset < 0 || count == 0) r->values = (bounds){INT64_MAX, INT64_MIN};
    return right;
}

/* RI.RANGE key start stop [BYVALUE] [REV] [LIMIT offset count] [WITHVALUES] [WITHIN ...] */
int ri_range_command(call *c) {
    within n;
    numbers found = {0};
    ints_range r = {0};
    const bitmap *b;
    if (!parse_within(c, 4, &n) || !parse_range(c, &r)) return REDISMODULE_OK;
    if (open_for_read(c, &b, &n)
        && numbers_taken(c, &found, b ? ints_ranked(c->worker, b, n.ids, &r, take_numbers, &found) : OK)
        && numbers_fit(c, found.count)) {
        RedisModule_ReplyWithArray(c->ctx, (long)found.count);
        reply_ids(c, found.list, found.count, r.with_values != 0);
    }
    RedisModule_Free(found.list);
    end_within(c, &n);
    return REDISMODULE_OK;
}

static int parse_quantile(call *c, int at, double *q) {
    char *end;
    size_t length;
    const char *text = RedisModule_StringPtrLen(c->argv[at], &length);
    *q = strtod(text, &end);
    if (length > 0 && end == text + length && *q >= 0 && *q <= 1) return 1;
    return reply_error(c, "ERR Roaring: a quantile is a number from 0 to 1");
}

/* The rank of the quantile q of `count` values. */
static uint64_t rank_of(double q, uint64_t count) {
    const double exact = q * (double)count;
    uint64_t rank = (uint64_t)exact;
    if ((double)rank < exact) rank++;
    return rank > 0 ? rank - 1 : 0;
}

static int reply_quantiles(call *c, const bitmap *b, const within *n, const double *q, uint64_t *ranks) {
    const uint32_t asked = (uint32_t)c->argc - 2;
    uint64_t count = 0;
    if (b && !succeeded(c, ints_count(c->worker, b, n->ids, ALL_VALUES, &count))) return REDISMODULE_OK;
    for (uint32_t i = 0; i < asked; i++) ranks[i] = rank_of(q[i], count);
    if (count > 0 && !succeeded(c, ints_at_ranks(c->worker, b, n->ids, ranks, asked))) return REDISMODULE_OK;
    RedisModule_ReplyWithArray(c->ctx, asked);
    for (uint32_t i = 0; i < asked; i++) {
        if (count > 0) reply_value(c, (int64_t)ranks[i]);
        else RedisModule_ReplyWithNull(c->ctx);
    }
    return REDISMODULE_OK;
}

/* RI.QUANTILE key q [q ...] [WITHIN ...] */
int ri_quantile_command(call *c) {
    within n;
    const bitmap *b;
    if (!parse_within(c, 2, &n)) return REDISMODULE_OK;
    const size_t asked = (size_t)c->argc - 2;
    if (asked == 0) return reply_syntax_error(c);
    double *q = try_alloc(asked * sizeof *q);
    uint64_t *ranks = try_alloc(asked * sizeof *ranks);
    int right = (q && ranks) || reply_failure(c, OUT_OF_MEMORY);
    for (size_t i = 0; right && i < asked; i++) right = parse_quantile(c, 2 + (int)i, &q[i]);
    if (right && open_for_read(c, &b, &n)) reply_quantiles(c, b, &n, q, ranks);
    end_within(c, &n);
    RedisModule_Free(q);
    RedisModule_Free(ranks);
    return REDISMODULE_OK;
}

/* The options of HISTOGRAM: edges are `count` arguments from *at on. */
static int parse_histogram(call *c, int *at, uint32_t *count, uint64_t *top) {
    uint64_t edges = 0;
    int next = 2;
    *at = 0;
    *top = 0;
    *count = 0;
    for (; next < c->argc; next++) {
        if (*at == 0 && next + 1 < c->argc && argument_is(c, next, "EDGES")) {
            if (!parse_limit(c, next + 1, &edges)) return 0;
            *at = next + 2;
            if (edges == 0 || edges > (uint64_t)(c->argc - *at)) return reply_syntax_error(c);
            *count = (uint32_t)edges;
            next = *at + (int)edges - 1;
        } else if (*top == 0 && next + 1 < c->argc && argument_is(c, next, "TOP")) {
            if (!parse_limit(c, ++next, top)) return 0;
            if (*top == 0) return reply_error(c, "ERR TOP should be greater than 0");
        } else return reply_syntax_error(c);
    }
    return *top == 0 || *at == 0 || reply_syntax_error(c);
}

static int reply_edges(call *c, const bitmap *b, const within *n, int at, uint32_t count) {
    uint64_t all = 0;
    int64_t edge;
    uint64_t *edges = try_alloc((count + 1) * sizeof *edges);
    int right = edges != NULL || reply_failure(c, OUT_OF_MEMORY);
    for (uint32_t i = 0; right && i < count; i++) {
        right = parse_index(c, at + (int)i, &edge);
        if (right && i > 0 && edge <= (int64_t)edges[i - 1])
            right = reply_error(c, "ERR Roaring: edges must ascend");
        if (right) edges[i] = (uint64_t)edge;
    }
    if (right && b) right = succeeded(c, ints_edges(c->worker, b, n->ids, edges, count, &all));
    if (right && b == NULL) memset(edges, 0, count * sizeof *edges);
    if (right) {
        RedisModule_ReplyWithArray(c->ctx, count + 1);
        reply_integer(c, all - edges[0]);
        for (uint32_t i = 0; i < count; i++) reply_integer(c, edges[i] - (i + 1 < count ? edges[i + 1] : 0));
    }
    RedisModule_Free(edges);
    return REDISMODULE_OK;
}

/* Most ids first, and of equal numbers the least value. */
static int by_ids(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    if (x[1] != y[1]) return x[1] < y[1] ? 1 : -1;
    return ((int64_t)x[0] > (int64_t)y[0]) - ((int64_t)x[0] < (int64_t)y[0]);
}

static int reply_distinct(call *c, const bitmap *b, const within *n, uint64_t top) {
    numbers found = {0};
    if (numbers_taken(c, &found, b ? ints_distinct(c->worker, b, n->ids, take_numbers, &found) : OK)) {
        size_t pairs = found.count / 2;
        if (top > 0 && pairs > 0) qsort(found.list, pairs, 2 * sizeof *found.list, by_ids);
        if (top > 0 && pairs > top) pairs = top;
        if (numbers_fit(c, 2 * pairs)) {
            RedisModule_ReplyWithArray(c->ctx, (long)pairs);
            for (size_t i = 0; i < pairs; i++) {
                RedisModule_ReplyWithArray(c->ctx, 2);
                reply_value(c, (int64_t)found.list[2 * i]);
                reply_integer(c, found.list[2 * i + 1]);
            }
        }
    }
    RedisModule_Free(found.list);
    return REDISMODULE_OK;
}

/* RI.HISTOGRAM key [EDGES n edge ...] [TOP k] [WITHIN ...] */
int ri_histogram_command(call *c) {
    within n;
    int at;
    uint32_t edges;
    uint64_t top;
    const bitmap *b;
    if (!parse_within(c, 2, &n) || !parse_histogram(c, &at, &edges, &top)) return REDISMODULE_OK;
    if (open_for_read(c, &b, &n)) {
        if (at) reply_edges(c, b, &n, at, edges);
        else reply_distinct(c, b, &n, top);
    }
    end_within(c, &n);
    return REDISMODULE_OK;
}

#define SCAN_COUNT 10

/* RI.SCAN key cursor [COUNT n] -- the cursor is the least id that is still to be replied. */
int ri_scan_command(call *c) {
    numbers found = {0};
    decimal d = {0};
    size_t length;
    uint64_t from, count = SCAN_COUNT;
    const bitmap *b;
    if (!parse_offset(c, 2, "cursor", &from)) return REDISMODULE_OK;
    if (c->argc > 3 && (c->argc != 5 || !argument_is(c, 3, "COUNT"))) return reply_syntax_error(c);
    if (c->argc > 3 && !parse_limit(c, 4, &count)) return REDISMODULE_OK;
    if (count == 0) return reply_syntax_error(c);
    if (count > INT32_MAX) count = INT32_MAX;
    if (!open_read(c, 1, &b)) return REDISMODULE_OK;
    if (numbers_taken(c, &found, b ? ints_list(c->worker, b, from, count + 1, take_numbers, &found) : OK)) {
        const int more = found.count > 2 * count;
        const size_t replied = more ? 2 * count : found.count;
        if (numbers_fit(c, replied)) {
            const char *text = print_offset(&d, more ? found.list[replied] : 0, &length);
            RedisModule_ReplyWithArray(c->ctx, 2);
            RedisModule_ReplyWithStringBuffer(c->ctx, text, length);
            RedisModule_ReplyWithArray(c->ctx, (long)replied);
            reply_ids(c, found.list, replied, 1);
        }
    }
    RedisModule_Free(found.list);
    return REDISMODULE_OK;
}
