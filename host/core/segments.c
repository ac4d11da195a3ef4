/* segments.c -- writes to large bitmaps: each segment is changed as a bitmap of its own, and then divided or joined. */
#include <string.h>

#include "core/segments.h"
#include "core/reading.h"
#include "api/redismodule.h"

/* Divides or joins the segments from .. to - 1. If memory runs out, they stay. */
static void rearrange(worker *w, root **r, uint32_t from, uint32_t to) {
    result parts;
    bitmap *window = root_window(*r, from, to);
    if (window == NULL) return;
    status s = core_arrange(w, window, &parts);
    root_close_window(window);
    if (s == OK && !root_replace(r, from, to, parts.b, parts.members)) bitmap_free(parts.b);
}

/* Joins segment i and the next one if together they take less than half of the greatest size. */
static void join_if_small(worker *w, root **r, uint32_t i) {
    if (i + 1 >= (*r)->count) return;
    const uint64_t bytes = bitmap_bytes((*r)->of[i].b) + bitmap_bytes((*r)->of[i + 1].b);
    if (bytes < segment_bytes / 2) rearrange(w, r, i, i + 2);
}

void wrote_segment(worker *w, bitmap **b, uint32_t i, uint64_t bytes, uint64_t members) {
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

status in_segment(worker *w, bitmap **b, uint32_t i, segment_change *make, void *how) {
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

/* Notes a member, and that there is one. */
static void note_member(void *context, const uint64_t *members, size_t count) {
    if (count) memcpy(context, (const uint64_t[]){*members, 1}, 2 * sizeof *members);
}

/* Builds the union of each segment with its part of `more`, and puts those that differ in `unions`, one for each
 * segment. Adds the segments that the bitmap will have in addition to *added. */
static status unite_segments(worker *w, const root *r, const bitmap *more, result *unions, uint32_t *added) {
    status s = OK;
    for (uint64_t from = 0, next = 1; s == OK && next; from = next) {
        uint64_t least[] = {0, 0};
        if ((s = core_members(w, more, from, 1, note_member, least)) != OK || !least[1]) break;
        const uint32_t i = root_seek(r, least[0]);
        next = i + 1 < r->count ? r->of[i + 1].first : 0;
        const key_range keys = {i > 0 ? r->of[i].first >> 16 : 0, (next - 1) >> 16};
        s = core_unite(w, r->of[i].b, more, keys, &unions[i]);
        if (s == OK && unions[i].members == r->of[i].members) {
            bitmap_free(unions[i].b);
            unions[i].b = NULL;
        }
        if (s == OK && unions[i].b && root_of(unions[i].b)) *added += root_of(unions[i].b)->count - 1;
    }
    return s;
}

status merge_segments(worker *w, bitmap **b, const bitmap *more, cardinalities *members) {
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
        if (unions[i].b && s == OK) root_replace(&r, i, i + 1, unions[i].b, unions[i].members);
        else bitmap_free(unions[i].b);
    }
    RedisModule_Free(unions);
    *b = root_bitmap(r);
    members->after = root_members(r, r->count);
    return s;
}

status rebuild_segments(worker *w, bitmap **b, uint32_t from, uint32_t to, stretching *c) {
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
