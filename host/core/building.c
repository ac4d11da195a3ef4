/* building.c -- calls that build a bitmap from other bitmaps, a payload, or offsets. Memory 0 is the
 * workspace. */
#include "core/building.h"

#include "core/census.h"
#include "api/redismodule.h"
#include "core/reading.h"
#include "core/guard.h"
#include "core/workspace.h"

#include <string.h>

/* A long payload is shown to the core as windows of 4 GiB that begin 2 GiB apart. The overlap is longer than
 * the longest 32-bit bitmap in a 64-bit stream. */
#define WINDOW_SHIFT 31

int start_building(worker *w, frame *f, const span *shown, uint32_t count) {
    bitmap *b = workspace_take(w);
    if (b == NULL) return 0;
    *f = reading(w, b);
    f->operands = shown;
    f->operand_count = count;
    w->current.growable = b;
    w->current.builds = 1;
    return 1;
}

/* Ends a call that built no bitmap; returns s. */
status discard_built(worker *w, status s) {
    w->current.builds = 0;
    workspace_put_back(w, w->current.growable);
    return s;
}

#ifdef CORE_HAS_TRAP
/* See sandbox_trap_count. */
static void trap_if_asked(worker *w) {
    if (take_asked_trap()) w->core.trap(w, WAY_UNREACHABLE);
}
#else
static void trap_if_asked(worker *w) { (void)w; }
#endif

/* Ends a call that built a bitmap of current.used bytes if s is OK. */
static status end_building(worker *w, status s, bitmap **b) {
    /* The workspace may be larger than the limit. */
    if (s == OK && w->current.used > arena_limit()) s = OUT_OF_MEMORY;
    if (s != OK) return discard_built(w, s);
    w->current.builds = 0;
    *b = workspace_result(w, w->current.growable);
    return *b ? OK : OUT_OF_MEMORY;
}

/* The same for a value of a key. Not all that is built is built in segments. */
status built(worker *w, status s, bitmap **b) {
    s = end_building(w, s, b);
    return s == OK && is_oversize(*b) && !w->in_segment ? tighten(w, b) : s;
}

status core_combine(worker *w, enum operation operation, const operands *sources, result *r) {
    frame f;
    if (!start_building(w, &f, sources->list, sources->count)) return OUT_OF_MEMORY;
    return built(w, COUNTING_IN(w, &f, w->core.combine(w, operation, f.operand_count), r->members), &r->b);
}

/* If there are 2^64 members, the core also adds one to the reply. */
status count_within(worker *w, counting *c, key_range keys, uint64_t *numbers) {
    frame f;
    if (!start_building(w, &f, c->operands->list, c->operands->count)) return OUT_OF_MEMORY;
    f.arguments = numbers;
    f.argument_count = c->numbers;
    status s = discard_built(w, IN_CORE(w, &f, trap_if_asked(w); c->call(w, c, keys, numbers)));
    c->any = (int)w->core.collected(w);
    return s;
}

status count_all(worker *w, counting *c, uint64_t *numbers) {
    return w->count_in_parts ? w->count_in_parts(w, c, numbers) : count_within(w, c, ALL_KEYS, numbers);
}

/* The core counts whole containers, so the number may exceed c->most. */
status count_members(worker *w, counting *c, cardinality *members) {
    uint64_t number = 0;
    status s = count_all(w, c, &number);
    *members = number == 0 && c->any ? TWO_TO_64 : number;
    if (c->most && *members > c->most) *members = c->most;
    return s;
}

status core_cuts(worker *w, const counting *c, uint32_t parts, uint64_t *cuts, uint32_t *count) {
    frame f;
    if (!start_building(w, &f, c->operands->list, c->bitmaps)) return OUT_OF_MEMORY;
    status s = discard_built(w, IN_CORE(w, &f, w->core.cuts(w, c->bitmaps, parts)));
    *count = w->core.collected(w);
    memcpy(cuts, w->members, *count * sizeof *cuts);
    return s;
}

