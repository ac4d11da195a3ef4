/* names.c -- fuzz target: dictionaries of names and ids, compared with an array.
 *
 *   u8 level << 6 | geometry, then for each call a u8 that selects it, and its arguments (see take())
 *
 * or, with the last geometry, a chunk of a payload. The model has NAMES names. A geometry says what they look like, and
 * how large segments may be. */
#include <stdio.h>
#include <string.h>

#include "api/redismodule.h"
#include "core/names.h"
#include "fuzz.h"

#define NAMES 2048
#define NAME_ROOM 512
#define LIST_MAX 300
#define CALLS_MAX 300
#define GEOMETRIES 63
#define IDS_MAX (CALLS_MAX * 256)
#define NOBODY UINT32_MAX

static const uint8_t *input, *input_end;

static uint64_t take(int bytes) {
    uint64_t number = 0;
    for (int i = 0; i < bytes && input < input_end; i++) number |= (uint64_t)*input++ << (8 * i);
    return number;
}

static struct {
    bitmap *b;
    uint32_t style;
    uint64_t next;
    uint64_t id[NAMES]; /* NO_ID if it has none */
    uint32_t holder[IDS_MAX]; /* the name that has an id, or NOBODY; ids are given out once */
} dictionary;

/* --- The names --- */

enum style { UUIDS, UPPER_UUIDS, HEXADECIMAL, DECIMAL, ZEROS, WORDS, BYTES, LONG, MIXED, STYLES };

static uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static size_t put(char *to, const char *format, unsigned long long a, unsigned long long b) {
    return (size_t)snprintf(to, NAME_ROOM, format, a, b);
}

static size_t put_uuid(char *to, uint64_t a, uint64_t b, int upper) {
    char digits[33];
    size_t length = 0;
    snprintf(digits, sizeof digits, upper ? "%016llX%016llX" : "%016llx%016llx", (unsigned long long)a,
             (unsigned long long)b);
    for (int i = 0; i < 32; i++) {
        if (i == 8 || i == 12 || i == 16 || i == 20) to[length++] = '-';
        to[length++] = digits[i];
    }
    return length;
}

/* Writes name i, which differs from all others, and returns its length. */
static size_t name_of(uint32_t i, char *to) {
    const uint64_t a = mixed(i + 1), b = mixed(~(uint64_t)i);
    const uint32_t style = dictionary.style == MIXED ? i % MIXED : dictionary.style;
    size_t length;
    switch (style) {
    case UUIDS: return put_uuid(to, a, b, 0);
    case UPPER_UUIDS: return put_uuid(to, a, b, 1);
    case HEXADECIMAL: return put(to, i & 1 ? "%llx%08llx" : "%llX%08llX", a, i);
    case DECIMAL: return put(to, "%llu%04llu", a >> (a & 63), i);
    case ZEROS: return (size_t)snprintf(to, NAME_ROOM, "%0*u", (int)(5 + i % 30), i);
    case WORDS: return put(to, "%llx-w%llu", i * 7919ULL, i);
    case BYTES:
        memcpy(to, &a, sizeof a);
        memcpy(to + sizeof a, &i, sizeof i);
        return sizeof a + sizeof i;
    default:
        length = put(to, "%llu:%llx:", i, a);
        memset(to + length, 'x', i % 400);
        return length + i % 400;
    }
}

/* --- The model --- */

static void give(uint32_t i, uint64_t id) {
    dictionary.id[i] = id;
    dictionary.holder[id] = i;
}

static void take_away(uint32_t i) {
    if (dictionary.id[i] != NO_ID) dictionary.holder[dictionary.id[i]] = NOBODY;
    dictionary.id[i] = NO_ID;
}

/* --- Lists of names --- */

static char texts[LIST_MAX][NAME_ROOM];
static uint64_t ids[LIST_MAX];
static uint32_t listed[LIST_MAX];

/* A list of names, taken from the input: many in a row, or some anywhere. */
static uint32_t take_list(naming *n) {
    const uint32_t first = (uint32_t)take(2), kind = (uint32_t)take(1), count = 1 + (uint32_t)take(1);
    const uint32_t step = kind < 128 ? 1 : 1 + (uint32_t)take(2);
    operands_begin(&n->names);
    operands_add_span(&n->names, (span){0});
    n->ids = ids;
    n->changed = 0;
    for (uint32_t k = 0; k < count; k++) {
        listed[k] = (first + k * step) % NAMES;
        const size_t length = name_of(listed[k], texts[k]);
        operands_add_span(&n->names, (span){.base = (uint8_t *)texts[k], .size = (uint32_t)length});
    }
    return count;
}

