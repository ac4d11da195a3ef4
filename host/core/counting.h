/* counting.h -- counts: calls that count members within a range of keys. The counts of ranges that do not
 * overlap add up, so several threads can share a long count (threads/sharing.h). */
#pragma once

#include "core/operands.h"
#include "core/worker.h"

/* Keys of containers, both inclusive. */
typedef struct key_range {
    uint64_t first, last;
} key_range;

#define ALL_KEYS ((key_range){0, UINT64_MAX >> 16})

typedef struct counting {
    /* Calls the core, which counts in these keys and sets the numbers, each modulo 2^64. */
    void (*call)(worker *w, const struct counting *c, key_range keys, uint64_t *numbers);
    /* Finds up to parts - 1 keys at which to cut, ascending, such that the parts take about equally long. */
    status (*cut)(worker *w, const struct counting *c, uint32_t parts, uint64_t *cuts, uint32_t *count);
    const operands *operands;
    uint32_t bitmaps; /* among the operands, in front */
    uint32_t numbers;
    uint64_t most; /* a single number need not be counted beyond it; 0 for no limit */
    int any; /* set: a single number that is 0 stands for 2^64 */
    /* Arguments of some of the calls. */
    enum operation operation;
    uint32_t rows, columns;
    uint64_t greatest, from, to;
    const struct asked *asked;
} counting;
