/* values.c -- calls into the core for integers that ids have. */
#include "core/values.h"

#include "core/census.h"
#include "core/guard.h"
#include "api/redismodule.h"

#include <string.h>

/* --- Single ids --- */

static void set_value(worker *w, point_change *p) {
    p->done = w->core.setValue(w, p->offset, (uint64_t)p->value, p->rules);
    if (p->done == CHANGED_VALUE) p->value = (int64_t)w->members[0];
}

static void add_to_value(worker *w, point_change *p) {
    p->done = w->core.addToValue(w, p->offset, (uint64_t)p->value);
    if (p->done != DID_NOTHING) p->value = (int64_t)w->members[0];
}

static void remove_id(worker *w, point_change *p) {
    p->done = w->core.removeId(w, p->offset);
    if (p->done) p->value = (int64_t)w->members[0];
}

static void settle_id(worker *w, point_change *p) { w->core.settleId(w, p->offset); }

static status change(worker *w, bitmap **b, point_change p, int64_t *value, uint32_t *done) {
    status s = core_change_point(w, b, &p);
    *value = p.value;
    *done = s == OK ? p.done : DID_NOTHING;
    return s;
}

status ints_set(worker *w, bitmap **b, uint64_t id, int64_t *value, uint32_t rules, uint32_t *done) {
    return change(w, b, (point_change){.offset = id, .make = set_value, .value = *value, .rules = rules},
                  value, done);
}

status ints_add(worker *w, bitmap **b, uint64_t id, int64_t *value, uint32_t *done) {
    return change(w, b, (point_change){.offset = id, .make = add_to_value, .value = *value}, value, done);
}

status ints_remove(worker *w, bitmap **b, uint64_t id, int64_t *value, uint32_t *done) {
    return change(w, b, (point_change){.offset = id, .make = remove_id}, value, done);
}

status ints_settle(worker *w, bitmap **b, uint64_t id) {
    int64_t value;
    uint32_t done;
    return change(w, b, (point_change){.offset = id, .make = settle_id}, &value, &done);
}

status ints_get(worker *w, const bitmap *b, uint64_t id, int64_t *value, uint32_t *found) {
    status s = READING(w, b, *found = w->core.valueOf(w, id));
    *value = (int64_t)w->members[0];
    return s;
}

status ints_list(worker *w, const bitmap *b, uint64_t from, uint64_t limit, member_sink *sink,
                 void *context) {
    frame f = reading(w, b);
    w->current.sink = sink;
    w->current.context = context;
    status s = IN_CORE(w, &f, w->core.valuesFrom(w, from, limit));
    w->current.sink = NULL;
    if (s == OK && w->core.collected(w)) sink(context, w->members, w->core.collected(w));
    return s;
}

/* --- Passes over all values --- */

/* A pass, with what it takes and gives. */
typedef struct pass {
    const bitmap *ids;
    bounds values;
    const ints_range *range;
    uint64_t id, number;
    uint32_t option, count;
} pass;

static status run(worker *w, const bitmap *b, const bitmap *ids, working x) {
    const span both[] = {span_of(b), span_of(ids ? ids : b)};
    x.shown = both;
    x.shown_count = ids ? 2 : 1;
    return core_work(w, &x, NULL);
}

static void count_them(worker *w, void *how) {
    pass *p = how;
    p->number = w->core.countValues(w, p->ids != NULL, (uint64_t)p->values.low, (uint64_t)p->values.high);
}

status ints_count(worker *w, const bitmap *b, const bitmap *ids, bounds values, uint64_t *count) {
    pass p = {.ids = ids, .values = values};
    status s = run(w, b, ids, (working){.call = count_them, .how = &p});
    *count = p.number;
    return s;
}

static void add_them_up(worker *w, void *how) {
    const pass *p = how;
    w->core.sumValues(w, p->ids != NULL, p->option);
}

static void keep_numbers(void *context, const uint64_t *numbers, size_t count) {
    memcpy(context, numbers, count * sizeof *numbers);
}

status ints_add_up(worker *w, const bitmap *b, const bitmap *ids, int whole, ints_sum *sum) {
    uint64_t numbers[5] = {0};
    pass p = {.ids = ids, .option = (uint32_t)whole};
    status s =
        run(w, b, ids, (working){.call = add_them_up, .how = &p, .sink = keep_numbers, .context = numbers});
    sum->count = numbers[0];
    sum->sum = (__int128)((unsigned __int128)numbers[2] << 64 | numbers[1]);
    sum->least = (int64_t)numbers[3];
    sum->greatest = (int64_t)numbers[4];
    return s;
}

static void rank_it(worker *w, void *how) {
    pass *p = how;
    p->number = w->core.rankOfValue(w, p->ids != NULL, p->id, (uint64_t)p->values.low, p->option);
}

status ints_rank(worker *w, const bitmap *b, const bitmap *ids, uint64_t id, int64_t value, int reverse,
                 uint64_t *rank) {
    pass p = {.ids = ids, .id = id, .values = {.low = value}, .option = (uint32_t)reverse};
    status s = run(w, b, ids, (working){.call = rank_it, .how = &p});
    *rank = p.number;
    return s;
}

static void range_them(worker *w, void *how) {
    const pass *p = how;
    const ints_range *r = p->range;
    const uint32_t options = (p->ids != NULL) | r->reverse << 1 | r->with_values << 2;
    w->core.rangeOfValues(w, options, (uint64_t)r->values.low, (uint64_t)r->values.high, (uint64_t)r->start,
                          (uint64_t)r->stop);
}

status ints_ranked(worker *w, const bitmap *b, const bitmap *ids, const ints_range *r, member_sink *sink,
                   void *context) {
    pass p = {.ids = ids, .range = r};
    return run(w, b, ids, (working){.call = range_them, .how = &p, .sink = sink, .context = context});
}

