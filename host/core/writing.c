/* writing.c -- calls that change memory 0, the bitmap. */
#include <string.h>

#include "core/census.h"
#include "core/guard.h"
#include "core/writing.h"
#include "api/redismodule.h"

/* Choices of the host, not facts of the core. */

/* Lists of this many offsets are sorted before they are added or removed. */
#define SORTED_FROM 64

/* An arena is nearly full if less than 1 / FULL_PARTS of the greatest size is left. It is then rewritten if
 * more than 1 / REWRITTEN_PARTS of it is free blocks. */
#define FULL_PARTS 16
#define REWRITTEN_PARTS 32
/* Smaller arenas do not count as nearly full: they come near the limit only in tests that check that writes
 * are refused. */
#define FULL_LEAST (1u << 20)

/* Offsets per call. Between calls, a bitmap with too many free blocks is rewritten. */
#define CHANGES 1024

/* --- Before a change ----------------------------------------------------------------------------------- */

/* Whether an arena has come near the greatest size. */
static inline int is_nearly_full(const bitmap *b) {
    const uint32_t bytes = arena_bytes(b);
    return bytes > FULL_LEAST && bytes > arena_limit() / FULL_PARTS * (FULL_PARTS - 1);
}

/* Whether b must be copied or rewritten before it is changed: queries on threads still read it, or it is
 * nearly full. */
static inline int needs_care(const bitmap *b) { return bitmap_is_shared(b) || is_nearly_full(b); }

static status freed_bytes(worker *w, const bitmap *b, uint32_t *bytes) {
    return READING(w, b, *bytes = w->core.freed(w));
}

/* Copies a bitmap that is shared. Rewrites one that is nearly full, if enough of it is free blocks. Otherwise
 * a write that needs a larger block would be refused. */
static status make_changeable(worker *w, bitmap **b) {
    uint32_t freed = 0;
    if (bitmap_is_shared(*b) && !bitmap_separate(b)) return OUT_OF_MEMORY;
    if (!is_nearly_full(*b)) return OK;
    status s = freed_bytes(w, *b, &freed);
    if (s == OK && freed > arena_bytes(*b) / REWRITTEN_PARTS && tighten(w, b) == TRAPPED) return TRAPPED;
    return s;
}

/* Sets *changes to whether any of the offsets is not in the state `bit`. */
static status list_changes(worker *w, const bitmap *b, const uint64_t *offsets, uint32_t count, uint32_t bit,
                           int *changes) {
    status s = OK;
    *changes = 0;
    for (uint32_t i = 0; s == OK && !*changes && i < count; i++) {
        uint32_t there;
        s = core_get(w, b, offsets[i], &there);
        *changes = s == OK && there != bit;
    }
    return s;
}

static status range_changes(worker *w, const bitmap *b, const stretch *r, int *changes) {
    cardinality members = 0;
    status s = r->change == FLIP ? OK : core_count_between(w, b, r->low, r->high, &members);
    *changes = r->change == FLIP || members != (r->change == SET ? (cardinality)r->high - r->low + 1 : 0);
    return s;
}

static frame writing(worker *w, bitmap *b) {
    frame f = reading(w, b);
    w->current.growable = b;
    w->current.wasteful = w->current.cut_to = w->current.grew = 0;
    return f;
}

/* The rare part of wrote(). */
__attribute__((noinline)) static status rewritten_or_marked(worker *w, status s, bitmap **b) {
    w->current.cut_to = 0;
    if (s == OK) s = tighten(w, b) == TRAPPED ? TRAPPED : OK;
    if (s == TRAPPED && !is_damaged(*b)) {
        mark_damaged(*b);
        count_damaged();
    }
    return s;
}

/* Ends a call that wrote to *b: updates *b if the block moved, rewrites a bitmap with too many free blocks, or
 * gives back the part of the block that is not needed, and marks it as damaged after a trap. */