static void count_combined(worker *w, const counting *c, key_range keys, uint64_t *number) {
    *number = w->core.combineCardinality(w, c->operation, c->bitmaps, c->most, keys.first, keys.last);
}

status core_combine_cardinality(worker *w, enum operation operation, const operands *sources, uint64_t most,
                                cardinality *members) {
    counting c = {.call = count_combined,
                  .cut = core_cuts,
                  .operands = sources,
                  .bitmaps = sources->count,
                  .numbers = 1};
    c.operation = operation;
    c.most = most;
    return count_members(w, &c, members);
}

static void count_shared(worker *w, const counting *c, key_range keys, uint64_t *numbers) {
    (void)numbers;
    w->core.shareAll(w, c->numbers, keys.first, keys.last);
}

status core_share_all(worker *w, const operands *o, uint64_t *shared) {
    counting c = {
        .call = count_shared, .cut = core_cuts, .operands = o, .bitmaps = o->count, .numbers = o->count - 1};
    return count_all(w, &c, shared);
}

status core_rank(worker *w, const operands *o, const ranking *r, uint64_t *numbers, uint32_t *found) {
    frame f;
    const uint32_t facets = o->count - 1;
    if (!start_building(w, &f, o->list, o->count)) return OUT_OF_MEMORY;
    f.arguments = numbers;
    f.argument_count = 2 * facets;
    return discard_built(w,
                         IN_CORE(w, &f, *found = w->core.rank(w, facets, r->by, r->part, r->whole, r->top)));
}

static void count_crossed(worker *w, const counting *c, key_range keys, uint64_t *numbers) {
    memset(numbers, 0, (size_t)c->numbers * sizeof *numbers);
    w->core.cross(w, c->rows, c->columns, c->bitmaps > c->rows + c->columns, keys.first, keys.last);
}

status core_cross(worker *w, const operands *o, uint32_t rows, uint32_t columns, uint64_t *cells) {
    counting c = {.call = count_crossed,
                  .cut = core_cuts,
                  .operands = o,
                  .bitmaps = o->count,
                  .numbers = rows * columns};
    c.rows = rows;
    c.columns = columns;
    return count_all(w, &c, cells);
}

status core_intersects(worker *w, const bitmap *a, const bitmap *b, uint32_t *holds) {
    frame f;
    const span both[] = {span_of(a), span_of(b)};
    if (!start_building(w, &f, both, 2)) return OUT_OF_MEMORY;
    return discard_built(w, IN_CORE(w, &f, *holds = w->core.intersects(w)));
}

status core_is_subset(worker *w, const bitmap *part, const bitmap *whole, uint32_t *holds) {
    frame f;
    const span both[] = {span_of(part), span_of(whole)};
    if (!start_building(w, &f, both, 2)) return OUT_OF_MEMORY;
    return discard_built(w, IN_CORE(w, &f, *holds = w->core.isSubset(w)));
}

status core_complement(worker *w, const bitmap *b, const uint64_t *last, result *r) {
    frame f;
    const span source = span_of(b ? b : bitmap_empty());
    if (!start_building(w, &f, &source, 1)) return OUT_OF_MEMORY;
    status s =
        COUNTING_IN(w, &f, w->core.complement(w, b != NULL, last ? *last : 0, last != NULL), r->members);
    return built(w, s, &r->b);
}

/* Adds the windows in which the core sees the payload. */
static void add_windows(operands *windows, const char *bytes, size_t length) {
    uint64_t from = 0;
    do {
        uint64_t rest = length - from;
        uint32_t shown = rest < UINT32_MAX ? (uint32_t)rest : UINT32_MAX;
        operands_add_span(windows, (span){.base = (uint8_t *)bytes + from, .size = shown});
        from += (uint64_t)1 << WINDOW_SHIFT;
    } while (from < length);
}

