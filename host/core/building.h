/* building.h -- calls that build a new bitmap, without unused space, or count what they would build. */
#pragma once

#include "core/counting.h"
#include "core/operands.h"
#include "core/worker.h"

/* The most operands of one call. */
#define OPERANDS_MAX 65535

/* Sorts offsets in ascending order: VALUES_ROOM(count) words. */
status sort_offsets(worker *w, uint64_t *offsets, uint32_t count);

/* A new bitmap, which the caller owns, and its number of members, which the core counted while it built
 * it. */
typedef struct result {
    bitmap *b;
    cardinality members;
} result;

/* NOT is core_complement. */
status core_combine(worker *w, enum operation operation, const operands *sources, result *r);
/* A bitmap of these offsets: VALUES_ROOM(count) words, count > 0. */
status core_collect(worker *w, uint64_t *offsets, uint32_t count, bitmap **collected);
/* The cardinality of the bitmap that core_combine would build; `most` if there are more, unless `most` is
 * 0. */
status core_combine_cardinality(worker *w, enum operation operation, const operands *sources, uint64_t most,
                                cardinality *members);
/* How many members the first operand shares with each of the others, modulo 2^64. */
status core_share_all(worker *w, const operands *o, uint64_t *shared);
/* Which facets to find: the `top` ones with the greatest scores, if these are at least part / whole. A whole
 * of 0 is 2^64. */
typedef struct ranking {
    enum measure by;
    uint64_t part, whole, top;
} ranking;

/* Compares the first operand with the others, the facets, and sets *found. `numbers` has two numbers for each
 * facet. In the first half, each facet found gets the number of members that it shares with the operand,
 * modulo 2^64. The second half lists the facets found, counted from 0, the greatest score first. */
status core_rank(worker *w, const operands *o, const ranking *r, uint64_t *numbers, uint32_t *found);
/* How many members each row shares with each column, modulo 2^64, row by row. If there is an operand behind
 * the rows and columns, only its members count. */
status core_cross(worker *w, const operands *o, uint32_t rows, uint32_t columns, uint64_t *cells);
/* Whether the two have a member in common. */
status core_intersects(worker *w, const bitmap *a, const bitmap *b, uint32_t *holds);
/* Whether all members of `part` are members of `whole`. */
status core_is_subset(worker *w, const bitmap *part, const bitmap *whole, uint32_t *holds);
/* All offsets in [0, max(*last, largest member of b)] that are not in b. `last` and b may be NULL. */
status core_complement(worker *w, const bitmap *b, const uint64_t *last, result *r);
/* A change of all offsets in [low, high]. */
typedef struct stretch {
    enum change change;
    uint64_t low, high;
} stretch;

/* A bitmap that differs from b by a change. */
status core_changed(worker *w, const bitmap *b, const stretch *r, result *changed);
/* The members of a and b in some of the keys. */
status core_unite(worker *w, const bitmap *a, const bitmap *b, key_range keys, result *both);
/* The same members, with each container in its smallest form. */
status core_pack(worker *w, const bitmap *b, result *packed);
/* The members of b moved up by `distance`, which may be negative. None may leave the range of offsets. */
status core_shift(worker *w, const bitmap *b, __int128 distance, bitmap **moved);
/* Part of b: containers from *key on, up to about `bytes` bytes of payload. Sets *key to the next container,
 * and *more to whether there is one. */
status core_slice(worker *w, const bitmap *b, uint64_t *key, uint32_t bytes, bitmap **part, uint32_t *more);
/* A payload to read. In the formats BITS and LOW_BITS, bit 0 becomes member `first`, and bits of the last byte
 * that would become offsets above 2^64 - 1 must be clear. In other formats, `first` is 0. */
typedef struct encoded {
    uint32_t format;
    const char *bytes;
    size_t length;
    uint64_t first;
} encoded;

/* *fault says what is wrong with the payload. If it is valid, *fault is NULL and *r is set. */
status core_deserialize(worker *w, const encoded *p, result *r, const char **fault);

/* Counts in all keys, together with other workers if it may. */
status count_all(worker *w, counting *c, uint64_t *numbers);
/* Counts in some of the keys. */
status count_within(worker *w, counting *c, key_range keys, uint64_t *numbers);
/* Cuts the keys of bitmaps. */
status core_cuts(worker *w, const counting *c, uint32_t parts, uint64_t *cuts, uint32_t *count);

/* --- Parts of calls that build, and of writes --- */

/* Prepares a call that builds in the workspace, and sees these operands. Returns 0 if out of memory. */
int start_building(worker *w, frame *f, const span *shown, uint32_t count);
/* Ends a call that built no bitmap; returns s. */
status discard_built(worker *w, status s);
/* Ends a call that built a bitmap, in segments if it is large, unless s says that it did not. */
status built(worker *w, status s, bitmap **b);
/* Counts a single number. The core counts whole containers, so it may exceed c->most. */
status count_members(worker *w, counting *c, cardinality *members);

/* Sorts offsets only if that is likely to bring offsets of the same container together. */
status group_offsets(worker *w, uint64_t *offsets, uint32_t count);
/* Replaces *b by what core_arrange makes of it. */
status tighten(worker *w, bitmap **b);
/* A bitmap of the same members without free blocks: in as few segments as possible, or in two halves if b is one
 * segment that has become too large. */
status core_arrange(worker *w, const bitmap *b, result *arranged);

/* Replaces *b by a bitmap with that change, which has *members members. */
status rebuild_range(worker *w, bitmap **b, const stretch *r, cardinality *members);

/* Whether an arena is so much larger than a segment that it is to be divided. */
#define OVERSIZE (16 * 1024)
static inline int is_oversize(const bitmap *b) {
    return root_of(b) == NULL && arena_bytes(b) > (uint64_t)segment_bytes + OVERSIZE;
}
