/* writing.c -- calls that change memory 0, the bitmap. */
#include <string.h>

#include "guard.h"
#include "redismodule.h"

/* Choices of the host, not facts of the core. */

/* Lists of this many offsets are sorted before they are added or removed. */
#define SORTED_FROM 64

/* Changing a range and merging need working space at the end of the arena. It is freed if it exceeds a quarter of the bitmap plus this. */
#define SLACK 256

/* Offsets per call. Between calls, a bitmap with too many free blocks is rewritten. */
#define CHANGES 1024

static frame writing(bitmap *b) {
    frame f = reading(b);
    call.growable = b;
    call.wasteful = call.cut_to = 0;
    return f;
}

/* The rare part of wrote(). */
__attribute__((noinline)) static status rewritten_or_marked(status s, bitmap **b) {
    call.cut_to = 0;
    if (s == OK) s = rewrite(b) == TRAPPED ? TRAPPED : OK;
    if (s == TRAPPED && !is_damaged(*b)) {
        mark_damaged(*b);
        count_damaged();
    }
    return s;
}

/* Ends a call that wrote to *b: updates *b if the block moved, rewrites a bitmap with too many free blocks, and marks it as damaged
 * after a trap. */
static status wrote(status s, bitmap **b) {
    *b = call.growable;
    return s == OK && !call.wasteful ? OK : rewritten_or_marked(s, b);
}

/* Ends the undoing of a write that ran out of memory. If undoing fails, too, the bitmap is damaged. */
static status undone(status s, bitmap **b) { return wrote(s == OK ? OK : TRAPPED, b) == OK ? OUT_OF_MEMORY : TRAPPED; }

static void change_alone(bitmap *b) {
    call.growable = b;
    call.wasteful = call.cut_to = 0;
    core.enter_alone(arena(b), arena_bytes(b));
}

/* Ends a write after REMOVING_IN: gives back what the bitmap's block has too much. */
static status cut(status s, bitmap **b) {
    if (s == OK && call.cut_to) *b = bitmap_shrink(*b, call.cut_to);
    return s;
}

/* Only a change can create free blocks. */
static uint32_t set(uint64_t offset, uint32_t value) {
    uint32_t previous = core.set(offset, value);
    if (previous != value) {
        call.wasteful = core.wasteful();
        if (previous) call.cut_to = core.shrunkBytes();
    }
    return previous;
}

status core_set(bitmap **b, uint64_t offset, uint32_t value, uint32_t *previous) {
    return cut(wrote(CHANGING(*b, *previous = set(offset, value)), b), b);
}

static frame setting(bitmap *b, uint64_t *offsets, uint64_t count) {
    frame f = writing(b);
    f.arguments = offsets;
    f.argument_count = (uint32_t)count;
    return f;
}

static void remove_all(uint32_t count, int whole) {
    if (whole) core.makeRemovable(0, count);
    core.removeAll(0, count);
}

/* Afterwards the first *changed offsets are those whose bits changed. `whole`: these are all offsets of the command. *deferred becomes
 * 1 if containers wait for their final form. */
static status set_batch(bitmap **b, uint64_t *offsets, uint32_t count, uint32_t bit, int whole, uint32_t *changed, uint32_t *deferred) {
    frame f = setting(*b, offsets, count);
    status s = bit ? CHANGING_IN(&f, core.addAll(0, count)) : REMOVING_IN(&f, remove_all(count, whole));
    *changed = core.handed_back();
    *deferred |= core.deferred();
    return wrote(s, b);
}

static status settle(bitmap **b, uint64_t *offsets, uint64_t count) {
    frame f = setting(*b, offsets, count);
    return wrote(CHANGING_IN(&f, core.settle(0, f.argument_count)), b);
}

static status make_removable(bitmap **b, uint64_t *offsets, uint64_t count) {
    frame f = setting(*b, offsets, count);
    return wrote(CHANGING_IN(&f, core.makeRemovable(0, f.argument_count)), b);
}

/* Containers for whose final form there is no memory keep the one that they have. */
static status tidy(bitmap **b, uint64_t *offsets, uint64_t count) {
    frame f = setting(*b, offsets, count);
    status s = wrote(REMOVING_IN(&f, core.tidy(0, f.argument_count)), b);
    return s == OUT_OF_MEMORY ? OK : s;
}