static status wrote(worker *w, status s, bitmap **b) {
    *b = w->current.growable;
    if (s != OK || w->current.wasteful) return rewritten_or_marked(w, s, b);
    if (w->current.cut_to) *b = bitmap_shrink(*b, w->current.cut_to);
    return OK;
}

/* Ends the undoing of a write that ran out of memory. If undoing fails, too, the bitmap is damaged. */
static status undone(worker *w, status s, bitmap **b) {
    return wrote(w, s == OK ? OK : TRAPPED, b) == OK ? OUT_OF_MEMORY : TRAPPED;
}

static void change_alone(worker *w, bitmap *b) {
    w->current.growable = b;
    w->current.wasteful = w->current.cut_to = w->current.grew = 0;
    w->core.enter_alone(w, arena(b), arena_bytes(b));
}

/* wrote() for a write with nothing to undo. If it ran out of memory, gives back the memory that it has
 * taken. */
static status wrote_whole(worker *w, status s, bitmap **b) {
    s = wrote(w, s, b);
    return s == OUT_OF_MEMORY ? undone(w, CHANGING(w, *b, note_waste(w)), b) : s;
}

/* Only a change can create free blocks. */
static uint32_t set(worker *w, uint64_t offset, uint32_t value) {
    uint32_t previous = w->core.set(w, offset, value);
    if (previous != value) {
        w->current.wasteful = w->core.wasteful(w);
        if (previous || w->current.grew) w->current.cut_to = w->core.shrunkBytes(w);
    }
    return previous;
}

__attribute__((noinline)) static status set_carefully(worker *w, bitmap **b, uint64_t offset, uint32_t value,
                                                      uint32_t *previous) {
    status s = core_get(w, *b, offset, previous);
    if (s != OK || *previous == value) return s;
    s = make_changeable(w, b);
    return s == OK ? wrote_whole(w, CHANGING(w, *b, *previous = set(w, offset, value)), b) : s;
}

status core_set(worker *w, bitmap **b, uint64_t offset, uint32_t value, uint32_t *previous) {
    if (needs_care(*b)) return set_carefully(w, b, offset, value, previous);
    return wrote_whole(w, CHANGING(w, *b, *previous = set(w, offset, value)), b);
}

static frame setting(worker *w, bitmap *b, uint64_t *offsets, uint64_t count) {
    frame f = writing(w, b);
    f.arguments = offsets;
    f.argument_count = (uint32_t)count;
    return f;
}

static void remove_all(worker *w, uint32_t count, int whole) {
    if (whole) w->core.makeRemovable(w, 0, count);
    w->core.removeAll(w, 0, count);
}

/* A list of offsets to set or clear, part by part. */
typedef struct list {
    uint64_t *offsets;
    uint32_t count, bit;
    uint64_t changed; /* this many bits have changed: those of the first offsets */
    uint32_t deferred; /* 1 if containers wait for their final form */
} list;

/* Sets or clears `count` offsets from number `from` on. */
static status change_part(worker *w, bitmap **b, list *l, uint32_t from, uint32_t count) {
    uint64_t *part = l->offsets + from;
    frame f = setting(w, *b, part, count);
    status s = l->bit ? CHANGING_IN(w, &f, w->core.addAll(w, 0, count))
                      : CHANGING_IN(w, &f, remove_all(w, count, count == l->count));
    uint32_t changed = w->core.handed_back(w);
    memmove(l->offsets + l->changed, part, changed * sizeof *part);
    l->changed += changed;
    l->deferred |= w->core.deferred(w);
    return wrote(w, s, b);
}

/* Calls an export that changes the containers of these offsets. */
static status for_each(worker *w, bitmap *b, uint64_t *offsets, uint64_t count,
                       void (*change)(worker *w, uint32_t first, uint32_t count)) {
    frame f = setting(w, b, offsets, count);
    return CHANGING_IN(w, &f, change(w, 0, f.argument_count));
}

