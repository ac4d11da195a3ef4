/* sandbox.c -- guarded calls into the core.
 *
 * A call:  frame f = ...;  IN_CORE(&f, *result = core.function(...))  is OK, or what cut the call short. Traps and
 * failed growth leave the core by _longjmp, past core code only: nothing of the server is on the stack between the two,
 * because a member sink runs to its end before the core goes on. _setjmp does not save the signal mask, which would
 * cost a system call. Calls come from the server's main thread, one at a time. */
#include "sandbox.h"

#include <setjmp.h>
#include <string.h>

#include "cpu.h"
#include "redismodule.h"
#include "workspace.h"

/* The host's own policy, of which the core knows nothing. */

/* What building takes beside the result. */
#define BUILDING (64 * 1024)

/* So many offsets are worth being sorted before they are added or removed. */
#define SORTED_FROM 64

/* Changing a range takes room to work in, which is given back where it is more than a quarter of the bitmap and this. */
#define RANGE_SLACK 256

/* Offsets that are changed at once; between two batches a bitmap full of holes is rewritten. */
#define CHANGES 1024

/* The core is shown a long payload in windows that begin 2 GiB apart, and reach up to 4 GiB: further beyond the next one's beginning than
 * the longest bucket of a 64-bit stream. */
#define WINDOW_SHIFT 31

static struct core core;

/* The call that is running. */
static struct {
    jmp_buf leave;
    bitmap *growable;           /* memory 0 while it may grow; NULL while reading */
    status ended;               /* why the last call that was cut short was */
    enum trap trap;             /* of the last call that was TRAPPED */
    int builds;                 /* whether memory 0 is the workspace */
    uint32_t wasteful, used;
    member_sink *sink;          /* NULL but in core_members */
    void *context;
} call;

uint64_t sandbox_members[MEMBERS_BATCH];

static struct {
    span *list;
    uint32_t count, room;
} operands;

static census totals;           /* but for bitmaps and their bytes, which bitmap.c counts */
static uint32_t most = ARENA_MOST;

const char *sandbox_choose_level(const char *wanted) {
    const struct core *chosen = choose_core(wanted);
    if (chosen == NULL) return NULL;
    core = *chosen;
    return core.level;
}

/* --- Calls ---------------------------------------------------------------------------------------------------------- */

/* Does `work`, statements that call the core, and is OK, or why it was cut short. C11 (7.13.1.1) allows _setjmp in few places:
 * such a condition is one. Local variables that `work` changes may be read afterwards only if it is OK. */
#define GUARDED(enter, work)            \
    ({                                  \
        status ended;                   \
        if (_setjmp(call.leave) == 0) { \
            enter;                      \
            work;                       \
            ended = OK;                 \
        } else {                        \
            ended = call.ended;         \
        }                               \
        ended;                          \
    })

#define IN_CORE(f, work) GUARDED(core.enter(f), work)

/* Work that builds a bitmap, for built(); and work that changes one, for wrote(). */
#define BUILDING_IN(f, work) GUARDED(core.enter(f), work; call.used = core.used())
#define CHANGING_IN(f, work) GUARDED(core.enter(f), work; call.wasteful = core.wasteful())

/* Work that reads a bitmap and needs nothing else; and work that changes one. */
#define READING(b, work) GUARDED(read_alone(b), work)
#define CHANGING(b, work) GUARDED(change_alone(b), work)

static _Noreturn void leave(status why) {
    call.ended = why;
    _longjmp(call.leave, 1);
}

_Noreturn void sandbox_trap(enum trap trap) {
    call.trap = trap;
    totals.traps++;
    leave(TRAPPED);
}

span sandbox_grow(uint32_t bytes) {
    bitmap *b = call.growable;
    if (b == NULL) sandbox_trap(TRAP_GROWTH);       /* a function that only reads has no use for more */
    if (bytes > most) leave(OUT_OF_MEMORY);
    uint64_t ample = (uint64_t)b->size + (call.builds ? b->size : b->size / 8);
    if (ample > most) ample = most;
    bitmap *grown = bitmap_grow(b, ample > bytes ? ample : bytes);
    if (grown == NULL) grown = bitmap_grow(b, bytes);
    if (grown == NULL) leave(OUT_OF_MEMORY);
    call.growable = grown;
    return (span){arena(grown), grown->size};
}