/* Undoes additions that ran out of memory, or what prepared removals that did. */
static status undo_set_all(bitmap **b, uint64_t *offsets, uint64_t count, uint32_t bit) {
    frame f = setting(*b, offsets, count);
    return undone(bit ? IN_CORE(&f, core.takeBack(0, f.argument_count)) : IN_CORE(&f, core.settle(0, f.argument_count)), b);
}

status core_set_all(bitmap **b, uint64_t *offsets, uint32_t count, uint32_t bit, uint64_t *changed) {
    status s = count < SORTED_FROM ? OK : sort_offsets(offsets, count, 0);
    int whole = count <= CHANGES;
    uint32_t deferred = 0;
    *changed = 0;
    if (s == OK && !bit && !whole) s = make_removable(b, offsets, count);
    for (uint32_t from = 0; s == OK && from < count; from += CHANGES) {
        uint32_t changed_now, length = count - from < CHANGES ? count - from : CHANGES;
        s = set_batch(b, offsets + from, length, bit, whole, &changed_now, &deferred);
        memmove(offsets + *changed, offsets + from, changed_now * sizeof *offsets);
        *changed += changed_now;
    }
    if (s == OK && deferred) s = bit ? settle(b, offsets, *changed) : tidy(b, offsets, *changed);
    if (s == OUT_OF_MEMORY) return undo_set_all(b, offsets, bit ? *changed : count, bit);
    return bit ? s : cut(s, b);
}

/* Ends a write to *b that used call.used bytes, and perhaps working space behind them. */
static status trimmed(status s, bitmap **b) {
    if (s == OK && arena_bytes(*b) - call.used > call.used / 4 + SLACK) {
        bitmap_fit(b);
        call.cut_to = 0;
    }
    return s;
}

/* --- In place, or by building a new bitmap: the core says which of the two is quicker --- */

/* The union's bytes, unless the core has merged operand 0 into memory 0. */
static uint64_t merge(counts *members) {
    members->before = members_held();
    uint64_t expected = core.merge() ? 0 : core.unionBytes();
    members->after = members_held();
    return expected;
}

status merge_in_place(bitmap **b, const bitmap *more, counts *members, uint64_t *expected) {
    const span operand = span_of(more);
    frame f = writing(*b);
    f.operands = &operand;
    f.operand_count = 1;
    *expected = 0;
    status s = wrote(CHANGING_IN(&f, *expected = merge(members); call.used = core.used()), b);
    return *expected ? s : trimmed(s, b);
}

status core_merge(bitmap **b, const bitmap *more, counts *members) {
    uint64_t expected;
    status s = merge_in_place(b, more, members, &expected);
    return s == OK && expected ? rebuild_union(b, more, expected, &members->after) : s;
}

/* Changes [low, high] and sets *expected to 0; or, unless `always`, changes nothing if it is quicker to build a bitmap, and sets
 * *expected to the bytes that this may take. */
static status change_in_place(bitmap **b, enum change change, uint64_t low, uint64_t high, int always, uint64_t *expected) {
    frame f = writing(*b);
    return cut(trimmed(wrote(REMOVING_IN(&f, *expected = core.changeRange(change, low, high, always); call.used = core.used()), b), b), b);
}

/* If there is too little memory for a second bitmap, the change may still be possible in place: setting and clearing need hardly any. */
status core_change_range(bitmap **b, enum change change, uint64_t low, uint64_t high) {
    uint64_t expected;
    status s = change_in_place(b, change, low, high, 0, &expected);
    if (s != OK || !expected) return s;
    s = rebuild_range(b, change, low, high, expected);
    return s == OUT_OF_MEMORY ? change_in_place(b, change, low, high, 1, &expected) : s;
}

/* Collects the old and the new value. */
static uint32_t set_field(const field *at, int adds, int64_t value, enum overflow overflow) {
    uint32_t written = (adds ? core.addToField : core.setField)(at->offset, at->width, at->is_signed, (uint64_t)value, overflow);
    if (sandbox_members[0] & ~sandbox_members[1]) call.cut_to = core.shrunkBytes();
    return written;
}

