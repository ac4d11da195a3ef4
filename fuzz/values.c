/* values.c -- fuzz target: integers for ids, compared with an array.
 *
 *   u8 level << 6 | geometry, then for each call a u8 that selects it, and its arguments (see take())
 *
 * or, with the last geometry, a payload. The model has IDS ids. A geometry maps them to ids of the key, and
 * says how large segments and values may be. */
#include <string.h>

#include "core/packing.h"
#include "core/values.h"
#include "fuzz.h"

#define IDS 3072
#define CALLS_MAX 400
#define GEOMETRIES 63

static const uint8_t *input, *input_end;

static uint64_t take(int bytes) {
    uint64_t number = 0;
    for (int i = 0; i < bytes && input < input_end; i++) number |= (uint64_t)*input++ << (8 * i);
    return number;
}

static struct {
    bitmap *b;
    uint64_t base, step;
    int value_bytes;
    uint8_t has[IDS];
    int64_t value[IDS];
} key;

static uint64_t id_of(uint32_t i) { return key.base + i * key.step; }

static void begin(uint32_t geometry) {
    static const uint64_t steps[] = {1, 3, 67, 1001, 70000, (uint64_t)1 << 40};
    static const uint32_t segments[] = {2048, 9000, SEGMENT_BYTES_DEFAULT};
    key.step = steps[geometry % 6];
    segment_bytes = segments[geometry / 6 % 3];
    key.value_bytes = geometry / 18 % 2 ? 8 : 1 + (int)(geometry % 3);
    key.base = geometry & 1 ? UINT64_MAX - (IDS - 1) * key.step : 5 * (uint64_t)(geometry & 2);
    key.b = bitmap_create(0);
    memset(key.has, 0, sizeof key.has);
}

/* A value with a sign. */
static int64_t take_value(void) {
    const int shift = 64 - 8 * key.value_bytes;
    return (int64_t)(take(key.value_bytes) << shift) >> shift;
}

/* --- Comparing --- */

static uint64_t ask(enum ask what, uint32_t count, uint64_t *words, numbers *n) {
    uint64_t length;
    *n = (numbers){0};
    must(core_ask(&main_worker, &(asked){what, count, words}, key.b, NULL, n, &length));
    return n->count ? n->list[0] : 0;
}

static void compare_list(void) {
    numbers n;
    size_t at = 0;
    ask(ASK_LIST, 2, (uint64_t[]){0, UINT64_MAX}, &n);
    for (uint32_t i = 0; i < IDS; i++) {
        if (!key.has[i]) continue;
        EXPECT(at + 2 <= n.count && n.list[at] == id_of(i) && n.list[at + 1] == (uint64_t)key.value[i]);
        at += 2;
    }
    EXPECT(at == n.count);
    free(n.list);
}

static void compare(int wholly) {
    const char *fault;
    cardinality ids;
    uint64_t count = 0;
    unsigned __int128 sum = 0;
    numbers n;
    EXPECT(!is_damaged(key.b));
    must(core_validate(&main_worker, key.b, &fault));
    if (fault) finding("invalid: %s", fault);
    for (uint32_t i = 0; i < IDS; i++) {
        count += key.has[i];
        if (key.has[i]) sum += (unsigned __int128)(__int128)key.value[i];
    }
    must(core_cardinality(&main_worker, key.b, &ids));
    EXPECT(ids == count);
    ask(ASK_SUM, 0, NULL, &n);
    EXPECT(n.list[0] == count && n.list[1] + (n.list[2] << 32) == (uint64_t)sum);
    EXPECT((uint32_t)(n.list[3] + ((n.list[2] + (n.list[1] >> 32)) >> 32)) == (uint32_t)(sum >> 64));
    free(n.list);
    if (wholly) compare_list();
}

/* --- Calls --- */

static void change(uint32_t i, enum deed deed, int64_t value) {
    value_change v = {.deed = deed, .id = id_of(i), .value = value};
    const int64_t before = key.has[i] ? key.value[i] : 0;
    int64_t sum;
    must(core_change_value(&main_worker, &key.b, &v));
    if (deed == VALUE_REMOVE) {
        EXPECT((v.done == DONE_CHANGED || v.done == DONE_ADDED) == key.has[i]);
        key.has[i] = 0;
        return;
    }
    if (deed == VALUE_ADD && __builtin_add_overflow(before, value, &sum)) {
        EXPECT(v.done == DONE_NOTHING);
        return;
    }
    EXPECT((v.done == DONE_ADDED) == !key.has[i]);
    key.has[i] = 1;
    key.value[i] = deed == VALUE_ADD ? sum : value;
}

static void change_some(enum deed deed) {
    const uint32_t from = (uint32_t)take(2) % IDS, many = (uint32_t)take(2) % 600 + 1,
                   step = (uint32_t)take(1) + 1;
    const int64_t value = take_value(), slope = take_value();
    for (uint32_t k = 0; k < many; k++) {
        change((from + k * step) % IDS, deed, (int64_t)((uint64_t)value + k * (uint64_t)slope));
    }
}

static void count_between(void) {
    const int64_t low = take_value(), high = take_value();
    uint64_t count = 0;
    numbers n;
    for (uint32_t i = 0; i < IDS; i++) count += key.has[i] && key.value[i] >= low && key.value[i] <= high;
    EXPECT(ask(ASK_COUNT, 2, (uint64_t[]){(uint64_t)low, (uint64_t)high}, &n) == count);
    free(n.list);
}

