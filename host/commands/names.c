/* names.c -- RN.*: names for ids. */
#include "server/names.h"

#include <string.h>

#include "handlers.h"
#include "server/args.h"
#include "server/listing.h"

static void reply_ids(call *c, const naming *n) {
    const uint64_t *end = n->ids + c->argc - 2;
    RedisModule_ReplyWithArray(c->ctx, c->argc - 2);
    for (const uint64_t *id = n->ids; id < end; id++) {
        if (*id == NO_ID) RedisModule_ReplyWithNull(c->ctx);
        else reply_integer(c, *id);
    }
}

/* Ends a write to a key that was opened to create it, which has been refused unless `refused` is NULL. */
static int finish(call *c, open_key *k, status done, int changed, const char *event, const char *refused) {
    if (refused == NULL || done != OK) return commit(c, k, done, changed, event);
    if (k->stored) commit_silently(c, k, OK);
    else bitmap_free(k->value), abandon(k);
    return reply_error(c, "%s", refused);
}

/* RN.ADD key name [name ...] */
int rn_add_command(call *c, open_key *k, naming *n) {
    status done = names_add(c->worker, &k->value, n);
    const char *refused = n->changed == NO_ID ? ERRORMSG_NO_IDS : NULL;
    if (finish(c, k, done, n->changed > 0, "rn.add", refused)) reply_ids(c, n);
    return REDISMODULE_OK;
}

/* RN.ID key name [name ...] */
int rn_id_command(call *c, const bitmap *b, naming *n) {
    if (succeeded(c, names_find(c->worker, b, n))) reply_ids(c, n);
    return REDISMODULE_OK;
}

/* RN.DEL key name [name ...] */
int rn_del_command(call *c, open_key *k, naming *n) {
    status done = names_remove(c->worker, &k->value, n);
    return commit(c, k, done, n->changed > 0, "rn.del") ? reply_integer(c, n->changed) : REDISMODULE_OK;
}

/* RN.CARD key */
int rn_card_command(call *c, const bitmap *b) {
    uint64_t count;
    return succeeded(c, names_count(c->worker, b, &count)) ? reply_integer(c, count) : REDISMODULE_OK;
}

static void reply_name(call *c, span name) {
    if (name.size == 0) RedisModule_ReplyWithNull(c->ctx);
    else RedisModule_ReplyWithStringBuffer(c->ctx, (const char *)name.base, name.size);
}

/* Names that are replied, or measured for that. */
typedef struct listing {
    call *call;
    uint64_t *ids; /* of the names that are kept */
    uint32_t count, most; /* of these */
    cardinality bytes, most_bytes;
} listing;

static int reply_one(void *context, uint64_t id, span name) {
    listing *l = context;
    (void)id;
    reply_name(l->call, name);
    l->count++;
    return 1;
}

/* The most bytes of a reply besides those of a name: its length, or an id. */
#define BESIDES 24

static int measure(void *context, uint64_t id, span name) {
    (void)id;
    ((listing *)context)->bytes += name.size + BESIDES;
    return 1;
}

/* RN.NAME key id [id ...] -- measures the names before it replies them. */
int rn_name_command(call *c, const bitmap *b, uint64_t *ids, uint32_t count) {
    listing l = {.call = c};
    status done = OK;
    const int may_be_long = (uint64_t)count * NAME_MOST > (uint64_t)c->env->settings->reply_limit_bytes / 8;
    if (may_be_long) done = names_of(c->worker, b, ids, count, measure, &l);
    if (!succeeded(c, done) || !list_in_limits(c, count, l.bytes)) return REDISMODULE_OK;
    RedisModule_ReplyWithArray(c->ctx, count);
    done = names_of(c->worker, b, ids, count, reply_one, &l);
    if (l.count < count) succeeded(c, done), l.count++;   /* the error becomes an element */
    while (l.count++ < count) RedisModule_ReplyWithNull(c->ctx);
    return REDISMODULE_OK;
}

/* The least id from *id on that has a name, or NO_ID; also if that cannot be found. */
static span next_name(call *c, const bitmap *b, uint64_t *id) {
    span name = {0};
    if (b == NULL || names_next(c->worker, b, id, &name) != OK) *id = NO_ID;
    return name;
}

/* A page of SCAN ends after this many bytes. */
#define PAGE_BYTES (1 << 18)

/* RN.SCAN key cursor [COUNT n] -- the cursor is the least id that is still to be replied. */
int rn_scan_command(call *c) {
    decimal d = {0};
    size_t length;
    long found = 0;
    uint64_t from, next, bytes = 0, count;
    const bitmap *b;
    if (!parse_scan(c, &from, &count) || !open_read(c, 1, &b)) return REDISMODULE_OK;
    for (next = from;; next++, found++) {
        bytes += next_name(c, b, &next).size + BESIDES;
        if (next == NO_ID || (uint64_t)found == count || (found && bytes > PAGE_BYTES)) break;
    }
    const char *text = print_offset(&d, next == NO_ID ? 0 : next, &length);
    RedisModule_ReplyWithArray(c->ctx, 2);
    RedisModule_ReplyWithStringBuffer(c->ctx, text, length);
    RedisModule_ReplyWithArray(c->ctx, 2 * found);
    for (; found > 0; found--, from++) {
        const span name = next_name(c, b, &from);
        reply_integer(c, from);
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
    char text[128] = "ERR invalid roaring payload: ";
    if (fault) strncat(text, fault, sizeof text - sizeof "ERR invalid roaring payload: ");
    return finish(c, &k, done, 1, "rn.load", fault ? text : NULL) ? reply_ok(c) : REDISMODULE_OK;
}
