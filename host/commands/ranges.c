/* ranges.c -- ranges of offsets. The cost depends on the number of containers, not on the length of
 * the range. */
#include "handlers.h"

/* Changes [start, end). */
static int change_range(call *c, open_key *k, stretch r, cardinality end, cardinalities *members) {
    status done;

    if (r.low < end) {
        r.high = (uint64_t)(end - 1);
        done = core_change_range(c->worker, &k->value, &r, members);
    } else {
        done = core_cardinality(c->worker, k->value, &members->before);
        members->after = members->before;
    }
    return commit(c, k, done, r.change == FLIP ? r.low < end : members->before != members->after, "setbit");
}

/* SETRANGE key start end -- sets all bits in [start, end). */
int setrange_command(call *c, open_key *k, uint64_t start, cardinality end) {
    cardinalities members = {0};
    return change_range(c, k, (stretch){SET, start, 0}, end, &members) ? reply_ok(c) : REDISMODULE_OK;
}

/* CLEARRANGE key start end -- clears all bits in [start, end), and replies how many were set. */
int clearrange_command(call *c, open_key *k, uint64_t start, cardinality end) {
    cardinalities members = {0};
    if (!change_range(c, k, (stretch){CLEAR, start, 0}, end, &members)) return REDISMODULE_OK;
    return reply_count(c, members.before - members.after);
}

/* FLIPRANGE key start end -- inverts all bits in [start, end), and replies the new cardinality. */
int fliprange_command(call *c, open_key *k, uint64_t start, cardinality end) {
    cardinalities members = {0};
    if (!change_range(c, k, (stretch){FLIP, start, 0}, end, &members)) return REDISMODULE_OK;
    return reply_count(c, members.after);
}

/* SETFULL key -- creates a bitmap of all offsets. */
int setfull_command(call *c, open_key *k) {
    const stretch all = {SET, 0, c->family->last};
    cardinalities members;

    if (k->stored) {
        abandon(k);
        return reply_error(c, "Roaring: key already exist");
    }
    if (!commit(c, k, core_change_range(c->worker, &k->value, &all, &members), 1, "set"))
        return REDISMODULE_OK;
    return reply_ok(c);
}

/* CLEAR key -- removes all members but keeps the key, and replies how many were removed. */
int clear_command(call *c, open_key *k) {
    cardinality members;
    bitmap *empty = bitmap_create(0);
    status done = empty ? core_cardinality(c->worker, k->stored, &members) : OUT_OF_MEMORY;

    if (done == OK) {
        bitmap *old = k->value;
        k->value = empty;
        commit(c, k, OK, members > 0, "setbit");
        bitmap_free(old);
        return reply_count(c, members);
    }
    bitmap_free(empty);
    abandon(k);
    return succeeded(c, done);
}
