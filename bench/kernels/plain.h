/* plain.h -- the plain C loops that the kernels are compared with, one build per CPU level. */
#pragma once

#include <stdint.h>

#define BITSET_WORDS 1024

struct plain {
    const char *level;
    uint32_t (*intersect)(const uint64_t *a, const uint64_t *b, uint64_t *out);
    uint32_t (*intersect_cardinality)(const uint64_t *a, const uint64_t *b);
};

#if defined(__x86_64__)
extern const struct plain plain_v2, plain_v3, plain_v4;
#elif defined(__aarch64__)
extern const struct plain plain_neon;
#endif
