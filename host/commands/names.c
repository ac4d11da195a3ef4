/* names.c -- RN.*: names for ids. */
#include "core/names.h"

#include <stdio.h>

#include "handlers.h"
#include "server/args.h"
#include "server/listing.h"

/* The arguments of a call that are names, and a word for each. */
typedef struct naming {
    operands names;
    uint64_t *ids;
    int right; /* 0 after an error reply */
} naming;

/* Reads the names from `at` on. The caller must end_naming, whatever this returns. */
static int begin_naming(call *c, int at, naming *n) {
    size_t length;
    operands_begin(&n->names);
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
    RedisModule_ReplyWithArray(c->ctx, n->names.count);
    for (uint32_t i = 0; i < n->names.count; i++) {
        if (n->ids[i] == NO_ID) RedisModule_ReplyWithNull(c->ctx);
        else reply_integer(c, n->ids[i]);
    }
}

/* Ends a write that may have been refused as a whole, without a change, for another reason than `done` says. */
static int finish(call *c, open_key *k, status done, int changed, const char *refused, const char *event) {
    if (refused == NULL || done != OK) return commit(c, k, done, changed, event);
    if (k->stored) commit_silently(c, k, OK);
    else {
        bitmap_free(k->value);
        abandon(k);
    }
    return reply_error(c, "ERR %s", refused);
}

/* RN.ADD key name [name ...] */
int rn_add_command(call *c) {
    naming n;
    open_key k;
    uint32_t added;
    if (begin_naming(c, 2, &n) && open_create(c, 1, &k)) {
        status done = names_add(c->worker, &k.value, &n.names, n.ids, &added);
        const char *refused = added == UINT32_MAX ? "Roaring: the dictionary has no ids left" : NULL;
        if (finish(c, &k, done, added > 0, refused, "rn.add")) reply_ids(c, &n);
    }
    return end_naming(&n);
}

/* RN.ID key name [name ...] */
int rn_id_command(call *c) {
    naming n;
    const bitmap *b;
    if (begin_naming(c, 2, &n) && open_read(c, 1, &b)
        && succeeded(c, names_find(c->worker, b ? b : bitmap_empty(), &n.names, n.ids))) {
        reply_ids(c, &n);
    }
    return end_naming(&n);
}

/* RN.DEL key name [name ...] */
int rn_del_command(call *c) {
    naming n;
    open_key k;
    uint32_t removed = 0;
    if (begin_naming(c, 2, &n) && open_write(c, 1, &k)) {
        status done = OK;
        if (k.value == NULL) abandon(&k);
        else done = names_remove(c->worker, &k.value, &n.names, n.ids, &removed);
        if (k.value == NULL || commit(c, &k, done, removed > 0, "rn.del")) reply_integer(c, removed);
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

/* The most bytes of a reply besides those of a name: its length, or an id. */
#define BESIDES 24

/* Whether a reply of the names of these ids is within the limits. Measures them only if that is in doubt. */
static int names_fit(call *c, const bitmap *b, const uint64_t *ids, uint32_t count) {
    cardinality bytes = (cardinality)count * (NAME_MOST + BESIDES);
    span name;
    if (bytes <= (cardinality)c->env->settings->reply_limit_bytes / 4) return 1;
    bytes = (cardinality)count * BESIDES;
    for (uint32_t i = 0; b && i < count; i++) {
        uint64_t id = ids[i];
        if (!succeeded(c, names_next(c->worker, b, &id, id, &name))) return 0;
        bytes += id == NO_ID ? 0 : name.size;
    }
    return list_in_limits(c, count, bytes);
}

static void reply_name(call *c, span name) {
    RedisModule_ReplyWithStringBuffer(c->ctx, (const char *)name.base, name.size);
}

/* Replies the name of an id, or nil, also for one that cannot be found. */
static void reply_name_of(call *c, const bitmap *b, uint64_t id) {
    span name;
    if (b && names_next(c->worker, b, &id, id, &name) == OK && id != NO_ID) reply_name(c, name);
    else RedisModule_ReplyWithNull(c->ctx);
}

/* RN.NAME key id [id ...] */
int rn_name_command(call *c) {
    const bitmap *b;
    uint64_t *ids;
    uint32_t count;
    if (!parse_values(c, 2, "id", &ids, &count)) return REDISMODULE_OK;
    if (open_read(c, 1, &b) && names_fit(c, b, ids, count)) {
        RedisModule_ReplyWithArray(c->ctx, count);
        for (uint32_t i = 0; i < count; i++) reply_name_of(c, b, ids[i]);
    }
    free_values(c, ids);
    return REDISMODULE_OK;
}

#define SCAN_COUNT 10
/* A page of SCAN ends after this many bytes of names. */
#define PAGE_BYTES (1 << 18)

/* Names from id `from` on: `count` of them, and the id of the one behind them, NO_ID if there is none. */
typedef struct name_page {
    uint64_t from, count, next;
} name_page;

/* Finds the end of a page of at most `most` names. */
static status end_page(call *c, const bitmap *b, uint64_t most, name_page *p) {
    span name;
    uint64_t bytes = 0;
    status s = OK;
    p->count = 0;
    for (p->next = p->from;; p->next++, p->count++) {
        if (b) s = names_next(c->worker, b, &p->next, NO_ID - 1, &name);
        else p->next = NO_ID;
        if (s != OK || p->next == NO_ID || p->count == most || bytes >= PAGE_BYTES) return s;
        bytes += name.size;
    }
}

/* RN.SCAN key cursor [COUNT n] -- the cursor is the least id that is still to be replied. */
int rn_scan_command(call *c) {
    decimal d = {0};
    size_t length;
    uint64_t count = SCAN_COUNT, id;
    name_page p;
    const bitmap *b;
    if (!parse_offset(c, 2, "cursor", &p.from)) return REDISMODULE_OK;
    if (c->argc > 3 && (c->argc != 5 || !argument_is(c, 3, "COUNT"))) return reply_syntax_error(c);
    if (c->argc > 3 && !parse_limit(c, 4, &count)) return REDISMODULE_OK;
    if (count == 0) return reply_syntax_error(c);
    if (!open_read(c, 1, &b) || !succeeded(c, end_page(c, b, count, &p))) return REDISMODULE_OK;
    const char *text = print_offset(&d, p.next == NO_ID ? 0 : p.next, &length);
    RedisModule_ReplyWithArray(c->ctx, 2);
    RedisModule_ReplyWithStringBuffer(c->ctx, text, length);
    RedisModule_ReplyWithArray(c->ctx, 2 * (long)p.count);
    for (id = p.from; p.count > 0; p.count--, id++) {
        span name = {0};
        names_next(c->worker, b, &id, NO_ID - 1, &name);
        reply_integer(c, id);
        reply_name(c, name);
    }
    return REDISMODULE_OK;
}

/* RN.LOAD key payload */
int rn_load_command(call *c) {
    open_key k;
    size_t length;
    const char *fault = NULL, *payload = RedisModule_StringPtrLen(c->argv[2], &length);
    if (!open_create(c, 1, &k)) return REDISMODULE_OK;
    status done = names_load(c->worker, &k.value, payload, length, &fault);
    char text[128];
    snprintf(text, sizeof text, "invalid roaring payload: %s", fault ? fault : "");
    return finish(c, &k, done, 1, fault ? text : NULL, "rn.load") ? reply_ok(c) : REDISMODULE_OK;
}
