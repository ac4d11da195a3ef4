/* named.c -- RN.*: bitmaps by name, in one command with the dictionary that has the ids. */
#include <string.h>

#include "core/numbers.h"
#include "handlers.h"
#include "server/args.h"
#include "server/listing.h"
#include "server/names.h"
#include "server/prepare.h"
#include "server/within.h"

/* The family of the bitmap at `at`: R unless it is one of R64. */
static const family *family_of(call *c, int at) {
    RedisModuleKey *key = RedisModule_OpenKey(c->ctx, c->argv[at], REDISMODULE_READ);
    const RedisModuleType *type = key ? RedisModule_ModuleTypeGetType(key) : NULL;
    RedisModule_CloseKey(key);
    return type == families[R64].type ? &families[R64] : &families[R];
}

static int are_same(call *c, int a, int b) {
    size_t length, other;
    const char *text = RedisModule_StringPtrLen(c->argv[a], &length),
               *with = RedisModule_StringPtrLen(c->argv[b], &other);
    return length == other && memcmp(text, with, length) == 0;
}

/* Opens the dictionary at 1, and finds the ids of the names from 3 on. */
static int find_ids(call *c, naming *n) {
    const bitmap *names;
    if (!begin_naming(c, 3, n)) return 0;
    if (open_read(c, 1, &names) && succeeded(c, names_find(c->worker, names ? names : bitmap_empty(), n)))
        return 1;
    end_naming(n);
    return 0;
}

/* The ids that there are, in a list with room for what calls with lists take; NULL after an error reply. */
static uint64_t *list_ids(call *c, const naming *n, uint32_t *count) {
    const uint32_t names = (uint32_t)c->argc - 3;
    uint64_t *ids = try_alloc(VALUES_ROOM(names) * sizeof *ids);
    *count = 0;
    for (uint32_t i = 0; ids && i < names; i++)
        if (n->ids[i] != NO_ID) ids[(*count)++] = n->ids[i];
    if (ids == NULL) reply_failure(c, OUT_OF_MEMORY);
    return ids;
}

/* RN.GETBITS names key name [name ...] -- the bit of each name. */
int rn_getbits_command(call *c) {
    naming n;
    const bitmap *b;
    uint32_t count, next = 0;
    if (!find_ids(c, &n)) return REDISMODULE_OK;
    uint64_t *bits = list_ids(c, &n, &count);
    c->family = family_of(c, 2);
    if (bits && open_read(c, 2, &b)
        && (count == 0 || succeeded(c, core_get_all(c->worker, b ? b : bitmap_empty(), bits, count)))) {
        RedisModule_ReplyWithArray(c->ctx, c->argc - 3);
        for (int i = 0; i < c->argc - 3; i++) reply_integer(c, n.ids[i] == NO_ID ? 0 : bits[next++]);
    }
    RedisModule_Free(bits);
    end_naming(&n);
    return REDISMODULE_OK;
}

/* RN.CLEARBITS names key name [name ...] -- clears the bits of these names, and replies how many were set. */
int rn_clearbits_command(call *c) {
    naming n;
    open_key k;
    uint32_t count;
    uint64_t removed = 0;
    if (!find_ids(c, &n)) return REDISMODULE_OK;
    uint64_t *ids = list_ids(c, &n, &count);
    c->family = family_of(c, 2);
    if (ids && open_write(c, 2, &k)) {
        if (k.value == NULL || count == 0) abandon(&k), reply_integer(c, 0);
        else {
            const status s = core_clear_all(c->worker, &k.value, ids, count, &removed);
            if (commit(c, &k, s, removed > 0, "rn.clearbits")) reply_integer(c, removed);
        }
    }
    RedisModule_Free(ids);
    end_naming(&n);
    return REDISMODULE_OK;
}

/* --- QUERY --- */

/* Members of the expression that are looked up at a time, beyond those that a page still lacks. */
#define LOOKED_UP 16384
/* The most bytes of a reply besides those of a name: its length. */
#define BESIDES 16

/* A page of names: their ids, and behind these the members that are being looked up. */
typedef struct names_page {
    numbers ids;
    size_t found;
    uint64_t next; /* the id to go on from, NO_ID if there is none */
    uint64_t most, most_bytes, bytes;
} names_page;

/* Adds an id with a name to the page, if that is not full: a page has at least one. */
static int choose(void *context, uint64_t id, span name) {
    names_page *p = context;
    if (name.size == 0) return 1;
    const uint64_t bytes = p->bytes + name.size + BESIDES;
    if (p->found == p->most || (p->found && bytes > p->most_bytes)) return p->next = id, 0;
    p->bytes = bytes;
    p->ids.list[p->found++] = id;
    return 1;
}

/* Looks up the members behind the ids of the page. */
static status look_up(worker *w, const bitmap *names, names_page *p) {
    status s = OK;
    for (size_t i = p->found; s == OK && i < p->ids.count && p->next == NO_ID; i += NAMES_BATCH) {
        const size_t rest = p->ids.count - i;
        s = names_of(w, names, p->ids.list + i, rest < NAMES_BATCH ? (uint32_t)rest : NAMES_BATCH, choose, p);
        if (s == OK) s = sandbox_check_time(w);
    }
    p->ids.count = p->found;
    return s;
}

