/* bitmap.c -- a bitmap's block of the server's memory. */
#include "core/bitmap.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "facts.h"
#include "api/redismodule.h"

/* Atomic, because the lazy-free thread frees, too. Nothing else depends on their values, so their order
 * relative to other accesses is relaxed. */
static _Atomic uint64_t all_bitmaps, all_bytes;

/* May be negative for a moment, if the last reference is counted out before the one before it. */
static _Atomic int64_t bytes_only_retained;

static void count_in(uint64_t bitmaps, uint64_t bytes) {
    atomic_fetch_add_explicit(&all_bitmaps, bitmaps, memory_order_relaxed);
    atomic_fetch_add_explicit(&all_bytes, bytes, memory_order_relaxed);
}

/* Arenas of up to this many bytes have no prefix. Larger ones hold bitsets, which the prefix aligns. */
#define SMALL_MOST 4096
/* The smallest allocation, and the distance between the next size classes, of all allocators that servers
 * use. */
#define LEAST_BYTES 32
#define CLASS_BYTES 16

static int is_small(uint64_t bytes) { return bytes <= SMALL_MOST; }

/* The bytes to allocate for an arena of `bytes` bytes. */
static size_t block_bytes(uint64_t bytes) {
    if (!is_small(bytes)) return PREFIX_BYTES + bytes;
    return bytes < LEAST_BYTES ? LEAST_BYTES : (bytes + CLASS_BYTES - 1) & ~(uint64_t)(CLASS_BYTES - 1);
}

static bitmap *numbered(const void *block, uint64_t bytes) {
    return (bitmap *)((uintptr_t)block | (uintptr_t)(bytes / 8) << NUMBER_SHIFT);
}

/* For LeakSanitizer, which does not recognize a numbered pointer. bitmap_totals shows leaks, too. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
void __lsan_ignore_object(const void *block);
#define HIDE(block) __lsan_ignore_object(block)
#endif
#endif
#ifndef HIDE
#define HIDE(block) ((void)(block))
#endif

/* The bitmap in a block that is new or was reallocated, of block_bytes(bytes) bytes. It includes the slack of
 * its size class if the server can report it. The totals already include `counted` bytes. */
static bitmap *measured(void *block, uint64_t bytes, uint64_t counted) {
    size_t held = RedisModule_MallocUsableSize ? RedisModule_MallocUsableSize(block) : block_bytes(bytes);
    bitmap *b = is_small(bytes) ? numbered(block, held) : (bitmap *)block;
    if (is_small(bytes)) {
        HIDE(block);
    } else {
        bytes = held - PREFIX_BYTES;
        const uint32_t prefix[] = {bytes < ARENA_MOST ? (uint32_t)bytes : ARENA_MOST, 0};
        memcpy(block, prefix, sizeof prefix);
    }
    count_in(!counted, bitmap_bytes(b) - counted);
    return b;
}

void *try_alloc(size_t bytes) {
    return RedisModule_TryAlloc ? RedisModule_TryAlloc(bytes) : RedisModule_Alloc(bytes);
}

const bitmap *bitmap_empty(void) {
    static const uint64_t empty[LEAST_BYTES / 8];
    return numbered(empty, sizeof empty);
}

int is_damaged(const bitmap *b) { return *arena(b) == FORM_DAMAGED; }

void mark_damaged(bitmap *b) { *arena(b) = FORM_DAMAGED; }

bitmap *bitmap_moved(const bitmap *b, void *block) { return numbered(block, 8 * (uint64_t)block_number(b)); }

/* An arena that begins with this many zero bytes is an empty bitmap. */
void bitmap_reset(bitmap *b) { memset(arena(b), 0, TINY_PAYLOAD); }

bitmap *bitmap_create(uint32_t bytes) {
    void *block = try_alloc(block_bytes(bytes));
    if (block == NULL) return NULL;
    bitmap *b = measured(block, bytes, 0);
    bitmap_reset(b);
    return b;
}

bitmap *bitmap_copy(const bitmap *b) {
    bitmap *copy = bitmap_create(arena_bytes(b));
    if (copy) memcpy(arena(copy), arena(b), arena_bytes(b));
    return copy;
}

static void free_block(const bitmap *b) {
    count_in(-1, -bitmap_bytes(b));
    RedisModule_Free(block_of(b));
}

/* Drops a reference, and returns whether it was the last one. As with a lock, the accesses of earlier
 * references come before those of the last. */
static int is_last(const bitmap *b) {
    return block_number(b) || atomic_fetch_sub_explicit(references(b), 1, memory_order_acq_rel) == 0;
}

