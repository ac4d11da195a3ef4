/* building.c -- calls that build a bitmap from other bitmaps, a payload, or offsets. Memory 0 is the
 * workspace. */
#include "guard.h"
#include "parts.h"
#include "redismodule.h"
#include "workspace.h"

#include <string.h>

/* Choices of the host, not facts of the core. */

/* Space that building needs in addition to the result. */
#define BUILDING (96 * 1024)

/* A long payload is shown to the core as windows of 4 GiB that begin 2 GiB apart. The overlap is longer than
 * the longest 32-bit bitmap in a 64-bit stream. */
#define WINDOW_SHIFT 31

/* `expected` is an estimate of the bytes that the result and the building need. */
static int start_building(frame *f, const span *shown, uint32_t count, uint64_t expected) {
    bitmap *b = workspace_take(expected < arena_limit() ? (uint32_t)expected : arena_limit());
    if (b == NULL) return 0;
    *f = reading(b);
    f->operands = shown;
    f->operand_count = count;
    current.growable = b;
    current.builds = 1;
    return 1;
}

/* Ends a call that built no bitmap; returns s. */
static status discard(status s) {
    current.builds = 0;
    workspace_put_back(current.growable);
    return s;
}

#ifdef CORE_HAS_TRAP
/* See sandbox_trap_count. */
static void trap_if_asked(void) {
    if (take_asked_trap()) core.trap(WAY_UNREACHABLE);
}
#else
static void trap_if_asked(void) {}
#endif

/* Ends a call that built a bitmap of current.used bytes if s is OK. */
static status built(status s, bitmap **b) {
    /* The workspace may be larger than the limit. */
    if (s == OK && current.used > arena_limit()) s = OUT_OF_MEMORY;
    if (s != OK) return discard(s);
    current.builds = 0;
    *b = workspace_result(current.growable, current.used);
    return *b ? OK : OUT_OF_MEMORY;
}

/* An estimate of the bytes that the operation's result and building it need. */
static uint64_t estimate(enum operation operation, const span *sources, uint32_t count) {
    uint64_t bytes = 0;
    frame f = reading(bitmap_empty());
    f.operands = sources;
    f.operand_count = count;
    status s = IN_CORE(&f, bytes = core.expectedBytes(operation, count));
    return s == OK ? bytes + BUILDING : 0;
}

status core_combine(enum operation operation, const operands *sources, result *r) {
    frame f;
    uint64_t bytes = estimate(operation, sources->list, sources->count);
    if (!start_building(&f, sources->list, sources->count, bytes)) return OUT_OF_MEMORY;
    return built(COUNTING_IN(&f, core.combine(operation, f.operand_count), r->members), &r->b);
}

/* If there are 2^64 members, the core also adds one to the reply. */
status count_within(counting *c, key_range keys, uint64_t *numbers) {
    frame f;
    if (!start_building(&f, c->operands->list, c->operands->count, 0)) return OUT_OF_MEMORY;
    f.arguments = numbers;
    f.argument_count = c->numbers;
    status s = discard(IN_CORE(&f, trap_if_asked(); c->call(c, keys, numbers)));
    c->any = (int)core.collected();
    return s;
}

static inline status count_all(counting *c, uint64_t *numbers) {
#ifdef ON_THREADS
    return count_in_parts(c, numbers);
#else
    return count_within(c, ALL_KEYS, numbers);
#endif
}

/* The last container that is counted may have more members than are missing for c->most. */
static inline status count_members(counting *c, cardinality *members) {
    uint64_t number = 0;
    status s = count_all(c, &number);
    *members = number == 0 && c->any ? TWO_TO_64 : number;
    if (c->most && *members > c->most) *members = c->most;
    return s;
}

status core_cuts(const counting *c, uint32_t parts, uint64_t *cuts, uint32_t *count) {
    frame f;
    if (!start_building(&f, c->operands->list, c->bitmaps, 0)) return OUT_OF_MEMORY;
    status s = discard(IN_CORE(&f, core.cuts(c->bitmaps, parts)));
    *count = core.collected();
    memcpy(cuts, sandbox_members, *count * sizeof *cuts);
    return s;
}

