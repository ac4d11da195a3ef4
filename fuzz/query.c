/* query.c -- fuzz target: expressions, as random bytes and as random pieces of expressions, over a few
 * bitmaps.
 *
 *   u8 level << 6 | pieces << 5 | wide << 4 | keys - 1, then a byte for each key, then the text
 *
 * A key's byte chooses its members; keys made by the same byte one after the other are the same bitmap. From
 * INTEGERS_FROM on, a key has integers. With `pieces`, each byte of the text stands for a piece of an expression.
 *
 * The parser must refuse the text or evaluate it. Then what it stores, counts and lists must agree. */
#include <string.h>

#include "core/values.h"
#include "fuzz.h"

enum { KEYS_MAX = 8, TEXT_MAX = 1 << 16, LIST_MAX = 1 << 12, INTEGERS_FROM = 240, MADE_MAX = 256 };

/* clang-format off */
static const char *const pieces[] = {
    "#1", "#2", "#3", "#4", "#5", "#6", "#7", "#8", "(", ")", "&", "-", "^", "|", "~", ",", " ", "#1..#2",
    "#1..#4", "[0..9]", "[5..70000]", "[65536..131071]", "[0..4294967295]", "all(", "any(", "one(",
    "atleast(2,", "atmost(1,", "exactly(2,", "atleast(0,", "exactly(0,", "ANY(", "~#1,~#1,~#2,",
    "#1,#1,#1,#2,", "[1..70000],[2..60000],[3..50000],", "exactly(3,", "atleast(4,",
    "#1..#2,#1..#2,#1..#2,#1..#2,", "(#1&#2),(#2&#1),", "(#1-#2)|(#1-~#3)", "#1|#1", "#2^~#2", "~[0..65535]",
    "[131072..196607],", "atmost(5,", "~(#1|#2),", "[7..7],[9..9],[11..4294967295],",
    "#1<5", "#2>=-3&", "#1!=#2", "-9<=#1<100", "<", ">=", "=", "!=", "9223372036854775807", "-9223372036854775808",
};
/* clang-format on */
enum { PIECES = sizeof pieces / sizeof *pieces };

/* A bitmap of a few containers: members by a multiplier, and a range, each of which may be missing. */
static bitmap *make_bitmap(uint8_t seed, int wide) {
    bitmap *b = bitmap_copy(bitmap_empty());
    uint64_t at = seed, base = wide && seed & 1 ? UINT64_MAX - 300000 : 0;
    uint32_t was;
    cardinalities members;

    for (uint32_t i = 0, count = seed % 7 * (seed & 8 ? 900 : 30); i < count; i++) {
        at = (at * 25214903917 + 11) % 262144;
        must(core_set(&main_worker, &b, base + at, 1, &was));
    }
    const stretch flipped = {FLIP, base + seed * 300, base + seed * 300 + (seed & 32 ? 140000 : 500)};
    if (seed & 16) must(core_change_range(&main_worker, &b, &flipped, &members));
    return b;
}

/* Integers of a few containers. */
static bitmap *make_integers(uint8_t seed, int wide) {
    bitmap *b = bitmap_copy(bitmap_empty());
    uint64_t at = seed, base = wide && seed & 1 ? UINT64_MAX - 300000 : 0;
    for (uint32_t i = 0, count = 20 + seed % 7 * (seed & 8 ? 900 : 30); i < count; i++) {
        at = (at * 25214903917 + 11) % 262144;
        value_change v = {.deed = VALUE_SET, .id = base + at, .value = (int64_t)(at * 7 % 211) - 100};
        must(core_change_value(&main_worker, &b, &v));
    }
    return b;
}

static bitmap *make_key(uint8_t seed, int wide) {
    return seed >= INTEGERS_FROM ? make_integers(seed, wide) : make_bitmap(seed, wide);
}

/* Makes operands of comparisons, as the module does, of all ids or of those that matter. Returns 0 if a key that
 * is compared has no values. */
static int resolve(query *q, bitmap **made, uint64_t *count, int of_all) {
    numbers list = {0};
    int right = 1;
    uint32_t more = 0;
    must(core_comparisons(&main_worker, q, &list));
    *count = 0;
    q->operands.count--;
    comparisons *all = (comparisons *)list.list;
    if (of_all) all->near = all->first = 0, all->last = q->greatest;
    for (size_t i = 0; i < list.count * sizeof *list.list / sizeof(comparison); i++) {
        const span *keys = q->operands.list;
        const comparison *one = &all->list[i];
        right = has_values(keys[one->key - 1]) && (!one->other || has_values(keys[one->other - 1]))
             && *count < MADE_MAX;
        if (!right) break;
        must(core_compare(&main_worker, q, all, i, &made[*count], &more));
        check_sound(made[*count]);
        const span ids = span_of(made[(*count)++]);
        if (one->operand <= q->operands.count) q->operands.list[one->operand - 1] = ids;
        else operands_add_span(&q->operands, ids);
    }
    RedisModule_Free(list.list);
    q->keys = q->operands.count;
    query_add_tree(q);
    return right;
}