void bitmap_free(bitmap *b) {
    if (b == NULL) return;
    uint64_t bytes = bitmap_bytes(b);
    if (is_last(b)) free_block(b);
    else atomic_fetch_add_explicit(&bytes_only_retained, bytes, memory_order_relaxed);
}

const bitmap *bitmap_retain(const bitmap *b) {
    if (block_number(b)) return bitmap_copy(b);
    atomic_fetch_add_explicit(references(b), 1, memory_order_relaxed);
    return b;
}

void bitmap_release(const bitmap *b) {
    if (!is_last(b)) return;
    if (!block_number(b))
        atomic_fetch_sub_explicit(&bytes_only_retained, bitmap_bytes(b), memory_order_relaxed);
    free_block(b);
}

/* Only the main thread separates bitmaps. */
static copying all_copies;

copying bitmap_copying(void) { return all_copies; }

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

int bitmap_separate(bitmap **b) {
    uint64_t started = now(), bytes = bitmap_bytes(*b);
    bitmap *copy = bitmap_copy(*b);
    if (copy == NULL) return 0;
    bitmap_free(*b);
    *b = copy;
    all_copies.bitmaps++;
    all_copies.bytes += bytes;
    all_copies.microseconds += now() - started;
    return 1;
}

uint64_t bitmap_bytes_only_retained(void) {
    int64_t bytes = atomic_load_explicit(&bytes_only_retained, memory_order_relaxed);
    return bytes > 0 ? (uint64_t)bytes : 0;
}

size_t bitmap_memory(const bitmap *b) { return RedisModule_MallocSize(block_of(b)); }

/* Blocks of this many bytes or more are moved in steps. For smaller ones, holding both copies for a moment
 * does not matter, and an allocator may reuse the pages. */
#define MOVED_FROM (32u << 20)
#define STEP (2u << 20)

/* Copies a large block of `bytes` bytes that will be freed. Its pages go back to the system as soon as they
 * are copied, so that the two blocks together hold hardly more memory than one. */
static void move(char *to, char *from, size_t bytes) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), unused = ((uintptr_t)from + page - 1) & -page;
    for (size_t at = 0, length; at < bytes; at += length) {
        length = bytes - at < STEP ? bytes - at : STEP;
        memcpy(to + at, from + at, length);
        uintptr_t copied = (uintptr_t)(from + at + length) & -page;
        if (copied <= unused) continue;
        /* If madvise fails, the pages go back when the block is freed. */
        (void)madvise((void *)unused, copied - unused, MADV_DONTNEED);
        unused = copied;
    }
}

/* Enlarges a block with a prefix. Realloc ends the server's process if out of memory. TryRealloc (from 7.4
 * on) does not, but holds two large blocks at once. */
static void *grown_block(void *old, size_t held, size_t bytes) {
    if (RedisModule_TryRealloc && held < MOVED_FROM) return RedisModule_TryRealloc(old, bytes);
    if (!RedisModule_TryAlloc) return RedisModule_Realloc(old, bytes);
    void *block = RedisModule_TryAlloc(bytes);
    if (block == NULL) return NULL;
    if (held < MOVED_FROM) memcpy(block, old, held);
    else move(block, old, held);
    RedisModule_Free(old);
    return block;
}

/* A copy of b in a block for an arena of `bytes` bytes; b is freed. If out of memory, returns NULL and keeps
 * b. */
static bitmap *replaced(bitmap *b, uint64_t bytes) {
    void *block = try_alloc(block_bytes(bytes));
    if (block == NULL) return NULL;
    uint32_t held = arena_bytes(b);
    bitmap *copy = measured(block, bytes, 0);
    memcpy(arena(copy), arena(b), held < bytes ? held : bytes);
    bitmap_free(b);
    return copy;
}

bitmap *bitmap_grow(bitmap *b, uint64_t bytes) {
    if (block_number(b) || is_small(bytes)) return replaced(b, bytes);
    uint64_t counted = bitmap_bytes(b);
    void *block = grown_block(block_of(b), counted, block_bytes(bytes));
    return block ? measured(block, bytes, counted) : NULL;
}

bitmap *bitmap_shrink(bitmap *b, uint32_t used) {
    if (is_small(used) || block_number(b)) {
        bitmap *smaller = block_bytes(used) < bitmap_bytes(b) ? replaced(b, used) : NULL;
        return smaller ? smaller : b;
    }
    uint64_t counted = bitmap_bytes(b);
    return measured(RedisModule_Realloc(block_of(b), block_bytes(used)), used, counted);
}

void bitmap_totals(uint64_t *bitmaps, uint64_t *bytes) {
    *bitmaps = atomic_load_explicit(&all_bitmaps, memory_order_relaxed);
    *bytes = atomic_load_explicit(&all_bytes, memory_order_relaxed);
}
