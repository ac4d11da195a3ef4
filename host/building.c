/* building.c -- calls that build a bitmap from other bitmaps, a payload, or offsets. Memory 0 is the workspace. */
#include "guard.h"
#include "redismodule.h"
#include "workspace.h"

#include <string.h>

/* Choices of the host, not facts of the core. */

/* Space that building needs in addition to the result. */
#define BUILDING (96 * 1024)

/* A long payload is shown to the core as windows of 4 GiB that begin 2 GiB apart. The overlap is longer than the longest 32-bit
 * bitmap in a 64-bit stream. */
#define WINDOW_SHIFT 31

static struct {
    span *list;
    uint32_t count, room;
} operands;

void operands_clear(void) { operands.count = 0; }

static void add_operand(span operand) {
    if (operands.count == operands.room) {
        operands.room = operands.room ? 2 * operands.room : 64;
        operands.list = RedisModule_Realloc(operands.list, operands.room * sizeof *operands.list);
    }
    operands.list[operands.count++] = operand;
}

void operands_add(const bitmap *b) {
    if (b == NULL) b = bitmap_empty;
    add_operand((span){arena(b), arena_bytes(b)});
}

/* `expected` is an estimate of the bytes that the result and the building need. */
static int start_building(frame *f, uint64_t expected) {
    bitmap *b = workspace_take(expected < arena_limit() ? (uint32_t)expected : arena_limit());
    if (b == NULL) return 0;
    *f = reading(b);
    f->operands = operands.list;
    f->operand_count = operands.count;
    call.growable = b;
    call.builds = 1;
    return 1;
}

/* Ends a call that built no bitmap; returns s. */
static status discard(status s) {
    call.builds = 0;
    workspace_put_back(call.growable);
    return s;
}

/* Ends a call that built a bitmap of call.used bytes if s is OK. */
static status built(status s, bitmap **result) {
    if (s == OK && call.used > arena_limit()) s = OUT_OF_MEMORY;      /* the workspace may be larger than the limit */
    if (s != OK) return discard(s);
    call.builds = 0;
    *result = workspace_result(call.growable, call.used);
    return *result ? OK : OUT_OF_MEMORY;
}

/* An estimate of the bytes that the operation's result and building it need. */
static uint64_t expected(enum operation operation, uint32_t sources) {
    uint64_t bytes = 0;
    frame f = reading(bitmap_empty);
    f.operands = operands.list;
    f.operand_count = sources;
    status s = IN_CORE(&f, bytes = core.expectedBytes(operation, f.operand_count));
    return s == OK ? bytes + BUILDING : 0;
}

status core_combine(enum operation operation, bitmap **result) {
    frame f;
    if (!start_building(&f, expected(operation, operands.count))) return OUT_OF_MEMORY;
    return built(BUILDING_IN(&f, core.combine(operation, f.operand_count)), result);
}

/* The core counts modulo 2^64, and collects a member if there are 2^64. */
static cardinality counted(uint64_t modulo) { return modulo == 0 && core.collected() ? TWO_TO_64 : modulo; }

status core_combine_cardinality(enum operation operation, cardinality *members) {
    frame f;
    if (!start_building(&f, 0)) return OUT_OF_MEMORY;
    return discard(IN_CORE(&f, *members = counted(core.combineCardinality(operation, f.operand_count))));
}

/* The expression that was last read, and its tree. Programs ask the same ones again and again, and reading one takes as long as answering
 * it from small bitmaps. */
static struct {
    query q;
    span text, tree;
} known;

static span copy_span(span old, const void *from, size_t bytes) {
    span s = {RedisModule_Realloc(old.base, bytes + 1), (uint32_t)bytes};
    memcpy(s.base, from, bytes);
    return s;
}

static int is_known(const query *q, const char *text, size_t length) {
    return q->keys == known.q.keys && q->greatest == known.q.greatest && length == known.text.size
        && memcmp(text, known.text.base, length) == 0;
}

status core_parse_query(const query *q, const char *text, size_t length, wrong *m) {
    frame f;

    *m = (wrong){.what = MISTAKE_NONE};
    if (is_known(q, text, length)) return OK;
    span shown = {(uint8_t *)text, length < UINT32_MAX ? (uint32_t)length : UINT32_MAX};
    if (!start_building(&f, 0)) return OUT_OF_MEMORY;
    f.operands = &shown;                /* the text alone; operands that were added stay */
    f.operand_count = 1;
    status s = IN_CORE(&f, m->key = core.parseQuery(q->keys, q->greatest));
    uint32_t mistake = (uint32_t)m->key, place_or_bytes = (uint32_t)(m->key >> 32);
    if (s == OK && mistake != MISTAKE_NONE) *m = (wrong){mistake, place_or_bytes, sandbox_members[0]};
    if (s == OK && mistake == MISTAKE_NONE) {
        known.q = *q;
        known.text = copy_span(known.text, text, length);
        known.tree = copy_span(known.tree, arena(call.growable), place_or_bytes);
    }
    return discard(s);
}

void operands_add_parsed(void) { add_operand(known.tree); }