static status settle(worker *w, bitmap **b, uint64_t *offsets, uint64_t count) {
    return wrote(w, for_each(w, *b, offsets, count, w->core.settle), b);
}

/* A container keeps its present form if there is no memory for its final one. */
static status tidy(worker *w, bitmap **b, uint64_t *offsets, uint64_t count) {
    status s = wrote(w, for_each(w, *b, offsets, count, w->core.tidy), b);
    return s == OUT_OF_MEMORY ? OK : s;
}

/* Undoes additions that ran out of memory. */
static status undo_additions(worker *w, bitmap **b, uint64_t *offsets, uint64_t count) {
    return undone(w, for_each(w, *b, offsets, count, w->core.takeBack), b);
}

/* Undoes the preparation of removals, which ran out of memory. */
static status undo_preparation(worker *w, bitmap **b, uint64_t *offsets, uint64_t count) {
    return undone(w, for_each(w, *b, offsets, count, w->core.settle), b);
}

static status change_list(worker *w, bitmap **b, list *l) {
    status s = OK;
    if (!l->bit && l->count > CHANGES) {
        s = wrote(w, for_each(w, *b, l->offsets, l->count, w->core.makeRemovable), b);
    }
    for (uint32_t from = 0; s == OK && from < l->count; from += CHANGES) {
        s = change_part(w, b, l, from, l->count - from < CHANGES ? l->count - from : CHANGES);
    }
    if (s != OK || !l->deferred) return s;
    return l->bit ? settle(w, b, l->offsets, l->changed) : tidy(w, b, l->offsets, l->changed);
}

static status change_grouped(worker *w, bitmap **b, list *l) {
    status s = l->count < SORTED_FROM ? OK : group_offsets(w, l->offsets, l->count);
    return s == OK ? change_list(w, b, l) : s;
}

static status change_if_needed(worker *w, bitmap **b, list *l) {
    int changes = 1;
    status s = OK;
    if (bitmap_is_shared(*b)) s = list_changes(w, *b, l->offsets, l->count, l->bit, &changes);
    if (s == OK && changes) s = make_changeable(w, b);
    return s == OK && changes ? change_grouped(w, b, l) : s;
}

status core_set_all(worker *w, bitmap **b, uint64_t *offsets, uint32_t count, uint64_t *changed) {
    list l = {.offsets = offsets, .count = count, .bit = 1};
    status s = change_if_needed(w, b, &l);
    *changed = l.changed;
    return s == OUT_OF_MEMORY ? undo_additions(w, b, offsets, l.changed) : s;
}

status core_clear_all(worker *w, bitmap **b, uint64_t *offsets, uint32_t count, uint64_t *changed) {
    list l = {.offsets = offsets, .count = count, .bit = 0};
    status s = change_if_needed(w, b, &l);
    *changed = l.changed;
    return s == OUT_OF_MEMORY ? undo_preparation(w, b, offsets, count) : s;
}

/* --- In place, or by building a new bitmap: the core says which of the two is quicker --- */

/* Merges operand 0 into memory 0 and returns 0; or changes nothing and returns the bytes of the union if it
 * is quicker to build that. */
static uint64_t merge(worker *w, cardinalities *members) {
    members->before = members_held(w);
    uint64_t expected = w->core.merge(w) ? 0 : w->core.unionBytes(w);
    members->after = members_held(w);
    return expected;
}

status merge_in_place(worker *w, bitmap **b, const bitmap *more, cardinalities *members, uint64_t *expected) {
    const span operand = span_of(more);
    frame f = writing(w, *b);
    f.operands = &operand;
    f.operand_count = 1;
    *expected = 0;
    return wrote_whole(w, CHANGING_IN(w, &f, *expected = merge(w, members)), b);
}

/* Sets both numbers of members of a bitmap that stays as it is. */
static status stay(worker *w, const bitmap *b, cardinalities *members) {
    status s = core_cardinality(w, b, &members->before);
    members->after = members->before;
    return s;
}

