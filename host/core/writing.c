/* writing.c -- calls that change memory 0, the bitmap. */
#include <string.h>

#include "core/change.h"
#include "core/reading.h"
#include "core/segments.h"
#include "core/writing.h"
#include "api/redismodule.h"

/* Choices of the host, not facts of the core. */

/* Lists of this many offsets are sorted before they are added or removed. */
#define SORTED_FROM 64

/* Offsets per call. Between calls, a bitmap with too many free blocks is rewritten. */
#define CHANGES 1024

static void change_alone(worker *w, bitmap *b) {
    const frame f = writing(w, b);
    w->core.enter_alone(w, f.memory.base, f.memory.size);
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

/* --- Single offsets --- */

/* Sets a bit of a bitmap that is one arena. */
static inline status set_here(worker *w, bitmap **b, uint64_t offset, uint32_t value, uint32_t *previous) {
    w->current.offset = offset;
    return wrote_whole(w, CHANGING(w, *b, *previous = set(w, offset, value)), b);
}

static status set_in_segment(worker *w, bitmap **b, uint64_t offset, uint32_t value, uint32_t *previous) {
    root *r = root_of(*b);
    const uint32_t i = root_seek(r, offset);
    if (!root_own(r, i)) return OUT_OF_MEMORY;
    segment *at = &r->of[i];
    const uint64_t bytes = bitmap_bytes(at->b);
    w->in_segment = 1;
    status s = set_here(w, &at->b, offset, value, previous);
    w->in_segment = 0;
    if (s != OK) value = *previous = 0;
    if (s != OK || value != *previous) wrote_segment(w, b, i, bytes, at->members + value - *previous);
    return s;
}

__attribute__((noinline)) static status set_carefully(worker *w, bitmap **b, uint64_t offset, uint32_t value,
                                                      uint32_t *previous) {
    const root *r = root_of(*b);
    status s = OK;
    if (bitmap_is_shared(*b) || (r && bitmap_is_shared(r->of[root_seek(r, offset)].b))) {
        s = core_get(w, *b, offset, previous);
        if (s != OK || *previous == value) return s;
        s = make_changeable(b);
    }
    if (s != OK) return s;
    return r ? set_in_segment(w, b, offset, value, previous) : set_here(w, b, offset, value, previous);
}

status core_set(worker *w, bitmap **b, uint64_t offset, uint32_t value, uint32_t *previous) {
    if (root_of(*b) || bitmap_is_shared(*b)) return set_carefully(w, b, offset, value, previous);
    return set_here(w, b, offset, value, previous);
}

/* --- Values of single ids --- */

static status change_value_here(worker *w, bitmap **b, void *how) {
    value_change *v = how;
    w->current.offset = v->id;
    status s = CHANGING(w, *b, v->done = w->core.changeValue(w, v->deed, v->id, (uint64_t)v->value, v->rules);
                        if (v->done != DONE_NOTHING || v->deed == VALUE_SETTLE) note_waste(w));
    if (s == OK && w->core.collected(w)) v->value = (int64_t)w->members[0];
    if (s != OK) v->done = DONE_NOTHING;
    /* Until the list has ended, an arena keeps what old values would need. */
    const int only_adds = v->deed == VALUE_SET && v->done == DONE_ADDED;
    if (s == OK && (v->rules & ONLY_REVOCABLY) && !only_adds) w->current.wasteful = w->current.cut_to = 0;
    return wrote_whole(w, s, b);
}

status core_change_value(worker *w, bitmap **b, value_change *v) {
    status s = make_changeable(b);
    if (s != OK) return s;
    const root *r = root_of(*b);
    return r ? in_segment(w, b, root_seek(r, v->id), change_value_here, v) : change_value_here(w, b, v);
}

/* --- Lists of offsets --- */

static void remove_all(worker *w, uint32_t count, int whole) {
    if (whole) w->core.makeRemovable(w, 0, count);
    w->core.removeAll(w, 0, count);
}

/* A list of offsets to set or clear, part by part. */
typedef struct list {
    uint64_t *offsets;
    uint32_t count, bit;
    uint32_t prepared; /* whether removing needs no memory */
    uint32_t deferred; /* 1 if containers wait for their final form */
    uint64_t changed; /* this many bits have changed: those of the first offsets */
} list;

/* Sets or clears `count` offsets from number `from` on. */
static status change_part(worker *w, bitmap **b, list *l, uint32_t from, uint32_t count) {
    uint64_t *part = l->offsets + from;
    frame f = setting(w, *b, part, count);
    w->current.offset = part[count - 1];
    status s = l->bit ? CHANGING_IN(w, &f, w->core.addAll(w, 0, count))
                      : CHANGING_IN(w, &f, remove_all(w, count, !l->prepared));
    uint32_t changed = w->core.handed_back(w);
    memmove(l->offsets + l->changed, part, changed * sizeof *part);
    l->changed += changed;
    l->deferred |= w->core.deferred(w);
    return wrote(w, s, b);
}

static status change_parts(worker *w, bitmap **b, void *how) {
    list *l = how;
    status s = OK;
    for (uint32_t from = 0; s == OK && from < l->count; from += CHANGES) {
        s = change_part(w, b, l, from, l->count - from < CHANGES ? l->count - from : CHANGES);
    }
    return s;
}

/* Calls an export that changes the containers of these offsets. */
static status for_each(worker *w, bitmap **b, const list *l,
                       void (*call)(worker *w, uint32_t first, uint32_t count)) {
    frame f = setting(w, *b, l->offsets, l->count);
    return CHANGING_IN(w, &f, call(w, 0, f.argument_count));
}

static status settle(worker *w, bitmap **b, void *l) {
    return wrote(w, for_each(w, b, l, w->core.settle), b);
}

/* A container keeps its present form if there is no memory for its final one. */
static status tidy(worker *w, bitmap **b, void *l) {
    status s = wrote(w, for_each(w, b, l, w->core.tidy), b);
    return s == OUT_OF_MEMORY ? OK : s;
}

static status prepare_removal(worker *w, bitmap **b, void *l) {
    return wrote(w, for_each(w, b, l, w->core.makeRemovable), b);
}

/* Undoes additions that ran out of memory. */
static status undo_additions(worker *w, bitmap **b, void *l) {
    return undone(w, for_each(w, b, l, w->core.takeBack), b) == TRAPPED ? TRAPPED : OK;
}

/* Undoes the preparation of removals, which ran out of memory. */
static status undo_preparation(worker *w, bitmap **b, void *l) {
    return undone(w, for_each(w, b, l, w->core.settle), b) == TRAPPED ? TRAPPED : OK;
}

/* How many offsets of the list, from the first one on, are in segment i. */
static uint32_t run_in_segment(const root *r, uint32_t i, const list *l) {
    const uint64_t first = i > 0 ? r->of[i].first : 0;
    const uint64_t last = i + 1 < r->count ? r->of[i + 1].first - 1 : UINT64_MAX;
    uint32_t count = 1;
    while (count < l->count && l->offsets[count] >= first && l->offsets[count] <= last) count++;
    return count;
}

/* Makes the change in each segment of the list's offsets, with a list of these; or in the bitmap, if it is one arena.
 * The offsets that have changed move to the front of the list. */
static status by_segment(worker *w, bitmap **b, list *l, segment_change *make) {
    status s = OK;
    for (list rest = *l, run; s == OK && rest.count > 0; rest.offsets += run.count, rest.count -= run.count) {
        root *r = root_of(*b);
        run = rest;
        run.changed = 0;
        if (r) {
            const uint32_t i = root_seek(r, rest.offsets[0]);
            run.count = run_in_segment(r, i, &rest);
            s = in_segment(w, b, i, make, &run);
        } else {
            if (run.count > CHANGES) run.count = CHANGES;
            s = make(w, b, &run);
        }
        memmove(l->offsets + l->changed, run.offsets, run.changed * sizeof *run.offsets);
        l->changed += run.changed;
        l->deferred |= run.deferred;
    }
    return s;
}

/* A list of the offsets that have changed. */
static list changed_of(const list *l) { return (list){.offsets = l->offsets, .count = (uint32_t)l->changed}; }

static status change_list(worker *w, bitmap **b, list *l) {
    status s = OK;
    if (!l->bit && (root_of(*b) || l->count > CHANGES)) {
        list all = {.offsets = l->offsets, .count = l->count};
        s = by_segment(w, b, &all, prepare_removal);
        l->prepared = 1;
    }
    if (s == OK) s = by_segment(w, b, l, change_parts);
    if (s != OK || !l->deferred) return s;
    list changed = changed_of(l);
    return by_segment(w, b, &changed, l->bit ? settle : tidy);
}

static status change_grouped(worker *w, bitmap **b, list *l) {
    status s = l->count < SORTED_FROM ? OK : group_offsets(w, l->offsets, l->count);
    return s == OK ? change_list(w, b, l) : s;
}

status core_set_all(worker *w, bitmap **b, uint64_t *offsets, uint32_t count, uint64_t *changed) {
    list l = {.offsets = offsets, .count = count, .bit = 1};
    status s = make_changeable(b);
    if (s == OK) s = change_grouped(w, b, &l);
    *changed = l.changed;
    if (s != OUT_OF_MEMORY) return s;
    list added = changed_of(&l);
    return by_segment(w, b, &added, undo_additions) == OK ? OUT_OF_MEMORY : TRAPPED;
}

status core_clear_all(worker *w, bitmap **b, uint64_t *offsets, uint32_t count, uint64_t *changed) {
    list l = {.offsets = offsets, .count = count};
    status s = make_changeable(b);
    if (s == OK) s = change_grouped(w, b, &l);
    *changed = l.changed;
    if (s != OUT_OF_MEMORY) return s;
    list all = {.offsets = offsets, .count = count};
    return by_segment(w, b, &all, undo_preparation) == OK ? OUT_OF_MEMORY : TRAPPED;
}

/* --- In place, or by building a new bitmap: the core says which of the two is quicker --- */

/* Merges operand 0 into memory 0; returns 1 if it is quicker to build the union. */
static uint32_t merge(worker *w, cardinalities *members) {
    members->before = members_held(w);
    uint32_t merged = w->core.merge(w);
    members->after = members_held(w);
    return !merged;
}

static status merge_in_place(worker *w, bitmap **b, const bitmap *more, cardinalities *members,
                             uint32_t *rebuilds) {
    const span operand = span_of(more);
    frame f = writing(w, *b);
    f.operands = &operand;
    f.operand_count = 1;
    return wrote_whole(w, CHANGING_IN(w, &f, *rebuilds = merge(w, members)), b);
}

static status merge_anew(worker *w, bitmap **b, const bitmap *more, cardinalities *members) {
    result both;
    status s = core_cardinality(w, *b, &members->before);
    if (s == OK) s = core_unite(w, *b, more, ALL_KEYS, &both);
    if (s != OK) return s;
    bitmap_free(*b);
    *b = both.b;
    members->after = both.members;
    return OK;
}

status core_merge(worker *w, bitmap **b, const bitmap *more, cardinalities *members) {
    uint32_t rebuilds = 1;
    status s = make_changeable(b);
    if (s == OK && root_of(*b)) return merge_segments(w, b, more, members);
    if (s == OK && !root_of(more)) s = merge_in_place(w, b, more, members, &rebuilds);
    return s == OK && rebuilds ? merge_anew(w, b, more, members) : s;
}

static void change_all_of(worker *w, stretching *c) {
    c->members->before = members_held(w);
    c->rebuilds = w->core.changeRange(w, c->of->change, c->of->low, c->of->high, c->in_place) != 0;
    c->members->after = members_held(w);
}

static status change_here(worker *w, bitmap **b, void *how) {
    stretching *c = how;
    frame f = writing(w, *b);
    w->current.offset = c->of->high;
    return wrote_whole(w, CHANGING_IN(w, &f, change_all_of(w, c)), b);
}

/* The same in segment i of *b. */
static status change_segment(worker *w, bitmap **b, uint32_t i, stretching *c) {
    const root *r = root_of(*b);
    const cardinality others = root_members(r, r->count) - r->of[i].members;
    status s = in_segment(w, b, i, change_here, c);
    c->members->before += others;
    c->members->after += others;
    return s;
}

/* If there is too little memory for a second bitmap, the change may still be possible in place: setting and
 * clearing need hardly any. */
status core_change_range(worker *w, bitmap **b, const stretch *r, cardinalities *members) {
    stretching c = {.of = r, .members = members, .rebuilds = 1};
    status s = make_changeable(b);
    if (s != OK) return s;
    const root *large = root_of(*b);
    const uint32_t from = large ? root_seek(large, r->low) : 0, last = large ? root_seek(large, r->high) : 0;
    do {
        if (from == last) s = large ? change_segment(w, b, from, &c) : change_here(w, b, &c);
        if (s != OK || !c.rebuilds) return s;
        s = large ? rebuild_segments(w, b, from, last + 1, &c) : rebuild_range(w, b, r, &members->after);
        c.in_place = 1;
    } while (s == OUT_OF_MEMORY && from == last);
    return s;
}

#ifdef CORE_HAS_TRAP
status core_trap(worker *w, bitmap **b, int while_writing, uint32_t way) {
    frame f = while_writing ? writing(w, *b) : reading(w, *b);
    status s = IN_CORE(w, &f, w->core.trap(w, way));
    return while_writing ? wrote(w, s, b) : s;
}
#endif
