/* sequence.c -- fuzz target: reads bytes as a sequence of calls on three bitmaps, and compares these with
 * arrays of bits.
 *
 *   u8 level << 6 | geometry, then for each call a u8 that selects it, and its arguments (see take())
 *
 * The model of a bitmap has DOMAIN bits. A geometry maps them to offsets: 2^low_bits bits to a container, in
 * consecutive containers from `base` on. With low_bits = 16 there are few, dense containers. With few bits
 * per container the directory has several levels, which is slow and therefore chosen less often. Members
 * that an operation adds outside the domain are removed by an AND with all of the domain. Calls that take
 * long have numbers of their own at the end of a byte's range; all others share the rest of it. */
#include <string.h>

#include "bits.h"
#include "core/guard.h"
#include "core/packing.h"
#include "transitions.h"
#include "core/workspace.h"

#define SOURCES_MAX 4
#define CALLS_MAX 300
#define CALLS_MAX_WIDE 50           /* calls are slow if there are many containers */
#define AT_ONCE_MAX 4096
#define MOST_MAX 65536
/* A bitmap of up to this many members is compared after each call; all bitmaps are compared at the end. */
#define COMPARED_MAX 2048

struct comparison {
    const struct subject *with;
    uint32_t from, limit;
};

static void compare(void *context, const uint64_t *members, size_t count) {
    struct comparison *c = context;
    for (size_t m = 0; m < count; m++, c->limit--) {
        uint32_t i = index_of(members[m]);
        EXPECT(c->limit > 0 && i >= c->from && next_with(c->with, c->from, 1) == i);
        c->from = i + 1;
    }
}

/* Checks that the first `limit` members from index `from` on are those of the model. */
static void check_members(const struct subject *k, uint32_t from, uint32_t limit) {
    struct comparison c = {k, from, limit};
    must(core_members(&main_worker, k->b, offset_of(from), limit, compare, &c));
    EXPECT(c.limit == 0 || next_with(k, c.from, 1) == DOMAIN);
}

static void check(const struct subject *k) {
    const char *fault;
    cardinality members;

    EXPECT(!is_damaged(k->b));
    must(core_validate(&main_worker, k->b, &fault));
    if (fault) finding("invalid: %s", fault);
    must(core_cardinality(&main_worker, k->b, &members));
    EXPECT(members == members_below(k, DOMAIN));
    if (members <= COMPARED_MAX) check_members(k, 0, DOMAIN);
}

/* --- Calls --------------------------------------------------------------------------------------------- */

/* For one write, memory can be scarce: its bitmap may grow by so many bytes; or to so many bytes, even if it
 * has more already, which also refuses to have it rewritten. A write that is refused must change nothing. */
static struct {
    int scarce, in_all;
    uint32_t room;
    uint64_t before[WORDS];
} memory;

/* Precedes each write to k, and what changes the model. */
static void begin(const struct subject *k) {
    if (!memory.scarce) return;
    memcpy(memory.before, k->bits, sizeof k->bits);
    sandbox_limit_arenas((memory.in_all ? 0 : (uint32_t)bitmap_bytes(k->b)) + memory.room);
}

/* begin() for a write in place to bits from `low` to `high`. */
static void begin_in_place(const struct subject *k, enum write write, uint32_t low, uint32_t high) {
    begin(k);
    before_write(k->b, write, offset_of(low), offset_of(high));
}

/* Follows each write to k, and what changes the model. Returns whether it was done. */
static int done(struct subject *k, status s) {
    int refused = s == OUT_OF_MEMORY && memory.scarce;
    after_write(k->b, s);
    if (memory.scarce) sandbox_limit_arenas(UINT32_MAX);
    memory.scarce = 0;
    if (refused) memcpy(k->bits, memory.before, sizeof k->bits);
    else must(s);
    return !refused;
}

static void make_scarce(void) {
    uint32_t room = take(2), how = take(1);
    memory.scarce = 1;
    memory.in_all = how >= 128;
    memory.room = room >> how % 16;
}

/* Replaces the bitmap by b. */
static void store(struct subject *k, bitmap *b) {
    bitmap_free(k->b);
    k->b = b;
}

/* Replaces the bitmap by a result. */
static void store_counted(struct subject *k, const result *r) {
    check_counted(r);
    store(k, r->b);
}

/* The combination of two bitmaps. */
static status combine(enum operation operation, const bitmap *a, const bitmap *b, result *r) {
    operands both;
    operands_begin(&both);
    operands_add(&both, a);
    operands_add(&both, b);
    return core_combine(&main_worker, operation, &both, r);
}