static void count_combined(const counting *c, key_range keys, uint64_t *number) {
    *number = core.combineCardinality(c->operation, c->bitmaps, c->most, keys.first, keys.last);
}

status core_combine_cardinality(enum operation operation, const operands *sources, uint64_t most,
                                cardinality *members) {
    counting c = {.call = count_combined, .operands = sources, .bitmaps = sources->count, .numbers = 1};
    c.operation = operation;
    c.most = most;
    return count_members(&c, members);
}

static void count_shared(const counting *c, key_range keys, uint64_t *numbers) {
    (void)numbers;
    core.shareAll(c->numbers, keys.first, keys.last);
}

status core_share_all(const operands *o, uint64_t *shared) {
    counting c = {.call = count_shared, .operands = o, .bitmaps = o->count, .numbers = o->count - 1};
    return count_all(&c, shared);
}

status core_rank(const operands *o, const ranking *r, uint64_t *numbers, uint32_t *found) {
    frame f;
    const uint32_t facets = o->count - 1;
    if (!start_building(&f, o->list, o->count, 0)) return OUT_OF_MEMORY;
    f.arguments = numbers;
    f.argument_count = 2 * facets;
    return discard(IN_CORE(&f, *found = core.rank(facets, r->by, r->part, r->whole, r->top)));
}

static void count_crossed(const counting *c, key_range keys, uint64_t *numbers) {
    memset(numbers, 0, (size_t)c->numbers * sizeof *numbers);
    core.cross(c->rows, c->columns, c->bitmaps > c->rows + c->columns, keys.first, keys.last);
}

status core_cross(const operands *o, uint32_t rows, uint32_t columns, uint64_t *cells) {
    counting c = {.call = count_crossed, .operands = o, .bitmaps = o->count, .numbers = rows * columns};
    c.rows = rows;
    c.columns = columns;
    return count_all(&c, cells);
}

/* The expression that was parsed last, and its tree. Programs ask the same ones again and again, and parsing
 * one takes as long as answering it from small bitmaps. */
static PER_THREAD struct {
    uint32_t keys;
    uint64_t greatest;
    span text, tree;
} known;

static span copy_span(span old, const void *from, size_t bytes) {
    span s = {RedisModule_Realloc(old.base, bytes + 1), (uint32_t)bytes};
    memcpy(s.base, from, bytes);
    return s;
}

static int is_known(const query *q, const char *text, size_t length) {
    return q->keys == known.keys && q->greatest == known.greatest && length == known.text.size
        && memcmp(text, known.text.base, length) == 0;
}

/* Keeps the tree, of `bytes` bytes, that the core has made in the workspace. */
static void keep_tree(query *q, const char *text, size_t length, uint32_t bytes) {
    known.keys = q->keys;
    known.greatest = q->greatest;
    known.text = copy_span(known.text, text, length);
    known.tree = q->tree = copy_span(known.tree, arena(current.growable), bytes);
}

/* A function of its own, so that _longjmp leaves the variables of its caller alone. */
static status parse_in(const frame *f, const query *q, uint64_t *parsed) {
    return IN_CORE(f, *parsed = core.parseQuery(q->keys, q->greatest));
}

status core_parse_query(query *q, const char *text, size_t length, query_mistake *m) {
    frame f;
    uint64_t parsed = 0;
    const span shown = {(uint8_t *)text, length < UINT32_MAX ? (uint32_t)length : UINT32_MAX};

    *m = (query_mistake){.number = MISTAKE_NONE};
    if (is_known(q, text, length)) {
        q->tree = known.tree;
        return OK;
    }
    if (!start_building(&f, &shown, 1, 0)) return OUT_OF_MEMORY;
    status s = parse_in(&f, q, &parsed);
    uint32_t number = (uint32_t)parsed, place_or_bytes = (uint32_t)(parsed >> 32);
    if (s == OK && number != MISTAKE_NONE) *m = (query_mistake){number, place_or_bytes, sandbox_members[0]};
    if (s == OK && number == MISTAKE_NONE) keep_tree(q, text, length, place_or_bytes);
    return discard(s);
}

