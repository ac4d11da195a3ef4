/* writing.c -- calls that change memory 0, the bitmap. */
#include <string.h>

#include "core/census.h"
#include "core/guard.h"
#include "core/writing.h"
#include "api/redismodule.h"

/* Choices of the host, not facts of the core. */

/* Lists of this many offsets are sorted before they are added or removed. */
#define SORTED_FROM 64

/* Offsets per call. Between calls, a bitmap with too many free blocks is rewritten. */
#define CHANGES 1024

/* --- Before a change ----------------------------------------------------------------------------------- */

/* Makes a bitmap that queries on threads still read a copy, or one that has the same members as another key. */
static status make_changeable(bitmap **b) {
    return !bitmap_is_shared(*b) || bitmap_separate(b) ? OK : OUT_OF_MEMORY;
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

/* Ends a call that wrote to *b, which is one arena: updates *b if the block moved, rewrites it if it has too many free
 * blocks or is so large that it becomes a bitmap with segments, or gives back the part of the block that is not needed, and marks it as damaged after a trap. */
static status wrote(worker *w, status s, bitmap **b) {
    *b = w->current.growable;
    if (s != OK || w->current.wasteful || (is_oversize(*b) && !w->in_segment)) return rewritten_or_marked(w, s, b);
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

/* --- Segments: a write changes them one after the other, as bitmaps of their own --- */

/* Neighbors that together take less than this part of the greatest size are joined. */
#define JOINED_PARTS 2

/* Divides or joins the segments from .. to - 1. If memory runs out, they stay. */
static void rearrange(worker *w, root **r, uint32_t from, uint32_t to) {
    result parts;
    bitmap *window = root_window(*r, from, to);
    if (window == NULL) return;
    status s = core_arrange(w, window, &parts);
    root_close_window(window);
    if (s == OK && !root_replace(r, from, to, parts.b, parts.members)) bitmap_free(parts.b);
}

static void join_if_small(worker *w, root **r, uint32_t i) {
    if (i + 1 >= (*r)->count) return;
    const uint64_t bytes = bitmap_bytes((*r)->of[i].b) + bitmap_bytes((*r)->of[i + 1].b);
    if (bytes < segment_bytes / JOINED_PARTS) rearrange(w, r, i, i + 2);
}

/* Ends a write to segment i of *b, which took `bytes` bytes before and now has `members` members. */
static void wrote_segment(worker *w, bitmap **b, uint32_t i, uint64_t bytes, uint64_t members) {
    root *r = root_of(*b);
    segment *at = &r->of[i];
    const int smaller = members < at->members;
    r->bytes += bitmap_bytes(at->b) - bytes;
    at->members = members;
    if (is_damaged(at->b)) r->damaged = 1;
    if (r->damaged) return;
    if (members == 0) root_replace(&r, i, i + 1, NULL, 0);
    else if (is_oversize(at->b)) rearrange(w, &r, i, i + 1);
    else if (smaller) {
        join_if_small(w, &r, i);
        if (i > 0) join_if_small(w, &r, i - 1);
    }
    *b = root_simplified(r);
}

typedef status change(worker *w, bitmap **b, void *how);

/* Changes segment i of *b. */
static status in_segment(worker *w, bitmap **b, uint32_t i, change *make, void *how) {
    root *r = root_of(*b);
    cardinality members = 0;
    if (!root_own(r, i)) return OUT_OF_MEMORY;
    const uint64_t bytes = bitmap_bytes(r->of[i].b);
    w->in_segment = 1;
    status s = make(w, &r->of[i].b, how);
    w->in_segment = 0;
    if (s != TRAPPED && core_cardinality(w, r->of[i].b, &members) == TRAPPED) s = TRAPPED;
    wrote_segment(w, b, i, bytes, (uint64_t)members);
    return s;
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

/* --- Values of single ids: see values.c --- */

static status change_point_here(worker *w, bitmap **b, void *how) {
    point_change *p = how;
    w->current.offset = p->offset;
    return wrote_whole(w, CHANGING(w, *b, p->make(w, p)), b);
}

status core_change_point(worker *w, bitmap **b, point_change *p) {
    status s = make_changeable(b);
    if (s != OK) return s;
    const root *r = root_of(*b);
    return r ? in_segment(w, b, root_seek(r, p->offset), change_point_here, p) : change_point_here(w, b, p);
}

/* --- Lists of offsets --- */

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
static status for_each(worker *w, bitmap **b, const list *l, void (*call)(worker *w, uint32_t first, uint32_t count)) {
    frame f = setting(w, *b, l->offsets, l->count);
    return CHANGING_IN(w, &f, call(w, 0, f.argument_count));
}

static status settle(worker *w, bitmap **b, void *l) { return wrote(w, for_each(w, b, l, w->core.settle), b); }

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
static status by_segment(worker *w, bitmap **b, list *l, change *make) {
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

static status change_if_needed(worker *w, bitmap **b, list *l) {
    int changes = 1;
    status s = OK;
    if (bitmap_is_shared(*b)) s = list_changes(w, *b, l->offsets, l->count, l->bit, &changes);
    if (s == OK && changes) s = make_changeable(b);
    return s == OK && changes ? change_grouped(w, b, l) : s;
}

status core_set_all(worker *w, bitmap **b, uint64_t *offsets, uint32_t count, uint64_t *changed) {
    list l = {.offsets = offsets, .count = count, .bit = 1};
    status s = change_if_needed(w, b, &l);
    *changed = l.changed;
    if (s != OUT_OF_MEMORY) return s;
    list added = changed_of(&l);
    return by_segment(w, b, &added, undo_additions) == OK ? OUT_OF_MEMORY : TRAPPED;
}

status core_clear_all(worker *w, bitmap **b, uint64_t *offsets, uint32_t count, uint64_t *changed) {
    list l = {.offsets = offsets, .count = count};
    status s = change_if_needed(w, b, &l);
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

static status merge_in_place(worker *w, bitmap **b, const bitmap *more, cardinalities *members, uint32_t *rebuilds) {
    const span operand = span_of(more);
    frame f = writing(w, *b);
    f.operands = &operand;
    f.operand_count = 1;
    return wrote_whole(w, CHANGING_IN(w, &f, *rebuilds = merge(w, members)), b);
}

/* Sets both numbers of members of a bitmap that stays as it is. */
static status stay(worker *w, const bitmap *b, cardinalities *members) {
    status s = core_cardinality(w, b, &members->before);
    members->after = members->before;
    return s;
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

/* The least member from an offset on. */
typedef struct found {
    uint64_t member;
    int any;
} found;

static void note_member(void *context, const uint64_t *members, size_t count) {
    if (count) *(found *)context = (found){*members, 1};
}

/* Builds the union of each segment with its part of `more`, and puts those that differ in `unions`, one for each
 * segment. Adds the segments that the bitmap will have in addition to *added. */
static status unite_segments(worker *w, const root *r, const bitmap *more, result *unions, uint32_t *added) {
    status s = OK;
    for (uint64_t from = 0, next; s == OK; from = next) {
        found least = {.any = 0};
        if ((s = core_members(w, more, from, 1, note_member, &least)) != OK || !least.any) break;
        const uint32_t i = root_seek(r, least.member);
        next = i + 1 < r->count ? r->of[i + 1].first : 0;
        const key_range keys = {i > 0 ? r->of[i].first >> 16 : 0, (next - 1) >> 16};
        s = core_unite(w, r->of[i].b, more, keys, &unions[i]);
        if (s == OK && unions[i].members == r->of[i].members) {
            bitmap_free(unions[i].b);
            unions[i].b = NULL;
        }
        if (s == OK && unions[i].b && root_of(unions[i].b)) *added += root_of(unions[i].b)->count - 1;
        if (next == 0) break;
    }
    return s;
}

/* Builds what changes aside, so that all members are added or none. */
static status merge_segments(worker *w, bitmap **b, const bitmap *more, cardinalities *members) {
    root *r = root_of(*b);
    const uint32_t count = r->count;
    uint32_t added = 0;
    members->before = root_members(r, count);
    result *unions = try_alloc(count * sizeof *unions);
    if (unions == NULL) return OUT_OF_MEMORY;
    memset(unions, 0, count * sizeof *unions);
    status s = unite_segments(w, r, more, unions, &added);
    if (s == OK && !root_extend(&r, added)) s = OUT_OF_MEMORY;
    for (uint32_t i = count; i-- > 0;) {
        if (unions[i].b == NULL) continue;
        if (s == OK) root_replace(&r, i, i + 1, unions[i].b, unions[i].members);
        else bitmap_free(unions[i].b);
    }
    RedisModule_Free(unions);
    *b = root_bitmap(r);
    members->after = root_members(r, r->count);
    return s;
}

status core_merge(worker *w, bitmap **b, const bitmap *more, cardinalities *members) {
    uint32_t has_all = 0, rebuilds = 1;
    status s = bitmap_is_shared(*b) ? core_is_subset(w, more, *b, &has_all) : OK;
    if (s == OK && has_all) return stay(w, *b, members);
    if (s == OK) s = make_changeable(b);
    if (s == OK && root_of(*b)) return merge_segments(w, b, more, members);
    if (s == OK && !root_of(more)) s = merge_in_place(w, b, more, members, &rebuilds);
    return s == OK && rebuilds ? merge_anew(w, b, more, members) : s;
}

/* A stretch to change, and the members before and after. */
typedef struct stretching {
    const stretch *of;
    cardinalities *members;
    uint32_t in_place; /* whether it must be changed in place */
    uint32_t rebuilds; /* set: it was not, because building a new bitmap is quicker */
} stretching;

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

/* Builds the segments from .. to - 1 anew, aside. */
static status rebuild_segments(worker *w, bitmap **b, uint32_t from, uint32_t to, stretching *c) {
    result changed;
    root *r = root_of(*b);
    bitmap *window = root_window(r, from, to);
    if (window == NULL) return OUT_OF_MEMORY;
    status s = core_changed(w, window, c->of, &changed);
    const cardinality before = root_members(root_of(window), to - from);
    root_close_window(window);
    if (s == OK && !root_replace(&r, from, to, changed.b, changed.members)) {
        bitmap_free(changed.b);
        s = OUT_OF_MEMORY;
    }
    *b = root_simplified(r);
    if (s != OK) return s;
    status counted = core_cardinality(w, *b, &c->members->after);
    c->members->before = c->members->after - changed.members + before;
    return counted;
}

/* If there is too little memory for a second bitmap, the change may still be possible in place: setting and
 * clearing need hardly any. */
status core_change_range(worker *w, bitmap **b, const stretch *r, cardinalities *members) {
    int changes = 1;
    stretching c = {.of = r, .members = members, .rebuilds = 1};
    status s = bitmap_is_shared(*b) ? range_changes(w, *b, r, &changes) : OK;
    if (s == OK && !changes) return stay(w, *b, members);
    if (s == OK) s = make_changeable(b);
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

/* Collects the old and the new value. */
static uint32_t write_field(worker *w, const field *at, const field_step *step) {
    uint32_t (*write)(worker *, uint64_t, uint32_t, uint32_t, uint64_t, uint32_t) =
        step->action == FIELD_SET ? w->core.setField : w->core.addToField;
    return write(w, at->offset, at->width, at->is_signed, (uint64_t)step->value, step->overflow);
}

status core_write_field(worker *w, bitmap **b, field_step *step) {
    const field *at = &step->at;
    outcome *o = &step->outcome;
    status s = root_of(*b) ? core_change_fields(w, b, step, 1, &o->changed) : make_changeable(b);
    if (s != OK || root_of(*b)) return s;
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

/* Words that a plan changes: values of its slots. */
typedef struct words {
    uint64_t *values;
    uint32_t count;
} words;

static status change_words(worker *w, bitmap **b, void *how) {
    const words *l = how;
    const uint32_t to = l->count * PLAN_VALUES;
    frame f = setting(w, *b, l->values, to);
    status s = wrote(w, CHANGING_IN(w, &f, w->core.changeWords(w, 0, to)), b);
    if (s != OUT_OF_MEMORY) return s;
    f = setting(w, *b, l->values, to);
    return undone(w, CHANGING_IN(w, &f, w->core.takeBackWords(w, 0, to)), b);
}

static status take_back_words(worker *w, bitmap **b, void *how) {
    const words *l = how;
    const uint32_t to = l->count * PLAN_VALUES;
    frame f = setting(w, *b, l->values, to);
    return wrote(w, CHANGING_IN(w, &f, w->core.takeBackWords(w, 0, to)), b);
}

/* A word is in one segment. */
static status in_segment_of_word(worker *w, bitmap **b, words *word, change *make) {
    const root *r = root_of(*b);
    return r ? in_segment(w, b, root_seek(r, (word->values[0] - 1) << 6), make, word) : make(w, b, word);
}

/* Changes the `changed` words that the plan lists behind the steps. */
static status change_all_words(worker *w, bitmap **b, const plan *p, uint32_t changed) {
    words all = {p->values + p->steps * PLAN_VALUES, changed}, word = {all.values, 1};
    status s = OK;
    if (root_of(*b) == NULL) return change_words(w, b, &all);
    for (; s == OK && word.values < all.values + changed * PLAN_VALUES; word.values += PLAN_VALUES) {
        s = in_segment_of_word(w, b, &word, change_words);
    }
    if (s != OUT_OF_MEMORY) return s;
    for (word.values -= PLAN_VALUES; word.values > all.values;) {
        word.values -= PLAN_VALUES;
        if (in_segment_of_word(w, b, &word, take_back_words) == TRAPPED) return TRAPPED;
    }
    return s;
}

static status change_planned(worker *w, bitmap **b, const plan *p, field_step *steps, uint32_t *changed) {
    lay_steps(p, steps);
    frame f = setting(w, *b, p->values, p->steps * PLAN_VALUES + (PLAN_VALUES << p->slot_bits));
    w->current.growable = NULL;
    status s = IN_CORE(w, &f, *changed = w->core.planFields(w, p->steps, p->slot_bits, secret()));
    if (s != OK) return s;
    take_outcomes(p, steps);
    if (*changed) s = make_changeable(b);
    return *changed && s == OK ? change_all_words(w, b, p, *changed) : s;
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

#ifdef CORE_HAS_TRAP
status core_trap(worker *w, bitmap **b, int while_writing, uint32_t way) {
    frame f = while_writing ? writing(w, *b) : reading(w, *b);
    status s = IN_CORE(w, &f, w->core.trap(w, way));
    return while_writing ? wrote(w, s, b) : s;
}
#endif
