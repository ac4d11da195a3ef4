/* bits.c -- single bits, and native BITCOUNT and BITPOS. */
#include "handlers.h"
#include "server/args.h"
#include "server/listing.h"

/* SETBIT key offset value -- sets or clears a bit, and replies its old value. Creates a missing key for
 * either value. */
int setbit_command(call *c, open_key *k, uint64_t offset, uint32_t bit) {
    uint32_t previous = 0;
    status done = core_set(c->worker, &k->value, offset, bit, &previous);
    if (!commit(c, k, done, previous != bit, "setbit")) return REDISMODULE_OK;
    return RedisModule_ReplyWithLongLong(c->ctx, previous);
}

/* GETBIT key offset */
int getbit_command(call *c, const bitmap *b, uint64_t offset) {
    uint32_t bit;
    if (!succeeded(c, core_get(c->worker, b, offset, &bit))) return REDISMODULE_OK;
    return RedisModule_ReplyWithLongLong(c->ctx, bit);
}

/* MGETBIT offset key [key ...] -- the bit at the offset of each key. If a key has another type, the whole
 * call fails, so the bits are collected before the reply begins. */
int mgetbit_command(call *c, uint64_t offset) {
    uint32_t bit;
    const bitmap *b;
    int keys = c->argc - 2, read = 0;

    if (!reply_fits(c, (uint64_t)keys * (sizeof ":0\r\n" - 1))) return REDISMODULE_OK;
    char *bits = try_alloc((size_t)keys);
    if (bits == NULL) return reply_failure(c, OUT_OF_MEMORY);
    for (; read < keys; read++) {
        bit = 0;
        if (!open_read(c, read + 2, &b)) break;
        if (b && !succeeded(c, core_get(c->worker, b, offset, &bit))) break;
        bits[read] = (char)bit;
    }
    if (read == keys) {
        RedisModule_ReplyWithArray(c->ctx, keys);
        for (int i = 0; i < keys; i++) RedisModule_ReplyWithLongLong(c->ctx, bits[i]);
    }
    RedisModule_Free(bits);
    return REDISMODULE_OK;
}

/* BITCOUNT key [start [end [BYTE | BIT]]] -- the number of members, in all or in a range of the string that
 * native SETBIT would make. Negative indexes count from its end. `end`, which native Redis requires and
 * Valkey does not, is the end of the string by default. */
int bitcount_command(call *c) {
    range r = {.end = -1};
    cardinality members = 0;
    const bitmap *b;

    if (c->argc > 5) return reply_syntax_error(c);
    if (c->argc > 2 && !parse_index(c, 2, &r.start)) return REDISMODULE_OK;
    if (c->argc > 3 && !parse_index(c, 3, &r.end)) return REDISMODULE_OK;
    if (c->argc > 4 && !parse_unit(c, 4, &r.unit)) return REDISMODULE_OK;
    if (!open_read(c, 1, &b)) return REDISMODULE_OK;
    if (b && c->argc == 2) return reply_cardinality(c, b);
    if (b && !succeeded(c, core_count_range(c->worker, b, &r, &members))) return REDISMODULE_OK;
    return reply_count(c, members);
}

/* The bit that BITPOS looks for. Errors are the C module's without a range, and native ones with a range. */
static int parse_sought(call *c, uint32_t *bit) {
    int64_t value;

    if (c->argc == 3) return parse_bit(c, 2, "bit", bit);
    if (!parse_index(c, 2, &value)) return 0;
    if (value != 0 && value != 1) return reply_error(c, "ERR The bit argument must be 1 or 0.");
    *bit = (uint32_t)value;
    return 1;
}

/* BITPOS key bit [start [end [BYTE | BIT]]] -- the first bit of that value in the range, or -1. Unless `end`
 * is given, the first clear bit may lie beyond the last member, but not beyond the family's last offset. */
int bitpos_command(call *c) {
    range r = {.end = -1, .given = c->argc > 4 ? 2 : (uint32_t)(c->argc - 3)};
    uint32_t bit, found = 0;
    uint64_t position = 0;
    const bitmap *b;

    if (!parse_sought(c, &bit)) return REDISMODULE_OK;
    if (c->argc > 6) return reply_syntax_error(c);
    if (c->argc > 3 && !parse_index(c, 3, &r.start)) return REDISMODULE_OK;
    if (c->argc > 5 && !parse_unit(c, 5, &r.unit)) return REDISMODULE_OK;
    if (c->argc > 4 && !parse_index(c, 4, &r.end)) return REDISMODULE_OK;
    if (!open_read(c, 1, &b)) return REDISMODULE_OK;
    if (b == NULL) found = !bit;
    else if (!succeeded(c, core_position(c->worker, b, bit, &r, &found, &position))) return REDISMODULE_OK;
    if (!found || position > c->family->last) return RedisModule_ReplyWithLongLong(c->ctx, -1);
    return reply_offset(c, position);
}
