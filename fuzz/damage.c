/* damage.c -- fuzz target: arenas with some bytes changed, for the check that R.DEBUG VALIDATE makes.
 *
 *   u8 level << 6 | arena, u16 bytes that the arena loses at its end, then for each change a u24 that says
 *   which byte, and a u8 of the bits of it that are flipped
 *
 * The check must end. If it finds no fault, everything that reads the bitmap must agree, as for any other
 * one. */
#include <string.h>

#include "core/values.h"
#include "fuzz.h"

/* What there is to damage: tiny arenas that are a packed leaf, without a base and with one, or a short
 * bitset; a directory of leaves of both forms with containers of all kinds, and free blocks; one of pages. */
enum { TINY_FAR, TINY_NEAR, TINY_SHORT, KINDS, PAGES, ARENAS };

#define LIST_MAX 4096
#define CHANGES_MAX 16

/* Sets or clears `count` offsets from `first` on, `apart` apart. */
static void change_list(bitmap **b, int set, uint64_t first, uint64_t apart, uint32_t count) {
    static uint64_t offsets[VALUES_ROOM(LIST_MAX)];
    uint64_t changed;
    for (uint32_t i = 0; i < count; i++) offsets[i] = first + i * apart;
    must((set ? core_set_all : core_clear_all)(&main_worker, b, offsets, count, &changed));
    EXPECT(changed == count);
}

static void set_range(bitmap **b, uint64_t low, uint64_t high) {
    cardinalities members;
    must(core_change_range(&main_worker, b, &(const stretch){SET, low, high}, &members));
}

/* Containers of all kinds, each of them twice, and many small ones between these. */
static void add_kinds(bitmap **b) {
    enum { SMALL = 300, LARGE = 20 };
    for (uint64_t key = 0; key < SMALL; key++) change_list(b, 1, key << 16 | key, 1000, 1 + key % 3);
    for (uint64_t key = SMALL; key < SMALL + LARGE; key += LARGE / 2) {
        change_list(b, 1, key << 16, 600, 100);
        change_list(b, 1, (key + 1) << 16, 30, 2000);
        change_list(b, 1, (key + 2) << 16, 16, LIST_MAX);
        change_list(b, 1, (key + 2) << 16 | 1, 16, LIST_MAX);
        change_list(b, 1, (key + 3) << 16 | 640, 3, 200);
        for (uint64_t i = 0; i < 8; i++)
            set_range(b, (key + 4) << 16 | i * 8000, (key + 4) << 16 | (i * 8000 + 900));
        set_range(b, (key + 5) << 16, ((key + 8) << 16) - 1);
    }
    change_list(b, 0, 2 << 16 | 2, 1000, 3);
    change_list(b, 0, (uint64_t)SMALL << 16, 600, 100);
}

static bitmap *build(uint32_t which) {
    bitmap *b = bitmap_create(0);
    switch (which) {
    case TINY_FAR: change_list(&b, 1, 0, (uint64_t)1 << 40, 20); break;
    case TINY_NEAR: change_list(&b, 1, 70000, 1000, 40); break;
    case TINY_SHORT: change_list(&b, 1, 70000, 3, 60); break;
    case KINDS: add_kinds(&b); break;
    default: change_list(&b, 1, 0, (uint64_t)1 << 40, 3000); break;
    }
    check_sound(b);
    return b;
}

/* A copy, to be damaged, of an arena that is built once. */
static bitmap *sound(uint32_t which) {
    static bitmap *made[ARENAS];
    if (made[which] == NULL) made[which] = build(which);
    return bitmap_copy(made[which]);
}

static uint32_t number(const uint8_t *bytes, int count) {
    uint32_t value = 0;
    for (int i = 0; i < count; i++) value = value << 8 | bytes[i];
    return value;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { HEAD = 3, CHANGE = 4 };
    const char *fault;

    if (size < HEAD) return 0;
    choose_level(data[0]);
    bitmap *b = sound((data[0] & ((1 << LEVEL_SHIFT) - 1)) % ARENAS);
    const uint32_t whole = arena_bytes(b), lost = number(data + 1, 2) % whole;
    if (lost) b = bitmap_shrink(b, whole - lost);
    if (size > HEAD + CHANGES_MAX * CHANGE) size = HEAD + CHANGES_MAX * CHANGE;
    for (const uint8_t *at = data + HEAD; at + CHANGE <= data + size; at += CHANGE) {
        arena(b)[number(at, 3) % arena_bytes(b)] ^= at[3];
    }
    must(core_validate(&main_worker, b, &fault));
    /* A few bytes make integers of a bitmap. They are sound, but not as a bitmap. */
    if (fault == NULL && !has_values(span_of(b))) check_sound(b);
    bitmap_free(b);
    return 0;
}
