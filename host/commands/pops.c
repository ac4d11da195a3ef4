/* pops.c -- members taken from either end. */
#include "commands/pops.h"

#include "server/args.h"
#include "server/keys.h"
#include "server/listing.h"
#include "threads/offload.h"

#include <string.h>

/* Up to this many members are listed before they are removed: a batch. */
#define FEW MEMBERS_BATCH

typedef struct end {
    const char *event;
    status (*find)(worker *w, const bitmap *b, uint32_t *found, uint64_t *member);
    int is_last;
} end;

/* The members taken from an end: `count` of them, which are all members in the stretch `taken`. */
typedef struct taking {
    const end *from;
    uint64_t count;
    cardinality rest; /* how many members are left */
    stretch taken;
} taking;

static int pop_one(call *c, open_key *k, const end *from) {
    uint32_t found, previous;
    uint64_t member;

    status done = from->find(c->worker, k->stored, &found, &member);
    if (done == OK) done = core_set(c->worker, &k->value, member, 0, &previous);
    if (!commit(c, k, done, 1, from->event)) return REDISMODULE_OK;
    if (c->argc > 2) RedisModule_ReplyWithArray(c->ctx, 1);
    return reply_offset(c, member);
}

/* Finds the stretch, and checks that its members are within the limits of replies. */
static int find_taken(call *c, const bitmap *b, taking *t) {
    uint64_t largest;

    t->taken = (stretch){CLEAR, 0, c->family->last};
    if (t->from->is_last && !succeeded(c, core_select(c->worker, b, (uint64_t)t->rest, &t->taken.low)))
        return 0;
    if (!t->from->is_last && !succeeded(c, core_select(c->worker, b, t->count - 1, &t->taken.high))) return 0;
    return list_largest(c, b, t->taken.low, t->count, &largest) && list_fits(c, t->count, largest);
}

/* A bitmap of the members that are taken, from which the reply is made after the write. */
static status copy_taken(const call *c, const bitmap *b, const taking *t, bitmap **members) {
    const stretch below = {CLEAR, 0, t->taken.low - 1}, above = {CLEAR, t->taken.high + 1, c->family->last};
    result copied = {.b = NULL};
    status done = OK;
    if (t->rest > 0) done = core_changed(c->worker, b, t->from->is_last ? &below : &above, &copied);
    else copied.b = bitmap_copy(b);
    *members = copied.b;
    return done == OK && copied.b == NULL ? OUT_OF_MEMORY : done;
}

/* Whether nobody reads the reply: the command comes from the primary or an AOF, but not from a script. */
static int is_unread(const call *c) {
    return was_accepted(c) && !(context_flags(c) & REDISMODULE_CTX_FLAGS_LUA);
}

/* Copies the members as a bitmap before it removes them: their list may be a thousand times as large. */
static int pop_many(call *c, open_key *k, const taking *t) {
    bitmap *members = NULL;
    cardinalities both;

    status done = is_unread(c) ? OK : copy_taken(c, k->stored, t, &members);
    if (done == OK) done = core_change_range(c->worker, &k->value, &t->taken, &both);
    if (commit(c, k, done, 1, t->from->event)) {
        if (members) reply_removed(c, members, t->count, t->from->is_last);
        else reply_ok(c);
    }
    bitmap_free(members);
    return REDISMODULE_OK;
}

/* A list of few members. */
typedef struct list {
    uint64_t members[FEW];
    size_t count;
} list;

static void take_batch(void *context, const uint64_t *members, size_t count) {
    list *l = context;
    memcpy(l->members, members, count * sizeof *members);
    l->count = count;
}

static int pop_few(call *c, open_key *k, const taking *t) {
    list l;
    cardinalities both;

    status done = core_members(c->worker, k->stored, t->taken.low, t->count, take_batch, &l);
    if (done == OK) done = core_change_range(c->worker, &k->value, &t->taken, &both);
    if (!commit(c, k, done, 1, t->from->event)) return REDISMODULE_OK;
    RedisModule_ReplyWithArray(c->ctx, (long)l.count);
    if (!t->from->is_last) reply_offsets(c, l.members, l.count);
    else
        for (size_t i = l.count; i-- > 0;) reply_offset(c, l.members[i]);
    return REDISMODULE_OK;
}

/* Takes two members or more, and closes the key. */
static int pop_several(call *c, open_key *k, taking *t) {
    if (find_taken(c, k->stored, t)) return (t->count <= FEW ? pop_few : pop_many)(c, k, t);
    abandon(k);
    return REDISMODULE_OK;
}

int begin_pop(call *c, open_key *k, uint64_t *count, cardinality *members) {
    *count = 1;
    *members = 0;
    if (c->argc > 3) return reply_syntax_error(c), 0;
    if (c->argc > 2 && !parse_limit(c, 2, count)) return 0;
    if (!open_write(c, 1, k)) return 0;
    int right = k->stored == NULL || succeeded(c, core_cardinality(c->worker, k->stored, members));
    if (*count > *members) *count = (uint64_t)*members;
    if (right && *count > 0) return 1;
    abandon(k);
    if (right && c->argc > 2) RedisModule_ReplyWithArray(c->ctx, 0);
    else if (right) RedisModule_ReplyWithNull(c->ctx);
    return 0;
}

static int pop(call *c, const end *from) {
    uint64_t count;
    cardinality members;
    open_key k;

    if (!begin_pop(c, &k, &count, &members)) return REDISMODULE_OK;
    if (count == 1) return pop_one(c, &k, from);
    return pop_several(c, &k, &(taking){from, count, members - count, {CLEAR, 0, 0}});
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