/* A faulty payload leaves no complete bitmap in memory 0, so its members are not counted. */
static uint32_t read_payload(worker *w, const encoded *p, cardinality *members) {
    uint32_t number = FAULT_NONE;
    if (p->first == 0) number = w->core.deserialize(w, p->format, p->length, WINDOW_SHIFT);
    else if (p->length > UINT32_MAX) number = FAULT_TOO_LONG;
    else w->core.readBitsFrom(w, p->first, p->format == LOW_BITS);
    if (number == FAULT_NONE) *members = members_held(w);
    return number;
}

/* A function of its own, so that _longjmp leaves the variables of its caller alone. */
static status deserialize_in(worker *w, const frame *f, const encoded *p, result *r, uint32_t *number) {
    return BUILDING_IN(w, f, *number = read_payload(w, p, &r->members));
}

static status deserialize_windows(worker *w, const encoded *p, const operands *windows, result *r,
                                  uint32_t *number) {
    frame f;
    if (!start_building(w, &f, windows->list, windows->count)) return OUT_OF_MEMORY;
    status s = deserialize_in(w, &f, p, r, number);
    if (s != OK || *number == FAULT_NONE) return built(w, s, &r->b);
    return discard_built(w, OK);
}

static status deserialize(worker *w, const encoded *p, result *r, uint32_t *number) {
    operands windows;
    *number = FAULT_NONE;
    operands_begin(&windows);
    add_windows(&windows, p->bytes, p->length);
    status s = deserialize_windows(w, p, &windows, r, number);
    operands_end(&windows);
    return s;
}

/* Replaces Base64 text by its bytes, which the caller must RedisModule_Free. */
static status decode(worker *w, encoded *p) {
    const span text = {.base = (uint8_t *)p->bytes, .size = (uint32_t)p->length};
    const size_t room = p->length / 4 * 3 + 3;
    char *bytes = try_alloc(room);
    frame f = reading(w, bitmap_empty());
    if (bytes == NULL) return OUT_OF_MEMORY;
    f.operands = &text;
    f.operand_count = 1;
    f.output = (uint8_t *)bytes;
    f.output_size = room;
    status s = IN_CORE(w, &f, p->length = w->core.decodeBase64(w));
    p->bytes = bytes;
    return s;
}

status core_deserialize(worker *w, const encoded *p, result *r, const char **fault) {
    uint32_t number;
    encoded decoded = *p;
    status s = deserialize(w, p, r, &number);
    if (s == OK && number == FAULT_BASE64) {
        s = decode(w, &decoded);
        if (s == OK) s = deserialize(w, &decoded, r, &number);
        if (decoded.bytes != p->bytes) RedisModule_Free((char *)decoded.bytes);
    }
    *fault = s != OK || number == FAULT_NONE ? NULL : fault_text(number);
    if (*fault) count_refused();
    return s;
}

/* Calls core.sort or core.sortUnlessSparse. */
static status sort_by(worker *w, void (*sort)(worker *w, uint32_t count), uint64_t *offsets, uint32_t count) {
    uint64_t bytes = VALUES_ROOM((uint64_t)count) * sizeof *offsets;
    frame f = reading(w, bitmap_empty());
    if (bytes > UINT32_MAX) return OUT_OF_MEMORY;
    f.memory = (span){.base = (uint8_t *)offsets, .size = (uint32_t)bytes};
    return IN_CORE(w, &f, sort(w, count));
}

status sort_offsets(worker *w, uint64_t *offsets, uint32_t count) {
    return sort_by(w, w->core.sort, offsets, count);
}

status group_offsets(worker *w, uint64_t *offsets, uint32_t count) {
    status s = sort_by(w, w->core.sortUnlessSparse, offsets, count);
    return s == OUT_OF_MEMORY ? OK : s;
}

