/* bitmap.c -- a bitmap's block of the server's memory. */
#include "core/bitmap.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* TryRealloc is there from 7.4 on. */
void *try_realloc(void *old, size_t held, size_t bytes) {
    if (RedisModule_TryRealloc) return RedisModule_TryRealloc(old, bytes);
    if (!RedisModule_TryAlloc) return RedisModule_Realloc(old, bytes);
    void *block = RedisModule_TryAlloc(bytes);
    if (block == NULL) return NULL;
    if (held) memcpy(block, old, held);
    RedisModule_Free(old);
    return block;
}

const bitmap *bitmap_empty(void) {
    static const uint64_t empty[LEAST_BYTES / 8];
    return numbered(empty, sizeof empty);
}

int is_damaged(const bitmap *b) {
    const root *r = root_of(b);
    return r ? r->damaged : *arena(b) == FORM_DAMAGED;
}

void mark_damaged(bitmap *b) {
    if (root_of(b)) root_of(b)->damaged = 1;
    else *arena(b) = FORM_DAMAGED;
}

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
    if (root_of(b)) {
        atomic_fetch_add_explicit(&root_of(b)->owners, 1, memory_order_relaxed);
        return (bitmap *)bitmap_retain(b);
    }
    bitmap *copy = bitmap_create(arena_bytes(b));
    if (copy) memcpy(arena(copy), arena(b), arena_bytes(b));
    return copy;
}

static size_t root_bytes(uint32_t room) { return sizeof(root) + (size_t)room * sizeof(segment); }
static int is_last(const bitmap *b);

/* Drops a root's reference to a segment. */
static void segment_drop(bitmap *b) {
    if (!is_last(b)) return;
    count_in(0, -bitmap_bytes(b));
    RedisModule_Free(block_of(b));
}

static void free_block(const bitmap *b) {
    root *r = root_of(b);
    for (uint32_t i = 0; r && i < r->count; i++) segment_drop(r->of[i].b);
    count_in(-1, r ? -root_bytes(r->room) : -bitmap_bytes(b));
    RedisModule_Free(block_of(b));
}

/* Drops a reference, and returns whether it was the last one. As with a lock, the accesses of earlier
 * references come before those of the last. */
static int is_last(const bitmap *b) {
    return !counts_references(b) || atomic_fetch_sub_explicit(references(b), 1, memory_order_acq_rel) == 0;
}

/* Drops a key's reference to a root that other keys have, too. */
static int is_owned(root *r) {
    return r && atomic_load_explicit(&r->owners, memory_order_relaxed) != 0
        && atomic_fetch_sub_explicit(&r->owners, 1, memory_order_relaxed) != 0;
}

void bitmap_free(bitmap *b) {
    if (b == NULL) return;
    uint64_t bytes = bitmap_bytes(b);
    const int owned = is_owned(root_of(b));
    if (is_last(b)) free_block(b);
    else if (!owned) atomic_fetch_add_explicit(&bytes_only_retained, bytes, memory_order_relaxed);
}

const bitmap *bitmap_retain(const bitmap *b) {
    if (!counts_references(b)) return bitmap_copy(b);
    atomic_fetch_add_explicit(references(b), 1, memory_order_relaxed);
    return b;
}