/* Removes members outside the domain. */
static void confine(struct subject *k, const bitmap *all) {
    result r;
    must(combine(AND, k->b, all, &r));
    store_counted(k, &r);
}

/* Bitmaps that stay from one input to the next. */
static uint64_t lasting;

/* A bitmap of the whole domain, built once for each geometry. */
static bitmap *universe(uint32_t number) {
    static bitmap *made[GEOMETRIES];
    static uint64_t offsets[VALUES_ROOM(AT_ONCE_MAX)];
    uint64_t changed;

    if (made[number]) return made[number];
    made[number] = bitmap_create(0);
    lasting++;
    for (uint32_t from = 0; from < DOMAIN; from += AT_ONCE_MAX) {
        for (uint32_t i = 0; i < AT_ONCE_MAX; i++) offsets[i] = offset_of(from + i);
        must(core_set_all(&main_worker, &made[number], offsets, AT_ONCE_MAX, &changed));
        EXPECT(changed == AT_ONCE_MAX);
    }
    return made[number];
}

static void set_one(struct subject *k) {
    uint32_t i = take(3) % DOMAIN, bit = take(1) & 1, held = has(k, i), previous;
    begin_in_place(k, bit ? SET_ONE : CLEAR_ONE, i, i);
    give(k, i, bit);
    if (done(k, core_set(&main_worker, &k->b, offset_of(i), bit, &previous))) EXPECT(previous == held);
}

/* Sets or clears many bits, or builds a bitmap of them. */
static void set_many(struct subject *k) {
    static uint64_t offsets[VALUES_ROOM(AT_ONCE_MAX)];
    uint32_t i = take(3) % DOMAIN, step = take(2), how = take(1) & 3, bit = how != 0,
             many = take(2) % AT_ONCE_MAX + 1;
    uint64_t changed, expected = 0;
    bitmap *b;

    if (how == 3) begin(k);
    else begin_in_place(k, bit ? SET_LIST : CLEAR_LIST, i, (i + step) % DOMAIN);
    if (how == 3) memset(k->bits, 0, sizeof k->bits);
    for (uint32_t n = 0; n < many; n++, i = (i + step) % DOMAIN) {
        offsets[n] = offset_of(i);
        expected += has(k, i) != bit;
        give(k, i, bit);
    }
    if (how == 3) {
        if (done(k, core_collect(&main_worker, offsets, many, &b))) store(k, b);
    } else if (done(k, (bit ? core_set_all : core_clear_all)(&main_worker, &k->b, offsets, many, &changed))) {
        EXPECT(changed == expected);
    }
}

/* Sets or clears many bits, more than set_many(), by one list. Some offsets are in it twice, which cuts runs
 * there; some are left out. */
static void set_most(struct subject *k) {
    static uint64_t offsets[VALUES_ROOM(2 * MOST_MAX)];
    uint32_t bit = take(1) & 1, i = take(3) % DOMAIN, step = take(1) + 1, many = take(2) + 1,
             twice = take(1) + 1, left = take(1) + 1;
    uint32_t n = 0, most = (DOMAIN - i + step - 1) / step;
    uint64_t changed, expected = 0;

    if (many > most) many = most;
    begin_in_place(k, bit ? SET_LIST : CLEAR_LIST, i, i + (many - 1) * step);
    for (uint32_t m = 1; m <= many; m++, i += step) {
        if (left > 1 && m % left == 0) continue;
        offsets[n++] = offset_of(i);
        if (m % twice == 0) offsets[n++] = offset_of(i);
        expected += has(k, i) != bit;
        give(k, i, bit);
    }
    if (done(k, (bit ? core_set_all : core_clear_all)(&main_worker, &k->b, offsets, n, &changed)))
        EXPECT(changed == expected);
}

/* Sets one bit in each of many containers. */
static void scatter(struct subject *k) {
    static uint64_t offsets[VALUES_ROOM(AT_ONCE_MAX)];
    uint32_t width = 1u << geometry.low_bits, containers = DOMAIN >> geometry.low_bits;
    uint32_t first = take(2) % containers, low = take(2) % width, step = take(1) % 4 + 1,
             many = take(2) % AT_ONCE_MAX + 1, n = 0;
    uint64_t changed, expected = 0;

    begin_in_place(k, SET_LIST, first * width + low, first * width + low);
    for (uint32_t c = first; c < containers && n < many; c += step) {
        uint32_t i = c * width + (low + n) % width;
        offsets[n++] = offset_of(i);
        expected += !has(k, i);
        give(k, i, 1);
    }
    if (done(k, core_set_all(&main_worker, &k->b, offsets, n, &changed))) EXPECT(changed == expected);
}

