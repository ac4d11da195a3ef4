/* arrays.c -- lists of offsets. */
#include "server/args.h"
#include "server/keys.h"
#include "server/listing.h"

/* The first size of an arena for this many members: two bytes each, as in one array. */
static uint32_t room_for(uint32_t members) { return members < 16 ? 0 : 2 * members; }

/* SETINTARRAY key value [value ...] -- stores a bitmap of these values. */
int setintarray_command(call *c) {
    uint64_t *values;
    uint32_t length;
    bitmap *b;

    if (!parse_values(c, 2, "value", &values, &length)) return REDISMODULE_OK;
    status done = core_collect(c->worker, values, length, &b);
    free_values(c, values);
    return succeeded(c, done) && store(c, 1, BITMAP, b) ? reply_ok(c) : REDISMODULE_OK;
}

/* Opens the key for a list of `length` offsets; k->value is NULL if it is missing and stays so. */
typedef int key_opener(call *c, uint32_t length, open_key *k);

static int open_to_add(call *c, uint32_t length, open_key *k) {
    return open_create(c, 1, room_for(length), k);
}

static int open_to_remove(call *c, uint32_t length, open_key *k) {
    (void)length;
    return open_write(c, 1, k);
}

/* For DELETEINTARRAY, which creates a missing key although it only removes, as in the C module. */
static int create_to_remove(call *c, uint32_t length, open_key *k) {
    (void)length;
    return open_create_below_maxmemory(c, 1, k);
}

/* What a command does with its list. `argument` names an offset in errors. */
typedef struct list_change {
    const char *argument;
    key_opener *open;
    status (*apply)(worker *w, bitmap **b, uint64_t *offsets, uint32_t count, uint64_t *changed);
} list_change;

/* Changes the bits at the offsets from argv[2] on. If a missing key stays missing, the reply is nil. */
static int change(call *c, const list_change *how, uint64_t *changed) {
    uint64_t *offsets;
    uint32_t length;
    open_key k;

    if (!parse_values(c, 2, how->argument, &offsets, &length)) return 0;
    if (!how->open(c, length, &k)) {
        free_values(c, offsets);
        return 0;
    }
    if (k.value == NULL) {
        free_values(c, offsets);
        abandon(&k);
        RedisModule_ReplyWithNull(c->ctx);
        return 0;
    }
    status done = how->apply(c->worker, &k.value, offsets, length, changed);
    int may_be_roomy = k.stored == NULL && room_for(length) > 0;
    if (done == OK && may_be_roomy) bitmap_fit(c->worker, &k.value);
    free_values(c, offsets);
    return commit(c, &k, done, *changed > 0, "setbit");
}

/* APPENDINTARRAY key value [value ...] -- adds these values. */
int appendintarray_command(call *c) {
    static const list_change add = {"value", open_to_add, core_set_all};
    uint64_t added;
    return change(c, &add, &added) ? reply_ok(c) : REDISMODULE_OK;
}

/* DELETEINTARRAY key value [value ...] -- removes these values. */
int deleteintarray_command(call *c) {
    static const list_change remove = {"value", create_to_remove, core_clear_all};
    uint64_t removed;
    return change(c, &remove, &removed) ? reply_ok(c) : REDISMODULE_OK;
}

/* SETBITS key offset [offset ...] -- sets these bits, and replies how many were clear. */
int setbits_command(call *c) {
    static const list_change add = {"offset", open_to_add, core_set_all};
    uint64_t added;
    return change(c, &add, &added) ? reply_integer(c, added) : REDISMODULE_OK;
}

/* CLEARBITS key offset [offset ...] [COUNT] -- clears these bits; with COUNT replies how many were set. */
int clearbits_command(call *c) {
    static const list_change remove = {"offset", open_to_remove, core_clear_all};
    uint64_t removed;
    int wants_count = argument_is(c, c->argc - 1, "COUNT");

    c->argc -= wants_count;
    if (!change(c, &remove, &removed)) return REDISMODULE_OK;
    return wants_count ? reply_integer(c, removed) : reply_ok(c);
}

/* GETBITS key offset [offset ...] -- the bit at each offset. */
int getbits_command(call *c) {
    uint64_t *offsets;
    uint32_t length;
    const bitmap *b;

    if (!parse_values(c, 2, "offset", &offsets, &length)) return REDISMODULE_OK;
    if (!open_read(c, 1, &b)) {
        free_values(c, offsets);
        return REDISMODULE_OK;
    }
    if (b == NULL) length = 0;
    int fits = reply_fits(c, length * (sizeof ":0\r\n" - 1));
    if (fits && (b == NULL || succeeded(c, core_get_all(c->worker, b, offsets, length)))) {
        RedisModule_ReplyWithArray(c->ctx, (long)length);
        for (uint32_t i = 0; i < length; i++) reply_integer(c, offsets[i]);
    }
    free_values(c, offsets);
    return REDISMODULE_OK;
}