static void values_at(worker *w, void *how) {
    const pass *p = how;
    w->core.valuesOfRanks(w, p->ids != NULL, p->count);
}

/* The core reads a rank before it replies its value, in batches of which each overwrites ranks that were read. */
static void keep_in_place(void *context, const uint64_t *numbers, size_t count) {
    uint64_t **at = context;
    memcpy(*at, numbers, count * sizeof *numbers);
    *at += count;
}

status ints_at_ranks(worker *w, const bitmap *b, const bitmap *ids, uint64_t *ranks, uint32_t count) {
    uint64_t *at = ranks;
    pass p = {.ids = ids, .count = count};
    return run(w, b, ids,
               (working){.arguments = ranks,
                         .argument_count = count,
                         .call = values_at,
                         .how = &p,
                         .sink = keep_in_place,
                         .context = &at});
}

static void count_from_edges(worker *w, void *how) {
    pass *p = how;
    p->number = w->core.countEdges(w, p->ids != NULL, p->count);
}

status ints_edges(worker *w, const bitmap *b, const bitmap *ids, uint64_t *edges, uint32_t count,
                  uint64_t *all) {
    pass p = {.ids = ids, .count = count};
    status s =
        run(w, b, ids,
            (working){.arguments = edges, .argument_count = count, .call = count_from_edges, .how = &p});
    *all = p.number;
    return s;
}

static void list_distinct(worker *w, void *how) {
    const pass *p = how;
    w->core.distinctValues(w, p->ids != NULL);
}

status ints_distinct(worker *w, const bitmap *b, const bitmap *ids, member_sink *sink, void *context) {
    pass p = {.ids = ids};
    return run(w, b, ids, (working){.call = list_distinct, .how = &p, .sink = sink, .context = context});
}

/* --- Values of several keys --- */

typedef struct merging {
    uint32_t sources, overflows;
    enum aggregate how;
} merging;

static void merge_all(worker *w, void *how) {
    merging *m = how;
    m->overflows = w->core.mergeValues(w, m->sources, m->how);
}

/* The core replies old values, which nobody needs. */
static void ignore(void *context, const uint64_t *numbers, size_t count) {
    (void)context, (void)numbers, (void)count;
}

status ints_merge(worker *w, const operands *sources, enum aggregate how, bitmap **b, uint32_t *overflows) {
    merging m = {.sources = sources->count, .how = how};
    const working x = {.shown = sources->list,
                       .shown_count = sources->count,
                       .call = merge_all,
                       .how = &m,
                       .sink = ignore,
                       .failed = &m.overflows};
    status s = core_work(w, &x, b);
    *overflows = m.overflows;
    return s;
}

/* --- Comparisons in expressions --- */

static void list_comparisons(worker *w, void *how) {
    (void)how;
    w->core.comparisons(w);
}

status core_comparisons(worker *w, const query *q, member_sink *sink, void *context) {
    const working x = {
        .shown = &q->tree, .shown_count = 1, .call = list_comparisons, .sink = sink, .context = context};
    return core_work(w, &x, NULL);
}

typedef struct comparing {
    const comparison *how;
    uint64_t greatest;
    uint32_t failed;
} comparing;

static void compare(worker *w, void *context) {
    const comparing *x = context;
    const comparison *how = x->how;
    if (how->other) w->core.idsOfBoth(w, (uint32_t)how->how, x->greatest);
    else w->core.idsOfValues(w, (uint64_t)how->low, (uint64_t)how->high, (uint32_t)how->how, x->greatest);
}

status core_compare(worker *w, const comparison *how, span a, const span *b, uint64_t greatest,
                    bitmap **ids) {
    comparing c = {.how = how, .greatest = greatest};
    const span both[] = {a, b ? *b : a};
    const working x = {.shown = both, .shown_count = 2, .call = compare, .how = &c, .failed = &c.failed};
    return core_work(w, &x, ids);
}

/* --- Payloads --- */

static void measure(worker *w, void *how) { *(uint64_t *)how = w->core.valuesBytes(w); }
static void write_payload(worker *w, void *how) { w->core.writeValues(w, *(uint64_t *)how); }

status ints_serialize(worker *w, const bitmap *b, char **payload, size_t *length) {
    uint64_t bytes = 0, count;
    cardinality all = 0;
    status s = core_cardinality(w, b, &all);
    if (s == OK) s = run(w, b, NULL, (working){.call = measure, .how = &bytes});
    if (s != OK) return s;
    *payload = try_alloc(bytes);
    if (*payload == NULL) return OUT_OF_MEMORY;
    *length = bytes;
    count = (uint64_t)all;
    s = run(
        w, b, NULL,
        (working){.call = write_payload, .how = &count, .output = (uint8_t *)*payload, .output_size = bytes});
    if (s != OK) RedisModule_Free(*payload);
    return s;
}

typedef struct reading_payload {
    uint64_t length;
    uint32_t fault;
} reading_payload;

static void read_payload(worker *w, void *how) {
    reading_payload *p = how;
    p->fault = w->core.readValues(w, p->length);
}

status ints_deserialize(worker *w, const char *payload, size_t length, bitmap **b, const char **fault) {
    reading_payload p = {.length = length};
    const span shown = {.base = (uint8_t *)payload,
                        .size = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX};
    const working x = {
        .shown = &shown, .shown_count = 1, .call = read_payload, .how = &p, .failed = &p.fault};
    status s = core_work(w, &x, b);
    *fault = s != OK || p.fault == FAULT_NONE ? NULL : fault_text(p.fault);
    if (*fault) count_refused();
    return s;
}
