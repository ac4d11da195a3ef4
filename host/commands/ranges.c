/* ranges.c -- ranges of offsets. The cost depends on the number of containers, not on the length of
 * the range. */
#include "server/args.h"
#include "server/keys.h"
#include "server/reply.h"

/* Changes [argv[2], argv[3]). Clearing does not create a missing key. */
static int change_range(call *c, enum change change, cardinalities *members) {
    uint64_t start;
    cardinality end;
    open_key k;
    status done;

    *members = (cardinalities){0};
    if (!parse_start_end(c, 2, &start, &end)) return 0;
    if (!(change == CLEAR ? open_write(c, 1, &k) : open_create(c, 1, 0, &k))) return 0;
    if (k.value == NULL) {
        abandon(&k);
        return 1;
    }
    if (start < end) {
        done =
            core_change_range(c->worker, &k.value, &(stretch){change, start, (uint64_t)(end - 1)}, members);
    } else {
        done = core_cardinality(c->worker, k.value, &members->before);
        members->after = members->before;
    }
    return commit(c, &k, done, change == FLIP ? start < end : members->before != members->after, "setbit");
}

/* SETRANGE key start end -- sets all bits in [start, end). */
int setrange_command(call *c) {
    cardinalities members;
    return change_range(c, SET, &members) ? reply_ok(c) : REDISMODULE_OK;
}

/* CLEARRANGE key start end -- clears all bits in [start, end), and replies how many were set. */
int clearrange_command(call *c) {
    cardinalities members;
    return change_range(c, CLEAR, &members) ? reply_count(c, members.before - members.after) : REDISMODULE_OK;
}

/* FLIPRANGE key start end -- inverts all bits in [start, end), and replies the new cardinality. */
int fliprange_command(call *c) {
    cardinalities members;
    return change_range(c, FLIP, &members) ? reply_count(c, members.after) : REDISMODULE_OK;
}

/* SETFULL key -- creates a bitmap of all offsets. */
int setfull_command(call *c) {
    const stretch all = {SET, 0, c->family->last};
    cardinalities members;
    open_key k;

    if (!open_create(c, 1, 0, &k)) return REDISMODULE_OK;
    if (k.stored) {
        abandon(&k);
        return reply_error(c, "Roaring: key already exist");
    }
    if (!commit(c, &k, core_change_range(c->worker, &k.value, &all, &members), 1, "set"))
        return REDISMODULE_OK;
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
    if (!succeeded(c, core_cardinality(c->worker, k.stored, &members))) {
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
