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
    if (succeeded(c, names_find(c->worker, b ? b : bitmap_empty(), n))) reply_ids(c, n);
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
int rn_name_command(call *c, const bitmap *b, uint64_t *ids, uint32_t count) {
    cardinality bytes = 0;
    uint64_t id;
    const int may_be_long = (uint64_t)count * NAME_MOST > (uint64_t)c->env->settings->reply_limit_bytes / 8;
    for (uint32_t i = 0; may_be_long && i < count; i++) {
        id = ids[i];
        bytes += next_name(c, b, &id, id).size + BESIDES;
    }
    if (!list_in_limits(c, count, bytes)) return REDISMODULE_OK;
    RedisModule_ReplyWithArray(c->ctx, count);
    for (uint32_t i = 0; i < count; i++) {
        const span name = next_name(c, b, &ids[i], ids[i]);
        reply_name(c, ids[i], name);
    }
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
    open_key k;
    size_t length;
    const char *fault = NULL, *payload = RedisModule_StringPtrLen(c->argv[2], &length);
    if (!open_create(c, 1, &k)) return REDISMODULE_OK;
    status done = names_load(c->worker, &k.value, payload, length, &fault);
    char text[128] = "ERR invalid roaring payload: ";
    if (fault) strncat(text, fault, sizeof text - sizeof "ERR invalid roaring payload: ");
    return finish(c, &k, done, 1, "rn.load", fault ? text : NULL) ? reply_ok(c) : REDISMODULE_OK;
}
