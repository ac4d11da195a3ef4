/* commands_samples.c -- members at random, and members taken from either end. */
#include "args.h"
#include "keys.h"
#include "listing.h"

#include <string.h>

/* --- Random numbers ------------------------------------------------------------------------------------ */

/* Random numbers fetched from the server, a few at a time. */
#define POOL 128

typedef struct randoms {
    uint64_t numbers[POOL];
    uint32_t left, fetched;
} randoms;

/* A random number of 64 bits. */
static uint64_t draw(randoms *r) {
    if (r->left == 0) {
        r->fetched = r->fetched ? POOL : 1;         /* a single member needs only one */
        RedisModule_GetRandomBytes((unsigned char *)r->numbers, r->fetched * sizeof *r->numbers);
        r->left = r->fetched;
    }
    return r->numbers[--r->left];
}

/* A random number below n > 0. Each is equally likely: the numbers that would favor some are drawn again. See
 * Lemire, Fast Random Integer Generation in an Interval, https://arxiv.org/abs/1805.10941. */
static uint64_t draw_below(randoms *r, cardinality n) {
    if (n > UINT64_MAX) return draw(r);
    cardinality product = draw(r) * n;
    if ((uint64_t)product < n) {
        const uint64_t least = -(uint64_t)n % (uint64_t)n;
        while ((uint64_t)product < least) product = draw(r) * n;
    }
    return (uint64_t)(product >> 64);
}

/* --- RANDMEMBER ---------------------------------------------------------------------------------------- */

/* Of fewer members than this many times the wanted ones, each is taken or passed over in turn. */
#define DENSE 8

/* Different ranks below n in ascending order, each set of them equally likely. */
typedef struct sample {
    uint64_t *ranks;
    uint32_t count, next;
} sample;

/* Takes each rank with the probability that as many of the rest are taken as are still wanted. */
static void choose_each(sample *s, cardinality n, randoms *r) {
    uint32_t chosen = 0;
    for (uint64_t rank = 0; chosen < s->count; rank++) {
        if (draw_below(r, n - rank) < s->count - chosen) s->ranks[chosen++] = rank;
    }
}

/* Removes repeated ranks from `count` sorted ones, and returns how many are left. */
static uint32_t without_repeats(uint64_t *ranks, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (kept == 0 || ranks[i] != ranks[kept - 1]) ranks[kept++] = ranks[i];
    }
    return kept;
}

/* Draws until there are enough different ranks: never more at once than are missing, so the result is what
 * drawing them one by one would give. */
static status choose_by_drawing(sample *s, cardinality n, randoms *r) {
    for (uint32_t have = 0; have < s->count;) {
        for (; have < s->count; have++) s->ranks[have] = draw_below(r, n);
        status done = sort_offsets(s->ranks, s->count);
        if (done != OK) return done;
        have = without_repeats(s->ranks, s->count);
    }
    return OK;
}

static status choose(sample *s, cardinality n) {
    randoms r = {.left = 0};
    if (n / DENSE >= s->count) return choose_by_drawing(s, n, &r);
    choose_each(s, n, &r);
    return OK;
}

static uint64_t *next_chosen(void *context, uint32_t count) {
    sample *s = context;
    s->next += count;
    return s->ranks + s->next - count;
}

/* Whether any `count` members of b are within the limits of replies. */
static int any_fit(call *c, const bitmap *b, uint64_t count) {
    uint32_t found;
    uint64_t largest;
    return succeeded(c, core_maximum(b, &found, &largest)) && list_fits(c, count, largest);
}

/* Replies `count` different members, fewer than the bitmap has. */
static int reply_different(call *c, const bitmap *b, uint64_t count, cardinality members) {
    sample s = {.count = (uint32_t)count};

    if (!any_fit(c, b, count)) return REDISMODULE_OK;
    s.ranks = count <= UINT32_MAX / 4 ? try_alloc(VALUES_ROOM(count) * sizeof *s.ranks) : NULL;
    if (s.ranks == NULL) return reply_failure(c, OUT_OF_MEMORY);
    if (succeeded(c, choose(&s, members))) reply_ranked(c, b, count, next_chosen, &s);
    RedisModule_Free(s.ranks);
    return REDISMODULE_OK;
}

/* Ranks that are drawn independently of one another. */
typedef struct draws {
    cardinality members;
    randoms random;
    uint64_t ranks[MEMBERS_BATCH];
} draws;

static uint64_t *next_drawn(void *context, uint32_t count) {
    draws *d = context;
    for (uint32_t i = 0; i < count; i++) d->ranks[i] = draw_below(&d->random, d->members);
    return d->ranks;
}

static int reply_with_repeats(call *c, const bitmap *b, uint64_t count, cardinality members) {
    draws d = {.members = members, .random.left = 0};
    if (!any_fit(c, b, count)) return REDISMODULE_OK;
    return reply_ranked(c, b, count, next_drawn, &d);
}

static int reply_any(call *c, const bitmap *b, cardinality members) {
    randoms r = {.left = 0};
    uint64_t member;
    if (!succeeded(c, core_select(b, draw_below(&r, members), &member))) return REDISMODULE_OK;
    return reply_offset(c, member);
}

