/* names.c -- RN.*: names for ids. */
#include "core/names.h"

#include <stdio.h>

#include "handlers.h"
#include "server/args.h"
#include "server/listing.h"

/* Reads the names from `at` on. The caller must end_naming, whatever this returns. */
static int begin_naming(call *c, int at, naming *n) {
    size_t length;
    operands_begin(&n->names);
    operands_add_span(&n->names, (span){0});
    n->changed = 0;
    n->ids = try_alloc((size_t)(c->argc - at) * sizeof *n->ids);
    if (n->ids == NULL) return reply_failure(c, OUT_OF_MEMORY);
    for (; at < c->argc; at++) {
        const char *text = RedisModule_StringPtrLen(c->argv[at], &length);
        if (length == 0 || length > NAME_MOST)
            return reply_error(c, "ERR invalid name: must have 1 to %d bytes", NAME_MOST);
        operands_add_span(&n->names, (span){.base = (uint8_t *)text, .size = (uint32_t)length});
    }
    return 1;
}

static int end_naming(naming *n) {
    operands_end(&n->names);
    RedisModule_Free(n->ids);
    return REDISMODULE_OK;
}

static void reply_ids(call *c, const naming *n) {
    const uint64_t *end = n->ids + c->argc - 2;
    RedisModule_ReplyWithArray(c->ctx, c->argc - 2);
    for (const uint64_t *id = n->ids; id < end; id++) {
        if (*id == NO_ID) RedisModule_ReplyWithNull(c->ctx);
        else reply_integer(c, *id);
    }
}

/* Ends a write to a key that was opened to create it, which has been refused unless `refused` is NULL. */
static int finish(call *c, open_key *k, status done, int changed, const char *refused, const char *event) {
    if (refused == NULL || done != OK) return commit(c, k, done, changed, event);
    if (k->stored) commit_silently(c, k, OK);
    else bitmap_free(k->value), abandon(k);
    return reply_error(c, "ERR %s", refused);
}

/* RN.ADD key name [name ...] */
int rn_add_command(call *c) {
    naming n;
    open_key k;
    if (begin_naming(c, 2, &n) && open_create(c, 1, &k)) {
        status done = names_add(c->worker, &k.value, &n);
        const char *refused = n.changed == NO_ID ? "Roaring: the dictionary has no ids left" : NULL;
        if (finish(c, &k, done, n.changed > 0, refused, "rn.add")) reply_ids(c, &n);
    }
    return end_naming(&n);
}

/* RN.ID key name [name ...] */
int rn_id_command(call *c) {
    naming n;
    const bitmap *b;
    const int right = begin_naming(c, 2, &n) && open_read(c, 1, &b)
                   && succeeded(c, names_find(c->worker, b ? b : bitmap_empty(), &n));
    if (right) reply_ids(c, &n);
    return end_naming(&n);
}

/* RN.DEL key name [name ...] */
int rn_del_command(call *c) {
    naming n;
    open_key k;
    if (begin_naming(c, 2, &n) && open_write(c, 1, &k)) {
        const int there = k.value != NULL;
        if (!there) abandon(&k);
        if (!there || commit(c, &k, names_remove(c->worker, &k.value, &n), n.changed > 0, "rn.del"))
            reply_integer(c, n.changed);
    }
    return end_naming(&n);
}

/* RN.CARD key */
int rn_card_command(call *c) {
    const bitmap *b;
    uint64_t count = 0;
    if (!open_read(c, 1, &b)) return REDISMODULE_OK;
    if (b && !succeeded(c, names_count(c->worker, b, &count))) return REDISMODULE_OK;
    return reply_integer(c, count);
}

/* The least id from *id to `last` that has a name, or NO_ID; also if that cannot be found. */
static span next_name(call *c, const bitmap *b, uint64_t *id, uint64_t last) {
    span name = {0};
    if (b == NULL || names_next(c->worker, b, id, last, &name) != OK) *id = NO_ID;
    return name;
}

static void reply_name(call *c, uint64_t id, span name) {
    if (id == NO_ID) RedisModule_ReplyWithNull(c->ctx);
    else RedisModule_ReplyWithStringBuffer(c->ctx, (const char *)name.base, name.size);
}

/* The most bytes of a reply besides those of a name: its length, or an id. */
#define BESIDES 24

/* RN.NAME key id [id ...] -- measures the names before it replies them. */
int rn_name_command(call *c) {
    const bitmap *b;
    uint64_t *ids, id;
    uint32_t count;
    cardinality bytes = 0;
    if (!parse_values(c, 2, "id", &ids, &count)) return REDISMODULE_OK;
    const int may_be_long = (uint64_t)count * NAME_MOST > (uint64_t)c->env->settings->reply_limit_bytes / 8;
    int right = open_read(c, 1, &b);
    for (uint32_t i = 0; right && may_be_long && i < count; i++) {
        id = ids[i];
        bytes += next_name(c, b, &id, id).size + BESIDES;
    }
    if (right && list_in_limits(c, count, bytes)) {
        RedisModule_ReplyWithArray(c->ctx, count);
        for (uint32_t i = 0; i < count; i++) {
            id = ids[i];
            const span name = next_name(c, b, &id, id);
            reply_name(c, id, name);
        }
    }
    free_values(c, ids);
    return REDISMODULE_OK;
}

#define SCAN_COUNT 10
/* A page of SCAN ends after this many bytes of names. */
#define PAGE_BYTES (1 << 18)

/* RN.SCAN key cursor [COUNT n] -- the cursor is the least id that is still to be replied. */
int rn_scan_command(call *c) {
    decimal d = {0};
    size_t length;
    long found = 0;
    uint64_t from, next, bytes = 0, count = SCAN_COUNT;
    const bitmap *b;
    if (!parse_offset(c, 2, "cursor", &from)) return REDISMODULE_OK;
    if (c->argc > 3 && (c->argc != 5 || !argument_is(c, 3, "COUNT"))) return reply_syntax_error(c);
    if (c->argc > 3 && !parse_limit(c, 4, &count)) return REDISMODULE_OK;
    if (count == 0) return reply_syntax_error(c);
    if (!open_read(c, 1, &b)) return REDISMODULE_OK;
    for (next = from;; next++, found++) {
        bytes += next_name(c, b, &next, NO_ID - 1).size;
        if (next == NO_ID || (uint64_t)found == count || bytes >= PAGE_BYTES) break;
    }
    const char *text = print_offset(&d, next == NO_ID ? 0 : next, &length);
    RedisModule_ReplyWithArray(c->ctx, 2);
    RedisModule_ReplyWithStringBuffer(c->ctx, text, length);
    RedisModule_ReplyWithArray(c->ctx, 2 * found);
    for (; found > 0; found--, from++) {
        const span name = next_name(c, b, &from, NO_ID - 1);
        reply_integer(c, from);
        reply_name(c, from, name);
    }
    return REDISMODULE_OK;
}

/* RN.LOAD key payload */
int rn_load_command(call *c) {
    char text[128];
    open_key k;
    size_t length;
    const char *fault = NULL, *payload = RedisModule_StringPtrLen(c->argv[2], &length);
    if (!open_create(c, 1, &k)) return REDISMODULE_OK;
    status done = names_load(c->worker, &k.value, payload, length, &fault);
    snprintf(text, sizeof text, "invalid roaring payload: %s", fault ? fault : "");
    return finish(c, &k, done, 1, fault ? text : NULL, "rn.load") ? reply_ok(c) : REDISMODULE_OK;
}
