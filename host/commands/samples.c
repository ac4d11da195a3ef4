/* samples.c -- random members. */
#include "commands/pops.h"
#include "core/sandbox.h"
#include "server/args.h"
#include "server/listing.h"
#include "server/prepare.h"
#include "threads/offload.h"

#include <stdio.h>
#include <string.h>

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

/* Copies some of the members to `taken`, which may be `members`, and returns how many. Takes each member with
 * probability wanted / members, so all sets of the wanted size are equally likely. */
static size_t copy_some(pass *p, const uint64_t *members, size_t count, uint64_t *taken) {
    size_t copied = 0;
    for (size_t i = 0; i < count && p->wanted > 0; i++, p->members--) {
        if (draw_below(&p->random, p->members) >= p->wanted) continue;
        taken[copied++] = members[i];
        p->wanted--;
    }
    return copied;
}

static size_t take_some(void *context, uint64_t *members, size_t count) {
    return copy_some(context, members, count, members);
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
    pass pass;
} sample;

/* A sample with room for the ranks. Its `ranks` are NULL if out of memory. The caller must free_values them. */
static sample begin_sample(call *c, uint64_t count) {
    sample s = {.count = (uint32_t)count, .ranks = c->worker->few};
    if (DRAWN_FOR(count) > FEW_OFFSETS) {
        const size_t room = VALUES_ROOM(DRAWN_FOR(count)) * sizeof *s.ranks;
        s.ranks = count <= UINT32_MAX / 4 ? try_alloc(room) : NULL;
    }
    random_seed(c, s.pass.random.state);
    return s;
}

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
        s->ranks[i] = draw_below(&s->pass.random, n);
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
    s->pass.members = have;
    s->pass.wanted = s->count;
    take_some(&s->pass, s->ranks, have);
    return OK;
}

static uint64_t *next_chosen(void *context, uint32_t count) {
    sample *s = context;
    s->next += count;
    return s->ranks + s->next - count;
}

static int reply_few(call *c, const bitmap *b, uint64_t count, cardinality members) {
    sample s = begin_sample(c, count);

    if (s.ranks == NULL) return reply_failure(c, OUT_OF_MEMORY);
    if (succeeded(c, choose_ranks(c->worker, &s, members))) list_ranked(c, b, count, next_chosen, &s);
    free_values(c, s.ranks);
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

/* --- RANDPOP ------------------------------------------------------------------------------------------- */

/* A CLEARBITS that is propagated has up to this many offsets. */
#define CLEARED_AT_ONCE 1024

/* Replaces ranks, which the core has read by now, with their members. */
static void take_ranked(void *context, const uint64_t *members, size_t count) {
    sample *s = context;
    memcpy(next_chosen(s, (uint32_t)count), members, count * sizeof *members);
}

static void take_in_pass(void *context, const uint64_t *members, size_t count) {
    sample *s = context;
    s->next += (uint32_t)copy_some(&s->pass, members, count, s->ranks + s->next);
}

/* Replaces the ranks by the members that are chosen, in ascending order. */
static status choose_members(worker *w, const bitmap *b, sample *s, cardinality members) {
    status done = OK;
    if (members / DENSE >= s->count) {
        done = choose_ranks(w, s, members);
        return done == OK ? core_select_all(w, b, s->ranks, s->count, take_ranked, s) : done;
    }
    s->pass.members = members;
    s->pass.wanted = s->count;
    return core_members(w, b, 0, UINT64_MAX, take_in_pass, s);
}

static void propagate_removal(call *c, const uint64_t *members, uint64_t count) {
    RedisModuleString *offsets[CLEARED_AT_ONCE];
    char name[32];
    decimal d = {0};

    snprintf(name, sizeof name, "%sCLEARBITS", c->family->prefix);
    for (size_t i = 0, length; i < count;) {
        size_t batch = 0;
        for (; batch < CLEARED_AT_ONCE && i < count; i++, batch++) {
            const char *text = print_offset(&d, members[i], &length);
            offsets[batch] = RedisModule_CreateString(NULL, text, length);
        }
        RedisModule_Replicate(c->ctx, name, "sv", c->argv[1], offsets, batch);
        while (batch > 0) RedisModule_FreeString(NULL, offsets[--batch]);
    }
}

/* Replies from a bitmap, which a thread can list, if there is memory for one. */
static void reply_popped(call *c, uint64_t *members, uint32_t count) {
    bitmap *b;
    if (c->argc == 2) {
        reply_offset(c, members[0]);
    } else if (count > MEMBERS_BATCH && core_collect(c->worker, members, count, &b) == OK) {
        reply_removed(c, b, count, 0);
        bitmap_free(b);
    } else {
        RedisModule_ReplyWithArray(c->ctx, count);
        reply_offsets(c, members, count);
    }
}

/* Takes some of the members, and closes the key. */
static int pop_some(call *c, open_key *k, uint64_t count, cardinality members) {
    uint64_t removed;
    sample s = begin_sample(c, count);

    status done = s.ranks ? OK : OUT_OF_MEMORY;
    limit_time(c);
    if (done == OK) done = choose_members(c->worker, k->stored, &s, members);
    sandbox_lift_time_limit(c->worker);
    if (done == OK) done = core_clear_all(c->worker, &k->value, s.ranks, s.count, &removed);
    if (commit_silently(c, k, done)) {
        announce_here(c, k->name, "randpop");
        propagate_removal(c, s.ranks, count);
        reply_popped(c, s.ranks, s.count);
    }
    free_values(c, s.ranks);
    return REDISMODULE_OK;
}

/* Takes all members, and deletes the key. */
static int pop_all(call *c, open_key *k, uint64_t members) {
    const bitmap *b = bitmap_retain(k->stored);

    if (b == NULL) {
        abandon(k);
        return reply_failure(c, OUT_OF_MEMORY);
    }
    RedisModule_DeleteKey(k->key);
    RedisModule_CloseKey(k->key);
    announce_here(c, k->name, "randpop");
    RedisModule_NotifyKeyspaceEvent(c->ctx, REDISMODULE_NOTIFY_GENERIC, "del", k->name);
    RedisModule_Replicate(c->ctx, "DEL", "s", k->name);
    if (c->argc == 2) reply_any(c, b, members);
    else if (members <= MEMBERS_BATCH) list_ascending(c, b, members);
    else reply_removed(c, b, members, 0);
    bitmap_release(b);
    return REDISMODULE_OK;
}

/* The main thread removes and propagates members one by one, which takes up to 2 us each. */
#define POPPED_MOST 100000

static int may_pop(call *c, const bitmap *b, uint64_t count, cardinality members) {
    if (!any_fit(c, b, count)) return 0;
    if (count <= POPPED_MOST || count == members) return 1;
    return reply_error(c, "ERR Roaring: too many members: maximum %d at a time, or all", POPPED_MOST);
}

/* RANDPOP key [count] -- removes random members and replies them, in ascending order. A key without members is
 * deleted, as by SPOP. */
int randpop_command(call *c) {
    uint64_t count;
    cardinality members;
    open_key k;

    if (!begin_pop(c, &k, &count, &members)) return REDISMODULE_OK;
    if (count > 1 && !may_pop(c, k.stored, count, members)) {
        abandon(&k);
        return REDISMODULE_OK;
    }
    return count == members ? pop_all(c, &k, count) : pop_some(c, &k, count, members);
}