void sandbox_take_members(void) {
    if (call.sink == NULL) sandbox_trap(TRAP_OUTPUT);
    call.sink(call.context, sandbox_members, MEMBERS_BATCH);
}

const char *sandbox_last_trap(void) { return trap_text(call.trap); }

census sandbox_census(void) {
    census now = totals;
    bitmap_totals(&now.bitmaps, &now.bytes);
    if (workspace_bytes()) {                        /* it is no bitmap of anybody's */
        now.bitmaps--;
        now.bytes -= workspace_bytes();
    }
    return now;
}

/* --- Reading -------------------------------------------------------------------------------------------------------- */

static frame reading(const bitmap *b) {
    call.growable = NULL;
    return (frame){.memory = {arena(b), b->size}};
}

static void read_alone(const bitmap *b) {
    call.growable = NULL;
    core.enter_alone(arena(b), b->size);
}

status core_get(const bitmap *b, uint64_t offset, uint32_t *bit) { return READING(b, *bit = core.get(offset)); }

status core_get_all(const bitmap *b, uint64_t *offsets, uint32_t count) {
    frame f = reading(b);
    f.arguments = offsets;
    f.argument_count = count;
    return IN_CORE(&f, core.getAll(0, count));
}

/* The core counts modulo 2^64: 0 is none or all. */
static count counted(uint64_t members, uint32_t any) { return members || !any ? members : TWO_TO_64; }

static count cardinality(void) {
    uint64_t members = core.cardinality();
    return members ? members : counted(0, !core.isEmpty());
}

status core_cardinality(const bitmap *b, count *members) { return READING(b, *members = cardinality()); }

static uint32_t extreme(int end, uint64_t *member) {
    if (core.isEmpty()) return 0;
    *member = end ? core.maximum() : core.minimum();
    return 1;
}

status core_extreme(const bitmap *b, int end, uint32_t *found, uint64_t *member) { return READING(b, *found = extreme(end, member)); }

status core_count_between(const bitmap *b, uint64_t low, uint64_t high, count *members) {
    return READING(b, *members = low > high ? 0 : counted(core.countRange(low, high), core.get(low)));
}

status core_select(const bitmap *b, uint64_t rank, uint64_t *member) { return READING(b, *member = core.select(rank)); }

status core_count_range(const bitmap *b, const range *r, uint64_t *members) {
    return READING(b, *members = core.countIndexed((uint64_t)r->start, (uint64_t)r->end, r->unit));
}

status core_position(const bitmap *b, uint32_t bit, const range *r, uint32_t *found, uint64_t *position) {
    status s = READING(b, *found = core.position(bit, (uint64_t)r->start, (uint64_t)r->end, r->unit, r->given));
    *position = sandbox_members[0];
    return s;
}

status core_members(const bitmap *b, uint64_t from, uint64_t limit, member_sink *sink, void *context) {
    frame f = reading(b);
    call.sink = sink;
    call.context = context;
    status s = IN_CORE(&f, core.membersFrom(from, limit));
    call.sink = NULL;
    if (s == OK && core.collected()) sink(context, sandbox_members, core.collected());
    return s;
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

/* --- Building: memory 0 is the workspace ---------------------------------------------------------------------------- */

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
    add_operand((span){arena(b), b->size});
}

/* The result may well take `expected` bytes. */
static int start_building(frame *f, uint64_t expected) {
    bitmap *b = workspace_take(expected < most ? (uint32_t)expected : most);
    if (b == NULL) return 0;
    *f = reading(b);
    f->operands = operands.list;
    f->operand_count = operands.count;
    call.growable = b;
    call.builds = 1;
    return 1;
}

/* Ends a call that built nothing of use, with the status s. */
static status discard(status s) {
    call.builds = 0;
    workspace_put_back(call.growable);
    return s;
}

/* Ends a call that built a bitmap of call.used bytes if its status is OK. */
static status built(status s, bitmap **result) {
    if (s != OK) return discard(s);
    call.builds = 0;
    *result = workspace_result(call.growable, call.used);
    return *result ? OK : OUT_OF_MEMORY;
}

