/* parts.h -- counts: calls that count members within a range of keys. What they count in ranges that do not
 * overlap adds up, so several threads can share a long one (parts.c). */
#ifndef ROAR_PARTS_H
#define ROAR_PARTS_H

#include "sandbox.h"

/* Keys of containers, both inclusive. */
typedef struct key_range {
    uint64_t first, last;
} key_range;

#define ALL_KEYS ((key_range){0, UINT64_MAX >> 16})

typedef struct counting {
    /* Calls the core, which counts in these keys and sets the numbers, each modulo 2^64. */
    void (*call)(const struct counting *c, key_range keys, uint64_t *numbers);
    const operands *operands;
    uint32_t bitmaps;               /* among the operands, in front */
    uint32_t numbers;
    uint64_t most;                  /* a single number need not be counted beyond it; 0 for no limit */
    int any;                        /* set: a single number that is 0 stands for 2^64 */
    /* What some of the calls need. */
    enum operation operation;
    uint32_t rows, columns;
    uint64_t greatest, from;
} counting;

status count_within(counting *c, key_range keys, uint64_t *numbers);
/* Sets cuts[0 .. *count - 1], ascending: keys at which to cut the bitmaps into up to `parts` parts that take
 * about as long. */
status core_cuts(const counting *c, uint32_t parts, uint64_t *cuts, uint32_t *count);

/* In the second build: counts in all keys, together with threads that are idle. */
status count_in_parts(counting *c, uint64_t *numbers);

#endif
