/* commands_arrays.c -- lists of offsets. */
#include "args.h"
#include "keys.h"
#include "listing.h"

/* The first size of an arena for this many members: two bytes each, as in one array. */
static uint32_t room_for(uint32_t members) { return members < 16 ? 0 : 2 * members; }

/* SETINTARRAY key value [value ...] -- stores a bitmap of these values. */
int setintarray_command(call *c) {
    uint64_t *values;
    uint32_t length;
    bitmap *b;

    if (!parse_values(c, 2, "value", &values, &length)) return REDISMODULE_OK;
    status done = core_collect(values, length, &b);
    free_values(values);
    return succeeded(c, done) && store(c, 1, BITMAP, b) ? reply_ok(c) : REDISMODULE_OK;
}

static int open_to_change(call *c, uint32_t bit, int creates, uint32_t length, open_key *k) {
    if (!creates) return open_write(c, 1, k);
    return bit ? open_create(c, 1, room_for(length), k) : open_create_below_maxmemory(c, 1, k);
}

/* Sets or clears the offsets from argv[2] on. A missing key is created (`creates`), or the reply is nil. */
static int change(call *c, const char *name, uint32_t bit, int creates, uint64_t *changed) {
    uint64_t *offsets;
    uint32_t length;
    open_key k;

    if (!parse_values(c, 2, name, &offsets, &length)) return 0;
    if (!open_to_change(c, bit, creates, length, &k)) {
        free_values(offsets);
        return 0;
    }
    if (k.value == NULL) {
        free_values(offsets);
        abandon(&k);
        RedisModule_ReplyWithNull(c->ctx);
        return 0;
    }
    status done = core_set_all(&k.value, offsets, length, bit, changed);
    int may_be_roomy = k.stored == NULL && room_for(length) > 0;
    if (done == OK && may_be_roomy) bitmap_fit(&k.value);
    free_values(offsets);
    return commit(c, &k, done, *changed > 0, "setbit");
}

/* APPENDINTARRAY key value [value ...] -- adds these values. */
int appendintarray_command(call *c) {
    uint64_t added;
    return change(c, "value", 1, 1, &added) ? reply_ok(c) : REDISMODULE_OK;
}

/* DELETEINTARRAY key value [value ...] -- removes these values. */
int deleteintarray_command(call *c) {
    uint64_t removed;
    return change(c, "value", 0, 1, &removed) ? reply_ok(c) : REDISMODULE_OK;
}

/* SETBITS key offset [offset ...] -- sets these bits, and replies how many were clear. */
int setbits_command(call *c) {
    uint64_t added;
    return change(c, "offset", 1, 1, &added) ? reply_integer(c, added) : REDISMODULE_OK;
}

/* CLEARBITS key offset [offset ...] [COUNT] -- clears these bits; with COUNT replies how many were set. */
int clearbits_command(call *c) {
    uint64_t removed;
    int wants_count = argument_is(c, c->argc - 1, "COUNT");

    c->argc -= wants_count;
    if (!change(c, "offset", 0, 0, &removed)) return REDISMODULE_OK;
    return wants_count ? reply_integer(c, removed) : reply_ok(c);
}

/* GETBITS key offset [offset ...] -- the bit at each offset. */
int getbits_command(call *c) {
    uint64_t *offsets;
    uint32_t length;
    const bitmap *b;

    if (!parse_values(c, 2, "offset", &offsets, &length)) return REDISMODULE_OK;
    if (!open_read(c, 1, &b)) {
        free_values(offsets);
        return REDISMODULE_OK;
    }
    if (b == NULL) length = 0;
    int fits = reply_fits(c, length * (sizeof ":0\r\n" - 1));
    if (fits && (b == NULL || succeeded(c, core_get_all(b, offsets, length)))) {
        RedisModule_ReplyWithArray(c->ctx, (long)length);
        for (uint32_t i = 0; i < length; i++) reply_integer(c, offsets[i]);
    }
    free_values(offsets);
    return REDISMODULE_OK;
}
