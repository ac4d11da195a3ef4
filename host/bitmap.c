/* bitmap.c -- a bitmap's block of the server's memory. */
#include "bitmap.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "facts.h"
#include "redismodule.h"

/* The smallest arena. With the prefix it takes 48 bytes, a size class of every allocator. This is the host's choice. */
#define ARENA_LEAST 40

/* Atomic, because the lazy-free thread frees, too. Nothing else depends on them, so their order relative to other accesses is relaxed. */
static _Atomic uint64_t bitmaps_held, bytes_held;

static void count_in(uint64_t bitmaps, uint64_t bytes) {
    atomic_fetch_add_explicit(&bitmaps_held, bitmaps, memory_order_relaxed);
    atomic_fetch_add_explicit(&bytes_held, bytes, memory_order_relaxed);
}

/* Sets the size of a new or reallocated block, including the slack of its size class if the server can tell it. The totals
 * already include `counted` bytes of the block. */
static bitmap *measured(bitmap *b, size_t block, uint64_t counted) {
    if (RedisModule_MallocUsableSize) block = RedisModule_MallocUsableSize(b);
    block -= sizeof *b;
    b->size = block < ARENA_MOST ? (uint32_t)block : ARENA_MOST;
    count_in(!counted, sizeof *b + b->size - counted);
    return b;
}

void *try_alloc(size_t bytes) { return RedisModule_TryAlloc ? RedisModule_TryAlloc(bytes) : RedisModule_Alloc(bytes); }

static const struct {
    bitmap prefix;
    uint64_t arena[ARENA_LEAST / 8];
} empty = {.prefix = {ARENA_LEAST, 0}};
const bitmap *const bitmap_empty = &empty.prefix;

/* An arena that begins with this many zero bytes is an empty bitmap. */
void bitmap_reset(bitmap *b) { memset(arena(b), 0, TINY_PAYLOAD); }

bitmap *bitmap_create(uint32_t bytes) {
    size_t block = sizeof(bitmap) + (bytes < ARENA_LEAST ? ARENA_LEAST : bytes);
    bitmap *b = try_alloc(block);
    if (b == NULL) return NULL;
    b->flags = 0;
    bitmap_reset(b);
    return measured(b, block, 0);
}

bitmap *bitmap_copy(const bitmap *b) {
    size_t block = sizeof *b + b->size;
    bitmap *copy = try_alloc(block);
    return copy ? measured(memcpy(copy, b, block), block, 0) : NULL;
}

void bitmap_free(bitmap *b) {
    if (b) count_in(-1, -(sizeof *b + (uint64_t)b->size));
    RedisModule_Free(b);
}

size_t bitmap_memory(const bitmap *b) { return RedisModule_MallocSize((void *)b); }

/* Blocks of this many bytes or more are moved in steps. What smaller ones hold for a moment does not matter, and an allocator may
 * use their pages again. */
#define MOVED_FROM (32u << 20)
#define STEP (2u << 20)

/* Copies a large block of `bytes` bytes that will be freed. Its pages go back to the system as soon as they are copied, so that the two
 * blocks together hold hardly more memory than one. */
static void move(char *to, char *from, size_t bytes) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), unused = ((uintptr_t)from + page - 1) & -page;
    for (size_t at = 0, length; at < bytes; at += length) {
        length = bytes - at < STEP ? bytes - at : STEP;
        memcpy(to + at, from + at, length);
        uintptr_t copied = (uintptr_t)(from + at + length) & -page;
        if (copied <= unused) continue;
        (void)madvise((void *)unused, copied - unused, MADV_DONTNEED);    /* if refused, they go back when the block is freed */
        unused = copied;
    }
}

/* Realloc ends the server's process if out of memory. TryRealloc (from 7.4 on) does not, but holds two large blocks at once. */
bitmap *bitmap_grow(bitmap *b, uint64_t bytes) {
    size_t block = sizeof *b + bytes;
    uint64_t counted = sizeof *b + (uint64_t)b->size;
    bitmap *grown;
    if (RedisModule_TryRealloc && counted < MOVED_FROM) {
        grown = RedisModule_TryRealloc(b, block);
    } else if (!RedisModule_TryAlloc) {
        grown = RedisModule_Realloc(b, block);
    } else if ((grown = RedisModule_TryAlloc(block)) != NULL) {
        if (counted < MOVED_FROM) memcpy(grown, b, counted);
        else move((char *)grown, (char *)b, counted);
        RedisModule_Free(b);
    }
    return grown ? measured(grown, block, counted) : NULL;
}

bitmap *bitmap_shrink(bitmap *b, uint32_t used) {
    size_t block = sizeof *b + (used < ARENA_LEAST ? ARENA_LEAST : used);
    uint64_t counted = sizeof *b + (uint64_t)b->size;
    return measured(RedisModule_Realloc(b, block), block, counted);
}

void bitmap_totals(uint64_t *bitmaps, uint64_t *bytes) {
    *bitmaps = atomic_load_explicit(&bitmaps_held, memory_order_relaxed);
    *bytes = atomic_load_explicit(&bytes_held, memory_order_relaxed);
}
