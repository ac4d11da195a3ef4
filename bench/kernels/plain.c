/* plain.c -- AND of two bitsets in plain C, compiled with the same compiler and flags as the core, once per
 * CPU level. `restrict` and a constant trip count let the compiler vectorize and unroll freely. */
#include "plain.h"

static uint32_t intersect(const uint64_t *restrict a, const uint64_t *restrict b, uint64_t *restrict out) {
    uint64_t members = 0;
    for (int i = 0; i < BITSET_WORDS; i++) {
        uint64_t word = a[i] & b[i];
        out[i] = word;
        members += (uint64_t)__builtin_popcountll(word);
    }
    return (uint32_t)members;
}

static uint32_t intersect_cardinality(const uint64_t *restrict a, const uint64_t *restrict b) {
    uint64_t members = 0;
    for (int i = 0; i < BITSET_WORDS; i++) members += (uint64_t)__builtin_popcountll(a[i] & b[i]);
    return (uint32_t)members;
}

#define TEXT(name) #name
#define LEVEL_TEXT(level) TEXT(level)
#define TABLE(level) TABLE_OF(level)
#define TABLE_OF(level) plain_##level

const struct plain TABLE(LEVEL) = {LEVEL_TEXT(LEVEL), intersect, intersect_cardinality};