static void rank(void) {
    const uint32_t of = (uint32_t)take(2) % IDS;
    uint64_t before = 0;
    numbers n;
    for (uint32_t i = 0; i < IDS; i++) {
        before += key.has[i] && (key.value[i] < key.value[of] || (key.value[i] == key.value[of] && i < of));
    }
    ask(ASK_RANK, 2, (uint64_t[]){id_of(of), 0}, &n);
    EXPECT((n.list[1] != 0) == key.has[of] && (!key.has[of] || n.list[0] == before));
    free(n.list);
}

static void replace_key(bitmap *b) {
    bitmap_free(key.b);
    key.b = b;
}

static void pack(void) {
    packing *p;
    must(packing_make(&main_worker, key.b, &p));
    must(packing_put(p, &key.b));
}

static int64_t combined(int64_t a, int64_t b, enum aggregate how) {
    if (how == AGGREGATE_SUM) return (int64_t)((uint64_t)a + (uint64_t)b);
    return (a < b) == (how == AGGREGATE_MIN) ? a : b;
}

/* The key with itself: sums may overflow. */
static void merge(void) {
    static const enum aggregate ways[] = {AGGREGATE_SUM, AGGREGATE_MIN, AGGREGATE_MAX};
    const enum aggregate how = ways[take(1) % 3];
    int overflows, expected = 0;
    int64_t sum;
    operands both;
    result r;
    operands_begin(&both);
    operands_add(&both, key.b);
    operands_add(&both, key.b);
    for (uint32_t i = 0; i < IDS; i++) {
        expected |=
            how == AGGREGATE_SUM && key.has[i] && __builtin_add_overflow(key.value[i], key.value[i], &sum);
    }
    must(core_merge_values(&main_worker, &both, how, &r, &overflows));
    operands_end(&both);
    EXPECT(overflows == expected);
    if (overflows) return;
    replace_key(r.b);
    for (uint32_t i = 0; i < IDS; i++) key.value[i] = combined(key.value[i], key.value[i], how);
}

static void remove_between(void) {
    const int64_t low = take_value(), high = take_value();
    must(core_remove_values(&main_worker, &key.b, NULL, low, high));
    for (uint32_t i = 0; i < IDS; i++) key.has[i] &= key.value[i] < low || key.value[i] > high;
}

/* Changes a copy, which shares segments with the key. */
static void change_copy(void) {
    bitmap *copy = bitmap_copy(key.b);
    value_change v = {.deed = VALUE_SET, .id = id_of((uint32_t)take(2) % IDS), .value = take_value()};
    must(core_change_value(&main_worker, &copy, &v));
    bitmap_free(copy);
}

static bitmap *read_payload(const char *bytes, size_t length) {
    const char *fault;
    result r;
    const encoded payload = {.format = INTEGERS, .bytes = bytes, .length = length};
    must(core_deserialize(&main_worker, &payload, &r, &fault));
    return fault ? NULL : r.b;
}

static void reload(void) {
    char *payload;
    size_t length;
    cardinality ids;
    must(core_cardinality(&main_worker, key.b, &ids));
    if (ids == 0) return; /* no key has none */
    must(core_serialize(&main_worker, key.b, INTEGERS, &payload, &length));
    bitmap *again = read_payload(payload, length);
    EXPECT(again != NULL);
    free(payload);
    replace_key(again);
}

static void call_one(void) {
    const uint8_t which = (uint8_t)take(1);
    if (which < 90) change((uint32_t)take(2) % IDS, VALUE_SET, take_value());
    else if (which < 120) change((uint32_t)take(2) % IDS, VALUE_ADD, take_value());
    else if (which < 150) change((uint32_t)take(2) % IDS, VALUE_REMOVE, 0);
    else if (which < 170) change_some(VALUE_SET);
    else if (which < 185) change_some(VALUE_ADD);
    else if (which < 200) change_some(VALUE_REMOVE);
    else if (which < 215) count_between();
    else if (which < 225) rank();
    else if (which < 232) pack();
    else if (which < 238) merge();
    else if (which < 244) remove_between();
    else if (which < 250) change_copy();
    else reload();
}

/* A payload that is accepted can be written, read again and changed. */
static void try_payload(size_t size) {
    /* A block of its own, so that a read beyond it is noticed. */
    char *bytes = malloc(size ? size : 1);
    memcpy(bytes, input, size);
    key.b = read_payload(bytes, size);
    free(bytes);
    if (key.b == NULL) return;
    const char *fault;
    must(core_validate(&main_worker, key.b, &fault));
    if (fault) finding("invalid: %s", fault);
    numbers before, after;
    ask(ASK_LIST, 2, (uint64_t[]){0, UINT64_MAX}, &before);
    reload();
    pack();
    ask(ASK_LIST, 2, (uint64_t[]){0, UINT64_MAX}, &after);
    EXPECT(before.count == after.count
           && memcmp(before.list, after.list, before.count * sizeof *before.list) == 0);
    free(before.list);
    free(after.list);
    bitmap_free(key.b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    choose_level(data[0]);
    const uint32_t geometry = data[0] & ((1 << LEVEL_SHIFT) - 1);
    input = data + 1;
    input_end = data + size;
    segment_bytes = SEGMENT_BYTES_DEFAULT;
    if (geometry == GEOMETRIES) {
        try_payload(size - 1);
        return 0;
    }
    begin(geometry);
    for (int i = 0; i < CALLS_MAX && input < input_end; i++) {
        call_one();
        compare(i % 16 == 0);
    }
    compare(1);
    bitmap_free(key.b);
    return 0;
}