/* Finds the names of the members from `from` on. Members that have none are skipped, however many there are. */
static status find_page(worker *w, const query *q, const bitmap *names, uint64_t from, names_page *p) {
    status s = OK;
    span name;
    for (size_t wanted = 0, members = 0; s == OK && members == wanted && p->next == NO_ID;) {
        s = names_next(w, names, &from, &name);
        if (s != OK || from == NO_ID) break;
        const uint64_t lacks = p->most - p->found;
        wanted = lacks < LOOKED_UP ? (size_t)lacks + 1 : LOOKED_UP;
        s = core_query_members(w, q, &(page){from, wanted, 0}, take_numbers, &p->ids);
        if (s == OK && p->ids.failed) s = OUT_OF_MEMORY;
        members = p->ids.count - p->found;
        if (s != OK || members == 0) break;
        from = p->ids.list[p->ids.count - 1] + 1;
        s = look_up(w, names, p);
    }
    return s;
}

static int reply_found(void *context, uint64_t id, span name) {
    (void)id;
    RedisModule_ReplyWithStringBuffer(context, (const char *)name.base, name.size);
    return 1;
}

static void reply_page(call *c, const bitmap *names, names_page *p) {
    RedisModule_ReplyWithArray(c->ctx, 2);
    if (p->next == NO_ID) RedisModule_ReplyWithNull(c->ctx);
    else reply_integer(c, p->next);
    RedisModule_ReplyWithArray(c->ctx, (long)p->found);
    names_of(c->worker, names, p->ids.list, (uint32_t)p->found, reply_found, c->ctx);
}

/* RN.QUERY names expression numkeys key [key ...] [FROM id] [LIMIT n] -- the id to go on from, and the names of the expression's
 * members. A page ends early where a reply would be too large. */
int rn_query_command(call *c) {
    const bitmap *names;
    within n = {.at = 2};
    page asked;
    names_page p = {.next = NO_ID};
    if (!parse_key_count(c, 3, "numkeys", &n.query.keys)) return REDISMODULE_OK;
    n.argc = 4 + (int)n.query.keys;
    if (!parse_page(c, n.argc, PAGE_FROM, &asked)) return REDISMODULE_OK;
    begin_query(c, &n.query);
    limit_time(c);
    if (open_read(c, 1, &names) && open_within(c, &n) && !offloads_listing(c, asked.limit)
        && resolve_query(c, &n.query)) {
        if (names == NULL) names = bitmap_empty();
        p.most = list_room(c, asked.limit, &p.most_bytes);
        if (succeeded(c, find_page(c->worker, &n.query, names, asked.from, &p))) reply_page(c, names, &p);
        RedisModule_Free(p.ids.list);
    }
    operands_end(&n.query.operands);
    return REDISMODULE_OK;
}

/* --- SETBITS: a write to two keys --- */

/* Stores the value of a key of this family, which may have moved, and announces a change; or leaves a missing key missing. */
static void close_key(call *c, const family *f, open_key *k, int done, int changed) {
    c->family = f;
    if (k->stored || done) commit_silently(c, k, OK);
    else bitmap_free(k->value), abandon(k);
    if (done && (k->stored == NULL || changed)) announce_here(c, k->name, "rn.setbits");
}

/* Adds the names, and sets their bits: all or none. Sets *set to how many were clear. */
static status set_named(call *c, open_key *names, open_key *bits, naming *n, uint64_t *set) {
    uint32_t count;
    status s = names_add(c->worker, &names->value, n);
    if (s != OK || n->changed == NO_ID) return s;
    uint64_t *ids = try_alloc(VALUES_ROOM((uint32_t)c->argc) * sizeof *ids);
    count = (uint32_t)c->argc - 3;
    if (ids) memcpy(ids, n->ids, count * sizeof *ids);
    s = ids ? core_set_all(c->worker, &bits->value, ids, count, set) : OUT_OF_MEMORY;
    RedisModule_Free(ids);
    if (s != OK && names_take_back(c->worker, &names->value, n) != OK) s = TRAPPED;
    return s;
}

/* RN.SETBITS names key name [name ...] -- sets the bits of these names, which get ids if they have none, and replies how many
 * were clear. */
int rn_setbits_command(call *c) {
    naming n;
    open_key names, bits;
    uint64_t set = 0;
    const family *of = family_of(c, 2);
    if (are_same(c, 1, 2))
        return reply_error(c, "ERR Roaring: the dictionary and the bitmap are the same key");
    if (!begin_naming(c, 3, &n)) return REDISMODULE_OK;
    if (open_create(c, 1, &names)) {
        c->family = of;
        if (!open_create(c, 2, &bits)) close_key(c, &dictionaries, &names, 0, 0);
        else {
            const status s = set_named(c, &names, &bits, &n, &set);
            const int all = s == OK && n.changed != NO_ID;
            const int changed = all && (!names.stored || !bits.stored || n.changed || set);
            close_key(c, of, &bits, all, set > 0);
            close_key(c, &dictionaries, &names, all, n.changed > 0);
            if (changed) RedisModule_ReplicateVerbatim(c->ctx);
            if (all) reply_integer(c, set);
            else if (succeeded(c, s)) reply_error(c, ERRORMSG_NO_IDS);
        }
    }
    end_naming(&n);
    return REDISMODULE_OK;
}
