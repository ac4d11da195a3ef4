/* spread.h -- moving bytes to where the bits of masks are, and back, with the instructions of the CPU level.
 *
 * None of these functions checks addresses. Only core.c includes this: the imports there do, before they call them. */
#pragma once

#include "shuffles.h"

/* ------------------------------------------------------------------ shuffles */

/* The bytes of x in another order; 0 for a number from 128 on. */
IMPORT v128 shuffled(v128 x, v128 order) {
#if defined(__SSSE3__)
    return (v128)_mm_shuffle_epi8((__m128i)x, (__m128i)order);
#elif defined(__aarch64__)
    return (v128)vqtbl1q_u8((uint8x16_t)x, (uint8x16_t)order);
#else
    return simde_wasm_i8x16_swizzle(x, order);
#endif
}

IMPORT v128 pair(u64 low, u64 high) { return (v128)simde_wasm_i64x2_make((s64)low, (s64)high); }

/* Eight bytes at `low`, then those at `high`. As f64, x86 loads either into half a vector. */
IMPORT v128 load_pair(const u8 *low, const u8 *high) {
    f64 x[2];
    memcpy(&x[0], low, sizeof x[0]);
    memcpy(&x[1], high, sizeof x[1]);
    return (v128)simde_wasm_f64x2_make(x[0], x[1]);
}

/* Eight bytes in another order. */
IMPORT u64 shuffled_word(u64 bytes, const u8 *order) {
    return (u64)simde_wasm_i64x2_extract_lane(shuffled(pair(bytes, 0), simde_wasm_v128_load64_zero(order)),
                                              0);
}

/* Combines bytes x with those at `to`. `how` is a constant in each call. */
#define SPREAD_INTO(to, x, how)                        \
    do {                                               \
        __typeof__(x) there;                           \
        memcpy(&there, to, sizeof there);              \
        if (how == SPREAD_OR) x |= there;              \
        else if (how == SPREAD_XOR) x ^= there;        \
        else if (how == SPREAD_AND) x &= there;        \
        else if (how == SPREAD_ANDNOT) x = there & ~x; \
        memcpy(to, &x, sizeof there);                  \
    } while (0)

#if defined(__AVX512VBMI2__)
#define WIDE 64
/* Both keep the vector in a register: with memory, these instructions take several times as long. */
IMPORT u32 spread_64(u8 *to, const u8 *from, const u8 *masks, u32 how) {
    __m512i packed = _mm512_loadu_si512(from);
    u64 mask;
    memcpy(&mask, masks, sizeof mask);
    __asm__("" : "+v"(packed));
    __m512i x = _mm512_maskz_expand_epi8(mask, packed);
    SPREAD_INTO(to, x, how);
    return (u32)__builtin_popcountll(mask);
}

IMPORT u64 gather_64(u8 *to, const u8 *from) {
    const __m512i x = _mm512_loadu_si512(from);
    const u64 mask = _mm512_test_epi8_mask(x, x);
    __m512i packed = _mm512_maskz_compress_epi8(mask, x);
    __asm__("" : "+v"(packed));
    _mm512_storeu_si512(to, packed);
    return mask;
}
#else
/* By tables, for two bytes of the masks at a time. */
IMPORT u32 spread_by_table(u8 *to, const u8 *from, const u8 *masks, u32 bytes, u32 how) {
    const u8 *const start = from;
    for (u32 at = 0; at < bytes; at += 16, masks += 2) {
        const u8 *const second = from + __builtin_popcount(masks[0]);
        v128 x = shuffled(load_pair(from, second), load_pair(spread_low[masks[0]], spread_high[masks[1]]));
        SPREAD_INTO(to + at, x, how);
        from = second + __builtin_popcount(masks[1]);
    }
    return (u32)(from - start);
}