/* The text of the input; returns its length. */
static size_t make_text(char *text, const uint8_t *data, size_t size, int as_pieces) {
    size_t length = 0;
    for (size_t i = 0; i < size && length + 64 < TEXT_MAX; i++) {
        const char *piece = pieces[data[i] % PIECES];
        if (as_pieces) {
            memcpy(text + length, piece, strlen(piece));
            length += strlen(piece);
        } else {
            text[length++] = (char)data[i];
        }
    }
    return length;
}

/* What has been listed: how many members, and a sum over them that is the same in any order. */
typedef struct listing {
    uint64_t count, sum;
} listing;

static void note_listed(void *context, const uint64_t *members, size_t count) {
    listing *l = context;
    l->count += count;
    for (size_t i = 0; i < count; i++) l->sum += members[i] * members[i] + members[i];
}

/* Compares the members of the query in [0, from], listed downwards, with those of its result. */
static void check_down(const query *q, const bitmap *b, uint64_t from) {
    cardinality members, expected;
    uint64_t first = 0;
    listing down = {0, 0}, up = {0, 0};
    const page p = {from, LIST_MAX, 1};

    must(core_query_cardinality(&main_worker, q, &(page){from, UINT64_MAX, 1}, &members));
    must(core_count_between(&main_worker, b, 0, from, &expected));
    EXPECT(members == expected);
    must(core_query_members(&main_worker, q, &p, note_listed, &down));
    const uint64_t listed = members < LIST_MAX ? (uint64_t)members : LIST_MAX;
    EXPECT(down.count == listed);
    if (listed == 0) return;
    must(core_select(&main_worker, b, (uint64_t)(members - listed), &first));
    must(core_members(&main_worker, b, first, listed, note_listed, &up));
    EXPECT(down.sum == up.sum);
}

/* Compares the ways to evaluate the expression, whose operands are set. Returns how many members it has. */
static cardinality check_answers(const query *q, uint64_t from) {
    result r;
    cardinality counted, rest, expected;
    listing listed = {0, 0};

    must(core_query_cardinality(&main_worker, q, &(page){0, UINT64_MAX, 0}, &counted));
    must(core_query_cardinality(&main_worker, q, &(page){from, UINT64_MAX, 0}, &rest));
    must(core_query_members(&main_worker, q, &(page){from, LIST_MAX, 0}, note_listed, &listed));
    must(core_query(&main_worker, q, 0, 0, &r));
    check_sound(r.b);
    check_counted(&r);
    must(core_count_between(&main_worker, r.b, from, UINT64_MAX, &expected));
    EXPECT(r.members == counted);
    EXPECT(expected == rest);
    EXPECT(listed.count == (rest < LIST_MAX ? (uint64_t)rest : LIST_MAX));
    check_down(q, r.b, from);
    bitmap_free(r.b);
    return counted;
}

/* Evaluates the expression over the keys. Returns how many members it has; 0 if a key that is compared has no
 * values. */
static cardinality evaluate(query q, bitmap **keys, uint64_t from, int of_all) {
    static bitmap *made[MADE_MAX];
    cardinality members = 0;
    uint64_t resolved;

    operands_begin(&q.operands);
    for (uint32_t i = 0; i < q.keys; i++) operands_add(&q.operands, keys[i]);
    query_add_tree(&q);
    if (resolve(&q, made, &resolved, of_all)) members = check_answers(&q, from);
    operands_end(&q.operands);
    while (resolved > 0) bitmap_free(made[--resolved]);
    return members;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char text[TEXT_MAX];
    bitmap *keys[KEYS_MAX];
    query_mistake m;

    if (size == 0) return 0;
    choose_level(data[0]);
    int wide = data[0] >> 4 & 1;
    query q;
    q.keys = (data[0] & (KEYS_MAX - 1)) + 1u;
    q.first = 0;
    q.greatest = q.last = wide ? UINT64_MAX : UINT32_MAX;
    if (size < 1 + q.keys) return 0;
    size_t length = make_text(text, data + 1 + q.keys, size - 1 - q.keys, data[0] >> 5 & 1);
    must(core_parse_query(&main_worker, &q, text, length, &m));
    if (m.number != MISTAKE_NONE) {
        EXPECT(m.place >= 1 && m.place <= length + 1);
        return 0;
    }
    const uint32_t count = q.keys;
    for (uint32_t i = 0; i < count; i++) {
        int same = i > 0 && data[1 + i] == data[i];
        keys[i] = same ? keys[i - 1] : make_key(data[1 + i], wide);
    }
    EXPECT(evaluate(q, keys, data[1] * 1000u, 0) == evaluate(q, keys, data[1] * 1000u, 1));
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || keys[i] != keys[i - 1]) bitmap_free(keys[i]);
    }
    return 0;
}
