/* samples.c -- random members. */
#include "server/args.h"
#include "server/environment.h"
#include "server/listing.h"
#include "server/prepare.h"

/* --- Random numbers ------------------------------------------------------------------------------------ */

/* Each call has its own generator with a random seed: xoshiro256++ of Blackman and Vigna, Scrambled Linear
 * Pseudorandom Number Generators, https://prng.di.unimi.it. The server's generator takes 100 times as long,
 * and only the main thread may use it. */
typedef struct randoms {
    uint64_t state[SEED_WORDS];
} randoms;

static uint64_t rotated(uint64_t x, int by) { return x << by | x >> (64 - by); }

/* A random number of 64 bits. */
static uint64_t draw(randoms *r) {
    uint64_t *s = r->state;
    const uint64_t drawn = rotated(s[0] + s[3], 23) + s[0], shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotated(s[3], 45);
    return drawn;
}

/* A random number below n > 0. All are equally likely: a draw that would favor some of them is repeated. See
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

/* If the bitmap has fewer than this many members for each wanted one, all are listed, and each is taken or
 * passed over. Otherwise, ranks are drawn and sorted. */
#define DENSE 8

/* How many ranks to draw. If there are 8 members for each wanted one, an eighteenth of the ranks repeats
 * others on average. */
#define DRAWN_FOR(wanted) ((wanted) + (wanted) / DENSE + 1)

/* The clock is checked each time this many have been drawn. */
#define DRAWN_AT_ONCE 4096

/* --- Many of the members, in one pass over all --- */

typedef struct pass {
    cardinality members; /* not yet decided on */
    uint64_t wanted; /* how many of these are to be taken */
    randoms random;
} pass;

/* Takes each member with probability wanted / members, so all sets of the wanted size are equally likely. */
static size_t take_some(void *context, uint64_t *members, size_t count) {
    pass *p = context;
    size_t taken = 0;
    for (size_t i = 0; i < count && p->wanted > 0; i++, p->members--) {
        if (draw_below(&p->random, p->members) >= p->wanted) continue;
        members[taken++] = members[i];
        p->wanted--;
    }
    return taken;
}

static int reply_many(call *c, const bitmap *b, uint64_t count, cardinality members) {
    pass p = {.members = members, .wanted = count};
    random_seed(c, p.random.state);
    return list_chosen(c, b, count, take_some, &p);
}

/* --- Few of them, by their ranks --- */

/* Different ranks in ascending order. All sets of ranks are equally likely. */
typedef struct sample {
    uint64_t *ranks;
    uint32_t count, next;
    randoms random;
} sample;

/* Removes repeated ranks from `count` sorted ones, and returns how many are left. */
static uint32_t without_repeats(uint64_t *ranks, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (kept == 0 || ranks[i] != ranks[kept - 1]) ranks[kept++] = ranks[i];
    }
    return kept;
}

static status draw_sorted(worker *w, sample *s, uint32_t count, cardinality n) {
    status done = OK;
    for (uint32_t i = 0; done == OK && i < count; i++) {
        s->ranks[i] = draw_below(&s->random, n);
        if (i % DRAWN_AT_ONCE == 0) done = sandbox_check_time(w);
    }
    return done == OK ? sort_offsets(w, s->ranks, count) : done;
}

/* Draws more ranks than are wanted, since some repeat others, and takes as many different ones as are
 * wanted. */
static status choose_ranks(worker *w, sample *s, cardinality n) {
    uint32_t have = 0;
    while (have < s->count) {
        const uint32_t drawn = DRAWN_FOR(s->count);
        status done = draw_sorted(w, s, drawn, n);
        if (done != OK) return done;
        have = without_repeats(s->ranks, drawn);
    }
    pass p = {have, s->count, s->random};
    take_some(&p, s->ranks, have);
    return OK;
}

static uint64_t *next_chosen(void *context, uint32_t count) {
    sample *s = context;
    s->next += count;
    return s->ranks + s->next - count;
}

static int reply_few(call *c, const bitmap *b, uint64_t count, cardinality members) {
    sample s = {.count = (uint32_t)count};

    s.ranks = count <= UINT32_MAX / 4 ? try_alloc(VALUES_ROOM(DRAWN_FOR(count)) * sizeof *s.ranks) : NULL;
    if (s.ranks == NULL) return reply_failure(c, OUT_OF_MEMORY);
    random_seed(c, s.random.state);
    if (succeeded(c, choose_ranks(c->worker, &s, members))) list_ranked(c, b, count, next_chosen, &s);
    RedisModule_Free(s.ranks);
    return REDISMODULE_OK;
}

/* --- With repeats --- */

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
    draws d = {.members = members};
    random_seed(c, d.random.state);
    return list_ranked(c, b, count, next_drawn, &d);
}

/* Whether any `count` members of b are within the limits of replies. */
static int any_fit(call *c, const bitmap *b, uint64_t count) {
    uint32_t found;
    uint64_t largest;
    return succeeded(c, core_maximum(c->worker, b, &found, &largest)) && list_fits(c, count, largest);
}

static int reply_any(call *c, const bitmap *b, cardinality members) {
    randoms r;
    uint64_t member;
    random_seed(c, r.state);
    if (!succeeded(c, core_select(c->worker, b, draw_below(&r, members), &member))) return REDISMODULE_OK;
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
    limit_time(c);
    if (!open_read(c, 1, &b)) return REDISMODULE_OK;
    if (b && !succeeded(c, core_cardinality(c->worker, b, &members))) return REDISMODULE_OK;
    if (c->argc == 2) return members ? reply_any(c, b, members) : RedisModule_ReplyWithNull(c->ctx);
    if (members == 0 || count == 0) return RedisModule_ReplyWithArray(c->ctx, 0);
    if (count > 0 && (cardinality)count >= members) return reply_members(c, b, 0, members);
    const uint64_t replied = count < 0 ? 0 - (uint64_t)count : (uint64_t)count;
    if (!any_fit(c, b, replied) || offloads(c, replied * LISTED_BYTES)) return REDISMODULE_OK;
    if (count < 0) return reply_with_repeats(c, b, replied, members);
    return (members / DENSE < replied ? reply_many : reply_few)(c, b, replied, members);
}