/* Adds the members of another bitmap. Memory is scarce, and transitions are noted, only for what happens in
 * place. */
static void merge(struct subject *k) {
    const struct subject *from = take_bitmap();
    cardinalities members;
    cardinality before, after;

    if (from == k) return;
    uint32_t low = next_with(from, 0, 1), high = next_with(from, low + take(2), 1);
    begin_in_place(k, MERGE, low % DOMAIN, high % DOMAIN);
    for (uint32_t w = 0; w < WORDS; w++) k->bits[w] |= from->bits[w];
    must(core_cardinality(&main_worker, k->b, &before));
    if (!done(k, core_merge(&main_worker, &k->b, from->b, &members))) return;
    must(core_cardinality(&main_worker, k->b, &after));
    EXPECT(members.before == before && members.after == after);
}

/* Changes a range. The model has been changed. */
static void change_stretch(struct subject *k, const stretch *r) {
    cardinality before, after;
    cardinalities members;
    must(core_cardinality(&main_worker, k->b, &before));
    if (!done(k, core_change_range(&main_worker, &k->b, r, &members))) return;
    must(core_cardinality(&main_worker, k->b, &after));
    EXPECT(members.before == before && members.after == after);
}

static enum write write_of(enum change what) {
    return what == SET ? SET_RANGE : what == CLEAR ? CLEAR_RANGE : FLIP_RANGE;
}

static void change_bits(struct subject *k, enum change what, uint32_t low, uint32_t high) {
    for (uint32_t w = low / 64; w <= high / 64; w++) {
        uint64_t mask = mask_of(w, low, high);
        if (what == SET) k->bits[w] |= mask;
        else if (what == CLEAR) k->bits[w] &= ~mask;
        else k->bits[w] ^= mask;
    }
}

static void change(struct subject *k, enum change what, uint32_t low, uint32_t high) {
    begin_in_place(k, write_of(what), low, high);
    change_bits(k, what, low, high);
    change_stretch(k, &(stretch){what, offset_of(low), offset_of(high)});
}

static void change_range(struct subject *k, const bitmap *all) {
    enum change what = take(1) % (FLIP + 1);
    uint32_t low = take(3) % DOMAIN, high = low + take(3) % (DOMAIN - low);
    change(k, what, low, high);
    confine(k, all);
}

/* Changes several ranges of the same length at equal distances. */
static void change_ranges(struct subject *k, const bitmap *all) {
    enum change what = take(1) % (FLIP + 1);
    uint32_t low = take(3) % DOMAIN, length = take(1) + 1, step = length + take(1), ranges = take(1) % 64;
    for (; ranges > 0 && low + length <= DOMAIN; ranges--, low += step) {
        change(k, what, low, low + length - 1);
    }
    confine(k, all);
}

static uint64_t combined(enum operation operation, struct subject *const sources[], uint32_t count,
                         uint32_t word) {
    uint64_t all = ~0ull, any = 0, odd = 0, rest = 0, once = 0, again = 0;
    for (uint32_t s = 0; s < count; s++) {
        uint64_t bits = sources[s] ? sources[s]->bits[word] : 0;
        all &= bits;
        any |= bits;
        odd ^= bits;
        again |= once & bits;
        once |= bits;
        if (s) rest |= bits;
    }
    uint64_t first = sources[0] ? sources[0]->bits[word] : 0;
    switch (operation) {
    case AND: return all;
    case OR: return any;
    case XOR: return odd;
    case DIFF: return first & ~rest;
    case DIFF1: return rest & ~first;
    case ANDOR: return first & rest;
    default: return once & ~again;
    }
}