static int start_query(frame *f, const query *q, uint64_t expected) {
    return start_building(f, q->operands.list, q->operands.count, expected);
}

status core_query(const query *q, result *r) {
    frame f;
    if (!start_query(&f, q, estimate(OR, q->operands.list, q->keys))) return OUT_OF_MEMORY;
    return built(COUNTING_IN(&f, core.query(q->keys, q->greatest), r->members), &r->b);
}

status core_query_members(const query *q, uint64_t from, uint64_t limit, member_sink *sink, void *context) {
    frame f;
    if (!start_query(&f, q, 0)) return OUT_OF_MEMORY;
    current.sink = sink;
    current.context = context;
    status s = IN_CORE(&f, core.queryMembers(q->keys, q->greatest, from, limit));
    current.sink = NULL;
    if (s == OK && core.collected()) sink(context, sandbox_members, core.collected());
    return discard(s);
}

static void count_queried(const counting *c, key_range keys, uint64_t *number) {
    uint64_t from = keys.first << 16;
    if (from < c->from) from = c->from;
    *number = core.queryCardinality(c->bitmaps, c->greatest, from, c->most, keys.last);
}

status core_query_cardinality(const query *q, uint64_t from, uint64_t most, cardinality *members) {
    counting c = {.call = count_queried, .operands = &q->operands, .bitmaps = q->keys, .numbers = 1};
    c.greatest = q->greatest;
    c.from = from;
    c.most = most;
    return count_members(&c, members);
}

status core_intersects(const bitmap *a, const bitmap *b, uint32_t *holds) {
    frame f;
    const span both[] = {span_of(a), span_of(b)};
    if (!start_building(&f, both, 2, 0)) return OUT_OF_MEMORY;
    return discard(IN_CORE(&f, *holds = core.intersects()));
}

status core_is_subset(const bitmap *part, const bitmap *whole, uint32_t *holds) {
    frame f;
    const span both[] = {span_of(part), span_of(whole)};
    if (!start_building(&f, both, 2, 0)) return OUT_OF_MEMORY;
    return discard(IN_CORE(&f, *holds = core.isSubset()));
}

status core_complement(const bitmap *b, const uint64_t *last, result *r) {
    frame f;
    const span source = span_of(b ? b : bitmap_empty());
    if (!start_building(&f, &source, 1, estimate(NOT, &source, 1))) return OUT_OF_MEMORY;
    status s = COUNTING_IN(&f, core.complement(b != NULL, last ? *last : 0, last != NULL), r->members);
    return built(s, &r->b);
}

/* Adds the windows in which the core sees the payload. */
static void add_windows(operands *windows, const char *bytes, size_t length) {
    uint64_t from = 0;
    do {
        uint64_t rest = length - from;
        uint32_t shown = rest < UINT32_MAX ? (uint32_t)rest : UINT32_MAX;
        operands_add_span(windows, (span){(uint8_t *)bytes + from, shown});
        from += (uint64_t)1 << WINDOW_SHIFT;
    } while (from < length);
}

/* A faulty payload leaves no complete bitmap in memory 0, so its members are not counted. */
static uint32_t read_payload(const encoded *p, cardinality *members) {
    uint32_t number = FAULT_NONE;
    if (p->first == 0) number = core.deserialize(p->format, p->length, WINDOW_SHIFT);
    else if (p->length > UINT32_MAX) number = FAULT_TOO_LONG;
    else core.readBitsFrom(p->first);
    if (number == FAULT_NONE) *members = members_held();
    return number;
}

/* A function of its own, so that _longjmp leaves the variables of its caller alone. */
static status deserialize_in(const frame *f, const encoded *p, result *r, uint32_t *number) {
    return BUILDING_IN(f, *number = read_payload(p, &r->members));
}

static status deserialize(const encoded *p, const operands *windows, result *r, const char **fault) {
    frame f;
    uint32_t number = FAULT_NONE;
    if (!start_building(&f, windows->list, windows->count, p->length + BUILDING)) return OUT_OF_MEMORY;
    status s = deserialize_in(&f, p, r, &number);
    *fault = s != OK || number == FAULT_NONE ? NULL : fault_text(number);
    if (*fault == NULL) return built(s, &r->b);
    count_refused();
    return discard(OK);
}