status core_set_field(bitmap **b, const field *at, int adds, int64_t value, enum overflow overflow, outcome *o) {
    frame f = writing(*b);
    status s = CHANGING_IN(&f, o->written = set_field(at, adds, value, overflow));
    o->old = (int64_t)sandbox_members[0];
    o->reply = (int64_t)sandbox_members[adds];
    o->changed = sandbox_members[0] != sandbox_members[1];
    s = wrote(s, b);
    if (s != OUT_OF_MEMORY) return cut(s, b);
    f = writing(*b);
    return undone(IN_CORE(&f, core.takeBackField(at->offset, at->width, (uint64_t)o->old)), b);
}

/* A step and a slot of the core's plan take this many values each. More steps than STEPS_MAX would take gigabytes. */
#define PLAN_VALUES 3
#define STEPS_MAX (1u << 26)
/* A plan of up to this many values needs no allocation. */
#define FEW_VALUES 128

/* A multiplier for the plan's hash that no client can know. */
static uint64_t secret(void) {
    static uint64_t odd;
    if (odd == 0) RedisModule_GetRandomBytes((unsigned char *)&odd, sizeof odd);
    return odd |= 1;
}

/* Runs the steps on the plan `values`, and changes the bitmap if they all succeed. */
static status change_planned(bitmap **b, uint64_t *values, field_step *steps, uint32_t count, uint32_t slot_bits, uint32_t *changed) {
    uint32_t from = count * PLAN_VALUES;
    for (uint32_t i = 0; i < count; i++) {
        const field_step *step = &steps[i];
        uint64_t *value = values + (size_t)i * PLAN_VALUES;
        value[0] = step->action | (uint32_t)step->overflow << 2 | step->at.is_signed << 4 | step->at.width << 5;
        value[1] = step->at.offset;
        value[2] = (uint64_t)step->value;
    }
    frame f = setting(*b, values, from + (PLAN_VALUES << slot_bits));
    call.growable = NULL;
    status s = IN_CORE(&f, *changed = core.planFields(count, slot_bits, secret()));
    for (uint32_t i = 0; s == OK && i < count; i++) {
        steps[i].outcome.written = (uint32_t)values[(size_t)i * PLAN_VALUES];
        steps[i].outcome.reply = (int64_t)values[(size_t)i * PLAN_VALUES + 2];
    }
    if (s != OK || !*changed) return s;
    uint32_t to = from + *changed * PLAN_VALUES;
    f = setting(*b, values, to);
    s = wrote(REMOVING_IN(&f, core.changeWords(from, to)), b);
    if (s != OUT_OF_MEMORY) return cut(s, b);
    f = setting(*b, values, to);
    return undone(IN_CORE(&f, core.takeBackWords(from, to)), b);
}

status core_change_fields(bitmap **b, field_step *steps, uint32_t count, uint32_t *changed) {
    static uint64_t few[FEW_VALUES];
    uint32_t slot_bits = 3;                         /* a step touches two words at most, and a third of the slots stay free */
    if (count > STEPS_MAX) return OUT_OF_MEMORY;
    while (1u << slot_bits < count * 3) slot_bits++;
    size_t length = ((size_t)count + ((size_t)1 << slot_bits)) * PLAN_VALUES;
    uint64_t *values = length <= FEW_VALUES ? few : try_alloc(length * sizeof *values);
    if (values == NULL) return OUT_OF_MEMORY;
    memset(values, 0, length * sizeof *values);
    *changed = 0;
    status s = change_planned(b, values, steps, count, slot_bits, changed);
    if (values != few) RedisModule_Free(values);
    return s;
}

void bitmap_fit(bitmap **b) {
    if (READING(*b, call.used = core.used()) == OK) *b = bitmap_shrink(*b, call.used);
}

#ifdef CORE_HAS_TRAP
const int sandbox_can_trap = 1;

status core_trap(bitmap **b, int while_writing, uint32_t way) {
    frame f = while_writing ? writing(*b) : reading(*b);
    status s = IN_CORE(&f, core.trap(way));
    return while_writing ? wrote(s, b) : s;
}
#else
const int sandbox_can_trap = 0;

status core_trap(bitmap **b, int while_writing, uint32_t way) {
    (void)b;
    (void)while_writing;
    (void)way;
    return OK;
}
#endif