/* Sources are the bitmaps and, now and then, a missing key. */
static void combine_some(struct subject *k) {
    enum operation operation = take(1) % (ONE + 1);
    uint32_t count = take(1) % SOURCES_MAX + 1;
    struct subject *sources[SOURCES_MAX];
    static uint64_t bits[WORDS];
    cardinality members, expected = 0;
    operands list;
    result r;

    if (operation == NOT) operation = OR;
    if (operation >= DIFF && operation != ONE && count < 2) count = 2;
    operands_begin(&list);
    for (uint32_t s = 0; s < count; s++) {
        uint32_t which = take(1) % (4 * BITMAPS + 1);
        sources[s] = which == 4 * BITMAPS ? NULL : &subjects[which % BITMAPS];
        operands_add(&list, sources[s] ? sources[s]->b : NULL);
    }
    for (uint32_t w = 0; w < WORDS; w++) {
        bits[w] = combined(operation, sources, count, w);
        expected += (uint32_t)__builtin_popcountll(bits[w]);
    }
    must(core_combine_cardinality(&main_worker, operation, &list, 0, &members));
    EXPECT(members == expected);
    begin(k);
    memcpy(k->bits, bits, sizeof bits);
    if (done(k, core_combine(&main_worker, operation, &list, &r))) store_counted(k, &r);
}

static void complement(struct subject *k, const bitmap *all) {
    const struct subject *source = take_bitmap();
    uint32_t given = take(1) & 1, last = take(3) % DOMAIN, end = 0;
    uint64_t up_to = offset_of(last);
    result r;

    for (uint32_t i = next_with(source, 0, 1); i < DOMAIN; i = next_with(source, i + 1, 1)) end = i + 1;
    if (given && last + 1 > end) end = last + 1;
    must(core_complement(&main_worker, source->b, given ? &up_to : NULL, &r));
    for (uint32_t w = 0; w < WORDS; w++) k->bits[w] = end ? ~source->bits[w] & mask_of(w, 0, end - 1) : 0;
    store_counted(k, &r);
    confine(k, all);
}

/* As OPTIMIZE does on a thread: the bitmap may be written to before what is packed is put in place. */
static void pack(struct subject *k) {
    const int large = root_of(k->b) != NULL;
    const bitmap *source = large ? bitmap_retain(k->b) : k->b;
    packing *p;
    begin(k);
    if (done(k, packing_make(&main_worker, source, &p))) {
        if (large && take(1) & 1) set_one(k);
        begin(k);
        done(k, packing_put(p, &k->b));
    }
    if (large) bitmap_release(source);
}

static void write_and_read(struct subject *k) {
    uint32_t format = take(1) % FORMATS;
    bitmap *b = fits(k->b, format) ? reread(k->b, format) : NULL;
    if (b) store(k, b);
}

static void copy(struct subject *k) {
    const struct subject *from = take_bitmap();
    bitmap *b = bitmap_copy(from->b);
    if (from != k) memcpy(k->bits, from->bits, sizeof k->bits);
    store(k, b);
}

static void empty(struct subject *k) {
    store(k, bitmap_create(0));
    memset(k->bits, 0, sizeof k->bits);
}

#define FIELDS_MAX 4096

/* Whether a field lies in the domain and in one container. */
static int is_field(uint32_t i, uint32_t width) {
    uint32_t held = 1u << geometry.low_bits;
    return i + width <= DOMAIN && (i & (held - 1)) + width <= held;
}

/* Writes a signed field of the model. Returns its old value. */
static int64_t give_field(struct subject *k, uint32_t i, uint32_t width, uint64_t value) {
    uint64_t old = 0;
    for (uint32_t bit = 0; bit < width; bit++) {
        old = old << 1 | has(k, i + bit);
        give(k, i + bit, value >> (width - 1 - bit) & 1);
    }
    return (int64_t)(old << (64 - width)) >> (64 - width);
}

/* What fields written at once get: the value shifted by another number of bits in each of eight; the value in the last one,
 * or in the last ones, and elsewhere 0; or the value in all of them. The last ones are half of them, or less by so many
 * sixteenths of that. */
enum pattern { SHIFTED, IN_LAST, IN_LAST_ONES, IN_ALL };

struct values {
    uint32_t width;
    enum pattern pattern;
    uint32_t less;
    uint64_t value;
};

/* The value of field f of `count`. */
static uint64_t value_of(const struct values *v, uint32_t f, uint32_t count) {
    switch (v->pattern) {
    case SHIFTED: return v->value >> 7 * (f % 8);
    case IN_LAST: return f + 1 == count ? v->value : 0;
    case IN_LAST_ONES: return f >= count / 2 + count / 2 * v->less / 16 ? v->value : 0;
    default: return v->value;
    }
}