/* Bytes that the operation's result may well take, with what building it takes. */
static uint64_t expected(enum operation operation) {
    uint64_t bytes = 0;
    frame f = reading(bitmap_empty);
    f.operands = operands.list;
    f.operand_count = operands.count;
    status s = IN_CORE(&f, bytes = core.expectedBytes(operation, f.operand_count));
    return s == OK ? bytes + BUILDING : 0;
}

status core_combine(enum operation operation, bitmap **result) {
    frame f;
    if (!start_building(&f, expected(operation))) return OUT_OF_MEMORY;
    return built(BUILDING_IN(&f, core.combine(operation, f.operand_count)), result);
}

status core_combine_cardinality(enum operation operation, uint64_t *members) {
    frame f;
    if (!start_building(&f, 0)) return OUT_OF_MEMORY;
    return discard(IN_CORE(&f, *members = core.combineCardinality(operation, f.operand_count)));
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
    if (!start_building(&f, expected(NOT))) return OUT_OF_MEMORY;
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
    totals.refused++;
    return discard(OK);
}

/* Brings offsets into ascending order; unless `always`, only where that is likely to bring neighbours together. */
static status sort(uint64_t *offsets, uint32_t count, uint32_t always) {
    uint64_t bytes = VALUES_ROOM((uint64_t)count) * sizeof *offsets;
    frame f = reading(bitmap_empty);
    if (bytes > UINT32_MAX) return always ? OUT_OF_MEMORY : OK;
    f.memory = (span){(uint8_t *)offsets, (uint32_t)bytes};
    return IN_CORE(&f, core.sort(count, always));
}

status core_collect(uint64_t *offsets, uint32_t count, bitmap **result) {
    frame f;
    status s = sort(offsets, count, 1);
    if (s != OK) return s;
    if (!start_building(&f, (uint64_t)count * ENTRY_BYTES + BUILDING)) return OUT_OF_MEMORY;
    f.arguments = offsets;
    f.argument_count = count;
    return built(BUILDING_IN(&f, core.collect(count)), result);
}

