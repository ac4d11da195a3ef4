/* bitmap.h -- a bitmap is one block of the server's memory, which holds the core's linear memory, called an
 * arena. A large one is a root: a block that lists its segments, bitmaps of one arena each.
 *
 * A `bitmap *` is the block's address, which has 48 bits on the processors that are supported, with a number
 * in the other 16:
 *
 *   0        a prefix of 8 bytes, u32 size of the arena in bytes and u32 references, and behind it the arena
 *   ROOT     a struct root
 *   others   the arena alone, of eight times as many bytes: a small one, which fills its allocation
 *
 * So a small arena takes no more than its allocation, and the core cannot reach the size that its accesses are
 * checked against. Freeing or copying a bitmap needs nothing but its block. */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "facts.h"

typedef struct bitmap bitmap;

/* Arenas stay below 4 GiB: if the core needs more, it requests UINT32_MAX bytes, which no arena may have. */
#define ARENA_MOST (UINT32_MAX - 1)

#define NUMBER_SHIFT 48
#define ROOT 0x8000

static inline uint32_t block_number(const bitmap *b) {
    return (uint32_t)((uint64_t)(uintptr_t)b >> NUMBER_SHIFT);
}
static inline uint8_t *block_of(const bitmap *b) {
    return (uint8_t *)((uintptr_t)b & (((uintptr_t)1 << NUMBER_SHIFT) - 1));
}

/* A segment of a large bitmap. Its members are less than the next segment's `first`, and unless it is the first segment, at least
 * its own, at which a container begins. */
typedef struct segment {
    uint64_t first, members;
    bitmap *b;
    uint32_t bytes; /* of its arena when it became a segment or was last noted, for w2c_segments_near */
} segment;

/* `bytes` are those of the root and its segments. Other roots may share segments, which then do not change. */
typedef struct root {
    uint32_t count;
    _Atomic uint32_t references; /* besides the first; where a block with a prefix has them */
    _Atomic uint32_t owners; /* references of keys, besides the first */
    uint32_t room;
    int damaged;
    uint64_t bytes;
    segment of[];
} root;

/* NULL for a bitmap of one arena. */
static inline root *root_of(const bitmap *b) {
    return block_number(b) == ROOT ? (root *)(void *)block_of(b) : NULL;
}

/* Of a bitmap of one arena. */
static inline uint8_t *arena(const bitmap *b) { return block_of(b) + (block_number(b) ? 0 : PREFIX_BYTES); }
static inline uint32_t arena_bytes(const bitmap *b) {
    uint32_t number = block_number(b);
    return number ? 8 * number : *(const uint32_t *)block_of(b);
}

/* After a trap has cut a write short, the members cannot be trusted. The arena then has a form that the core
 * never writes. */
int is_damaged(const bitmap *b);
void mark_damaged(bitmap *b);

/* A bitmap without members, read-only. */
const bitmap *bitmap_empty(void);
/* An empty bitmap with an arena of at least `bytes` bytes; NULL if out of memory. */
bitmap *bitmap_create(uint32_t bytes);
/* A bitmap with the same members, which changes independently; NULL if out of memory. A root is not copied before
 * one of the two changes. */
bitmap *bitmap_copy(const bitmap *b);
/* Drops a key's or a command's reference. The last reference frees the block. */
void bitmap_free(bitmap *b);

/* A bitmap with the same content, which stays as it is until it is passed to bitmap_release: b itself, or a
 * copy if that is small; NULL if out of memory. Only the main thread calls this, and only it changes or moves
 * blocks; it must not do so while a block is shared. */
const bitmap *bitmap_retain(const bitmap *b);
void bitmap_release(const bitmap *b);
/* Where a block with a prefix has the number of references besides the first one. */
static inline _Atomic uint32_t *references(const bitmap *b) { return (_Atomic uint32_t *)block_of(b) + 1; }
static inline int counts_references(const bitmap *b) { return !block_number(b) || block_number(b) == ROOT; }
static inline int bitmap_is_shared(const bitmap *b) {
    return counts_references(b) && atomic_load_explicit(references(b), memory_order_acquire) != 0;
}
/* Makes *b, which is shared, a copy that is not. Returns 0 if out of memory. */
int bitmap_separate(bitmap **b);
/* What bitmap_separate has done since the module was loaded. */
typedef struct copying {
    uint64_t bitmaps, bytes, microseconds;
} copying;
copying bitmap_copying(void);
/* The bytes of bitmaps to which only bitmap_retain's references are left. */
uint64_t bitmap_bytes_only_retained(void);

/* The block's bytes as the server's allocator counts them. */
size_t bitmap_memory(const bitmap *b);
/* The bitmap after its block has moved to `block`. */
bitmap *bitmap_moved(const bitmap *b, void *block);

/* Empties the bitmap; its size stays. */
void bitmap_reset(bitmap *b);
/* Reallocates b with an arena of at least `bytes` bytes. If out of memory, returns NULL and leaves b as it
 * was. */
bitmap *bitmap_grow(bitmap *b, uint64_t bytes);
/* Reallocates b to free all but the arena's first `used` bytes. */
bitmap *bitmap_shrink(bitmap *b, uint32_t used);
/* A root without segments, with room for some; NULL if out of memory. */
root *root_make(uint32_t room);
bitmap *root_bitmap(root *r);
/* Makes room for `more` segments more; returns 0 if out of memory. */
int root_extend(root **r, uint32_t more);
/* Adds a segment at the end. Returns 0 if out of memory. */
int root_add(root **r, segment s);
/* The number of the segment where the offset is, or would be. */
uint32_t root_seek(const root *r, uint64_t offset);
/* Members of the first `before` segments. */
unsigned __int128 root_members(const root *r, uint32_t before);
/* Makes a segment that other roots share one of r's own. Returns 0 if out of memory. */
int root_own(root *r, uint32_t i);
/* Replaces the segments from .. to - 1, at least one, by a bitmap of the same range of offsets, which has that many
 * members if it is a single arena, or by nothing if it is empty. Returns 0 and changes nothing if out of memory. */
int root_replace(root **r, uint32_t from, uint32_t to, bitmap *with, unsigned __int128 members);
/* Inserts a segment as number i, for which there is room. */
void root_insert(root *r, uint32_t i, segment s);
/* Replaces segment i by another arena, and returns the old one, which is no segment then. */
bitmap *root_exchange(root *r, uint32_t i, bitmap *with);
/* The bitmap of a root that may have few segments left. */
bitmap *root_simplified(root *r);
/* A bitmap of the segments from .. to - 1, to be read before r changes; NULL if out of memory. */
bitmap *root_window(const root *r, uint32_t from, uint32_t to);
void root_close_window(bitmap *window);

/* NULL if out of memory, and the old block of `held` bytes is kept; servers before 7.0 end their process instead. */
void *try_alloc(size_t bytes);
void *try_realloc(void *old, size_t held, size_t bytes);
/* The bytes of a bitmap's prefix and arena, or of a root and its segments. */
static inline uint64_t bitmap_bytes(const bitmap *b) {
    if (block_number(b) == ROOT) return root_of(b)->bytes;
    return (block_number(b) ? 0 : PREFIX_BYTES) + (uint64_t)arena_bytes(b);
}
/* The number of bitmaps now, and the sum of their bytes. */
void bitmap_totals(uint64_t *bitmaps, uint64_t *bytes);