void bitmap_release(const bitmap *b) {
    if (!is_last(b)) return;
    if (counts_references(b))
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

static bitmap *root_copy(const root *r);

int bitmap_separate(bitmap **b) {
    root *r = root_of(*b);
    uint64_t started = now(), bytes = r ? root_bytes(r->count) : bitmap_bytes(*b);
    bitmap *copy = r ? root_copy(r) : bitmap_copy(*b);
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

size_t bitmap_memory(const bitmap *b) {
    const root *r = root_of(b);
    size_t bytes = RedisModule_MallocSize(block_of(b));
    for (uint32_t i = 0; r && i < r->count; i++) bytes += bitmap_memory(r->of[i].b);
    return bytes;
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
    void *block = try_realloc(block_of(b), counted, block_bytes(bytes));
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

/* --- Roots. A segment does not count as a bitmap. --- */

bitmap *root_bitmap(root *r) {
    HIDE(r);
    return (bitmap *)((uintptr_t)r | (uintptr_t)ROOT << NUMBER_SHIFT);
}

root *root_make(uint32_t room) {
    root *r = try_alloc(root_bytes(room));
    if (r == NULL) return NULL;
    *r = (root){.room = room, .bytes = root_bytes(room)};
    count_in(1, r->bytes);
    return r;
}

int root_extend(root **r, uint32_t more) {
    uint64_t count = (uint64_t)(*r)->count + more, room = (*r)->room;
    if (count <= room) return 1;
    room = count + count / 8 + 8;
    void *block =
        room < UINT32_MAX ? try_realloc(*r, root_bytes((*r)->count), root_bytes((uint32_t)room)) : NULL;
    if (block == NULL) return 0;
    *r = block;
    const uint64_t added = root_bytes((uint32_t)room) - root_bytes((*r)->room);
    count_in(0, added);
    (*r)->bytes += added;
    (*r)->room = (uint32_t)room;
    return 1;
}

/* Puts a segment, which no longer counts as a bitmap, at `i`, where there is room. */
static void put_segment(root *r, uint32_t i, segment s) {
    count_in(-1, 0);
    s.bytes = arena_bytes(s.b);
    r->of[i] = s;
    r->bytes += bitmap_bytes(s.b);
}

int root_add(root **r, segment s) {
    if (!root_extend(r, 1)) return 0;
    put_segment(*r, (*r)->count++, s);
    return 1;
}

void root_insert(root *r, uint32_t i, segment s) {
    memmove(&r->of[i + 1], &r->of[i], (r->count++ - i) * sizeof *r->of);
    put_segment(r, i, s);
}

bitmap *root_exchange(root *r, uint32_t i, bitmap *with) {
    bitmap *old = r->of[i].b;
    r->bytes -= bitmap_bytes(old);
    count_in(1, 0);
    put_segment(r, i, (segment){r->of[i].first, r->of[i].members, with, 0});
    return old;
}

static bitmap *root_copy(const root *r) {
    root *copy = root_make(r->count + 1);
    for (uint32_t i = 0; copy && i < r->count; i++) {
        const segment *s = &r->of[i];
        const bitmap *b = bitmap_retain(s->b);
        if (b == NULL) {
            bitmap_free(root_bitmap(copy));
            return NULL;
        }
        if (b == s->b) count_in(1, 0);
        put_segment(copy, copy->count++, (segment){s->first, s->members, (bitmap *)b, 0});
    }
    return copy ? root_bitmap(copy) : NULL;
}

uint32_t root_seek(const root *r, uint64_t offset) {
    uint32_t from = 0;
    for (uint32_t rest = r->count; rest > 1;) {
        const uint32_t half = rest / 2;
        if (r->of[from + half].first <= offset) from += half;
        rest -= half;
    }
    return from;
}

unsigned __int128 root_members(const root *r, uint32_t before) {
    unsigned __int128 members = 0;
    for (uint32_t i = 0; i < before; i++) members += r->of[i].members;
    return members;
}

int root_own(root *r, uint32_t i) {
    if (!bitmap_is_shared(r->of[i].b)) return 1;
    bitmap *copy = bitmap_copy(r->of[i].b);
    if (copy == NULL) return 0;
    segment_drop(root_exchange(r, i, copy));
    count_in(-1, 0);
    return 1;
}

int root_replace(root **r, uint32_t from, uint32_t to, bitmap *with, unsigned __int128 members) {
    root *parts = root_of(with);
    const uint32_t count = parts ? parts->count : members != 0, old = to - from;
    if (count > old && !root_extend(r, count - old)) return 0;
    root *into = *r;
    const uint64_t first = into->of[from].first;
    for (uint32_t i = from; i < to; i++) {
        into->bytes -= bitmap_bytes(into->of[i].b);
        segment_drop(into->of[i].b);
    }
    memmove(&into->of[from + count], &into->of[to], (into->count - to) * sizeof *into->of);
    into->count += count - old;
    for (uint32_t i = 0; parts && i < count; i++) {
        into->of[from + i] = parts->of[i];
        into->bytes += bitmap_bytes(parts->of[i].b);
    }
    if (parts) parts->count = 0;
    if (!parts && count) put_segment(into, from, (segment){first, (uint64_t)members, with, 0});
    else bitmap_free(with);
    /* The first segment may have got members before its `first`. */
    if (count && first < into->of[from].first) into->of[from].first = first;
    return 1;
}

/* A segment that another root has, too, cannot be a bitmap of its own. */
bitmap *root_simplified(root *r) {
    if (r->count > 1 || (r->count == 1 && !root_own(r, 0))) return root_bitmap(r);
    bitmap *only = r->count ? r->of[0].b : bitmap_create(0);
    if (only == NULL) abort(); /* out of memory for a few bytes, as when the server allocates them */
    if (r->count) count_in(1, 0);
    r->count = 0;
    bitmap_free(root_bitmap(r));
    return only;
}

bitmap *root_window(const root *r, uint32_t from, uint32_t to) {
    root *window = root_make(to - from);
    if (window == NULL) return NULL;
    memcpy(window->of, &r->of[from], (to - from) * sizeof *window->of);
    window->count = to - from;
    return root_bitmap(window);
}

void root_close_window(bitmap *window) {
    root_of(window)->count = 0;
    bitmap_free(window);
}

void bitmap_totals(uint64_t *bitmaps, uint64_t *bytes) {
    *bitmaps = atomic_load_explicit(&all_bitmaps, memory_order_relaxed);
    *bytes = atomic_load_explicit(&all_bytes, memory_order_relaxed);
}
