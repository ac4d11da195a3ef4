/* arrays.c -- lists of offsets. */
#include "handlers.h"
#include "server/listing.h"

/* SETINTARRAY key value [value ...] -- stores a bitmap of these values. */
int setintarray_command(call *c, uint64_t *values, uint32_t length) {
    bitmap *b;
    if (!succeeded(c, core_collect(c->worker, values, length, &b))) return REDISMODULE_OK;
    return store(c, 1, BITMAP, b) ? reply_ok(c) : REDISMODULE_OK;
}

/* Sets the bits at these offsets, and commits the change. */
static int add(call *c, open_key *k, uint64_t *offsets, uint32_t length, uint64_t *added) {
    status done = core_set_all(c->worker, &k->value, offsets, length, added);
    return commit(c, k, done, *added > 0, "setbit");
}

/* Clears them, and commits the change. */
static int remove_all(call *c, open_key *k, uint64_t *offsets, uint32_t length, uint64_t *removed) {
    status done = core_clear_all(c->worker, &k->value, offsets, length, removed);
    return commit(c, k, done, *removed > 0, "setbit");
}

/* APPENDINTARRAY key value [value ...] -- adds these values. */
int appendintarray_command(call *c, open_key *k, uint64_t *values, uint32_t length) {
    uint64_t added;
    return add(c, k, values, length, &added) ? reply_ok(c) : REDISMODULE_OK;
}

/* DELETEINTARRAY key value [value ...] -- removes these values. Creates a missing key although it only
 * removes, as in the C module. */
int deleteintarray_command(call *c, open_key *k, uint64_t *values, uint32_t length) {
    uint64_t removed;
    return remove_all(c, k, values, length, &removed) ? reply_ok(c) : REDISMODULE_OK;
}

/* SETBITS key offset [offset ...] -- sets these bits, and replies how many were clear. */
int setbits_command(call *c, open_key *k, uint64_t *offsets, uint32_t length) {
    uint64_t added;
    return add(c, k, offsets, length, &added) ? reply_integer(c, added) : REDISMODULE_OK;
}

/* CLEARBITS key offset [offset ...] [COUNT] -- clears these bits; with COUNT replies how many were set. */
int clearbits_command(call *c, open_key *k, uint64_t *offsets, uint32_t length, int wants_count) {
    uint64_t removed;
    if (!remove_all(c, k, offsets, length, &removed)) return REDISMODULE_OK;
    return wants_count ? reply_integer(c, removed) : reply_ok(c);
}

/* GETBITS key offset [offset ...] -- the bit at each offset. */
int getbits_command(call *c, const bitmap *b, uint64_t *offsets, uint32_t length) {
    if (!reply_fits(c, length * (sizeof ":0\r\n" - 1))) return REDISMODULE_OK;
    if (!succeeded(c, core_get_all(c->worker, b, offsets, length))) return REDISMODULE_OK;
    RedisModule_ReplyWithArray(c->ctx, (long)length);
    for (uint32_t i = 0; i < length; i++) reply_integer(c, offsets[i]);
    return REDISMODULE_OK;
}