/* --- Memory --- */

static uint32_t allocations = UINT32_MAX;

static void *scarce_alloc(size_t bytes) { return allocations && allocations-- ? malloc(bytes) : NULL; }

static void *scarce_realloc(void *block, size_t bytes) {
    return allocations && allocations-- ? realloc(block, bytes) : NULL;
}

/* Perhaps lets memory run out during the next call. */
static void limit_memory(void) {
    const uint32_t how = (uint32_t)take(1);
    allocations = how < 160 ? UINT32_MAX : how % 4;
}

/* Whether the call was made; otherwise memory ran out, and nothing has changed. */
static int made(status s) {
    const int scarce = allocations < UINT32_MAX / 2;
    allocations = UINT32_MAX;
    if (s == OUT_OF_MEMORY && scarce) return 0;
    must(s);
    return 1;
}

/* --- Comparing --- */

struct expected {
    uint32_t at, count;
};

static int compare_name(void *context, uint64_t id, span name) {
    struct expected *e = context;
    char text[NAME_ROOM];
    EXPECT(e->at < e->count && id == ids[e->at]);
    const size_t length = listed[e->at] == NOBODY ? 0 : name_of(listed[e->at], text);
    EXPECT(name.size == length && memcmp(name.base, text, length) == 0);
    e->at++;
    return 1;
}

/* Compares the names of some ids, of which some belong to nobody. */
static void compare_names(void) {
    struct expected e = {.count = 1 + (uint32_t)take(1)};
    const uint64_t first = take(2), step = take(1);
    for (uint32_t k = 0; k < e.count; k++) {
        ids[k] = (first + k * step) % (dictionary.next + 2);
        listed[k] = ids[k] < dictionary.next ? dictionary.holder[ids[k]] : NOBODY;
    }
    must(names_of(&main_worker, dictionary.b, ids, e.count, compare_name, &e));
    EXPECT(e.at == e.count);
}

static void compare_all(void) {
    char text[NAME_ROOM];
    uint64_t id = 0, names = 0;
    uint32_t found = 0;
    span name;
    for (; names_next(&main_worker, dictionary.b, &id, &name) == OK && id != NO_ID; id++, found++) {
        EXPECT(id < dictionary.next && dictionary.holder[id] != NOBODY);
        const uint32_t i = dictionary.holder[id];
        const size_t length = name_of(i, text);
        EXPECT(name.size == length && memcmp(name.base, text, length) == 0);
    }
    for (uint32_t i = 0; i < NAMES; i++) names += dictionary.id[i] != NO_ID;
    EXPECT(found == names);
}

static void compare(int wholly) {
    const char *fault;
    uint64_t count, names = 0;
    EXPECT(!is_damaged(dictionary.b));
    must(names_count(&main_worker, dictionary.b, &count));
    for (uint32_t i = 0; i < NAMES; i++) names += dictionary.id[i] != NO_ID;
    EXPECT(count == names);
    if (!wholly) return;
    must(names_validate(&main_worker, dictionary.b, &fault));
    if (fault) finding("invalid: %s", fault);
    compare_all();
}

/* --- Calls --- */

static void find(void) {
    naming n;
    const uint32_t count = take_list(&n);
    must(names_find(&main_worker, dictionary.b, &n));
    for (uint32_t k = 0; k < count; k++) EXPECT(ids[k] == dictionary.id[listed[k]]);
    operands_end(&n.names);
}

static void add(void) {
    naming n;
    const uint32_t count = take_list(&n);
    const int takes_back = take(1) < 32;
    uint64_t next = dictionary.next;
    uint32_t added = 0;
    limit_memory();
    if (made(names_add(&main_worker, &dictionary.b, &n))) {
        for (uint32_t k = 0; k < count; k++) {
            if (dictionary.id[listed[k]] == NO_ID) give(listed[k], next++), added++;
            EXPECT(ids[k] == dictionary.id[listed[k]]);
        }
        EXPECT(n.changed == added);
        if (takes_back) {
            must(names_take_back(&main_worker, &dictionary.b, &n));
            for (uint32_t i = 0; i < NAMES; i++) {
                if (dictionary.id[i] != NO_ID && dictionary.id[i] >= dictionary.next) take_away(i);
            }
        } else dictionary.next = next;
    }
    operands_end(&n.names);
}

