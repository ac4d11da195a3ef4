/* bits.h -- what the sequence target compares bitmaps with: arrays of bits, and where their bits lie as
 * offsets.
 *
 * The model of a bitmap has DOMAIN bits. A geometry maps them to offsets: 2^low_bits bits to a container, in
 * consecutive containers from `base` on. With low_bits = 16 there are few, dense containers. With few bits
 * per container the directory has several levels. */
#pragma once

#include "fuzz.h"

#define DOMAIN (1u << 18)
#define WORDS (DOMAIN / 64)
#define BITMAPS 3

/* A bitmap and its model. */
static struct subject {
    bitmap *b;
    uint64_t bits[WORDS];
} subjects[BITMAPS];

/* --- The input ----------------------------------------------------------------------------------------- */

static const uint8_t *input, *input_end;

static uint32_t take(int bytes) {
    uint32_t value = 0;
    for (; bytes > 0; bytes--) value = value << 8 | (input < input_end ? *input++ : 0);
    return value;
}

static struct subject *take_bitmap(void) { return &subjects[take(1) % BITMAPS]; }

/* --- The geometry -------------------------------------------------------------------------------------- */

static struct {
    uint64_t base;              /* the first container's key */
    uint32_t low_bits;
    uint32_t low;               /* the first offset in a container */
} geometry;

enum { WIDTHS = 8, BASES = 4, LOWS = 2, GEOMETRIES = WIDTHS * BASES * LOWS };

static void choose_geometry(uint32_t number) {
    static const uint32_t low_bits[WIDTHS] = {16, 16, 16, 16, 16, 10, 6, 3};
    geometry.low_bits = low_bits[number % WIDTHS];
    uint64_t containers = DOMAIN >> geometry.low_bits;
    const uint64_t bases[BASES] = {0, 65536 - containers, 65536 - containers / 2, (1ull << 48) - containers};
    geometry.base = bases[number / WIDTHS % BASES];
    geometry.low = number / WIDTHS / BASES % LOWS ? 65536 - (1u << geometry.low_bits) : 0;
}

static uint64_t offset_of(uint32_t i) {
    return (geometry.base + (i >> geometry.low_bits)) << 16
         | (geometry.low + (i & ((1u << geometry.low_bits) - 1)));
}

static uint32_t index_of(uint64_t offset) {
    uint64_t container = (offset >> 16) - geometry.base, low = (offset & 65535) - geometry.low;
    EXPECT(container < DOMAIN >> geometry.low_bits && low < 1u << geometry.low_bits);
    return (uint32_t)(container << geometry.low_bits | low);
}

/* --- The model ----------------------------------------------------------------------------------------- */

static uint32_t has(const struct subject *k, uint32_t i) { return k->bits[i / 64] >> i % 64 & 1; }

static void give(struct subject *k, uint32_t i, uint32_t bit) {
    k->bits[i / 64] = (k->bits[i / 64] & ~(1ull << i % 64)) | (uint64_t)bit << i % 64;
}

/* The number of members below index i. */
static uint32_t members_below(const struct subject *k, uint32_t i) {
    uint32_t members = 0;
    for (uint32_t w = 0; w < i / 64; w++) members += (uint32_t)__builtin_popcountll(k->bits[w]);
    return i % 64 ? members + (uint32_t)__builtin_popcountll(k->bits[i / 64] << (64 - i % 64)) : members;
}

/* The bits of word w with indexes in [low, high]. */
static uint64_t mask_of(uint32_t w, uint32_t low, uint32_t high) {
    uint64_t mask = ~0ull;
    if (w == low / 64) mask &= ~0ull << low % 64;
    if (w == high / 64) mask &= ~0ull >> (63 - high % 64);
    return w < low / 64 || w > high / 64 ? 0 : mask;
}

/* The first index from i on whose bit equals `bit`; DOMAIN if there is none. */
static uint32_t next_with(const struct subject *k, uint32_t i, uint32_t bit) {
    for (uint32_t w = i / 64; w < WORDS; w++) {
        uint64_t bits = (bit ? k->bits[w] : ~k->bits[w]) & mask_of(w, i, DOMAIN - 1);
        if (bits) return 64 * w + (uint32_t)__builtin_ctzll(bits);
    }
    return DOMAIN;
}
