/* bitmap.h -- a bitmap: one block of the server's memory, a prefix, and after it the core's linear memory, an arena.
 *
 *   +0  u32 size of the arena in bytes
 *   +4  u32 flags
 *   +8  the arena
 *
 * Whoever frees or copies one needs nothing but the block. */
#ifndef ROAR_BITMAP_H
#define ROAR_BITMAP_H

#include <stddef.h>
#include <stdint.h>

typedef struct bitmap {
    uint32_t size;
    uint32_t flags;
} bitmap;

enum { BITMAP_DAMAGED = 1 };        /* a write was cut short by a trap: the members can no longer be trusted */

/* Arenas end below 4 GiB, so that none is as large as what the core asks for when it needs more than that. */
#define ARENA_MOST (UINT32_MAX - 1)

static inline uint8_t *arena(const bitmap *b) { return (uint8_t *)(b + 1); }

/* One without members that nobody writes to. */
extern const bitmap *const bitmap_empty;
/* An empty bitmap with room for `bytes` bytes of arena; NULL when memory is short. */
bitmap *bitmap_create(uint32_t bytes);
/* NULL when memory is short. */
bitmap *bitmap_copy(const bitmap *b);
/* The only one of all these that any thread may call. */
void bitmap_free(bitmap *b);
/* Bytes of the server's memory that it takes. */
size_t bitmap_memory(const bitmap *b);

/* What the core builds and rewrites. */

/* Makes it empty, of the size that it has. */
void bitmap_reset(bitmap *b);
/* Makes the arena at least `bytes` bytes; b is gone then, unless the result is NULL for lack of memory. */
bitmap *bitmap_grow(bitmap *b, uint64_t bytes);
/* Gives back what lies behind the arena's first `used` bytes; b is gone then. */
bitmap *bitmap_shrink(bitmap *b, uint32_t used);
/* NULL when memory is short, where the server can tell. */
void *try_alloc(size_t bytes);
/* All that there are now, and the bytes of their prefixes and arenas. */
void bitmap_totals(uint64_t *bitmaps, uint64_t *bytes);

#endif