status core_merge(worker *w, bitmap **b, const bitmap *more, cardinalities *members) {
    uint32_t has_all = 0;
    uint64_t expected;
    status s = needs_care(*b) ? core_is_subset(w, more, *b, &has_all) : OK;
    if (s == OK && has_all) return stay(w, *b, members);
    if (s == OK) s = make_changeable(w, b);
    if (s == OK) s = merge_in_place(w, b, more, members, &expected);
    /* The union would take seconds to build, and would hardly fit. */
    if (s == OK && expected && is_nearly_full(*b)) return OUT_OF_MEMORY;
    return s == OK && expected ? rebuild_union(w, b, more, expected, &members->after) : s;
}

/* Changes memory 0 and returns 0; or changes nothing and returns the bytes of a new bitmap if it is quicker
 * to build that. */
static uint64_t change_all_of(worker *w, const stretch *r, uint32_t in_place, cardinalities *members) {
    members->before = members_held(w);
    uint64_t expected = w->core.changeRange(w, r->change, r->low, r->high, in_place);
    members->after = members_held(w);
    return expected;
}

/* Changes the stretch and sets *expected to 0; or changes nothing if it is quicker to build a bitmap, and
 * sets *expected to the bytes that this may take. */
static status change_in_place(worker *w, bitmap **b, const stretch *r, cardinalities *members,
                              uint64_t *expected) {
    frame f = writing(w, *b);
    return wrote_whole(w, CHANGING_IN(w, &f, *expected = change_all_of(w, r, 0, members)), b);
}

static status force_in_place(worker *w, bitmap **b, const stretch *r, cardinalities *members) {
    frame f = writing(w, *b);
    return wrote_whole(w, CHANGING_IN(w, &f, change_all_of(w, r, 1, members)), b);
}

/* If there is too little memory for a second bitmap, the change may still be possible in place: setting and
 * clearing need hardly any. */
status core_change_range(worker *w, bitmap **b, const stretch *r, cardinalities *members) {
    int changes = 1;
    uint64_t expected;
    status s = bitmap_is_shared(*b) ? range_changes(w, *b, r, &changes) : OK;
    if (s == OK && !changes) return stay(w, *b, members);
    if (s == OK) s = make_changeable(w, b);
    if (s == OK) s = change_in_place(w, b, r, members, &expected);
    if (s != OK || !expected) return s;
    s = rebuild_range(w, b, r, expected, &members->after);
    return s == OUT_OF_MEMORY ? force_in_place(w, b, r, members) : s;
}

/* Collects the old and the new value. */
static uint32_t write_field(worker *w, const field *at, const field_step *step) {
    uint32_t (*write)(worker *, uint64_t, uint32_t, uint32_t, uint64_t, uint32_t) =
        step->action == FIELD_SET ? w->core.setField : w->core.addToField;
    return write(w, at->offset, at->width, at->is_signed, (uint64_t)step->value, step->overflow);
}

status core_write_field(worker *w, bitmap **b, field_step *step) {
    const field *at = &step->at;
    outcome *o = &step->outcome;
    status s = needs_care(*b) ? make_changeable(w, b) : OK;
    if (s != OK) return s;
    frame f = writing(w, *b);
    s = CHANGING_IN(w, &f, o->written = write_field(w, at, step));
    o->old = (int64_t)w->members[0];
    o->reply = (int64_t)w->members[step->action == FIELD_INCRBY];
    o->changed = w->members[0] != w->members[1];
    s = wrote(w, s, b);
    if (s != OUT_OF_MEMORY) return s;
    f = writing(w, *b);
    return undone(w, CHANGING_IN(w, &f, w->core.takeBackField(w, at->offset, at->width, (uint64_t)o->old)),
                  b);
}

/* --- Several fields: the core plans all writes without changing anything, and then makes them --- */

/* A step and a slot of the core's plan take this many values each. More steps than STEPS_MAX would take
 * gigabytes. */
