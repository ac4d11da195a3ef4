#include "core/packing.h"

#include "core/change.h"
#include "api/redismodule.h"

/* Segments that are packed together. */
#define TOGETHER 4

/* A copy of the segments from .. to - 1. */
typedef struct part {
    uint32_t from, to;
    uint32_t at; /* where the segments are now */
    int changed; /* they are no longer what was packed */
    result packed;
} part;

struct packing {
    const bitmap *source;
    uint32_t count;
    part parts[];
};

void packing_free(packing *p) {
    for (uint32_t i = 0; p && i < p->count; i++) bitmap_free(p->parts[i].packed.b);
    RedisModule_Free(p);
}

/* Joins two packed bitmaps of one arena each; frees them if it succeeds. */
static status join(worker *w, const root *of, part *a, const part *b) {
    result both;
    root *r = root_make(2);
    if (r == NULL) return OUT_OF_MEMORY;
    r->of[0] = (segment){of->of[a->from].first, (uint64_t)a->packed.members, a->packed.b, 0};
    r->of[1] = (segment){of->of[b->from].first, (uint64_t)b->packed.members, b->packed.b, 0};
    r->count = 2;
    status s = core_pack(w, root_bitmap(r), &both);
    root_close_window(root_bitmap(r));
    if (s != OK) return s;
    bitmap_free(a->packed.b);
    bitmap_free(b->packed.b);
    a->packed = both;
    a->to = b->to;
    return OK;
}

static int is_small(const part *a, const part *b) {
    return !root_of(a->packed.b) && !root_of(b->packed.b)
        && bitmap_bytes(a->packed.b) + bitmap_bytes(b->packed.b) < segment_bytes / 2;
}

static status pack_part(worker *w, packing *p, const root *r, uint32_t from, uint32_t to) {
    part *next = &p->parts[p->count];
    bitmap *window = root_window(r, from, to);
    if (window == NULL) return OUT_OF_MEMORY;
    *next = (part){.from = from, .to = to};
    status s = core_pack(w, window, &next->packed);
    root_close_window(window);
    if (s != OK) return s;
    if (p->count++ == 0 || !is_small(next - 1, next)) return OK;
    s = join(w, r, next - 1, next);
    if (s == OK) p->count--;
    return s;
}

static status pack_parts(worker *w, packing *p, const root *r) {
    status s = OK;
    for (uint32_t from = 0, to; s == OK && from < r->count; from = to) {
        to = r->count - from > TOGETHER ? from + TOGETHER : r->count;
        s = pack_part(w, p, r, from, to);
    }
    return s;
}

status packing_make(worker *w, const bitmap *b, packing **made) {
    const root *r = root_of(b);
    const uint32_t parts = r ? (r->count + TOGETHER - 1) / TOGETHER : 1;
    packing *p = *made = try_alloc(sizeof *p + parts * sizeof *p->parts);
    if (p == NULL) return OUT_OF_MEMORY;
    p->source = b;
    p->count = 0;
    status s = OK;
    if (r) s = pack_parts(w, p, r);
    else if ((s = core_pack(w, b, &p->parts->packed)) == OK) p->count = 1;
    if (s != OK) packing_free(p);
    return s;
}

/* Finds where the segments of a part are now, if they are still the same blocks. */
static void find(part *p, const root *source, const root *now) {
    p->at = root_seek(now, source->of[p->from].first);
    p->changed = p->at + (p->to - p->from) > now->count;
    for (uint32_t i = p->from; !p->changed && i < p->to; i++)
        p->changed = now->of[p->at + i - p->from].b != source->of[i].b;
}

/* From the last part on, so that the others stay where they are. */
static status put_parts(packing *p, bitmap **b) {
    for (uint32_t i = 0; i < p->count; i++) find(&p->parts[i], root_of(p->source), root_of(*b));
    status s = make_changeable(b);
    root *r = root_of(*b);
    for (uint32_t i = p->count; s == OK && i-- > 0;) {
        part *of = &p->parts[i];
        if (of->changed) continue;
        if (root_replace(&r, of->at, of->at + of->to - of->from, of->packed.b, of->packed.members))
            of->packed.b = NULL;
        else s = OUT_OF_MEMORY;
    }
    if (r) *b = root_simplified(r);
    return s;
}

status packing_put(packing *p, bitmap **b) {
    status s = OK;
    if (root_of(p->source) && root_of(*b)) s = put_parts(p, b);
    else if (*b == p->source && bitmap_bytes(p->parts[0].packed.b) <= bitmap_bytes(*b)) {
        bitmap_free(*b);
        *b = p->parts[0].packed.b;
        p->parts[0].packed.b = NULL;
    }
    packing_free(p);
    return s;
}
