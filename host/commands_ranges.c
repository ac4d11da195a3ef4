/* commands_ranges.c -- ranges of offsets. The cost depends on the number of containers, not on the length of the range. */
#include "args.h"
#include "keys.h"
#include "reply.h"

/* Changes [argv[2], argv[3]), and counts members before and after. Clearing does not create a missing key. */
static int change_range(call *c, enum change change, cardinality *before, cardinality *after) {
    uint64_t start;
    cardinality end;
    open_key k;

    *before = *after = 0;
    if (!parse_start_end(c, 2, &start, &end)) return 0;
    if (!(change == CLEAR ? open_write(c, 1, &k) : open_create(c, 1, 0, &k))) return 0;
    if (k.value == NULL) {
        abandon(&k);
        return 1;
    }
    status done = core_cardinality(k.value, before);
    if (done == OK && start < end) done = core_change_range(&k.value, change, start, (uint64_t)(end - 1));
    if (done == OK) done = core_cardinality(k.value, after);
    return commit(c, &k, done, change == FLIP ? start < end : *before != *after, "setbit");
}

/* SETRANGE key start end -- sets all bits in [start, end). */
int setrange_command(call *c) {
    cardinality before, after;
    return change_range(c, SET, &before, &after) ? reply_ok(c) : REDISMODULE_OK;
}

/* CLEARRANGE key start end -- clears all bits in [start, end), and replies how many were set. */
int clearrange_command(call *c) {
    cardinality before, after;
    return change_range(c, CLEAR, &before, &after) ? reply_count(c, before - after) : REDISMODULE_OK;
}

/* FLIPRANGE key start end -- inverts all bits in [start, end), and replies the new cardinality. */
int fliprange_command(call *c) {
    cardinality before, after;
    return change_range(c, FLIP, &before, &after) ? reply_count(c, after) : REDISMODULE_OK;
}

/* SETFULL key -- creates a bitmap of all offsets. */
int setfull_command(call *c) {
    open_key k;

    if (!open_create(c, 1, 0, &k)) return REDISMODULE_OK;
    if (k.stored) {
        abandon(&k);
        return reply_error(c, "Roaring: key already exist");
    }
    if (!commit(c, &k, core_change_range(&k.value, SET, 0, c->family->last), 1, "set")) return REDISMODULE_OK;
    return reply_ok(c);
}

/* CLEAR key -- removes all members but keeps the key, and replies how many were removed. */
int clear_command(call *c) {
    cardinality members;
    open_key k;

    if (!open_write(c, 1, &k)) return REDISMODULE_OK;
    if (k.stored == NULL) {
        abandon(&k);
        return RedisModule_ReplyWithNull(c->ctx);
    }
    if (!succeeded(c, core_cardinality(k.stored, &members))) {
        abandon(&k);
        return REDISMODULE_OK;
    }
    bitmap *empty = bitmap_create(0);
    if (empty == NULL) {
        abandon(&k);
        return succeeded(c, OUT_OF_MEMORY);
    }
    commit_other(c, &k, empty, members > 0, "setbit");
    return reply_count(c, members);
}
