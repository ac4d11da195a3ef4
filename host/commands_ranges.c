/* commands_ranges.c -- whole ranges of offsets, which cost what containers there are in them. */
#include "args.h"
#include "keys.h"
#include "reply.h"

/* Changes [argv[2], argv[3]) and says how many members there were and are. Clearing leaves a missing key missing. */
static int change_range(call *c, enum change change, count *before, count *after) {
    uint64_t start, end;
    slot s;

    *before = *after = 0;
    if (!parse_start_end(c, 2, &start, &end)) return 0;
    if (!(change == CLEAR ? open_write(c, 1, &s) : open_create(c, 1, 0, &s))) return 0;
    if (s.value == NULL) return abandon(&s), 1;
    status done = core_cardinality(s.value, before);
    if (done == OK && start < end) done = core_change_range(&s.value, change, start, end - 1);
    if (done == OK) done = core_cardinality(s.value, after);
    return commit(c, &s, done, change == FLIP ? start < end : *before != *after, "setbit");
}

/* SETRANGE key start end -- sets all from start to before end. */
int setrange_command(call *c) {
    count before, after;
    return change_range(c, SET, &before, &after) ? reply_ok(c) : REDISMODULE_OK;
}

/* CLEARRANGE key start end -- clears them and replies how many were set. */
int clearrange_command(call *c) {
    count before, after;
    return change_range(c, CLEAR, &before, &after) ? reply_count(c, before - after) : REDISMODULE_OK;
}

/* FLIPRANGE key start end -- sets what is clear, clears what is set, and replies how many members there are then. */
int fliprange_command(call *c) {
    count before, after;
    return change_range(c, FLIP, &before, &after) ? reply_count(c, after) : REDISMODULE_OK;
}

/* SETFULL key -- makes a missing key hold all offsets there are. */
int setfull_command(call *c) {
    slot s;

    if (!open_create(c, 1, 0, &s)) return REDISMODULE_OK;
    if (s.stored) return abandon(&s), reply_error(c, "Roaring: key already exist");
    if (!commit(c, &s, core_change_range(&s.value, SET, 0, c->family->last), 1, "set")) return REDISMODULE_OK;
    return reply_ok(c);
}

/* CLEAR key -- removes all members, not the key, and replies how many there were. */
int clear_command(call *c) {
    count members;
    slot s;

    if (!open_write(c, 1, &s)) return REDISMODULE_OK;
    if (s.stored == NULL) return abandon(&s), RedisModule_ReplyWithNull(c->ctx);
    if (!succeeded(c, core_cardinality(s.stored, &members))) return abandon(&s), REDISMODULE_OK;
    bitmap *empty = bitmap_create(0);
    if (empty == NULL) return abandon(&s), succeeded(c, OUT_OF_MEMORY);
    commit_other(c, &s, empty, members > 0, "setbit");
    return reply_count(c, members);
}
