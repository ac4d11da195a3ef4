/* bitmap.h -- a bitmap is one block of the server's memory: a prefix, and the core's linear memory, called an arena.
 *
 *   +0  u32 size of the arena in bytes
 *   +4  u32 flags
 *   +8  the arena
 *
 * Freeing or copying a bitmap needs nothing but its block. */
#ifndef ROAR_BITMAP_H
#define ROAR_BITMAP_H

#include <stddef.h>
#include <stdint.h>

typedef struct bitmap {
    uint32_t size;
    uint32_t flags;
} bitmap;

enum { BITMAP_DAMAGED = 1 };        /* a trap cut a write short: the members cannot be trusted */

/* Arenas stay below 4 GiB: if the core needs more, it asks for UINT32_MAX bytes, which no arena may have. */
#define ARENA_MOST (UINT32_MAX - 1)

static inline uint8_t *arena(const bitmap *b) { return (uint8_t *)(b + 1); }

/* A bitmap without members, read-only. */
extern const bitmap *const bitmap_empty;
/* An empty bitmap with an arena of at least `bytes` bytes; NULL if out of memory. */
bitmap *bitmap_create(uint32_t bytes);
/* NULL if out of memory. */
bitmap *bitmap_copy(const bitmap *b);
/* Any thread may call this; all other functions belong to the main thread. */
void bitmap_free(bitmap *b);
/* The block's bytes as the server's allocator counts them. */
size_t bitmap_memory(const bitmap *b);

/* Empties the bitmap; its size stays. */
void bitmap_reset(bitmap *b);
/* Reallocates b with an arena of at least `bytes` bytes. If out of memory, returns NULL and leaves b as it was. */
bitmap *bitmap_grow(bitmap *b, uint64_t bytes);
/* Reallocates b to free all but the arena's first `used` bytes. */
bitmap *bitmap_shrink(bitmap *b, uint32_t used);
/* NULL if out of memory; servers before 7.0 end their process instead. */
void *try_alloc(size_t bytes);
/* The number of bitmaps now, and the bytes of their prefixes and arenas. */
void bitmap_totals(uint64_t *bitmaps, uint64_t *bytes);

#endif
