/* values.c -- calls into the core for integers that ids have. */
#include "core/values.h"

#include <string.h>

#include "core/guard.h"

status core_value(worker *w, const bitmap *b, uint64_t id, int64_t *value, uint32_t *found) {
    status s = READING(w, b, *found = w->core.valueOf(w, id));
    *value = (int64_t)w->members[0];
    return s;
}

/* --- Lists of numbers --- */

/* Ends a call that replied numbers. */
static status listed(worker *w, status s, numbers *n) {
    w->current.sink = NULL;
    if (s == OK && w->core.collected(w)) take_numbers(n, w->members, w->core.collected(w));
    return discard_built(w, s == OK && n->failed ? OUT_OF_MEMORY : s);
}

static int start_list(worker *w, frame *f, const span *shown, uint32_t count, numbers *n) {
    if (!start_building(w, f, shown, count)) return 0;
    w->current.sink = take_numbers;
    w->current.context = n;
    return 1;
}

/* --- Answers that add up over ranges of ids --- */

/* How many numbers such an answer has; 0 if the answers to the question are lists. */
static uint32_t numbers_added(const asked *a) {
    switch (a->what) {
    case ASK_COUNT: return 1;
    case ASK_RANK: return 2;
    case ASK_SUM: return 5;
    case ASK_EDGES: return a->count + 1;
    default: return 0;
    }
}

static void count_asked(worker *w, const counting *c, key_range keys, uint64_t *counted) {
    if (c->asked->count) memcpy(counted, c->asked->numbers, c->asked->count * sizeof *counted);
    w->core.countValues(w, c->asked->what, c->bitmaps > 1, c->asked->count, keys.first << 16,
                        keys.last << 16 | UINT16_MAX);
}

/* At segments of the values, which are about equally large. */
static status cut_at_segments(worker *w, const counting *c, uint32_t parts, uint64_t *cuts, uint32_t *count) {
    const root *r = c->operands->list->of;
    uint64_t last = 0;
    (void)w;
    for (uint32_t part = 1; r && part < parts; part++) {
        const uint64_t key = r->of[(uint64_t)r->count * part / parts].first >> 16;
        if (key > last) cuts[(*count)++] = last = key;
    }
    return OK;
}

static status add_up(worker *w, const asked *a, const bitmap *b, const bitmap *ids, uint32_t count,
                     numbers *reply) {
    operands o;
    operands_begin(&o);
    operands_add(&o, b);
    if (ids) operands_add(&o, ids);
    counting c = {
        .call = count_asked, .cut = cut_at_segments, .operands = &o, .bitmaps = o.count, .asked = a};
    c.numbers = count > a->count ? count : a->count;
    reply->list = try_alloc(c.numbers * sizeof *reply->list);
    reply->count = count;
    status s = reply->list ? count_all(w, &c, reply->list) : OUT_OF_MEMORY;
    operands_end(&o);
    return s;
}

status core_ask(worker *w, const asked *a, const bitmap *b, const bitmap *ids, numbers *reply,
                uint64_t *length) {
    frame f;
    const uint32_t added = numbers_added(a);
    if (added) return add_up(w, a, b, ids, added, reply);
    const span both[] = {span_of(b), span_of(ids ? ids : b)};
    if (!start_list(w, &f, both, ids ? 2 : 1, reply)) return OUT_OF_MEMORY;
    f.arguments = a->numbers;
    f.argument_count = a->count;
    return listed(w, IN_CORE(w, &f, *length = w->core.askValues(w, a->what, ids != NULL, a->count)), reply);
}

/* --- Comparisons in expressions --- */

status core_comparisons(worker *w, const query *q, numbers *reply) {
    frame f;
    if (!start_list(w, &f, q->operands.list, q->operands.count, reply)) return OUT_OF_MEMORY;
    return listed(w, IN_CORE(w, &f, w->core.comparisons(w, q->keys)), reply);
}

/* A function of its own, so that _longjmp leaves the variables of its caller alone. */
static status compare_in(worker *w, const frame *f, const comparison *how, int near, uint32_t *more) {
    return BUILDING_IN(w, f,
                       *more |= w->core.idsCompared(w, how->other != 0, (uint32_t)how->how, (uint32_t)near));
}

status core_compare(worker *w, const query *q, const comparisons *all, size_t i, bitmap **ids,
                    uint32_t *more) {
    frame f;
    const comparison *how = &all->list[i];
    const span *keys = q->operands.list;
    const span used[] = {keys[how->key - 1], keys[how->other ? how->other - 1 : 0],
                         keys[all->near ? all->near - 1 : 0]};
    uint64_t limits[] = {all->first < q->first ? q->first : all->first,
                         all->last > q->last ? q->last : all->last, (uint64_t)how->low, (uint64_t)how->high};
    if (!start_building(w, &f, used, 3)) return OUT_OF_MEMORY;
    f.arguments = limits;
    f.argument_count = 4;
    return built(w, compare_in(w, &f, how, all->near != 0, more), ids);
}

/* --- Values of several keys --- */

/* A function of its own, so that _longjmp leaves the variables of its caller alone. */
static status merge_in(worker *w, const frame *f, enum aggregate how, result *r, uint32_t *fault) {
    return COUNTING_IN(w, f, *fault = w->core.mergeValues(w, f->operand_count, how), r->members);
}

status core_merge_values(worker *w, const operands *sources, enum aggregate how, result *r, int *overflows) {
    frame f;
    uint32_t fault = FAULT_NONE;
    if (!start_building(w, &f, sources->list, sources->count)) return OUT_OF_MEMORY;
    status s = merge_in(w, &f, how, r, &fault);
    *overflows = s == OK && fault != FAULT_NONE;
    return *overflows ? discard_built(w, OK) : built(w, s, &r->b);
}

status core_remove_values(worker *w, bitmap **b, const bitmap *ids, int64_t low, int64_t high) {
    frame f;
    bitmap *rest;
    const span both[] = {span_of(*b), span_of(ids ? ids : *b)};
    if (!start_building(w, &f, both, ids ? 2 : 1)) return OUT_OF_MEMORY;
    status s = BUILDING_IN(w, &f, w->core.valuesWithout(w, ids != NULL, (uint64_t)low, (uint64_t)high));
    s = built(w, s, &rest);
    if (s == OK) {
        bitmap_free(*b);
        *b = rest;
    }
    return s;
}
