/* check.c -- what the fuzz targets check: that bitmaps are valid and that calls agree with one another. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fuzz.h"

/* Longer payloads are not written, and only this many members are listed. */
#define PAYLOAD_MAX (1 << 22)
#define LISTED_MAX (1 << 17)

void finding(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    abort();
}

void must(status s) {
    if (s == TRAPPED) finding("trap: %s", sandbox_last_trap(&main_worker));
    if (s == OUT_OF_MEMORY) finding("out of memory");
}

void choose_level(uint8_t first) {
    static const char *const levels[LEVEL_CHOICES] = {"v2", "v3", "v4", NULL};
    if (worker_begin(&main_worker, levels[first >> LEVEL_SHIFT]) == NULL) worker_begin(&main_worker, NULL);
}

struct listing {
    uint64_t members, least, greatest;
};

static void list(void *context, const uint64_t *members, size_t count) {
    struct listing *l = context;
    for (size_t i = 0; i < count; i++) {
        if (l->members && members[i] <= l->greatest) finding("members are not listed in ascending order");
        if (l->members++ == 0) l->least = members[i];
        l->greatest = members[i];
    }
}

void check_sound(const bitmap *b) {
    const char *fault;
    cardinality members, between;
    uint32_t found;
    uint64_t least, greatest, last;
    struct listing l = {0};
    statistics of[CONTAINER_KINDS];

    EXPECT(!is_damaged(b));
    must(core_validate(&main_worker, b, &fault));
    if (fault) finding("invalid: %s", fault);
    must(core_cardinality(&main_worker, b, &members));
    must(core_count_between(&main_worker, b, 0, UINT64_MAX, &between));
    EXPECT(between == members);
    must(core_statistics(&main_worker, b, of));
    EXPECT(of[ARRAYS].members + of[BITSETS].members + of[RUNS].members == (uint64_t)members);
    must(core_minimum(&main_worker, b, &found, &least));
    EXPECT(found == (members > 0));
    if (!found) return;
    must(core_maximum(&main_worker, b, &found, &greatest));
    must(core_select(&main_worker, b, 0, &last));
    EXPECT(last == least);
    must(core_select(&main_worker, b, (uint64_t)(members - 1), &last));
    EXPECT(last == greatest);
    must(core_members(&main_worker, b, 0, LISTED_MAX, list, &l));
    EXPECT(l.members == (members < LISTED_MAX ? members : LISTED_MAX));
    EXPECT(l.least == least);
    if (members <= LISTED_MAX) EXPECT(l.greatest == greatest);
}

void check_counted(const result *r) {
    cardinality members;
    must(core_cardinality(&main_worker, r->b, &members));
    EXPECT(r->members == members);
}

void check_equal(const bitmap *a, const bitmap *b) {
    uint32_t holds;
    cardinality of_a, of_b, apart;
    operands both;

    must(core_cardinality(&main_worker, a, &of_a));
    must(core_cardinality(&main_worker, b, &of_b));
    EXPECT(of_a == of_b);
    operands_begin(&both);
    operands_add(&both, a);
    operands_add(&both, b);
    must(core_combine_cardinality(&main_worker, XOR, &both, 0, &apart));
    EXPECT(apart == 0);
    must(core_is_subset(&main_worker, a, b, &holds));
    EXPECT(holds);
}

int fits(const bitmap *b, uint32_t format) {
    uint32_t found;
    uint64_t greatest;

    must(core_maximum(&main_worker, b, &found, &greatest));
    return !found || greatest <= UINT32_MAX || format == WIDE || format == WIDE_PARTS || format == ANY_WIDE
        || format == PORTABLE_WIDE;
}

/* The bitmap that the core reads from its own payload of b, which it sets; NULL if that would be too
 * long. */
static bitmap *reread_once(const bitmap *b, uint32_t format, char **written, size_t *length) {
    uint64_t bytes;
    result read;
    const char *fault;

    must(core_serialized_bytes(&main_worker, b, format, &bytes));
    if (bytes > PAYLOAD_MAX) return NULL;
    must(core_serialize(&main_worker, b, format, written, length));
    EXPECT(*length == bytes);
    must(core_deserialize(&main_worker,
                          &(const encoded){.format = format, .bytes = *written, .length = *length}, &read,
                          &fault));
    if (fault) finding("the core refuses its own payload in format %u: %s", format, fault);
    check_counted(&read);
    return read.b;
}

/* Where a short bitset is smaller than the runs in a payload, the payload of what is read has an array or a
 * bitset instead. Reading that one must change nothing more. */
bitmap *reread(const bitmap *b, uint32_t format) {
    char *first, *second, *third;
    size_t of_first, of_second, of_third;
    bitmap *read = reread_once(b, format, &first, &of_first);

    if (read == NULL) return NULL;
    free(first);
    bitmap *again = reread_once(read, format, &second, &of_second);
    if (again == NULL) return read;
    must(core_serialize(&main_worker, again, format, &third, &of_third));
    EXPECT(of_second == of_third && memcmp(second, third, of_second) == 0);
    bitmap_free(again);
    free(second);
    free(third);
    return read;
}
