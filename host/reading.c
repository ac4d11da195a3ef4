/* reading.c -- calls that read memory 0, the bitmap. */
#include <string.h>

#include "guard.h"
#include "redismodule.h"

status core_get(const bitmap *b, uint64_t offset, uint32_t *bit) {
    return READING(b, *bit = core.get(offset));
}

status core_get_all(const bitmap *b, uint64_t *offsets, uint32_t count) {
    frame f = reading(b);
    f.arguments = offsets;
    f.argument_count = count;
    return IN_CORE(&f, core.getAll(0, count));
}

/* The core counts modulo 2^64, so 0 means no offset or all of them; `any` says which. */
static cardinality counted(uint64_t members, uint32_t any) { return members || !any ? members : TWO_TO_64; }

status core_cardinality(const bitmap *b, cardinality *members) {
    return READING(b, *members = members_held());
}

/* Calls core.minimum or core.maximum unless memory 0 is empty. */
static uint32_t find(uint64_t (*member_of)(void), uint64_t *member) {
    if (core.isEmpty()) return 0;
    *member = member_of();
    return 1;
}

status core_minimum(const bitmap *b, uint32_t *found, uint64_t *member) {
    return READING(b, *found = find(core.minimum, member));
}

status core_maximum(const bitmap *b, uint32_t *found, uint64_t *member) {
    return READING(b, *found = find(core.maximum, member));
}

status core_count_between(const bitmap *b, uint64_t low, uint64_t high, cardinality *members) {
    return READING(b, *members = low > high ? 0 : counted(core.countRange(low, high), core.get(low)));
}

status core_select(const bitmap *b, uint64_t rank, uint64_t *member) {
    return READING(b, *member = core.select(rank));
}

status core_count_range(const bitmap *b, const range *r, cardinality *members) {
    uint64_t found = 0;
    status s = READING(b, found = core.countIndexed((uint64_t)r->start, (uint64_t)r->end, r->unit));
    *members = counted(found, found == 0 && sandbox_members[0]);
    return s;
}

status core_position(const bitmap *b, uint32_t bit, const range *r, uint32_t *found, uint64_t *position) {
    status s =
        READING(b, *found = core.position(bit, (uint64_t)r->start, (uint64_t)r->end, r->unit, r->given));
    *position = sandbox_members[0];
    return s;
}

static void begin_listing(member_sink *sink, void *context) {
    current.sink = sink;
    current.context = context;
}

/* Passes on the members that are left after a call whose status was s. */
static status end_listing(status s) {
    member_sink *sink = current.sink;
    current.sink = NULL;
    if (s == OK && core.collected()) sink(current.context, sandbox_members, core.collected());
    return s;
}

status core_members(const bitmap *b, uint64_t from, uint64_t limit, member_sink *sink, void *context) {
    frame f = reading(b);
    begin_listing(sink, context);
    return end_listing(IN_CORE(&f, core.membersFrom(from, limit)));
}

status core_select_all(const bitmap *b, uint64_t *ranks, uint32_t count, member_sink *sink, void *context) {
    frame f = reading(b);
    f.arguments = ranks;
    f.argument_count = count;
    begin_listing(sink, context);
    return end_listing(IN_CORE(&f, core.selectAll(count)));
}

status core_get_field(const bitmap *b, const field *at, int64_t *value) {
    return READING(b, *value = (int64_t)core.field(at->offset, at->width, at->is_signed));
}

status core_statistics(const bitmap *b, statistics of[CONTAINER_KINDS]) {
    status s = READING(b, core.statistics());
    memcpy(of, sandbox_members, CONTAINER_KINDS * sizeof *of);
    return s;
}

status core_validate(const bitmap *b, const char **fault) {
    uint32_t number = FAULT_NONE;
    status s = READING(b, number = core.validate());
    *fault = s != OK || number == FAULT_NONE ? NULL : fault_text(number);
    return s;
}

status core_serialized_bytes(const bitmap *b, uint32_t format, uint64_t *bytes) {
    return READING(b, *bytes = core.serializedBytes(format));
}

status core_serialize_to(const bitmap *b, uint32_t format, char *payload, size_t length) {
    frame f = reading(b);
    f.output = (uint8_t *)payload;
    f.output_size = length;
    return IN_CORE(&f, core.serialize(format));
}

status core_serialize(const bitmap *b, uint32_t format, char **payload, size_t *length) {
    uint64_t bytes;
    status s = core_serialized_bytes(b, format, &bytes);
    if (s != OK) return s;
    *payload = try_alloc(bytes);
    if (*payload == NULL) return OUT_OF_MEMORY;
    *length = bytes;
    s = core_serialize_to(b, format, *payload, *length);
    if (s != OK) RedisModule_Free(*payload);
    return s;
}