/* Writes several fields at equal distances at once, all or none of them. */
static void set_fields(struct subject *k, uint32_t count, uint32_t i, const struct values *v) {
    uint32_t apart = take(2), fields = 0, changed;
    static field_step steps[FIELDS_MAX];
    static int64_t old[FIELDS_MAX];

    while (fields < count && is_field(i + fields * apart, v->width)) fields++;
    for (uint32_t f = 0; f < fields; f++) {
        const field at = {offset_of(i + f * apart), v->width, 1};
        const int64_t value = (int64_t)value_of(v, f, fields);
        steps[f] = (field_step){.action = FIELD_SET, .overflow = WRAP, .at = at, .value = value};
    }
    begin_in_place(k, FIELD, i, i + (fields - 1) * apart);
    for (uint32_t f = 0; f < fields; f++)
        old[f] = give_field(k, i + f * apart, v->width, (uint64_t)steps[f].value);
    if (!done(k, core_change_fields(&main_worker, &k->b, steps, fields, &changed))) return;
    for (uint32_t f = 0; f < fields; f++) {
        EXPECT(steps[f].outcome.written && steps[f].outcome.reply == old[f]);
    }
}

/* Writes one field or several, with overflow WRAP. Each must lie in one container. */
static void set_field(struct subject *k) {
    uint32_t byte = take(1), width = byte % 64 + 1, i = take(3) % DOMAIN;
    uint64_t value = (uint64_t)take(4) << 32;

    value |= take(4);
    if (!is_field(i, width)) return;
    if (byte >= 64) {
        set_fields(k, 1 + byte / 64, i, &(struct values){width, SHIFTED, 0, value});
        return;
    }
    const field at = {offset_of(i), width, 1};
    field_step step = {.action = FIELD_SET, .overflow = WRAP, .at = at, .value = (int64_t)value};
    begin_in_place(k, FIELD, i, i + width - 1);
    int64_t old = give_field(k, i, width, value);
    if (!done(k, core_write_field(&main_worker, &k->b, &step))) return;
    EXPECT(step.outcome.written && step.outcome.reply == old);
    EXPECT(step.outcome.changed == ((value ^ (uint64_t)old) << (64 - width) != 0));
}

/* Writes many fields at once. */
static void set_many_fields(struct subject *k) {
    uint32_t byte = take(1), width = byte % 64 + 1, i = take(3) % DOMAIN, many = take(2);
    uint64_t value = (uint64_t)take(4) << 32;

    value |= take(4);
    const struct values v = {width, (enum pattern)(byte / 64), many / FIELDS_MAX, value};
    if (is_field(i, width)) set_fields(k, many % FIELDS_MAX + 1, i, &v);
}

/* --- Beside the domain --------------------------------------------------------------------------------- */

#define WHOLE_MAX 512
#define BALLAST 24 /* bitsets in a ballast */
#define BALLAST_MEMBERS 5000
#define LONE 400 /* lone members in a ballast */

/* Changes whole containers from `first` to `last`, which are numbered from the domain's first one on. Leaves
 * out offsets at both ends. */
static void change_containers(struct subject *k, enum change what, uint32_t first, uint32_t last,
                              uint32_t from, uint32_t rest) {
    uint64_t low = (geometry.base + first) << 16 | from, high = (geometry.base + last) << 16 | (65535 - rest);
    begin(k);
    before_write(k->b, write_of(what), low, high);
    for (uint32_t i = first << geometry.low_bits; i < (last + 1) << geometry.low_bits; i++) {
        if (offset_of(i) >= low && offset_of(i) <= high) {
            give(k, i, what == SET || (what == FLIP && !has(k, i)));
        }
    }
    change_stretch(k, &(stretch){what, low, high});
}

/* Sets whole containers one by one, so that each has an entry of its own, and then changes all of them but
 * for both ends. Memory may be scarce for that change. */
static void change_whole(struct subject *k, const bitmap *all) {
    uint32_t containers = DOMAIN >> geometry.low_bits, first = take(2) % containers,
             many = take(2) % WHOLE_MAX + 1;
    enum change what = take(1) % (FLIP + 1);
    uint32_t from = take(2), rest = take(2),
             last = first + many <= containers ? first + many - 1 : containers - 1;

    int scarce = memory.scarce;
    memory.scarce = 0;
    for (uint32_t c = first; c <= last; c++) change_containers(k, SET, c, c, 0, 0);
    memory.scarce = scarce;
    if (first < last || from + rest < 65536) change_containers(k, what, first, last, from, rest);
    confine(k, all);
}

/* A bitmap of some bitsets beside the domain, so large that others are merged into it in place. With `lone`, lone members
 * lie between the domain and the bitsets: with lone members of the domain they make up a packed leaf. */
