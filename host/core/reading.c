/* reading.c -- calls that read memory 0, the bitmap. */
#include <string.h>

#include "core/guard.h"
#include "core/reading.h"
#include "api/redismodule.h"

status core_get(worker *w, const bitmap *b, uint64_t offset, uint32_t *bit) {
    return READING(w, b, *bit = w->core.get(w, offset));
}

status core_get_all(worker *w, const bitmap *b, uint64_t *offsets, uint32_t count) {
    frame f = reading(w, b);
    f.arguments = offsets;
    f.argument_count = count;
    return IN_CORE(w, &f, w->core.getAll(w, 0, count));
}

/* The core counts modulo 2^64, so 0 means no offset or all of them; `any` says which. */
static cardinality counted(uint64_t members, uint32_t any) { return members || !any ? members : TWO_TO_64; }

status core_cardinality(worker *w, const bitmap *b, cardinality *members) {
    return READING(w, b, *members = members_held(w));
}

/* Calls core.minimum or core.maximum unless memory 0 is empty. */
static uint32_t find(worker *w, uint64_t (*member_of)(worker *w), uint64_t *member) {
    if (w->core.isEmpty(w)) return 0;
    *member = member_of(w);
    return 1;
}

status core_minimum(worker *w, const bitmap *b, uint32_t *found, uint64_t *member) {
    return READING(w, b, *found = find(w, w->core.minimum, member));
}

status core_maximum(worker *w, const bitmap *b, uint32_t *found, uint64_t *member) {
    return READING(w, b, *found = find(w, w->core.maximum, member));
}

status core_count_between(worker *w, const bitmap *b, uint64_t low, uint64_t high, cardinality *members) {
    return READING(
        w, b, *members = low > high ? 0 : counted(w->core.countRange(w, low, high), w->core.get(w, low)));
}

status core_select(worker *w, const bitmap *b, uint64_t rank, uint64_t *member) {
    return READING(w, b, *member = w->core.select(w, rank));
}

status core_count_range(worker *w, const bitmap *b, const range *r, cardinality *members) {
    uint64_t found = 0;
    status s = READING(w, b, found = w->core.countIndexed(w, (uint64_t)r->start, (uint64_t)r->end, r->unit));
    *members = counted(found, found == 0 && w->members[0]);
    return s;
}

status core_position(worker *w, const bitmap *b, uint32_t bit, const range *r, uint32_t *found,
                     uint64_t *position) {
    status s = READING(
        w, b, *found = w->core.position(w, bit, (uint64_t)r->start, (uint64_t)r->end, r->unit, r->given));
    *position = w->members[0];
    return s;
}

static void begin_listing(worker *w, member_sink *sink, void *context) {
    w->current.sink = sink;
    w->current.context = context;
}

/* Passes on the members that are left after a call whose status was s. */
static status end_listing(worker *w, status s) {
    member_sink *sink = w->current.sink;
    w->current.sink = NULL;
    if (s == OK && w->core.collected(w)) sink(w->current.context, w->members, w->core.collected(w));
    return s;
}

status core_members(worker *w, const bitmap *b, uint64_t from, uint64_t limit, member_sink *sink,
                    void *context) {
    frame f = reading(w, b);
    begin_listing(w, sink, context);
    return end_listing(w, IN_CORE(w, &f, w->core.membersFrom(w, from, limit)));
}

status core_runs(worker *w, const bitmap *b, uint64_t low, uint64_t high, uint64_t limit, member_sink *sink,
                 void *context) {
    frame f = reading(w, b);
    begin_listing(w, sink, context);
    return end_listing(w, IN_CORE(w, &f, w->core.runsBetween(w, low, high, limit)));
}

status core_count_runs(worker *w, const bitmap *b, uint64_t low, uint64_t high, uint64_t limit,
                       uint64_t *runs) {
    return READING(w, b, *runs = w->core.countRuns(w, low, high, limit));
}

status core_select_all(worker *w, const bitmap *b, uint64_t *ranks, uint32_t count, member_sink *sink,
                       void *context) {
    frame f = reading(w, b);
    f.arguments = ranks;
    f.argument_count = count;
    begin_listing(w, sink, context);
    return end_listing(w, IN_CORE(w, &f, w->core.selectAll(w, count)));
}

status core_get_field(worker *w, const bitmap *b, const field *at, int64_t *value) {
    return READING(w, b, *value = (int64_t)w->core.field(w, at->offset, at->width, at->is_signed));
}

status core_statistics(worker *w, const bitmap *b, statistics of[CONTAINER_KINDS]) {
    status s = READING(w, b, w->core.statistics(w));
    memcpy(of, w->members, CONTAINER_KINDS * sizeof *of);
    return s;
}

/* What is wrong with the arena that is memory 0, which a segment may be. */
static uint32_t find_fault(worker *w, const root *r, uint32_t i) {
    const uint32_t fault = w->core.validate(w);
    if (fault != FAULT_NONE || r == NULL) return fault;
    if (w->core.isEmpty(w) || w->core.cardinality(w) != r->of[i].members) return FAULT_TOTAL_CARDINALITY;
    const int in_order = (i == 0 || w->core.start(w) >= r->of[i].first)
                      && (i + 1 == r->count || w->core.maximum(w) < r->of[i + 1].first);
    return in_order ? FAULT_NONE : FAULT_KEYS_NOT_ASCENDING;
}

/* A function of its own, so that _longjmp leaves the variables of its caller alone. */
static status validate_in(worker *w, const bitmap *arena, const root *r, uint32_t i, uint32_t *number) {
    return READING(w, arena, *number = find_fault(w, r, i));
}

status core_validate(worker *w, const bitmap *b, const char **fault) {
    const root *r = root_of(b);
    uint32_t number = FAULT_NONE, i = 0;
    status s = OK;
    do s = validate_in(w, r ? r->of[i].b : b, r, i, &number);
    while (s == OK && number == FAULT_NONE && r && ++i < r->count);
    *fault = s != OK || number == FAULT_NONE ? NULL : fault_text(number);
    return s;
}

status core_serialized_bytes(worker *w, const bitmap *b, uint32_t format, uint64_t *bytes) {
    return READING(w, b, *bytes = w->core.serializedBytes(w, format));
}

status core_serialize_to(worker *w, const bitmap *b, uint32_t format, char *payload, size_t length) {
    frame f = reading(w, b);
    f.output = (uint8_t *)payload;
    f.output_size = length;
    return IN_CORE(w, &f, w->core.serialize(w, format));
}

status core_serialize(worker *w, const bitmap *b, uint32_t format, char **payload, size_t *length) {
    uint64_t bytes;
    status s = core_serialized_bytes(w, b, format, &bytes);
    if (s != OK) return s;
    *payload = try_alloc(bytes);
    if (*payload == NULL) return OUT_OF_MEMORY;
    *length = bytes;
    s = core_serialize_to(w, b, format, *payload, *length);
    if (s != OK) RedisModule_Free(*payload);
    return s;
}