/* core.rewrite or core.pack. */
static status rebuilt(const bitmap *b, void (*rebuild)(void), bitmap **result) {
    frame f;
    operands_clear();
    operands_add(b);
    if (!start_building(&f, b->size + BUILDING)) return OUT_OF_MEMORY;
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

static status rewrite(bitmap **b) {
    bitmap *tight;
    status s = rebuilt(*b, core.rewrite, &tight);
    if (s != OK) return s;
    bitmap_free(*b);
    *b = tight;
    return OK;
}

/* --- Writing: memory 0 is the bitmap itself ------------------------------------------------------------------------- */

static frame writing(bitmap *b) {
    frame f = reading(b);
    call.growable = b;
    call.wasteful = 0;
    return f;
}

/* The rare part of wrote(), out of the way of the common one. */
__attribute__((noinline)) static status rewritten_or_marked(status s, bitmap **b) {
    if (s == OK) s = rewrite(b) == TRAPPED ? TRAPPED : OK;
    if (s == TRAPPED && !((*b)->flags & BITMAP_DAMAGED)) {
        (*b)->flags |= BITMAP_DAMAGED;
        totals.damaged++;
    }
    return s;
}

/* Ends a call that wrote to *b: takes the block where it is now, rewrites it when it is full of holes, and marks it when
 * its members can no longer be trusted. */
static status wrote(status s, bitmap **b) {
    *b = call.growable;
    return s == OK && !call.wasteful ? OK : rewritten_or_marked(s, b);
}

/* Ends the undoing of a write that ran out of memory. If that failed too, the members are no longer those that they were. */
static status undone(status s, bitmap **b) { return wrote(s == OK ? OK : TRAPPED, b) == OK ? OUT_OF_MEMORY : TRAPPED; }

static void change_alone(bitmap *b) {
    call.growable = b;
    call.wasteful = 0;
    core.enter_alone(arena(b), b->size);
}

/* Only a change can have left holes. */
static uint32_t set(uint64_t offset, uint32_t value) {
    uint32_t previous = core.set(offset, value);
    if (previous != value) call.wasteful = core.wasteful();
    return previous;
}

status core_set(bitmap **b, uint64_t offset, uint32_t value, uint32_t *previous) {
    return wrote(CHANGING(*b, *previous = set(offset, value)), b);
}

static frame setting(bitmap *b, uint64_t *offsets, uint64_t count) {
    frame f = writing(b);
    f.arguments = offsets;
    f.argument_count = (uint32_t)count;
    return f;
}

static void set_all(uint32_t bit, uint32_t count) {
    if (bit) core.addAll(0, count);
    else core.removeAll(0, count);
}

/* Those that it changed are then the first `changed` of the offsets. */
static status set_batch(bitmap **b, uint64_t *offsets, uint32_t count, uint32_t bit, uint32_t *changed) {
    frame f = setting(*b, offsets, count);
    status s = CHANGING_IN(&f, set_all(bit, count));
    *changed = core.handed_back();
    return wrote(s, b);
}

static status undo_set_all(bitmap **b, uint64_t *offsets, uint64_t count, uint32_t bit) {
    frame f = setting(*b, offsets, count);
    return undone(IN_CORE(&f, set_all(!bit, f.argument_count)), b);
}

status core_set_all(bitmap **b, uint64_t *offsets, uint32_t count, uint32_t bit, uint64_t *changed) {
    status s = count < SORTED_FROM ? OK : sort(offsets, count, 0);
    *changed = 0;
    for (uint32_t from = 0; s == OK && from < count; from += CHANGES) {
        uint32_t changed_now, length = count - from < CHANGES ? count - from : CHANGES;
        s = set_batch(b, offsets + from, length, bit, &changed_now);
        memmove(offsets + *changed, offsets + from, changed_now * sizeof *offsets);
        *changed += changed_now;
    }
    return s == OUT_OF_MEMORY ? undo_set_all(b, offsets, *changed, bit) : s;
}

static void change_range(enum change change, uint64_t low, uint64_t high) {
    switch (change) {
    case SET: core.setRange(low, high); break;
    case CLEAR: core.clearRange(low, high); break;
    case FLIP: core.flipRange(low, high); break;
    }
    call.used = core.used();
}

status core_change_range(bitmap **b, enum change change, uint64_t low, uint64_t high) {
    frame f = writing(*b);
    status s = wrote(CHANGING_IN(&f, change_range(change, low, high)), b);
    if (s == OK && (*b)->size - call.used > call.used / 4 + RANGE_SLACK) bitmap_fit(b);
    return s;
}

static uint32_t set_field(const field *at, int adds, int64_t value, enum overflow overflow) {
    return (adds ? core.addToField : core.setField)(at->offset, at->width, at->is_signed, (uint64_t)value, overflow);
}

status core_set_field(bitmap **b, const field *at, int adds, int64_t value, enum overflow overflow, outcome *o) {
    frame f = writing(*b);
    status s = CHANGING_IN(&f, o->written = set_field(at, adds, value, overflow));
    o->old = (int64_t)sandbox_members[0];
    o->reply = (int64_t)sandbox_members[adds];
    o->changed = sandbox_members[0] != sandbox_members[1];
    s = wrote(s, b);
    if (s != OUT_OF_MEMORY) return s;
    f = writing(*b);
    return undone(IN_CORE(&f, set_field(at, 0, o->old, WRAP)), b);
}

void bitmap_fit(bitmap **b) {
    if (READING(*b, call.used = core.used()) == OK) *b = bitmap_shrink(*b, call.used);
}

/* --- Tests ---------------------------------------------------------------------------------------------------------- */

#ifdef CORE_HAS_TRAP
const int sandbox_can_trap = 1;

status core_trap(bitmap **b, int while_writing, uint32_t way) {
    frame f = while_writing ? writing(*b) : reading(*b);
    status s = IN_CORE(&f, core.trap(way));
    return while_writing ? wrote(s, b) : s;
}
#else
const int sandbox_can_trap = 0;

status core_trap(bitmap **b, int while_writing, uint32_t way) { return (void)b, (void)while_writing, (void)way, OK; }
#endif

void sandbox_limit(uint32_t bytes) { most = bytes < ARENA_MOST ? bytes : ARENA_MOST; }