#define PLAN_VALUES 3
#define STEPS_MAX (1u << 26)
/* A plan of up to this many values needs no allocation. */
#define FEW_VALUES 128

/* The steps, and behind them a hash table of 1 << slot_bits slots. */
typedef struct plan {
    uint64_t *values;
    uint32_t steps, slot_bits;
} plan;

/* A multiplier for the plan's hash that no client can know. */
static uint64_t secret(void) {
    static uint64_t odd;
    if (odd == 0) RedisModule_GetRandomBytes((unsigned char *)&odd, sizeof odd);
    return odd |= 1;
}

static void lay_steps(const plan *p, const field_step *steps) {
    uint64_t *value = p->values;
    for (const field_step *s = steps; s < steps + p->steps; s++, value += PLAN_VALUES) {
        value[0] = s->action | (uint32_t)s->overflow << 2 | s->at.is_signed << 4 | s->at.width << 5;
        value[1] = s->at.offset;
        value[2] = (uint64_t)s->value;
    }
}

static void take_outcomes(const plan *p, field_step *steps) {
    const uint64_t *value = p->values;
    for (field_step *s = steps; s < steps + p->steps; s++, value += PLAN_VALUES) {
        s->outcome.written = (uint32_t)value[0];
        s->outcome.reply = (int64_t)value[2];
    }
}

/* Changes the `changed` words that the plan lists behind the steps. */
static status change_words(worker *w, bitmap **b, const plan *p, uint32_t changed) {
    uint32_t from = p->steps * PLAN_VALUES, to = from + changed * PLAN_VALUES;
    frame f = setting(w, *b, p->values, to);
    status s = wrote(w, CHANGING_IN(w, &f, w->core.changeWords(w, from, to)), b);
    if (s != OUT_OF_MEMORY) return s;
    f = setting(w, *b, p->values, to);
    return undone(w, CHANGING_IN(w, &f, w->core.takeBackWords(w, from, to)), b);
}

static status change_planned(worker *w, bitmap **b, const plan *p, field_step *steps, uint32_t *changed) {
    lay_steps(p, steps);
    frame f = setting(w, *b, p->values, p->steps * PLAN_VALUES + (PLAN_VALUES << p->slot_bits));
    w->current.growable = NULL;
    status s = IN_CORE(w, &f, *changed = w->core.planFields(w, p->steps, p->slot_bits, secret()));
    if (s != OK) return s;
    take_outcomes(p, steps);
    if (*changed) s = make_changeable(w, b);
    return *changed && s == OK ? change_words(w, b, p, *changed) : s;
}

status core_change_fields(worker *w, bitmap **b, field_step *steps, uint32_t count, uint32_t *changed) {
    uint64_t few[FEW_VALUES];
    plan p = {.steps = count, .slot_bits = 3};
    if (count > STEPS_MAX) return OUT_OF_MEMORY;
    /* A step touches two words at most, and a third of the slots stay free. */
    while (1u << p.slot_bits < count * 3) p.slot_bits++;
    size_t length = ((size_t)count + ((size_t)1 << p.slot_bits)) * PLAN_VALUES;
    p.values = length <= FEW_VALUES ? few : try_alloc(length * sizeof *p.values);
    if (p.values == NULL) return OUT_OF_MEMORY;
    memset(p.values, 0, length * sizeof *p.values);
    *changed = 0;
    status s = change_planned(w, b, &p, steps, changed);
    if (p.values != few) RedisModule_Free(p.values);
    return s;
}

void bitmap_fit(worker *w, bitmap **b) {
    if (READING(w, *b, w->current.used = w->core.used(w)) == OK) *b = bitmap_shrink(*b, w->current.used);
}

#ifdef CORE_HAS_TRAP
status core_trap(worker *w, bitmap **b, int while_writing, uint32_t way) {
    frame f = while_writing ? writing(w, *b) : reading(w, *b);
    status s = IN_CORE(w, &f, w->core.trap(w, way));
    return while_writing ? wrote(w, s, b) : s;
}
#endif
