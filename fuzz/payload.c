/* payload.c -- fuzz target: bytes from outside, read as a payload of each format.
 *
 *   u8 level << 6 | format, then the payload
 *
 * A payload that is accepted must give a valid bitmap, which survives a round trip through each format that
 * can represent it, and can be packed and changed. */
#include <string.h>

#include "fuzz.h"

static void check_packed(const bitmap *b) {
    result packed;
    must(core_pack(&main_worker, b, &packed));
    check_sound(packed.b);
    check_equal(b, packed.b);
    bitmap_free(packed.b);
}

/* Changes two bits, then changes them back. */
static void check_writable(const bitmap *b) {
    bitmap *copy = bitmap_copy(b);
    uint32_t found, was[2], now;
    uint64_t at[2];

    must(core_minimum(&main_worker, b, &found, &at[0]));
    if (!found) at[0] = 7;
    at[1] = at[0] + 3;
    for (int i = 0; i < 2; i++) must(core_get(&main_worker, b, at[i], &was[i]));
    for (int i = 0; i < 2; i++) must(core_set(&main_worker, &copy, at[i], !was[i], &now));
    check_sound(copy);
    for (int i = 0; i < 2; i++) must(core_set(&main_worker, &copy, at[i], was[i], &now));
    check_sound(copy);
    check_equal(b, copy);
    bitmap_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    result r;
    const char *fault;

    if (size == 0) return 0;
    choose_level(data[0]);
    /* A block of its own, so that a read beyond it is noticed. */
    char *bytes = malloc(size);
    memcpy(bytes, data + 1, size - 1);
    const uint32_t read_as = (data[0] & ((1 << LEVEL_SHIFT) - 1)) % FORMATS;
    must(core_deserialize(
        &main_worker, &(const encoded){.format = read_as, .bytes = bytes, .length = size - 1}, &r, &fault));
    free(bytes);
    if (fault) return 0;

    bitmap *b = r.b;
    check_sound(b);
    check_counted(&r);
    for (uint32_t format = 0; format < FORMATS; format++) {
        bitmap *again = fits(b, format) ? reread(b, format) : NULL;
        if (again == NULL) continue;
        check_sound(again);
        check_equal(b, again);
        bitmap_free(again);
    }
    check_packed(b);
    check_writable(b);
    bitmap_free(b);
    return 0;
}