static const bitmap *ballast(uint32_t lone) {
    static uint64_t offsets[VALUES_ROOM(BALLAST_MEMBERS)], begins[2];
    static bitmap *made[2];
    uint32_t containers = BALLAST + lone * LONE, behind = geometry.base < containers, n;
    uint64_t first = behind ? geometry.base + (DOMAIN >> geometry.low_bits) : geometry.base - containers;
    uint64_t bitsets = behind ? first + lone * LONE : first;
    uint64_t alone = behind ? first : first + BALLAST;
    uint64_t changed;
    bitmap **b = &made[lone];

    if (*b && begins[lone] == first) return *b;
    if (*b) bitmap_free(*b);
    else lasting++;
    *b = bitmap_create(0);
    begins[lone] = first;
    for (uint32_t c = 0; c < BALLAST; c++) {
        for (n = 0; n < BALLAST_MEMBERS; n++) offsets[n] = (bitsets + c) << 16 | n * 13;
        must(core_set_all(&main_worker, b, offsets, BALLAST_MEMBERS, &changed));
    }
    for (n = 0; n < lone * LONE; n++) offsets[n] = (alone + n) << 16;
    must(core_set_all(&main_worker, b, offsets, n, &changed));
    return *b;
}

/* Gives k a ballast. */
static void load_ballast(struct subject *k, uint32_t lone) {
    result r;
    must(combine(OR, k->b, ballast(lone), &r));
    store_counted(k, &r);
}

/* merge() into a bitmap that has a ballast. */
static void merge_beside(struct subject *k, const bitmap *all, uint32_t lone) {
    load_ballast(k, lone);
    merge(k);
    confine(k, all);
}

/* Changes all offsets from one of the domain to the far end of a ballast: so many containers that the bitmap
 * is rebuilt. */
static void change_beside(struct subject *k, const bitmap *all) {
    enum change what = take(1) % (FLIP + 1);
    uint32_t i = take(3) % DOMAIN, first = i, last = DOMAIN - 1, found;
    uint64_t low = offset_of(i), high = low, least, greatest;

    load_ballast(k, 0);
    must(core_minimum(&main_worker, ballast(0), &found, &least));
    must(core_maximum(&main_worker, ballast(0), &found, &greatest));
    if (least > low) {
        high = greatest;
    } else {
        low = least;
        first = 0;
        last = i;
    }
    begin(k);
    before_write(k->b, write_of(what), low, high);
    change_bits(k, what, first, last);
    change_stretch(k, &(stretch){what, low, high});
    confine(k, all);
}

/* --- Shrinking ----------------------------------------------------------------------------------------- */

#define LEFT_MAX 40
#define LISTED_AT_ONCE 16384
#define LISTS_MAX 64
#define ALONE_MAX 5000 /* members that are removed one by one */

/* The bits that go, and how many. */
static uint64_t going[WORDS];
static uint32_t going_count;

/* Chooses what goes: all members in a part of the domain, or in all of it, but the first ones, the last
 * ones, or some with equal ranks between them. More than a few are left sometimes, so that a page can be all
 * that is left of a tree. */
static void choose_going(const struct subject *k) {
    uint32_t left = take(1) % (LEFT_MAX + 1), how = take(1) % 12, low = 0, high = DOMAIN - 1, rank = 0;
    if (how >= 6) left *= 16;
    if (how % 6 >= 3) {
        low = take(3) % DOMAIN;
        high = low + take(3) % (DOMAIN - low);
    }
    uint32_t members = members_below(k, high + 1) - members_below(k, low);
    memset(going, 0, sizeof going);
    going_count = 0;
    for (uint32_t i = next_with(k, low, 1); i <= high; i = next_with(k, i + 1, 1), rank++) {
        uint64_t before = (uint64_t)rank * left / members, after = (uint64_t)(rank + 1) * left / members;
        if (how % 3 == 0 ? before != after : how % 3 == 1 ? rank < left : rank + left >= members) continue;
        going[i / 64] |= 1ull << i % 64;
        going_count++;
    }
}

static uint32_t next_going(uint32_t i) {
    for (uint32_t w = i / 64; w < WORDS; w++) {
        uint64_t bits = going[w] & mask_of(w, i, DOMAIN - 1);
        if (bits) return 64 * w + (uint32_t)__builtin_ctzll(bits);
    }
    return DOMAIN;
}

/* Removes what goes by lists of any length, in either order, with absent offsets between the members or
 * without. */
