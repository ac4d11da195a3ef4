/* named.c -- RN.*: bitmaps by name, in one command with the dictionary that has the ids. */
#include <string.h>

#include "handlers.h"
#include "server/names.h"

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