status core_collect(worker *w, uint64_t *offsets, uint32_t count, bitmap **collected) {
    frame f;
    status s = sort_offsets(w, offsets, count);
    if (s != OK) return s;
    if (!start_building(w, &f, NULL, 0)) return OUT_OF_MEMORY;
    f.arguments = offsets;
    f.argument_count = count;
    return built(w, BUILDING_IN(w, &f, w->core.collect(w, count)), collected);
}

static void replace(bitmap **b, bitmap *with) {
    bitmap_free(*b);
    *b = with;
}

status core_changed(worker *w, const bitmap *b, const stretch *r, result *changed) {
    frame f;
    const span source = span_of(b);
    if (!start_building(w, &f, &source, 1)) return OUT_OF_MEMORY;
    status s = COUNTING_IN(w, &f, w->core.rebuildRange(w, r->change, r->low, r->high), changed->members);
    return built(w, s, &changed->b);
}

status rebuild_range(worker *w, bitmap **b, const stretch *r, cardinality *members) {
    result changed;
    status s = core_changed(w, *b, r, &changed);
    if (s != OK) return s;
    *members = changed.members;
    replace(b, changed.b);
    return OK;
}

status core_unite(worker *w, const bitmap *a, const bitmap *b, key_range keys, result *both) {
    frame f;
    const span sources[] = {span_of(a), span_of(b)};
    if (!start_building(w, &f, sources, 2)) return OUT_OF_MEMORY;
    return built(w, COUNTING_IN(w, &f, w->core.unite(w, keys.first, keys.last), both->members), &both->b);
}

/* A bitmap with the members of b, packed or in segments of at most `most` bytes. */
static status rebuilt(worker *w, const bitmap *b, int packed, uint32_t most, result *copy) {
    frame f;
    const span source = span_of(b);
    if (!start_building(w, &f, &source, 1)) return OUT_OF_MEMORY;
    status s = COUNTING_IN(w, &f, if (packed) w->core.pack(w); else w->core.rewrite(w, most), copy->members);
    return end_building(w, s, &copy->b);
}

status core_pack(worker *w, const bitmap *b, result *packed) { return rebuilt(w, b, 1, 0, packed); }

status core_shift(worker *w, const bitmap *b, __int128 distance, bitmap **moved) {
    frame f;
    const span source = span_of(b);
    if (!start_building(w, &f, &source, 1)) return OUT_OF_MEMORY;
    return built(w, BUILDING_IN(w, &f, w->core.shift(w, (uint64_t)(distance >> 16), distance & 0xffff)),
                 moved);
}

status core_slice(worker *w, const bitmap *b, uint64_t *key, uint32_t bytes, bitmap **part, uint32_t *more) {
    frame f;
    const span source = span_of(b);
    if (!start_building(w, &f, &source, 1)) return OUT_OF_MEMORY;
    status s = BUILDING_IN(w, &f, *more = w->core.slice(w, *key, bytes));
    *key = w->members[0];
    return built(w, s, part);
}

/* A bitmap that grows at its end is not cut in halves, of which the first would stay half empty. */
static uint32_t part_bytes(worker *w, const bitmap *b) {
    const root *r = root_of(b);
    const bitmap *only = r && r->count == 1 ? r->of[0].b : b;
    uint32_t found;
    uint64_t greatest;
    if (r && r->count > 1) return segment_bytes;
    if (w->in_segment || !is_oversize(only)) return UINT32_MAX;
    status s = core_maximum(w, only, &found, &greatest);
    return s == OK && found && greatest == w->current.offset ? segment_bytes : arena_bytes(only) / 2;
}

status core_arrange(worker *w, const bitmap *b, result *arranged) {
    return rebuilt(w, b, 0, part_bytes(w, b), arranged);
}

status tighten(worker *w, bitmap **b) {
    result tight;
    status s = core_arrange(w, *b, &tight);
    if (s == OK) replace(b, tight.b);
    return s;
}