static void remove_lists(struct subject *k) {
    static uint64_t offsets[VALUES_ROOM(LISTED_AT_ONCE)];
    uint32_t length = take(2) % LISTED_AT_ONCE + 1, how = take(1), mixed = how & 1, descending = how & 2,
             i = next_going(0);
    if (length < going_count * 2 / LISTS_MAX) length = going_count * 2 / LISTS_MAX;
    if (length > LISTED_AT_ONCE) length = LISTED_AT_ONCE;
    while (i < DOMAIN) {
        uint32_t n = 0, expected = 0;
        uint64_t changed;
        begin_in_place(k, CLEAR_LIST, i, DOMAIN - 1);
        while (n < length && i < DOMAIN) {
            offsets[n++] = offset_of(i);
            expected++;
            give(k, i, 0);
            if (mixed && n < length && i + 1 < DOMAIN && !has(k, i + 1)) offsets[n++] = offset_of(i + 1);
            i = next_going(i + 1);
        }
        for (uint32_t a = 0, b = n - 1; descending && a < b; a++, b--) {
            uint64_t swapped = offsets[a];
            offsets[a] = offsets[b];
            offsets[b] = swapped;
        }
        if (!done(k, core_clear_all(&main_worker, &k->b, offsets, n, &changed))) return;
        EXPECT(changed == expected);
        check(k);
    }
}

/* Removes what goes by ranges. */
static void remove_ranges(struct subject *k) {
    for (uint32_t low = next_going(0); low < DOMAIN;) {
        uint32_t high = low, next = next_going(low + 1);
        while (next < DOMAIN && next_with(k, high + 1, 1) == next) {
            high = next;
            next = next_going(next + 1);
        }
        change(k, CLEAR, low, high);
        check(k);
        low = next;
    }
}

/* A bitmap of these bits. */
static bitmap *bitmap_of(const uint64_t *bits) {
    static uint64_t offsets[VALUES_ROOM(AT_ONCE_MAX)];
    bitmap *b = bitmap_create(0);
    uint32_t n = 0;
    uint64_t changed;
    for (uint32_t i = 0; i < DOMAIN; i++) {
        if (bits[i / 64] >> i % 64 & 1) offsets[n++] = offset_of(i);
        if (n < AT_ONCE_MAX && i < DOMAIN - 1) continue;
        must(core_set_all(&main_worker, &b, offsets, n, &changed));
        n = 0;
    }
    return b;
}

/* Removes what goes by BITOP: DIFF with it, or AND with the rest. */
static void remove_combined(struct subject *k) {
    static uint64_t other[WORDS];
    uint32_t and = take(1) & 1;
    result r;

    for (uint32_t w = 0; w < WORDS; w++) other[w] = and ? k->bits[w] & ~going[w] : going[w];
    bitmap *with = bitmap_of(other);
    begin(k);
    for (uint32_t w = 0; w < WORDS; w++) k->bits[w] &= ~going[w];
    if (done(k, combine(and? AND : DIFF, k->b, with, &r))) store_counted(k, &r);
    bitmap_free(with);
}

/* Removes the least or the greatest member again and again. */
static void remove_ends(struct subject *k) {
    uint32_t left = take(1) % (LEFT_MAX + 1), end = take(1) & 1, many = members_below(k, DOMAIN), found,
             previous;
    for (uint32_t n = 0; many > left && n < ALONE_MAX; n++, many--) {
        uint64_t member;
        must((end ? core_maximum : core_minimum)(&main_worker, k->b, &found, &member));
        EXPECT(found && has(k, index_of(member)));
        begin_in_place(k, CLEAR_ONE, index_of(member), index_of(member));
        give(k, index_of(member), 0);
        if (!done(k, core_set(&main_worker, &k->b, member, 0, &previous))) return;
        EXPECT(previous == 1);
        if (many < 200) check(k);
    }
}

/* --- Queries ------------------------------------------------------------------------------------------- */

static void ask(const struct subject *k) {
    uint32_t low = take(3) % DOMAIN, high = low + take(3) % (DOMAIN - low), limit = take(2), bit;
    uint32_t below = members_below(k, low), up_to = members_below(k, high + 1);
    cardinality members;
    uint64_t member;

    must(core_get(&main_worker, k->b, offset_of(low), &bit));
    EXPECT(bit == has(k, low));
    must(core_count_between(&main_worker, k->b, offset_of(low), offset_of(high), &members));
    EXPECT(members == up_to - below);
    if (below < members_below(k, DOMAIN)) {
        must(core_select(&main_worker, k->b, below, &member));
        EXPECT(index_of(member) == next_with(k, low, 1));
    }
    check_members(k, low, limit);
}

