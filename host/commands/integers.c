/* integers.c -- RI.*: single ids, writes, and lists in the order of ids. Replies and errors follow those of sorted sets. */
#include "handlers.h"

#include <string.h>

#include "core/values.h"
#include "server/args.h"
#include "server/listing.h"
#include "server/prepare.h"
#include "server/within.h"
#include "commands/values.h"

#define ERRORMSG_OVERFLOW "ERR increment or decrement would overflow"

/* --- Reads --- */

static int reply_value(call *c, const bitmap *b, uint64_t id) {
    int64_t value;
    uint32_t found;
    if (!succeeded(c, core_value(c->worker, b, id, &value, &found))) return REDISMODULE_OK;
    return found ? RedisModule_ReplyWithLongLong(c->ctx, value) : RedisModule_ReplyWithNull(c->ctx);
}

/* GET key id */
int ri_get_command(call *c, const bitmap *b, uint64_t id) { return reply_value(c, b, id); }

/* MGET key id [id ...] */
int ri_mget_command(call *c, const bitmap *b, uint64_t *ids, uint32_t count) {
    if (!list_fits(c, count, c->family->last)) return REDISMODULE_OK;
    RedisModule_ReplyWithArray(c->ctx, count);
    for (uint32_t i = 0; i < count; i++) reply_value(c, b, ids[i]);
    return REDISMODULE_OK;
}

/* CARD key */
int ri_card_command(call *c, const bitmap *b) { return reply_cardinality(c, b); }

/* SCAN key cursor [COUNT n] -- the next cursor is the least id not yet returned, or 0 at the end. */
int ri_scan_command(call *c) {
    numbers found = {0};
    char digits[COUNT_TEXT];
    uint64_t from, count, length;
    cardinality ids = 0;
    const bitmap *b;
    if (!parse_scan(c, &from, &count) || !open_read(c, 1, &b)) return REDISMODULE_OK;
    if (b && !succeeded(c, core_cardinality(c->worker, b, &ids))) return REDISMODULE_OK;
    if (offloads(c, 2 * LISTED_BYTES * (uint64_t)(ids < count ? ids : count))) return REDISMODULE_OK;
    count = list_most(c, count < INT64_MAX ? 2 * count : INT64_MAX, c->family->last) / 2;
    const asked a = {ASK_LIST, 2, (uint64_t[]){from, count + 1}};
    if (succeeded(c, core_ask(c->worker, &a, b ? b : bitmap_empty(), NULL, &found, &length))) {
        const int more = found.count > 2 * count;
        const char *next = count_text(more ? found.list[2 * count] : 0, digits);
        RedisModule_ReplyWithArray(c->ctx, 2);
        RedisModule_ReplyWithStringBuffer(c->ctx, next, strlen(next));
        reply_ids(c, found.list, more ? 2 * count : found.count, 1);
    }
    RedisModule_Free(found.list);
    return REDISMODULE_OK;
}

/* --- Writes --- */

/* Ends a write, after which a key without ids is deleted. */
static int finish(call *c, open_key *k, status done, int changed, const char *event) {
    cardinality ids = 1;
    if (done == OK) done = core_cardinality(c->worker, k->value, &ids);
    if (done != OK || ids > 0) return commit(c, k, done, changed, event);
    if (k->stored) {
        commit_silently(c, k, done);
        delete_key(c, k->name, open_writable(c, 1), event);
    } else {
        bitmap_free(k->value);
        abandon(k);
    }
    return 1;
}

/* Of an arena up to this size, a copy is what undoing needs. */
#define COPIED_BYTES 4096

/* Undoes changes, the last one first. */
static status undo_changes(worker *w, bitmap **b, value_change *changes, uint32_t count) {
    for (uint32_t k = count; k-- > 0;) {
        value_change *v = &changes[k];
        if (v->done == DONE_NOTHING) continue;
        v->deed = v->done == DONE_ADDED ? VALUE_REMOVE : VALUE_SET;
        v->rules = ONLY_REVOCABLY;
        if (core_change_value(w, b, v) != OK) return TRAPPED;
    }
    return OUT_OF_MEMORY;
}