/* The widest vectors that there are, or those of 16 bytes. */
#if defined(__AVX2__)
#define WIDE 32
#define WIDE_SHUFFLED(x, order) ((wide)_mm256_shuffle_epi8((__m256i)(x), (__m256i)(order)))
#define ZIPPED(half, bits, x, y) ((wide)_mm256_unpack##half##_epi##bits((__m256i)(x), (__m256i)(y)))
#define BITMASK(x) ((u32)_mm256_movemask_epi8((__m256i)(x)))
#define LOAD_WIDE(low, high) ((wide)_mm256_loadu2_m128i((const void *)(high), (const void *)(low)))
#else
#define WIDE 16
#define WIDE_SHUFFLED(x, order) ((wide)shuffled((v128)(x), (v128)(order)))
#define ZIPPED(half, bits, x, y) \
    ((wide)simde_mm_unpack##half##_epi##bits((simde__m128i)(x), (simde__m128i)(y)))
#define BITMASK(x) ((u16)simde_wasm_i8x16_bitmask((v128)(x)))
#define LOAD_WIDE(low, high) ((void)(high), (wide)simde_wasm_v128_load(low))
#endif
typedef u8 wide __attribute__((vector_size(WIDE)));
typedef u16 wide16 __attribute__((vector_size(WIDE)));
typedef u32 wide32 __attribute__((vector_size(WIDE)));

/* How many of the mask's first `bits` bits are set: of 0, 16, 32, 48 or all. */
IMPORT u32 ones_in(u64 mask, u32 bits) {
    if (bits == 0) return 0;
#if defined(__aarch64__)
    return (u64)vcnt_u8(vcreate_u8(mask)) * 0x0101010101010101 >> (bits - 8) & 0xff;
#else
    return (u32)__builtin_popcountll(mask << (64 - bits));
#endif
}

/* Four times WIDE bytes by arithmetic. Half a byte of the masks stands for four of them. The order of the first
 * byte of each four is looked up in one vector, that of the second in another; then these are interleaved. */
IMPORT u32 spread_by_arithmetic(u8 *to, const u8 *from, const u8 *masks, u32 how) {
    const u8 *const start = from;
    u64 mask[WIDE / 16];
    memcpy(mask, masks, sizeof mask);
#if defined(__AVX2__)
    const wide number = {0, 0, 1, 1, 4, 4, 5, 5, 8,  8,  9,  9,  12, 12, 13, 13,
                         2, 2, 3, 3, 6, 6, 7, 7, 10, 10, 11, 11, 14, 14, 15, 15};
    wide both; /* clang would load half of it and then copy that */
    __asm__("vbroadcasti128 %1, %0" : "=x"(both) : "m"(*(const v128 *)masks));
    const wide twice = WIDE_SHUFFLED(both, number);
#else
    const wide twice = ZIPPED(lo, 8, pair(mask[0], 0), pair(mask[0], 0));
#endif
    const wide half = (wide)(((wide16)twice & 0x000f) | ((wide16)twice >> 4 & 0x0f00));
    wide x[5];
    for (int bit = 0; bit < 5; bit++)
        x[bit] = WIDE_SHUFFLED(LOAD_WIDE(set_before[bit], set_before[bit]), half);
    const wide before = (wide)((wide32)x[4] * 0x01010100);
    for (int bit = 0; bit < 4; bit++) x[bit] += before;
    const wide low_01 = ZIPPED(lo, 8, x[0], x[1]), low_23 = ZIPPED(lo, 8, x[2], x[3]);
    const wide high_01 = ZIPPED(hi, 8, x[0], x[1]), high_23 = ZIPPED(hi, 8, x[2], x[3]);
    const wide order[] = {ZIPPED(lo, 16, low_01, low_23), ZIPPED(hi, 16, low_01, low_23),
                          ZIPPED(lo, 16, high_01, high_23), ZIPPED(hi, 16, high_01, high_23)};
    for (u32 at = 0; at < 4 * WIDE; at += WIDE) {
        const u64 own = mask[at / 64];
        const u8 *const low = from + ones_in(own, at % 64), *const high = from + ones_in(own, at % 64 + 16);
        wide y = WIDE_SHUFFLED(LOAD_WIDE(low, high), order[at / WIDE]);
        SPREAD_INTO(to + at, y, how);
        if (at % 64 + WIDE == 64) from += ones_in(own, 64);
    }
    return (u32)(from - start);
}

IMPORT u64 gather_64(u8 *to, const u8 *from) {
    u64 absent = 0;
    for (int at = 0; at < 64; at += WIDE) {
        wide x;
        memcpy(&x, from + at, sizeof x);
        absent |= (u64)BITMASK(x == 0) << at;
    }
    for (int at = 0; at < 64; at += 8, from += 8) {
        u64 word;
        memcpy(&word, from, sizeof word);
        word = shuffled_word(word, packed_low[~absent >> at & 0xff]);
        memcpy(to, &word, sizeof word);
        to += __builtin_popcount(~absent >> at & 0xff);
    }
    return ~absent;
}
#endif

/* 128 bytes. Arithmetic keeps the vector units busy, and tables keep the loads busy: with vectors of 16 bytes,
 * half by each takes a fifth less time than all by either. But tables need counts of bits, slow on arm64. */
IMPORT u32 spread_128(u8 *to, const u8 *from, const u8 *masks, u32 how) {
#if defined(__AVX512VBMI2__)
    const u32 used = spread_64(to, from, masks, how);
    return used + spread_64(to + 64, from + used, masks + 8, how);
#else
    const u32 used = spread_by_arithmetic(to, from, masks, how);
#if defined(__aarch64__)
    return used + spread_by_arithmetic(to + 64, from + used, masks + 8, how);
#elif !defined(__AVX2__)
    return used + spread_by_table(to + 64, from + used, masks + 8, 64, how);
#endif
    return used;
#endif
}

/* The masks of 1,024 bytes: by tables, the first are there soonest, and what waits for them begins. */
IMPORT u32 spread_masks(u8 *to, const u8 *from, const u8 *words) {
#if !defined(__AVX512VBMI2__) && !defined(__aarch64__)
    return spread_by_table(to, from, words, 128, SPREAD_STORE);
#else
    return spread_128(to, from, words, SPREAD_STORE);
#endif
}
