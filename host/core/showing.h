/* showing.h -- the imports of module `segments`: which segment of a large bitmap a memory shows. Part of core.c. */
#pragma once

/* The operand that a side shows: 0 is memory 0, 1 is left, 2 is right. Loads both numbers, here and below: of a choice of what
 * to load, the compiler makes a choice of addresses, and then assumes that any store may change the state. */
IMPORT u32 shown_on(TAKE_STATE_AND u32 side) {
    const u32 of_left = state->left_shown, of_right = state->right_shown;
    return side == 1 ? of_left : of_right;
}

/* What `left` shows after w2c_segments_renew. */
#define LENT (SELF - 1)

/* NULL if the side shows no segment. */
IMPORT const root *root_on(TAKE_STATE_AND u32 side) {
    const root *own = state->self_of;
    const u32 k = shown_on(PASS_STATE_AND side);
    return side == 0 ? own : k >= LENT ? NULL : state->operands[k].of;
}

IMPORT u32 w2c_segments_at(TAKE_STATE_AND u32 side) {
    const u32 own = state->self_at, k = shown_on(PASS_STATE_AND side);
    return root_on(PASS_STATE_AND side) == NULL ? 0 : side == 0 ? own : state->operands[k].at;
}

IMPORT u32 w2c_segments_are(TAKE_STATE_AND u32 side) { return root_on(PASS_STATE_AND side) != NULL; }

/* Not inlined, like the functions below: a segment has many entries. */
__attribute__((noinline, unused)) static void w2c_segments_show(TAKE_STATE_AND u32 side, u32 index) {
    const root *r = root_on(PASS_STATE_AND side);
    if (r == NULL) return;
    if (UNLIKELY(index >= r->count)) sandbox_trap(WORKER, TRAP_OPERAND);
    const bitmap *b = r->of[index].b;
    const span shown = {.base = arena(b), .size = arena_bytes(b), .at = index, .of = r};
    if (side == 0) {
        state->self_at = index;
        set_memory(PASS_STATE_AND shown);
        return;
    }
    const u32 k = shown_on(PASS_STATE_AND side);
    WORKER->views[k] = shown;
    if (state->left_shown == k) w2c_left_select(PASS_STATE_AND k);
    if (state->right_shown == k) w2c_right_select(PASS_STATE_AND k);
}

__attribute__((noinline, unused)) static void w2c_segments_seek(TAKE_STATE_AND u32 side, u64 offset) {
    const root *r = root_on(PASS_STATE_AND side);
    if (r) w2c_segments_show(PASS_STATE_AND side, root_seek(r, offset));
}

/* Begins to read where the key is, if keys are spread evenly over the bytes of its segment: otherwise the core would first
 * have to wait for the segment's header. */
__attribute__((noinline, unused)) static void w2c_segments_near(TAKE_STATE_AND u32 side, u32 from, u64 key) {
    const root *r = root_on(PASS_STATE_AND side);
    const u32 i = r ? root_seek(r, key) : 0;
    const segment *s = r && i + 1 < r->count ? &r->of[i] : NULL;
    if (s && s->first <= key && key < s[1].first) {
        const u64 place = from + (key - s->first) * (s->bytes - from) / (s[1].first - s->first);
        const uintptr_t at = (uintptr_t)arena(s->b) + place;
        __builtin_prefetch((const void *)at);
        __builtin_prefetch((const void *)(at + 64));
    }
    w2c_segments_show(PASS_STATE_AND side, i);
}

__attribute__((noinline, unused)) static u32 w2c_segments_next(TAKE_STATE_AND u32 side) {
    const root *r = root_on(PASS_STATE_AND side);
    const u32 next = w2c_segments_at(PASS_STATE_AND side) + 1;
    if (r == NULL || next >= r->count) return 0;
    w2c_segments_show(PASS_STATE_AND side, next);
    return 1;
}

IMPORT u64 w2c_segments_before(TAKE_STATE_AND u32 side) {
    const root *r = root_on(PASS_STATE_AND side);
    return r ? (u64)root_members(r, w2c_segments_at(PASS_STATE_AND side)) : 0;
}

IMPORT u64 w2c_segments_members(TAKE_STATE_AND u32 side) {
    const root *r = root_on(PASS_STATE_AND side);
    return r ? (u64)root_members(r, r->count) : 0;
}

__attribute__((noinline, unused)) static void w2c_segments_seekRank(TAKE_STATE_AND u32 side, u64 rank) {
    const root *r = root_on(PASS_STATE_AND side);
    u32 i = 0;
    for (; r && i + 1 < r->count && r->of[i].members <= rank; i++) rank -= r->of[i].members;
    w2c_segments_show(PASS_STATE_AND side, i);
}

__attribute__((noinline, unused)) static u32 w2c_segments_view(TAKE_STATE_AND u32 k) {
    if (UNLIKELY(k >= state->operand_count)) sandbox_trap(WORKER, TRAP_OPERAND);
    if (state->operands[k].of == NULL) return k;
    span *views = sandbox_views(WORKER, state->operands, state->operand_count);
    views[state->operand_count] = views[k];
    state->operands = views;
    return state->operand_count++;
}

/* --- Changing segments --- */

/* Shows it as memory 0. Operand 0 is what is changed. */
__attribute__((noinline, unused)) static void show_row(TAKE_STATE_AND span shown) {
    WORKER->views[0] = row_operand(WORKER);
    state->self_of = shown.of;
    state->self_at = shown.at;
    set_memory(PASS_STATE_AND shown);
    if (state->left_shown == 0) w2c_left_select(PASS_STATE_AND 0);
    if (state->right_shown == 0) w2c_right_select(PASS_STATE_AND 0);
}

__attribute__((noinline, unused)) static void w2c_segments_change(TAKE_STATE_AND u64 key) {
    show_row(PASS_STATE_AND row_change(WORKER, key));
}

__attribute__((noinline, unused)) static void w2c_segments_renew(TAKE_STATE_AND u32 bytes, u64 key,
                                                                 u32 more) {
    show_row(PASS_STATE_AND row_renew(WORKER, bytes, key, more));
    if (bytes == 0) return;
    const span old = row_old(WORKER);
    state->left_base = old.base;
    state->left_size = old.size;
    state->left_shown = LENT;
}

__attribute__((noinline, unused)) static void w2c_segments_remove(TAKE_STATE) {
    show_row(PASS_STATE_AND row_remove(WORKER));
}

__attribute__((noinline, unused)) static void w2c_segments_leave(TAKE_STATE) {
    show_row(PASS_STATE_AND row_leave(WORKER));
}

IMPORT void w2c_segments_note(TAKE_STATE_AND u64 members) { row_note(WORKER, members); }

__attribute__((noinline, unused)) static void w2c_arena_cut(TAKE_STATE_AND u32 bytes) {
    show_row(PASS_STATE_AND row_cut(WORKER, bytes));
}