static status change_several(worker *w, bitmap **b, value_change *changes, uint32_t count) {
    status s = OK;
    uint32_t done = 0;
    for (; s == OK && done < count; done++) {
        changes[done].rules |= ONLY_REVOCABLY;
        s = core_change_value(w, b, &changes[done]);
    }
    if (s == OUT_OF_MEMORY) s = undo_changes(w, b, changes, done);
    for (uint32_t k = 0; s != TRAPPED && k < done; k++) {
        value_change settling = {.deed = VALUE_SETTLE, .id = changes[k].id};
        if (s != OK || changes[k].done == DONE_CHANGED) core_change_value(w, b, &settling);
    }
    return s;
}

static status change_each(worker *w, bitmap **b, value_change *changes, uint32_t count) {
    status s = OK;
    for (uint32_t i = 0; s == OK && i < count; i++) s = core_change_value(w, b, &changes[i]);
    return s;
}

/* Makes all changes or none. */
static status change_all(worker *w, bitmap **b, value_change *changes, uint32_t count) {
    if (count < 2) return change_each(w, b, changes, count);
    if (root_of(*b) || arena_bytes(*b) > COPIED_BYTES) return change_several(w, b, changes, count);
    bitmap *before = bitmap_copy(*b);
    if (before == NULL) return OUT_OF_MEMORY;
    status s = change_each(w, b, changes, count);
    bitmap_free(s == OUT_OF_MEMORY ? *b : before);
    if (s == OUT_OF_MEMORY) *b = before;
    return s;
}

