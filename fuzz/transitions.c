/* transitions.c -- notes which transitions between forms writes take.
 *
 * Tables of bitmaps, blocks, leaves and containers have a cell for each form before a write, each write, and
 * each form after it. One more has what else became of a write to a bitmap of each form. The fuzzer takes a
 * cell for code that an input reaches, so it looks for inputs that take new transitions. */
#include "transitions.h"

#include <stdlib.h>

#include "core/guard.h"

#ifdef CORE_HAS_FORMS_AT

enum { BITMAPS = 6, BLOCKS = 2, LEAVES = 4, CONTAINERS = 10, OUTCOMES = 2 };

static const char *const writes[WRITES] = {
    "set-one",     "clear-one",  "set-list", "clear-list", "set-range",
    "clear-range", "flip-range", "field",    "merge",
};
/* Numbered as assembly/trap.ts numbers them. */
static const char *const bitmaps[BITMAPS] = {"empty", "tiny-short", "tiny-packed", "leaf", "page", "tree"};
/* Without a prefix and with one, see bitmap.h. */
static const char *const blocks[BLOCKS] = {"small", "large"};
static const char *const leaves[LEAVES] = {"tiny", "tight", "roomy", "packed"};
static const char *const containers[CONTAINERS] = {
    "array", "bitset", "runs", "sparse", "short", "full", "single", "pair", "none", "group",
};
/* What else can become of a write: it has the arena rewritten because too much of it is free, or it is
 * refused for memory. */
enum { REWRITTEN, REFUSED };
static const char *const outcomes[OUTCOMES] = {"rewritten", "refused"};

__attribute__((section("__libfuzzer_extra_counters"))) static struct {
    uint8_t bitmap[BITMAPS][WRITES][BITMAPS];
    uint8_t outcome[BITMAPS][WRITES][OUTCOMES];
    uint8_t block[BLOCKS][WRITES][BLOCKS];
    uint8_t leaf[LEAVES][WRITES][LEAVES];
    uint8_t container[CONTAINERS][WRITES][CONTAINERS];
} taken;

/* The containers that are looked at: those of the first and the last offset that is written, and the one in
 * the middle. */
enum { PLACES = 3 };

struct forms {
    uint8_t bitmap, block, leaf[PLACES], container[PLACES];
};

static struct {
    int runs;
    enum write write;
    uint64_t keys[PLACES];
    struct forms before;
} now;

/* A function of its own, so that _longjmp leaves the variables of its caller alone. */
static uint32_t forms_at(const bitmap *b, uint64_t key) {
    volatile uint32_t forms = 0;
    if (READING(&main_worker, b, forms = main_worker.core.formsAt(&main_worker, key)) != OK) abort();
    return forms;
}

static struct forms forms_of(const bitmap *b) {
    struct forms f = {.block = block_number(b) == 0};
    for (int p = 0; p < PLACES; p++) {
        const uint32_t forms = forms_at(b, now.keys[p]);
        f.bitmap = forms & 255;
        f.leaf[p] = forms >> 8 & 255;
        f.container[p] = forms >> 16 & 255;
    }
    return f;
}

void before_write(const bitmap *b, enum write write, uint64_t low, uint64_t high) {
    uint64_t first = low >> 16, last = high >> 16;
    now.runs = 1;
    now.write = write;
    now.keys[0] = first;
    now.keys[1] = last;
    now.keys[2] = first + (last - first) / 2;
    now.before = forms_of(b);
}

void after_write(const bitmap *b, status s) {
    if (!now.runs) return;
    now.runs = 0;
    const struct forms from = now.before, to = forms_of(b);
    if (s != OK || main_worker.current.wasteful)
        taken.outcome[from.bitmap][now.write][s == OK ? REWRITTEN : REFUSED] = 1;
    if (s != OK) return;
    taken.bitmap[from.bitmap][now.write][to.bitmap] = 1;
    taken.block[from.block][now.write][to.block] = 1;
    for (int p = 0; p < PLACES; p++) {
        taken.leaf[from.leaf[p]][now.write][to.leaf[p]] = 1;
        taken.container[from.container[p]][now.write][to.container[p]] = 1;
    }
}

/* Prints the transitions taken of a table of froms x WRITES x tos cells. */
static void print_table(FILE *file, const char *table, const uint8_t *cells, int froms,
                        const char *const *from_names, int tos, const char *const *to_names) {
    for (int from = 0; from < froms; from++) {
        for (int w = 0; w < WRITES; w++) {
            for (int to = 0; to < tos; to++) {
                if (*cells++)
                    fprintf(file, "%s %s %s %s\n", table, from_names[from], writes[w], to_names[to]);
            }
        }
    }
}

void print_transitions(FILE *file) {
    print_table(file, "bitmap", taken.bitmap[0][0], BITMAPS, bitmaps, BITMAPS, bitmaps);
    print_table(file, "outcome", taken.outcome[0][0], BITMAPS, bitmaps, OUTCOMES, outcomes);
    print_table(file, "block", taken.block[0][0], BLOCKS, blocks, BLOCKS, blocks);
    print_table(file, "leaf", taken.leaf[0][0], LEAVES, leaves, LEAVES, leaves);
    print_table(file, "container", taken.container[0][0], CONTAINERS, containers, CONTAINERS, containers);
}

#else

void before_write(const bitmap *b, enum write write, uint64_t low, uint64_t high) {
    (void)b, (void)write, (void)low, (void)high;
}
void after_write(const bitmap *b, status s) { (void)b, (void)s; }
void print_transitions(FILE *file) { (void)file; }

#endif