status core_deserialize(const encoded *p, result *r, const char **fault) {
    operands windows;
    operands_begin(&windows);
    add_windows(&windows, p->bytes, p->length);
    status s = deserialize(p, &windows, r, fault);
    operands_end(&windows);
    return s;
}

/* Calls core.sort or core.sortUnlessSparse. */
static status sort_by(void (*sort)(uint32_t count), uint64_t *offsets, uint32_t count) {
    uint64_t bytes = VALUES_ROOM((uint64_t)count) * sizeof *offsets;
    frame f = reading(bitmap_empty());
    if (bytes > UINT32_MAX) return OUT_OF_MEMORY;
    f.memory = (span){(uint8_t *)offsets, (uint32_t)bytes};
    return IN_CORE(&f, sort(count));
}

status sort_offsets(uint64_t *offsets, uint32_t count) { return sort_by(core.sort, offsets, count); }

status group_offsets(uint64_t *offsets, uint32_t count) {
    status s = sort_by(core.sortUnlessSparse, offsets, count);
    return s == OUT_OF_MEMORY ? OK : s;
}

status core_collect(uint64_t *offsets, uint32_t count, bitmap **collected) {
    frame f;
    status s = sort_offsets(offsets, count);
    if (s != OK) return s;
    if (!start_building(&f, NULL, 0, (uint64_t)count * ENTRY_BYTES + BUILDING)) return OUT_OF_MEMORY;
    f.arguments = offsets;
    f.argument_count = count;
    return built(BUILDING_IN(&f, core.collect(count)), collected);
}

static void replace(bitmap **b, bitmap *with) {
    bitmap_free(*b);
    *b = with;
}

status core_changed(const bitmap *b, const stretch *r, uint64_t expected, result *changed) {
    frame f;
    const span source = span_of(b);
    if (!start_building(&f, &source, 1, expected + BUILDING)) return OUT_OF_MEMORY;
    status s = COUNTING_IN(&f, core.rebuildRange(r->change, r->low, r->high), changed->members);
    return built(s, &changed->b);
}

status rebuild_range(bitmap **b, const stretch *r, uint64_t expected, cardinality *members) {
    result changed;
    status s = core_changed(*b, r, expected, &changed);
    if (s != OK) return s;
    *members = changed.members;
    replace(b, changed.b);
    return OK;
}

status rebuild_union(bitmap **b, const bitmap *more, uint64_t expected, cardinality *members) {
    frame f;
    bitmap *both;
    const span sources[] = {span_of(*b), span_of(more)};
    if (!start_building(&f, sources, 2, expected + BUILDING)) return OUT_OF_MEMORY;
    status s = built(COUNTING_IN(&f, core.combine(OR, 2), *members), &both);
    if (s == OK) replace(b, both);
    return s;
}

/* Calls core.rewrite or core.pack. */
static status rebuilt(const bitmap *b, void (*rebuild)(void), bitmap **copy) {
    frame f;
    const span source = span_of(b);
    if (!start_building(&f, &source, 1, (uint64_t)arena_bytes(b) + BUILDING)) return OUT_OF_MEMORY;
    return built(BUILDING_IN(&f, rebuild()), copy);
}

status core_pack(const bitmap *b, bitmap **packed) { return rebuilt(b, core.pack, packed); }

status core_slice(const bitmap *b, uint64_t *key, uint32_t bytes, bitmap **part, uint32_t *more) {
    frame f;
    const span source = span_of(b);
    if (!start_building(&f, &source, 1, bytes + BUILDING)) return OUT_OF_MEMORY;
    status s = BUILDING_IN(&f, *more = core.slice(*key, bytes));
    *key = sandbox_members[0];
    return built(s, part);
}

status rewrite(bitmap **b) {
    bitmap *tight;
    status s = rebuilt(*b, core.rewrite, &tight);
    if (s == OK) replace(b, tight);
    return s;
}
