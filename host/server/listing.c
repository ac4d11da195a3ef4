/* listing.c -- replies with many elements, and how large a reply may be. */
#include "server/listing.h"

#include <inttypes.h>
#include <string.h>

#include "core/calls.h"
#include "server/environment.h"

/* The server copies the reply to a script into one string and then into Lua values, which take several times
 * as much. */
#define SCRIPT_SHARE 4

static uint64_t least(cardinality a, uint64_t b) { return a < b ? (uint64_t)a : b; }

/* The limit for a reply of that many bytes. Finding out whether a script called takes longer than building a
 * short reply. */
static uint64_t bytes_limit(const call *c, cardinality bytes, int *scripted) {
    uint64_t limit = (uint64_t)c->env->settings->reply_limit_bytes;
    *scripted = 0;
    if (bytes <= limit / SCRIPT_SHARE) return limit;
    if (was_accepted(c)) return UINT64_MAX;
    *scripted = (context_flags(c) & REDISMODULE_CTX_FLAGS_LUA) != 0;
    return *scripted ? limit / SCRIPT_SHARE : limit;
}

uint64_t list_limit(const call *c, cardinality members) {
    const uint64_t limit = (uint64_t)c->env->settings->reply_limit;
    return members > limit && was_accepted(c) ? UINT64_MAX : limit;
}

int reply_fits(call *c, cardinality bytes) {
    int scripted;
    uint64_t limit = bytes_limit(c, bytes, &scripted);
    if (bytes <= limit) return 1;
    const char *share = scripted ? "in scripts a quarter of " : "";
    return reply_error(
        c, "ERR Roaring: reply too large: maximum %" PRIu64 " bytes (%sredis-roar.reply-limit-bytes)", limit,
        share);
}

/* The bytes of an offset in a reply: an integer, or a bulk string, whose length has one digit or two. */
static uint64_t offset_bytes(const call *c, uint64_t offset) {
    size_t length = digits_of(offset);
    if (!offset_is_string(c, offset)) return length + sizeof ":\r\n" - 1;
    return length + sizeof "$0\r\n\r\n" - 1 + (length >= 10);
}

int list_in_limits(call *c, cardinality elements, cardinality bytes) {
    uint64_t limit = list_limit(c, elements);
    if (elements > limit) {
        return reply_error(
            c, "ERR Roaring: reply too large: maximum %" PRIu64 " elements (redis-roar.reply-limit)", limit);
    }
    return reply_fits(c, bytes);
}

int list_fits(call *c, cardinality members, uint64_t largest) {
    return list_in_limits(c, members, members * offset_bytes(c, largest));
}

uint64_t list_most(const call *c, uint64_t wanted, uint64_t largest) {
    int scripted;
    uint64_t each = offset_bytes(c, largest);
    uint64_t room = bytes_limit(c, (cardinality)wanted * each, &scripted) / each;
    return least(wanted, least(room, list_limit(c, wanted)));
}

uint64_t list_room(const call *c, uint64_t wanted, uint64_t *bytes) {
    int scripted;
    *bytes = bytes_limit(c, UINT64_MAX, &scripted);
    return least(wanted, list_limit(c, wanted));
}

int list_largest(call *c, const bitmap *b, uint64_t from, cardinality members, uint64_t *largest) {
    cardinality before = 0;
    uint64_t listed = least(members, list_limit(c, members));

    *largest = c->family->last;
    if (list_most(c, listed, *largest) == listed) return 1;
    if (from && !succeeded(c, core_count_between(c->worker, b, 0, from - 1, &before))) return 0;
    return succeeded(c, core_select(c->worker, b, (uint64_t)(before + listed - 1), largest));
}

/* A reply under construction. A single batch, which arrives after the core has finished, begins with its
 * length. The length of a longer reply is set at the end, so that the reply is complete even if the core is
 * cut short. */
typedef struct listing {
    call *call;
    uint64_t most;
    long replied;
    int postponed;
} listing;

/* Adds a batch; another one may follow. */
static void begin_batch(listing *l, size_t length, int may_follow) {
    if (l->replied == 0) {
        l->postponed = may_follow && length != l->most;
        RedisModule_ReplyWithArray(l->call->ctx, l->postponed ? REDISMODULE_POSTPONED_LEN : (long)length);
    }
    l->replied += (long)length;
}

static void reply_batch(void *context, const uint64_t *members, size_t length) {
    begin_batch(context, length, length == MEMBERS_BATCH);
    reply_offsets(((listing *)context)->call, members, length);
}

/* Ends the reply after the core has listed the members with this status. */
static int end_listing(listing *l, status done) {
    if (!succeeded(l->call, done)) {
        if (l->replied) l->replied++;               /* the error becomes the last element */
    } else if (l->replied == 0) {
        RedisModule_ReplyWithArray(l->call->ctx, 0);
    }
    if (l->postponed) RedisModule_ReplySetArrayLength(l->call->ctx, l->replied);
    return REDISMODULE_OK;
}

int reply_members(call *c, const bitmap *b, uint64_t from, cardinality members) {
    uint64_t largest;

    if (members == 0) return RedisModule_ReplyWithArray(c->ctx, 0);
    if (!list_largest(c, b, from, members, &largest) || !list_fits(c, members, largest)) {
        return REDISMODULE_OK;
    }
    if (offloads(c, (uint64_t)members * LISTED_BYTES)) return REDISMODULE_OK;
    return list_members(c, b, from, (uint64_t)members);
}

int list_members(call *c, const bitmap *b, uint64_t from, uint64_t count) {
    listing l = {.call = c, .most = count};
    return end_listing(&l, count ? core_members(c->worker, b, from, count, reply_batch, &l) : OK);
}