static int parse_changes(call *c, int at, value_change *v, uint32_t rules) {
    for (; at < c->argc; at += 2, v++) {
        *v = (value_change){.deed = VALUE_SET, .rules = rules};
        if (!parse_offset(c, at, "id", &v->id) || !parse_index(c, at + 1, &v->value)) return 0;
    }
    return 1;
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

/* SET key [NX | XX] [GT | LT] [CH] id value [id value ...] -- how many ids were added, with CH also those that changed. */
int ri_set_command(call *c) {
    value_change one, *changes = &one;
    open_key k;
    uint32_t rules, added = 0, changed = 0;
    int at = 2, counts_changes;
    if (!parse_rules(c, &at, &rules, &counts_changes)) return REDISMODULE_OK;
    const uint32_t count = (uint32_t)(c->argc - at) / 2;
    if (count > 1) changes = try_alloc(count * sizeof *changes);
    if (changes == NULL) return reply_failure(c, OUT_OF_MEMORY);
    if (parse_changes(c, at, changes, rules) && open_create(c, 1, &k)) {
        status done = change_all(c->worker, &k.value, changes, count);
        for (uint32_t i = 0; i < count; i++) {
            added += changes[i].done == DONE_ADDED;
            changed += changes[i].done != DONE_NOTHING;
        }
        if (finish(c, &k, done, changed > 0, "ri.set")) reply_integer(c, counts_changes ? changed : added);
    }
    if (changes != &one) RedisModule_Free(changes);
    return REDISMODULE_OK;
}

/* INCRBY key id increment */
int ri_incrby_command(call *c, open_key *k, uint64_t id, int64_t increment) {
    value_change v = {.deed = VALUE_ADD, .id = id, .value = increment};
    status done = core_change_value(c->worker, &k->value, &v);
    const int changed = v.done == DONE_ADDED || (v.done && increment != 0);
    if (!finish(c, k, done, changed, "ri.incrby")) return REDISMODULE_OK;
    if (v.done == DONE_NOTHING) return reply_error(c, ERRORMSG_OVERFLOW);
    return RedisModule_ReplyWithLongLong(c->ctx, v.value);
}

/* Whether an id of a large key has a value. The segment of one that has none may be gone, and then another one would have to be made
 * changeable. */
static int is_there(worker *w, const bitmap *b, uint64_t id) {
    int64_t value;
    uint32_t found = 1;
    return root_of(b) == NULL || core_value(w, b, id, &value, &found) != OK || found;
}

/* Removes ids, and replies how many there were. Of a large key, the first pass makes all segments changeable, because only that
 * can fail. */
static int remove_ids(call *c, open_key *k, const uint64_t *ids, size_t count, const char *event) {
    uint32_t removed = 0;
    status s = OK;
    for (int removes = root_of(k->value) == NULL; removes < 2; removes++) {
        for (size_t i = 0; s == OK && i < count; i++) {
            value_change v = {.deed = removes ? VALUE_REMOVE : VALUE_SETTLE, .id = ids[i]};
            if (!is_there(c->worker, k->value, ids[i])) continue;
            s = core_change_value(c->worker, &k->value, &v);
            removed += v.done != DONE_NOTHING;
        }
    }
    return finish(c, k, s, removed > 0, event) ? reply_integer(c, removed) : REDISMODULE_OK;
}

/* DEL key id [id ...] */
int ri_del_command(call *c, open_key *k, uint64_t *ids, uint32_t count) {
    return remove_ids(c, k, ids, count, "ri.del");
}

/* Deletes the key, of whose ids all are to be removed. */
static void remove_all(call *c, open_key *k, uint64_t ids) {
    abandon(k);
    delete_key(c, c->argv[1], open_writable(c, 1), "ri.delrange");
    reply_integer(c, ids);
}

/* Part of the ids from which on writing the rest anew takes less than removing one after the other. */
#define REWRITTEN_PART 512

/* Removes `goes` of `ids` ids, whose values are between the bounds. */
static void remove_part(call *c, open_key *k, const within *n, uint64_t *all, uint64_t goes,
                        cardinality ids) {
    numbers found = {0};
    uint64_t length;
    const asked which = {ASK_RANGE, RANGE_NUMBERS, all};
    status s = OUT_OF_MEMORY;
    if (goes >= ids / REWRITTEN_PART)
        s = core_remove_values(c->worker, &k->value, n->ids, (int64_t)all[RANGE_LOW],
                               (int64_t)all[RANGE_HIGH]);
    if (s != OUT_OF_MEMORY) {
        if (commit(c, k, s, 1, "ri.delrange")) reply_integer(c, goes);
        return;
    }
    s = core_ask(c->worker, &which, k->value, n->ids, &found, &length);
    if (!succeeded(c, s)) abandon(k);
    else remove_ids(c, k, found.list, found.count, "ri.delrange");
    RedisModule_Free(found.list);
}

/* Removes the ids whose values are between the bounds. */
static void remove_range(call *c, open_key *k, const within *n, uint64_t *all) {
    numbers count = {0};
    uint64_t length;
    cardinality ids = 0;
    const asked how_many = {ASK_COUNT, 2, all};
    status s = core_cardinality(c->worker, k->value, &ids);
    if (s == OK) s = core_ask(c->worker, &how_many, k->value, n->ids, &count, &length);
    if (!succeeded(c, s)) abandon(k);
    else if (count.list[0] == 0) abandon(k), reply_integer(c, 0);
    else if (count.list[0] == ids) remove_all(c, k, count.list[0]);
    else remove_part(c, k, n, all, count.list[0], ids);
    RedisModule_Free(count.list);
}

/* DELRANGE key min max [WITHIN ...] */
int ri_delrange_command(call *c) {
    within n;
    uint64_t all[RANGE_NUMBERS];
    open_key k;
    if (!parse_within(c, 4, 4, &n) || !parse_bounds(c, 2, 3, all)) return REDISMODULE_OK;
    set_ranks(all, 0, -1);
    if (open_within(c, &n) && find_within(c, &n) && open_write(c, 1, &k)) {
        if (k.value == NULL) abandon(&k), reply_integer(c, 0);
        else remove_range(c, &k, &n, all);
    }
    end_within(c, &n);
    return REDISMODULE_OK;
}

/* MERGE dest numkeys key [key ...] [AGGREGATE SUM | MIN | MAX] */
int ri_merge_command(call *c) {
    static const char *const words[] = {"SUM", "MIN", "MAX", NULL};
    uint32_t keys;
    int how = AGGREGATE_SUM, overflows = 0;
    operands sources;
    result r;
    if (!parse_key_count(c, 2, "numkeys", &keys)) return REDISMODULE_OK;
    const int end = 3 + (int)keys;
    if (c->argc != end && (c->argc != end + 2 || !argument_is(c, end, "AGGREGATE")))
        return reply_syntax_error(c);
    if (c->argc > end && (how = parse_word(c, end + 1, words, ERRORMSG_SYNTAX)) < 0) return REDISMODULE_OK;
    limit_time(c);
    operands_begin(&sources);
    const int merged =
        open_operands(c, 3, end, &sources) && !offloads_listing(c, 0)
        && succeeded(c, core_merge_values(c->worker, &sources, (enum aggregate)how, &r, &overflows));
    operands_end(&sources);
    if (!merged) return REDISMODULE_OK;
    return overflows ? reply_error(c, ERRORMSG_OVERFLOW) : store_and_count(c, 1, ANY_TYPE, r);
}