static void remove_some(void) {
    naming n;
    const uint32_t count = take_list(&n);
    uint32_t removed = 0;
    limit_memory();
    if (made(names_remove(&main_worker, &dictionary.b, &n))) {
        for (uint32_t k = 0; k < count; k++) {
            removed += dictionary.id[listed[k]] != NO_ID;
            take_away(listed[k]);
        }
        EXPECT(n.changed == removed);
    }
    operands_end(&n.names);
}

/* Changes a copy, which shares segments with the dictionary. */
static void change_copy(void) {
    naming n;
    bitmap *copy = bitmap_copy(dictionary.b);
    take_list(&n);
    if (take(1) & 1) must(names_add(&main_worker, &copy, &n));
    else must(names_remove(&main_worker, &copy, &n));
    operands_end(&n.names);
    bitmap_free(copy);
}

/* A chunk with some bytes changed is refused, or makes a valid dictionary. */
static void load_damaged(const char *chunk, size_t length) {
    const char *fault;
    size_t kept = take(1) < 64 ? take(2) % (length + 1) : length;
    char *bytes = malloc(kept ? kept : 1);
    bitmap *b = bitmap_create(0);
    memcpy(bytes, chunk, kept);
    for (uint64_t i = take(1) % 5; i > 0 && kept; i--) bytes[take(2) % kept] = (char)take(1);
    must(names_load(&main_worker, &b, bytes, kept, &fault));
    if (fault == NULL) {
        must(names_validate(&main_worker, b, &fault));
        if (fault) finding("invalid: %s", fault);
    }
    free(bytes);
    bitmap_free(b);
}

/* Loads all chunks into a new dictionary, which becomes ours, and damaged ones elsewhere. */
static void reload(int damages) {
    const char *fault;
    char *chunk = NULL;
    size_t length;
    bitmap *again = bitmap_create(0);
    for (uint32_t i = 0; names_chunk(&main_worker, dictionary.b, i, &chunk, &length) == OK && chunk; i++) {
        if (damages) load_damaged(chunk, length);
        must(names_load(&main_worker, &again, chunk, length, &fault));
        if (fault) finding("a chunk is refused: %s", fault);
        free(chunk);
    }
    bitmap_free(dictionary.b);
    dictionary.b = again;
}

static void call_one(void) {
    const uint8_t which = (uint8_t)take(1);
    if (which < 90) add();
    else if (which < 150) remove_some();
    else if (which < 185) find();
    else if (which < 215) compare_names();
    else if (which < 235) change_copy();
    else reload(which < 246);
}

static void begin(uint32_t geometry) {
    static const uint32_t segments[] = {2048, 6000, 20000, SEGMENT_BYTES_DEFAULT};
    static const uint64_t seed[] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
    names_seed(seed);
    dictionary.style = geometry % STYLES;
    segment_bytes = segments[geometry / STYLES % 4];
    dictionary.b = bitmap_create(0);
    dictionary.next = 0;
    for (uint32_t i = 0; i < NAMES; i++) dictionary.id[i] = NO_ID;
}

/* A chunk that is accepted can be written and read again. */
static void try_chunk(size_t size) {
    const char *fault;
    uint64_t count, again;
    begin(0);
    char *bytes = malloc(size ? size : 1);   /* so that a read beyond it is noticed */
    memcpy(bytes, input, size);
    must(names_load(&main_worker, &dictionary.b, bytes, size, &fault));
    free(bytes);
    if (fault == NULL) {
        must(names_validate(&main_worker, dictionary.b, &fault));
        if (fault) finding("invalid: %s", fault);
        must(names_count(&main_worker, dictionary.b, &count));
        reload(0);
        must(names_count(&main_worker, dictionary.b, &again));
        EXPECT(count == again);
    }
    bitmap_free(dictionary.b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    choose_level(data[0]);
    const uint32_t geometry = data[0] & ((1 << LEVEL_SHIFT) - 1);
    input = data + 1;
    input_end = data + size;
    RedisModule_TryAlloc = scarce_alloc;
    RedisModule_TryRealloc = scarce_realloc;
    if (geometry == GEOMETRIES) {
        try_chunk(size - 1);
        return 0;
    }
    begin(geometry);
    for (int i = 0; i < CALLS_MAX && input < input_end; i++) {
        call_one();
        compare(i % 16 == 0);
    }
    compare(1);
    bitmap_free(dictionary.b);
    return 0;
}