status core_query(const query *q, bitmap **result) {
    frame f;
    if (!start_building(&f, expected(OR, q->keys))) return OUT_OF_MEMORY;
    return built(BUILDING_IN(&f, core.query(q->keys, q->greatest)), result);
}

status core_query_members(const query *q, uint64_t from, uint64_t limit, member_sink *sink, void *context) {
    frame f;
    if (!start_building(&f, 0)) return OUT_OF_MEMORY;
    call.sink = sink;
    call.context = context;
    status s = IN_CORE(&f, core.queryMembers(q->keys, q->greatest, from, limit));
    call.sink = NULL;
    if (s == OK && core.collected()) sink(context, sandbox_members, core.collected());
    return discard(s);
}

status core_query_cardinality(const query *q, uint64_t from, cardinality *members) {
    frame f;
    if (!start_building(&f, 0)) return OUT_OF_MEMORY;
    return discard(IN_CORE(&f, *members = counted(core.queryCardinality(q->keys, q->greatest, from))));
}

status core_intersects(uint32_t *holds) {
    frame f;
    if (!start_building(&f, 0)) return OUT_OF_MEMORY;
    return discard(IN_CORE(&f, *holds = core.intersects()));
}

status core_is_subset(uint32_t *holds) {
    frame f;
    if (!start_building(&f, 0)) return OUT_OF_MEMORY;
    return discard(IN_CORE(&f, *holds = core.isSubset()));
}

status core_complement(const bitmap *b, const uint64_t *last, bitmap **result) {
    frame f;
    operands_clear();
    operands_add(b);
    if (!start_building(&f, expected(NOT, operands.count))) return OUT_OF_MEMORY;
    return built(BUILDING_IN(&f, core.complement(b != NULL, last ? *last : 0, last != NULL)), result);
}

status core_deserialize(uint32_t format, const char *payload, size_t length, bitmap **result, const char **fault) {
    frame f;
    uint64_t from = 0;
    operands_clear();
    do {
        uint64_t rest = length - from;
        add_operand((span){(uint8_t *)payload + from, rest < UINT32_MAX ? (uint32_t)rest : UINT32_MAX});
        from += (uint64_t)1 << WINDOW_SHIFT;
    } while (from < length);
    if (!start_building(&f, length + BUILDING)) return OUT_OF_MEMORY;
    uint32_t number = FAULT_NONE;
    status s = BUILDING_IN(&f, number = core.deserialize(format, length, WINDOW_SHIFT));
    *fault = s != OK || number == FAULT_NONE ? NULL : fault_text(number);
    if (*fault == NULL) return built(s, result);
    count_refused();
    return discard(OK);
}

status sort_offsets(uint64_t *offsets, uint32_t count, uint32_t always) {
    uint64_t bytes = VALUES_ROOM((uint64_t)count) * sizeof *offsets;
    frame f = reading(bitmap_empty);
    if (bytes > UINT32_MAX) return always ? OUT_OF_MEMORY : OK;
    f.memory = (span){(uint8_t *)offsets, (uint32_t)bytes};
    return IN_CORE(&f, core.sort(count, always));
}

status core_collect(uint64_t *offsets, uint32_t count, bitmap **result) {
    frame f;
    status s = sort_offsets(offsets, count, 1);
    if (s != OK) return s;
    if (!start_building(&f, (uint64_t)count * ENTRY_BYTES + BUILDING)) return OUT_OF_MEMORY;
    f.arguments = offsets;
    f.argument_count = count;
    return built(BUILDING_IN(&f, core.collect(count)), result);
}

static void replace(bitmap **b, bitmap *with) {
    bitmap_free(*b);
    *b = with;
}

status rebuild_range(bitmap **b, enum change change, uint64_t low, uint64_t high, uint64_t expected) {
    frame f;
    bitmap *result;
    operands_clear();
    operands_add(*b);
    if (!start_building(&f, expected + BUILDING)) return OUT_OF_MEMORY;
    status s = built(BUILDING_IN(&f, core.rebuildRange(change, low, high)), &result);
    if (s == OK) replace(b, result);
    return s;
}

/* Calls core.rewrite or core.pack. */
static status rebuilt(const bitmap *b, void (*rebuild)(void), bitmap **result) {
    frame f;
    operands_clear();
    operands_add(b);
    if (!start_building(&f, (uint64_t)arena_bytes(b) + BUILDING)) return OUT_OF_MEMORY;
    return built(BUILDING_IN(&f, rebuild()), result);
}

status core_pack(const bitmap *b, bitmap **result) { return rebuilt(b, core.pack, result); }

status core_slice(const bitmap *b, uint64_t *key, uint32_t bytes, bitmap **result, uint32_t *more) {
    frame f;
    operands_clear();
    operands_add(b);
    if (!start_building(&f, bytes + BUILDING)) return OUT_OF_MEMORY;
    status s = BUILDING_IN(&f, *more = core.slice(*key, bytes));
    *key = sandbox_members[0];
    return built(s, result);
}

status rewrite(bitmap **b) {
    bitmap *tight;
    status s = rebuilt(*b, core.rewrite, &tight);
    if (s == OK) replace(b, tight);
    return s;
}
