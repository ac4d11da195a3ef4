#include "ranking.h"

#include "redismodule.h"

static cardinality lesser(cardinality a, cardinality b) { return a < b ? a : b; }

score score_of(enum measure by, cardinality shared, cardinality a, cardinality b) {
    if (by == BY_CARD) return (score){shared, 1};
    if (by == BY_JACCARD) return (score){shared, a + b - shared};
    return (score){shared, lesser(a, b)};
}

/* Only 1 has parts of more than 64 bits, so products have at most 128. */
int score_compare(score x, score y) {
    if (x.whole == y.whole) return (x.part > y.part) - (x.part < y.part);
    if (x.part == x.whole || y.part == y.whole) return (x.part == x.whole) - (y.part == y.whole);
    cardinality left = x.part * y.whole, right = y.part * x.whole;
    return (left > right) - (left < right);
}

/* Whether x comes before y in the result. */
static int precedes(const ranked *x, const ranked *y) {
    int order = score_compare(x->score, y->score);
    return order > 0 || (order == 0 && x->facet < y->facet);
}

/* The least number of shared members with which bitmaps of `a` and `b` members reach the score s, or with
 * `above` exceed it. 0 if the numbers are too large to tell. */
static cardinality least_shared(enum measure by, score s, int above, cardinality a, cardinality b) {
    if (by == BY_CARD) return s.part + (cardinality)above;
    if (s.part >> 62 || (a + b) >> 64) return 0;
    cardinality product = s.part * (by == BY_JACCARD ? a + b : lesser(a, b));
    cardinality whole = by == BY_JACCARD ? s.whole + s.part : s.whole;
    return product / whole + (above || product % whole > 0);
}

/* --- Heaps: the first element is the one that no other one goes ahead of ------------------------------- */

typedef int ahead(const ranked *x, const ranked *y);

static int follows(const ranked *x, const ranked *y) { return precedes(y, x); }

/* Moves element `at` down to where it belongs. */
static void sink(ranked *heap, uint32_t count, uint32_t at, ahead *goes) {
    const ranked moved = heap[at];
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && goes(&heap[child + 1], &heap[child])) child++;
        if (!goes(&heap[child], &moved)) break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

static void rise(ranked *heap, uint32_t at, ahead *goes) {
    const ranked moved = heap[at];
    for (; at > 0 && goes(&moved, &heap[(at - 1) / 2]); at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
    heap[at] = moved;
}

static void make_heap(ranked *heap, uint32_t count, ahead *goes) {
    for (uint32_t at = count / 2; at-- > 0;) sink(heap, count, at, goes);
}

/* Removes the first element. */
static ranked pop_heap(ranked *heap, uint32_t *count, ahead *goes) {
    const ranked first = heap[0];
    heap[0] = heap[--*count];
    if (*count) sink(heap, *count, 0, goes);
    return first;
}

/* --- Ranking ------------------------------------------------------------------------------------------- */

/* The facets with the greatest scores that their sizes allow; returns how many have a score at all. */
static uint32_t candidates(const ranking *r, ranked *heap) {
    uint32_t count = 0;
    for (uint32_t facet = 0; facet < r->facets; facet++) {
        const cardinality size = r->sizes[facet];
        const score most = score_of(r->by, lesser(r->of_one, size), r->of_one, size);
        if (most.whole) heap[count++] = (ranked){most, facet};
    }
    make_heap(heap, count, precedes);
    return count;
}

/* Whether the score counts at all. */
static int counts_at_all(const ranking *r, score s) {
    return (s.part > 0 || !r->above_zero) && score_compare(s, r->least) >= 0;
}

/* How many members facet `facet` must share to be among the greatest so far. */
static uint64_t needed(const ranking *r, uint32_t facet) {
    const cardinality size = r->sizes[facet];
    cardinality need = least_shared(r->by, r->least, 0, r->of_one, size);

    if (need == 0) need = (cardinality)r->above_zero;
    if (r->count == r->top) {
        const int above = facet > r->best[0].facet;
        const cardinality more = least_shared(r->by, r->best[0].score, above, r->of_one, size);
        if (more > need) need = more;
    }
    return need > UINT64_MAX ? UINT64_MAX : (uint64_t)need;
}

/* Adds one to the greatest so far, which are a heap whose first element is the least of them. */
static void keep(ranking *r, ranked one) {
    if (r->count < r->top) {
        r->best[r->count] = one;
        rise(r->best, r->count++, follows);
    } else if (precedes(&one, &r->best[0])) {
        r->best[0] = one;
        sink(r->best, r->count, 0, follows);
    }
}

/* Sorts the result, which is a heap whose first element is the least. */
static void sort_best(ranking *r) {
    for (uint32_t left = r->count; left > 1;) {
        const ranked least = pop_heap(r->best, &left, follows);
        r->best[left] = least;
    }
}

status rank_facets(ranking *r, share_counter *count, void *context) {
    r->count = 0;
    if (r->top == 0) return OK;
    ranked *heap = try_alloc((size_t)r->facets * sizeof *heap);
    if (heap == NULL) return OUT_OF_MEMORY;
    uint32_t left = candidates(r, heap);
    status done = OK;
    while (done == OK && left > 0) {
        const ranked most = pop_heap(heap, &left, precedes);
        if (!counts_at_all(r, most.score)) break;
        if (r->count == r->top && !precedes(&most, &r->best[0])) break;
        const uint64_t need = needed(r, most.facet);
        cardinality shared = 0;
        done = count(context, most.facet, need, &shared);
        if (done != OK || shared < need) continue;
        const score s = score_of(r->by, shared, r->of_one, r->sizes[most.facet]);
        if (counts_at_all(r, s)) keep(r, (ranked){s, most.facet});
    }
    RedisModule_Free(heap);
    sort_best(r);
    return done;
}