/* RANDMEMBER key [count] -- a random member; with a count that many different ones in ascending order, with a
 * negative count that many independent of one another. */
int randmember_command(call *c) {
    int64_t count = 0;
    cardinality members = 0;
    const bitmap *b;

    if (c->argc > 3) return reply_syntax_error(c);
    if (c->argc > 2 && !parse_index(c, 2, &count)) return REDISMODULE_OK;
    limit_question(c);
    if (!open_read(c, 1, &b)) return REDISMODULE_OK;
    if (b && !succeeded(c, core_cardinality(b, &members))) return REDISMODULE_OK;
    if (c->argc == 2) return members ? reply_any(c, b, members) : RedisModule_ReplyWithNull(c->ctx);
    if (members == 0 || count == 0) return RedisModule_ReplyWithArray(c->ctx, 0);
    if (count < 0) return reply_with_repeats(c, b, 0 - (uint64_t)count, members);
    if ((cardinality)count >= members) return reply_members(c, b, 0, members);
    return reply_different(c, b, (uint64_t)count, members);
}

/* --- POPMIN and POPMAX --------------------------------------------------------------------------------- */

typedef struct end {
    const char *event;
    status (*find)(const bitmap *b, uint32_t *found, uint64_t *member);
    int is_last;
} end;

/* What is taken from an end: `count` members in ascending order. */
typedef struct popped {
    uint64_t *members;
    uint64_t count, listed;
} popped;

static void take_batch(void *context, const uint64_t *members, size_t count) {
    popped *p = context;
    memcpy(p->members + p->listed, members, count * sizeof *members);
    p->listed += count;
}

static int pop_one(call *c, open_key *k, const end *from) {
    uint32_t found, previous;
    uint64_t member;

    status done = from->find(k->stored, &found, &member);
    if (done == OK) done = core_set(&k->value, member, 0, &previous);
    if (!commit(c, k, done, 1, from->event)) return REDISMODULE_OK;
    if (c->argc > 2) RedisModule_ReplyWithArray(c->ctx, 1);
    return reply_offset(c, member);
}

/* Lists p->count members from `first` on and removes them: they are all that there are in their range. */
static status take(bitmap **b, uint64_t first, popped *p) {
    cardinalities members;
    status done = core_members(*b, first, p->count, take_batch, p);
    if (done != OK) return done;
    const stretch whole = {CLEAR, p->members[0], p->members[p->count - 1]};
    return core_change_range(b, &whole, &members);
}

static void reply_popped(call *c, const popped *p, const end *from) {
    RedisModule_ReplyWithArray(c->ctx, (long)p->count);
    if (!from->is_last) reply_offsets(c, p->members, p->count);
    else
        for (uint64_t i = p->count; i-- > 0;) reply_offset(c, p->members[i]);
}

/* Ends the opening of the key. */
static int pop_several(call *c, open_key *k, uint64_t count, cardinality members, const end *from) {
    popped p = {.count = count};
    uint64_t first = 0, largest;
    int right = !from->is_last || succeeded(c, core_select(k->stored, (uint64_t)(members - count), &first));

    right = right && list_largest(c, k->stored, first, count, &largest) && list_fits(c, count, largest);
    p.members = right ? try_alloc(count * sizeof *p.members) : NULL;
    if (right && p.members == NULL) right = succeeded(c, OUT_OF_MEMORY);
    if (!right) {
        abandon(k);
        return REDISMODULE_OK;
    }
    if (commit(c, k, take(&k->value, first, &p), 1, from->event)) reply_popped(c, &p, from);
    RedisModule_Free(p.members);
    return REDISMODULE_OK;
}

static int pop(call *c, const end *from) {
    uint64_t wanted = 1;
    cardinality members = 0;
    open_key k;

    if (c->argc > 3) return reply_syntax_error(c);
    if (c->argc > 2 && !parse_limit(c, 2, &wanted)) return REDISMODULE_OK;
    if (!open_write(c, 1, &k)) return REDISMODULE_OK;
    int right = k.stored == NULL || succeeded(c, core_cardinality(k.stored, &members));
    if (wanted > members) wanted = (uint64_t)members;
    if (right && wanted == 1) return pop_one(c, &k, from);
    if (right && wanted > 1) return pop_several(c, &k, wanted, members, from);
    abandon(&k);
    if (!right) return REDISMODULE_OK;
    return c->argc > 2 ? RedisModule_ReplyWithArray(c->ctx, 0) : RedisModule_ReplyWithNull(c->ctx);
}

/* POPMIN key [count] -- removes the smallest members and replies them, the smallest first. The key stays,
 * even if it is empty then. */
int popmin_command(call *c) {
    static const end least = {"popmin", core_minimum, 0};
    return pop(c, &least);
}

/* POPMAX key [count] -- removes the greatest members and replies them, the greatest first. */
int popmax_command(call *c) {
    static const end greatest = {"popmax", core_maximum, 1};
    return pop(c, &greatest);
}
