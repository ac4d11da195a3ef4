/* core.c -- the core for one CPU level: its imports, the generated code, and the table of its exports.
 *
 * Compiled once per level with -DLEVEL=v2, v3, v4 or neon, which names the table: core_v2 and so on. This is
 * the only file that knows the w2c_ names of generated code.
 *
 * Compiled with ON_THREADS as well, for workers other than the main thread's: the table is then
 * threads_core_v2 and so on. The main thread's state of a call is static to this translation unit, which lets
 * the compiler see every use, and inline the imports into plain loads. Every import checks its addresses in
 * 64 bits before it accesses memory. */
#include "facts.h"
#include "core/row.h"
#include "core/sandbox.h"
#include "core/wasm-rt.h"

#if defined(__SSE4_2__)
#include <nmmintrin.h>
#endif
#include <simde/x86/sse2.h>

#define IMPORT __attribute__((always_inline, unused)) static inline

#include "core/spread.h"

/* ------------------------------------------------------------------ left and right */

#define CACHE_LINE 64

/* Both memories have the same imports; `side` is left or right. The address and the constant offset are at
 * most 2^32 - 1 each, so their sum cannot wrap in 64 bits. */
#define DEFINE_LOAD_IMPORT(side, name, type, result)                        \
    IMPORT result w2c_##side##_##name(TAKE_STATE_AND u32 at, u32 offset) {  \
        type value;                                                         \
        if (UNLIKELY((u64)at + offset + sizeof value > state->side##_size)) \
            sandbox_trap(WORKER, TRAP_OPERAND);                             \
        memcpy(&value, state->side##_base + at + offset, sizeof value);     \
        return (result)value;                                               \
    }

/* Bytes on their way to where masks send them: where the next of both lie, the words that say which masks there
 * are, and the masks of 1,024 bytes. */
typedef struct {
    const u8 *base, *words;
    u64 size, from, masks;
    _Alignas(64) u8 mask[128];
} spread_source;

IMPORT spread_source source_at(TAKE_STATE_AND const u8 *base, u64 size, u32 from, u32 masks, u32 summary) {
    if (UNLIKELY((u64)summary + BITSET_BYTES / 64 > size)) sandbox_trap(WORKER, TRAP_OPERAND);
    return (spread_source){.base = base, .words = base + summary, .size = size, .from = from, .masks = masks};
}

IMPORT void take_masks(TAKE_STATE_AND spread_source *s) {
    if (UNLIKELY(s->masks + sizeof s->mask > s->size)) sandbox_trap(WORKER, TRAP_OPERAND);
    s->masks += spread_masks(s->mask, s->base + s->masks, s->words);
    s->words += sizeof s->mask / 8;
}

#define SOURCE(side, at, masks, summary) \
    source_at(PASS_STATE_AND state->side##_base, state->side##_size, at, masks, summary)

/* The `i`th 128 bytes of 1,024. */
IMPORT void take_bytes(TAKE_STATE_AND spread_source *s, u32 i, u8 *to, u32 how) {
    if (UNLIKELY(s->from + 128 > s->size)) sandbox_trap(WORKER, TRAP_OPERAND);
    s->from += spread_128(to, s->base + s->from, &s->mask[i * 16], how);
}

/* spread() of left or right. */
IMPORT void spread(TAKE_STATE_AND u32 to, spread_source source, u32 how) {
    if (UNLIKELY((u64)to + BITSET_BYTES > state->memory_size)) sandbox_trap(WORKER, TRAP_MEMORY);
    u8 *out = state->memory_base + to, *const end = out + BITSET_BYTES;
    while (out < end) {
        take_masks(PASS_STATE_AND & source);
        for (u32 i = 0; i < 8; i++, out += 128) take_bytes(PASS_STATE_AND & source, i, out, how);
    }
}

#define DEFINE_SIDE(side)                                                                             \
    IMPORT void w2c_##side##_select(TAKE_STATE_AND u32 k) {                                           \
        if (k == SELF) {                                                                              \
            state->side##_base = state->memory_base;                                                  \
            state->side##_size = state->memory_size;                                                  \
        } else {                                                                                      \
            if (UNLIKELY(k >= state->operand_count)) sandbox_trap(WORKER, TRAP_OPERAND);              \
            state->side##_base = state->operands[k].base;                                             \
            state->side##_size = state->operands[k].size;                                             \
        }                                                                                             \
        state->side##_shown = k;                                                                      \
    }                                                                                                 \
                                                                                                      \
    IMPORT u32 w2c_##side##_size(TAKE_STATE) { return (u32)state->side##_size; }                      \
                                                                                                      \
    DEFINE_LOAD_IMPORT(side, load8, u8, u32)                                                          \
    DEFINE_LOAD_IMPORT(side, load16, u16, u32)                                                        \
    DEFINE_LOAD_IMPORT(side, load32, u32, u32)                                                        \
    DEFINE_LOAD_IMPORT(side, load64, u64, u64)                                                        \
    DEFINE_LOAD_IMPORT(side, load128, v128, v128)                                                     \
                                                                                                      \
    IMPORT void w2c_##side##_copy(TAKE_STATE_AND u32 to, u32 from, u32 bytes) {                       \
        if (UNLIKELY((u64)from + bytes > state->side##_size)) sandbox_trap(WORKER, TRAP_OPERAND);     \
        if (UNLIKELY((u64)to + bytes > state->memory_size)) sandbox_trap(WORKER, TRAP_MEMORY);        \
        if (bytes > 0) memmove(state->memory_base + to, state->side##_base + from, bytes);            \
    }                                                                                                 \
                                                                                                      \
    IMPORT void w2c_##side##_spread(TAKE_STATE_AND u32 to, u32 at, u32 masks, u32 summary, u32 how) { \
        spread(PASS_STATE_AND to, SOURCE(side, at, masks, summary), how);                             \
    }                                                                                                 \
                                                                                                      \
    IMPORT void w2c_##side##_prefetch(TAKE_STATE_AND u32 at, u32 bytes) {                             \
        if ((u64)at + bytes > state->side##_size) return;                                             \
        for (u32 ahead = 0; ahead < bytes; ahead += CACHE_LINE) {                                     \
            __builtin_prefetch(state->side##_base + at + ahead);                                      \
        }                                                                                             \
    }

DEFINE_SIDE(left)
DEFINE_SIDE(right)

IMPORT u64 w2c_right_identity(TAKE_STATE_AND u32 k) {
    if (UNLIKELY(k >= state->operand_count)) sandbox_trap(WORKER, TRAP_OPERAND);
    const span *operand = &state->operands[k];
    return operand->of ? (u64)(uintptr_t)operand->of : (u64)(uintptr_t)operand->base;
}

static void set_memory(TAKE_STATE_AND span memory);
#include "core/showing.h"

/* ------------------------------------------------------------------ vector */

IMPORT v128 w2c_vector_compact(TAKE_STATE_AND v128 lanes, u32 mask) {
    return shuffled(lanes, simde_wasm_v128_load(packed_lanes[mask & 0xff]));
}

#if defined(__aarch64__)
/* Has all bits set in the lanes that are equal. If clang knew that, it would combine the lanes as single bits
 * and widen them. */
IMPORT uint16x8_t equal_lanes(uint16x8_t x, uint16x8_t y) {
    uint16x8_t equal = vceqq_u16(x, y);
    __asm__("" : "+w"(equal));
    return equal;
}
#endif

/* SSE4.2 has an instruction, which stops at a lane of 0. Elsewhere, compares x with y in all eight
 * rotations. On arm64, none of them waits for another one. */
IMPORT u32 w2c_vector_lanesIn(TAKE_STATE_AND v128 x, v128 y) {
#if defined(__SSE4_2__)
    enum { HOW = _SIDD_UWORD_OPS | _SIDD_CMP_EQUAL_ANY | _SIDD_BIT_MASK };
    return (u32)_mm_cvtsi128_si32(_mm_cmpistrm(y, x, HOW));
#elif defined(__aarch64__)
    const uint16x8_t a = (uint16x8_t)x, b = (uint16x8_t)y, bit_of_lane = {1, 2, 4, 8, 16, 32, 64, 128};
#define TURNED(lanes) equal_lanes(a, vextq_u16(b, b, lanes))
    uint16x8_t first = vorrq_u16(vorrq_u16(equal_lanes(a, b), TURNED(1)), vorrq_u16(TURNED(2), TURNED(3)));
    uint16x8_t second = vorrq_u16(vorrq_u16(TURNED(4), TURNED(5)), vorrq_u16(TURNED(6), TURNED(7)));
#undef TURNED
    return vaddvq_u16(vandq_u16(vorrq_u16(first, second), bit_of_lane));
#else
    v128 found = simde_wasm_i16x8_eq(x, y);
    for (int turn = 1; turn < 8; turn++) {
        y = simde_wasm_i8x16_shuffle(y, y, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1);
        found = simde_wasm_v128_or(found, simde_wasm_i16x8_eq(x, y));
    }
    return simde_wasm_i16x8_bitmask(found);
#endif
}

IMPORT u64 w2c_vector_spread(TAKE_STATE_AND u64 bytes, u32 mask) {
    return shuffled_word(bytes, spread_low[mask & 0xff]);
}

IMPORT u32 w2c_vector_width(TAKE_STATE) { return WIDE; }

/* ------------------------------------------------------------------ work */

IMPORT void w2c_work_spend(TAKE_STATE_AND u32 units) {
    state->work_left -= units;
    if (UNLIKELY(state->work_left < 0)) state->work_left = sandbox_worked(WORKER);
}

/* ------------------------------------------------------------------ arena */

static void set_memory(TAKE_STATE_AND span memory) {
    state->memory_base = memory.base;
    state->memory_size = memory.size;
    if (state->left_shown == SELF) w2c_left_select(PASS_STATE_AND SELF);
    if (state->right_shown == SELF) w2c_right_select(PASS_STATE_AND SELF);
}

IMPORT u32 w2c_arena_size(TAKE_STATE) { return (u32)state->memory_size; }

/* Not inlined: growing is rare, but has many call sites. */
__attribute__((noinline, unused)) static void w2c_arena_grow(TAKE_STATE_AND u32 bytes) {
    if (bytes <= state->memory_size) return;
    set_memory(PASS_STATE_AND sandbox_grow(WORKER, bytes));
    if (UNLIKELY(bytes > state->memory_size)) sandbox_trap(WORKER, TRAP_GROWTH);
}

IMPORT u32 w2c_arena_most(TAKE_STATE) { return segment_bytes; }

__attribute__((noinline, unused)) static void w2c_arena_close(TAKE_STATE_AND u32 used, u32 held, u64 first,
                                                              u64 members) {
    set_memory(PASS_STATE_AND sandbox_close(WORKER, used, held, first, members));
}

/* ------------------------------------------------------------------ bits */

/* The machine is little endian, so bits have the same numbers in words of any size. */
#define DEFINE_BITS_IMPORT(name, change)                                                              \
    IMPORT u32 w2c_bits_##name(TAKE_STATE_AND u32 at, u64 four) {                                     \
        u32 were_set = 0;                                                                             \
        if (UNLIKELY((u64)at + BITSET_BYTES > state->memory_size)) sandbox_trap(WORKER, TRAP_MEMORY); \
        for (int i = 0; i < 4; i++, four >>= 16) {                                                    \
            u32 word, lane = four & 0xffff, bit = lane % 32;                                          \
            u8 *there = state->memory_base + at + lane / 32 * sizeof word;                            \
            memcpy(&word, there, sizeof word);                                                        \
            were_set += word >> bit & 1;                                                              \
            word change((u32)1 << bit);                                                               \
            memcpy(there, &word, sizeof word);                                                        \
        }                                                                                             \
        return were_set;                                                                              \
    }

DEFINE_BITS_IMPORT(set, |=)
DEFINE_BITS_IMPORT(clear, &= ~)
DEFINE_BITS_IMPORT(flip, ^=)

/* ------------------------------------------------------------------ bytes */

IMPORT void w2c_bytes_increment(TAKE_STATE_AND u32 at, u64 four) {
    if (UNLIKELY((u64)at + UINT16_MAX >= state->memory_size)) sandbox_trap(WORKER, TRAP_MEMORY);
    for (int i = 0; i < 4; i++, four >>= 16) state->memory_base[at + (four & UINT16_MAX)]++;
}

IMPORT u64 w2c_bytes_atLeast(TAKE_STATE_AND u32 at, u32 least) {
    if (UNLIKELY((u64)at + 64 > state->memory_size)) sandbox_trap(WORKER, TRAP_MEMORY);
    const u8 *there = state->memory_base + at;
#if defined(__AVX512BW__)
    return _mm512_cmpge_epu8_mask(_mm512_loadu_si512(there), _mm512_set1_epi8((char)least));
#else
    const v128 all_least = simde_wasm_i8x16_splat((int8_t)least);
    u64 found = 0;
    for (int i = 0; i < 64; i += 16) {
        v128 x = simde_wasm_v128_load(there + i);
        found |= (u64)simde_wasm_i8x16_bitmask(simde_wasm_u8x16_ge(x, all_least)) << i;
    }
    return found;
#endif
}

IMPORT u32 w2c_bytes_gather(TAKE_STATE_AND u32 to, u32 at, u32 masks) {
    if (UNLIKELY((u64)(to > at ? to : at) + 512 > state->memory_size
                 || (u64)masks + 64 > state->memory_size)) {
        sandbox_trap(WORKER, TRAP_MEMORY);
    }
    u8 *const memory = state->memory_base, *const start = memory + to, *out = start;
    for (u32 i = 0; i < 64; i += 8) {
        const u64 mask = gather_64(out, memory + at + 8 * i);
        memcpy(memory + masks + i, &mask, sizeof mask);
        out += __builtin_popcountll(mask);
    }
    return (u32)(out - start);
}

/* AVX-512 keeps 128 bytes of both in registers. Otherwise it is quicker to expand 1,024 bytes of one after the other. */
#define TOGETHER (WIDE == 64 ? 1 : 8)

/* Combines l and r, and returns the cardinality. Writes a bitset to `out` if `stores`, a constant. */
IMPORT u32 combined(TAKE_STATE_AND u8 *out, u32 stores, spread_source l, spread_source r, u32 how) {
    u64 members = 0, x[16 * TOGETHER];
    for (u32 at = 0; at < BITSET_BYTES; at += 1024) {
        take_masks(PASS_STATE_AND & l);
        if (TOGETHER == 1) take_masks(PASS_STATE_AND & r);
        for (u32 i = 0; i < 8; i += TOGETHER) {
            u8 *const there = stores && TOGETHER > 1 ? out + at : (u8 *)x;
            for (u32 k = 0; k < TOGETHER; k++)
                take_bytes(PASS_STATE_AND & l, i + k, there + 128 * k, SPREAD_STORE);
            if (TOGETHER > 1) take_masks(PASS_STATE_AND & r);
            for (u32 k = 0; k < TOGETHER; k++) take_bytes(PASS_STATE_AND & r, i + k, there + 128 * k, how);
            for (u32 k = 0; k < 16 * TOGETHER; k++) {
                u64 word;
                memcpy(&word, there + 8 * k, sizeof word);
                members += (u64)__builtin_popcountll(word);
            }
            if (stores && TOGETHER == 1) memcpy(out + at + 128 * i, x, sizeof x);
        }
    }
    return (u32)members;
}

IMPORT u32 w2c_bytes_meet(TAKE_STATE_AND u32 at, u32 masks, u32 summary, u32 at_right, u32 masks_right,
                          u32 summary_right) {
    return combined(PASS_STATE_AND NULL, 0, SOURCE(left, at, masks, summary),
                    SOURCE(right, at_right, masks_right, summary_right), SPREAD_AND);
}

IMPORT u32 w2c_bytes_combine(TAKE_STATE_AND u32 to, u32 at, u32 masks, u32 summary, u32 at_right,
                             u32 masks_right, u32 summary_right, u32 how) {
    if (UNLIKELY((u64)to + BITSET_BYTES > state->memory_size)) sandbox_trap(WORKER, TRAP_MEMORY);
    return combined(PASS_STATE_AND state->memory_base + to, 1, SOURCE(left, at, masks, summary),
                    SOURCE(right, at_right, masks_right, summary_right), how);
}

/* ------------------------------------------------------------------ argument, reply, output */

IMPORT u64 w2c_argument_value(TAKE_STATE_AND u32 index) {
    if (UNLIKELY(index >= state->argument_count)) sandbox_trap(WORKER, TRAP_ARGUMENT);
    return state->arguments[index];
}

IMPORT void w2c_argument_put(TAKE_STATE_AND u32 index, u64 value) {
    if (UNLIKELY(index >= state->argument_count)) sandbox_trap(WORKER, TRAP_ARGUMENT);
    state->arguments[index] = value;
}

IMPORT void w2c_argument_handBack(TAKE_STATE_AND u64 value) {
    if (UNLIKELY(state->handed_back_count >= state->argument_count)) sandbox_trap(WORKER, TRAP_ARGUMENT);
    state->arguments[state->handed_back_count++] = value;
}

IMPORT void w2c_argument_defer(TAKE_STATE) { state->is_deferred = 1; }

IMPORT u32 w2c_argument_deferred(TAKE_STATE) { return state->is_deferred; }

IMPORT void w2c_reply_member(TAKE_STATE_AND u64 member) {
    if (UNLIKELY(state->member_count == MEMBERS_BATCH)) {
        sandbox_take_members(WORKER);
        state->member_count = 0;
    }
    MEMBERS[state->member_count++] = member;
}

typedef u16 lanes16 __attribute__((vector_size(16)));
typedef u64 lanes64 __attribute__((vector_size(64)));

/* Stores all lanes if they fit; those beyond `count` will be overwritten. */
IMPORT void w2c_reply_lanes(TAKE_STATE_AND u64 base, v128 lanes, u32 count) {
    const lanes16 low = (lanes16)lanes;
    const u32 most = sizeof low / sizeof low[0];
    if (UNLIKELY(count > most)) sandbox_trap(WORKER, TRAP_OUTPUT);
    if (UNLIKELY(state->member_count > MEMBERS_BATCH - most)) {
        for (u32 i = 0; i < count; i++) w2c_reply_member(PASS_STATE_AND base + low[i]);
    } else {
        const lanes64 members = __builtin_convertvector(low, lanes64) + base;
        memcpy(&MEMBERS[state->member_count], &members, sizeof members);
        state->member_count += count;
    }
}

/* output_used never exceeds output_size, so the subtractions cannot wrap. */
IMPORT void w2c_output_write(TAKE_STATE_AND u32 from, u32 bytes) {
    if (UNLIKELY((u64)from + bytes > state->memory_size)) sandbox_trap(WORKER, TRAP_MEMORY);
    if (UNLIKELY(bytes > state->output_size - state->output_used)) sandbox_trap(WORKER, TRAP_OUTPUT);
    if (bytes > 0) memcpy(state->output + state->output_used, state->memory_base + from, bytes);
    state->output_used += bytes;
}

IMPORT void w2c_output_fill(TAKE_STATE_AND u32 value, u64 count) {
    if (UNLIKELY(count > state->output_size - state->output_used)) sandbox_trap(WORKER, TRAP_OUTPUT);
    if (count > 0) memset(state->output + state->output_used, (int)(value & 0xff), count);
    state->output_used += count;
}

IMPORT void w2c_output_put(TAKE_STATE_AND u64 value, u32 bytes) {
    u64 room = state->output_size - state->output_used;
    if (UNLIKELY(bytes > sizeof value || bytes > room)) sandbox_trap(WORKER, TRAP_OUTPUT);
    if (bytes > 0) memcpy(state->output + state->output_used, &value, bytes);
    state->output_used += bytes;
}

/* Stores the whole vector if it fits; bytes beyond output_used will be overwritten. */
IMPORT void w2c_output_put128(TAKE_STATE_AND v128 value, u32 bytes) {
    u64 room = state->output_size - state->output_used;
    if (UNLIKELY(bytes > sizeof value || bytes > room)) sandbox_trap(WORKER, TRAP_OUTPUT);
    if (LIKELY(room >= sizeof value)) memcpy(state->output + state->output_used, &value, sizeof value);
    else if (bytes > 0) memcpy(state->output + state->output_used, &value, bytes);
    state->output_used += bytes;
}

IMPORT void w2c_output_mark(TAKE_STATE_AND u64 at, u32 bits) {
    if (UNLIKELY(at >= state->output_used)) sandbox_trap(WORKER, TRAP_OUTPUT);
    state->output[at] |= (u8)bits;
}

/* ------------------------------------------------------------------ the core */

#include "core-roaring.c"

static void enter_alone(TAKE_WORKER_AND uint8_t *base, uint32_t size) {
    FIND_STATE;
    state->members = w->members;
    state->worker = w;
    state->operand_count = state->argument_count = state->handed_back_count = state->member_count = 0;
    state->output_size = state->output_used = 0;
    state->recursion = 0;
    state->work_left = WORKER->first_work;
    state->left_shown = state->right_shown = SELF;
    state->self_of = NULL;
    set_memory(PASS_STATE_AND(span){.base = base, .size = size});
}

static void enter(TAKE_WORKER_AND const frame *f) {
    FIND_STATE;
    enter_alone(w, f->memory.base, f->memory.size);
    state->self_of = f->memory.of;
    state->self_at = 0;
    state->operands = f->operands;
    state->operand_count = f->operand_count;
    for (u32 k = 0; k < f->operand_count; k++) {
        if (f->operands[k].of == NULL && !WORKER->current.changes) continue;
        state->operands = sandbox_views(w, f->operands, f->operand_count);
        break;
    }
    state->arguments = f->arguments;
    state->argument_count = f->argument_count;
    state->is_deferred = 0;
    state->output = f->output;
    state->output_size = f->output_size;
}

static uint32_t handed_back(TAKE_WORKER) {
    FIND_STATE;
    return state->handed_back_count;
}
static uint32_t deferred(TAKE_WORKER) {
    FIND_STATE;
    return state->is_deferred;
}
static uint32_t collected(TAKE_WORKER) {
    FIND_STATE;
    return state->member_count;
}

#define TEXT(name) #name
#define LEVEL_TEXT(level) TEXT(level)
#define TABLE(level) TABLE_OF(level)
#define EXPORT(name) .name = w2c_roaring_##name,

#ifdef ON_THREADS
#define TABLE_OF(level) threads_core_##level
/* Threads change no bitmap. The exports that only writes call are left out of their build, which makes it
 * much smaller. */
static _Noreturn void forbidden(TAKE_WORKER) { sandbox_trap(w, TRAP_UNREACHABLE); }
#define EXPORT_OF_MAIN_THREAD(name) .name = (void *)forbidden,
#else
#define TABLE_OF(level) core_##level
#define EXPORT_OF_MAIN_THREAD EXPORT
#endif

/* clang-format off */
const struct core TABLE(LEVEL) = {
    .level = LEVEL_TEXT(LEVEL),
    .enter = enter,
    .enter_alone = enter_alone,
    .handed_back = handed_back,
    .deferred = deferred,
    .collected = collected,
    CORE_EXPORTS(EXPORT, EXPORT_OF_MAIN_THREAD)
};
/* clang-format on */