/* Checks the positions of the next set and clear bits. Indexes are signed, so offsets from 2^63 on are
 * skipped. */
static void ask_position(const struct subject *k) {
    uint32_t from = take(3) % DOMAIN, bit = take(1) & 1, found, here;
    range r = {(int64_t)offset_of(from), -1, BIT, 1};
    uint64_t position, greatest;
    cardinality between;

    must(core_maximum(&main_worker, k->b, &found, &greatest));
    if (r.start < 0 || !found) return;
    must(core_position(&main_worker, k->b, bit, &r, &found, &position));
    uint32_t next = next_with(k, from, bit);
    if (bit) {
        EXPECT(found == (next < DOMAIN));
        if (found) EXPECT(position == offset_of(next));
    } else if (offset_of(from) > (greatest | 7)) {
        EXPECT(!found);
    } else {
        EXPECT(found && position >= offset_of(from));
        must(core_get(&main_worker, k->b, position, &here));
        must(core_count_between(&main_worker, k->b, offset_of(from), position, &between));
        EXPECT(!here && between == position - offset_of(from));
    }
}

static void ask_relation(void) {
    const struct subject *x = take_bitmap(), *y = take_bitmap();
    uint32_t intersects = 0, outside = 0, holds;

    for (uint32_t w = 0; w < WORDS; w++) {
        intersects |= (x->bits[w] & y->bits[w]) != 0;
        outside |= (x->bits[w] & ~y->bits[w]) != 0;
    }
    must(core_intersects(&main_worker, x->b, y->b, &holds));
    EXPECT(holds == intersects);
    must(core_is_subset(&main_worker, x->b, y->b, &holds));
    EXPECT(holds == !outside);
}

/* --- The sequence -------------------------------------------------------------------------------------- */

/* Calls that take long, and are therefore chosen less often. */
enum { RARE = 250 };

static void step(const bitmap *all) {
    uint32_t byte = take(1), which = byte >= RARE ? byte : byte % 21;
    struct subject *k = take_bitmap();

    if (which >= 17 && which <= 19) choose_going(k);
    switch (which) {
    case 0: set_one(k); break;
    case 1: set_many(k); break;
    case 2: change_range(k, all); break;
    case 3: change_ranges(k, all); break;
    case 4: combine_some(k); break;
    case 5: complement(k, all); break;
    case 6: pack(k); break;
    case 7: write_and_read(k); break;
    case 8: copy(k); break;
    case 9: empty(k); break;
    case 10: set_field(k); break;
    case 11: break;
    case 12:
        ask(k);
        ask_relation();
        return;
    case 13: ask_position(k); return;
    case 14: scatter(k); break;
    case 15: merge(k); break;
    case 16: make_scarce(); return;
    case 17: remove_lists(k); break;
    case 18: remove_ranges(k); break;
    case 19: remove_combined(k); break;
    case 20: remove_ends(k); break;
    case RARE: change_beside(k, all); break;
    case RARE + 1: change_whole(k, all); break;
    case RARE + 2: set_many_fields(k); break;
    case RARE + 3: set_most(k); break;
    case RARE + 4: merge_beside(k, all, 0); break;
    default: merge_beside(k, all, 1); break;
    }
    check(k);
}

/* Bitmaps that there are besides when no subject has members, and no workspace is kept. */
static uint64_t bitmaps_at_rest(void) {
    uint64_t bitmaps, bytes;
    for (int i = 0; i < BITMAPS; i++) empty(&subjects[i]);
    workspace_drop(&main_worker);
    bitmap_totals(&bitmaps, &bytes);
    return bitmaps - lasting;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    choose_level(data[0]);
    uint32_t number = (data[0] & ((1 << LEVEL_SHIFT) - 1)) % GEOMETRIES;
    choose_geometry(number);
    input = data + 1;
    input_end = data + size;

    const bitmap *all = universe(number);
    int most = geometry.low_bits == 16 ? CALLS_MAX : CALLS_MAX_WIDE;
    memory.scarce = 0;
    uint64_t bitmaps = bitmaps_at_rest();
    for (int calls = 0; input < input_end && calls < most; calls++) step(all);
    for (int i = 0; i < BITMAPS; i++) {
        check(&subjects[i]);
        check_sound(subjects[i].b);
        check_members(&subjects[i], 0, DOMAIN);
    }
    memory.scarce = 0;
    EXPECT(bitmaps_at_rest() == bitmaps);
    return 0;
}