int list_ascending(call *c, const bitmap *b, uint64_t members) { return list_members(c, b, 0, members); }

static void reply_reversed(void *context, const uint64_t *members, size_t length) {
    listing *l = context;
    begin_batch(l, length, 1);
    while (length-- > 0) reply_offset(l->call, members[length]);
}

int list_before(call *c, const bitmap *b, cardinality end, uint64_t count) {
    status done = OK;
    listing l = {.call = c, .most = count};
    while (done == OK && count > 0) {
        uint64_t first = 0, batch = count < MEMBERS_BATCH ? count : MEMBERS_BATCH;
        count -= batch;
        end -= batch;
        done = core_select(c->worker, b, (uint64_t)end, &first);
        if (done == OK) done = core_members(c->worker, b, first, batch, reply_reversed, &l);
    }
    return end_listing(&l, done);
}

int reply_members_before(call *c, const bitmap *b, cardinality end, cardinality members) {
    uint64_t largest;

    if (members == 0) return RedisModule_ReplyWithArray(c->ctx, 0);
    if (!succeeded(c, core_select(c->worker, b, (uint64_t)(end - 1), &largest))) return REDISMODULE_OK;
    if (!list_fits(c, members, largest) || offloads(c, (uint64_t)members * LISTED_BYTES))
        return REDISMODULE_OK;
    return list_before(c, b, end, (uint64_t)members);
}

/* A batch has whole pairs, since its length is even. */
static void reply_pairs(void *context, const uint64_t *members, size_t length) {
    listing *l = context;
    begin_batch(l, length / 2, length == MEMBERS_BATCH);
    for (size_t i = 0; i < length; i += 2) {
        RedisModule_ReplyWithArray(l->call->ctx, 2);
        reply_offsets(l->call, members + i, 2);
    }
}

/* Whether `runs` pairs of offsets up to `largest` are within the limits; replies if not. */
static int runs_fit(call *c, uint64_t runs, uint64_t largest) {
    const cardinality bytes = (cardinality)runs * (2 * offset_bytes(c, largest) + sizeof "*2\r\n" - 1);
    return list_in_limits(c, (cardinality)runs * 2, bytes);
}

int reply_runs(call *c, const bitmap *b, uint64_t low, uint64_t high, uint64_t most) {
    uint64_t runs = most;

    if (most > UINT64_MAX / 3 || list_most(c, 3 * most, c->family->last) < 3 * most) {
        if (!succeeded(c, core_count_runs(c->worker, b, low, high, most, &runs)) || !runs_fit(c, runs, high))
            return REDISMODULE_OK;
    }
    listing l = {.call = c, .most = runs};
    return end_listing(&l, core_runs(c->worker, b, low, high, runs, reply_pairs, &l));
}

typedef struct choice {
    listing listing;
    member_filter *choose;
    void *context;
} choice;

static void reply_chosen(void *context, const uint64_t *members, size_t length) {
    uint64_t chosen[MEMBERS_BATCH];
    choice *one = context;
    memcpy(chosen, members, length * sizeof *chosen);
    size_t count = one->choose(one->context, chosen, length);
    if (count == 0) return;
    begin_batch(&one->listing, count, 1);
    reply_offsets(one->listing.call, chosen, count);
}

int list_chosen(call *c, const bitmap *b, uint64_t count, member_filter *choose, void *context) {
    choice one = {{.call = c, .most = count}, choose, context};
    return end_listing(&one.listing, core_members(c->worker, b, 0, UINT64_MAX, reply_chosen, &one));
}

static void reply_unordered(void *context, const uint64_t *members, size_t length) {
    listing *l = context;
    begin_batch(l, length, length == MEMBERS_BATCH);
    for (size_t i = 0; i < length; i++) reply_offset(l->call, members[i]);
}

int list_ranked(call *c, const bitmap *b, uint64_t count, rank_source *next, void *context) {
    status done = OK;
    listing l = {.call = c, .most = count};
    while (done == OK && count > 0) {
        uint32_t batch = count < MEMBERS_BATCH ? (uint32_t)count : MEMBERS_BATCH;
        done = core_select_all(c->worker, b, next(context, batch), batch, reply_unordered, &l);
        count -= batch;
    }
    return end_listing(&l, done);
}

uint64_t count_bytes(cardinality members) {
    uint64_t digits = members < TWO_TO_64 ? digits_of((uint64_t)members) : COUNT_TEXT;
    return digits + (members <= INT64_MAX ? sizeof ":\r\n" : sizeof "$20\r\n\r\n") - 1;
}

int reply_counts(call *c, const cardinality *counts, uint32_t length) {
    cardinality bytes = 0;

    for (uint32_t i = 0; i < length; i++) bytes += count_bytes(counts[i]);
    if (!reply_fits(c, bytes)) return REDISMODULE_OK;
    RedisModule_ReplyWithArray(c->ctx, length);
    for (uint32_t i = 0; i < length; i++) reply_count(c, counts[i]);
    return REDISMODULE_OK;
}

int reply_query_members(call *c, const query *q, const page *p) {
    cardinality members = p->limit;
    page within = *p;

    if (p->down && p->from < p->limit) members = within.limit = p->from + 1;
    if (list_most(c, within.limit, c->family->last) < within.limit) {
        if (!succeeded(c, core_query_cardinality(c->worker, q, &within, &members))) return REDISMODULE_OK;
        if (!list_fits(c, members, p->down ? p->from : c->family->last)) return REDISMODULE_OK;
        within.limit = (uint64_t)members;
    }
    listing l = {.call = c, .most = within.limit};
    return end_listing(
        &l, core_query_members(c->worker, q, &within, p->down ? reply_unordered : reply_batch, &l));
}
