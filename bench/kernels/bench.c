/* bench.c -- times the core's AND of two bitsets and a plain C loop, at each CPU level that this machine
 * supports.
 *
 * PAIRS pairs of 8 KiB bitsets and their results take 384 KiB: more than a first-level cache, less than a
 * second-level one. Addresses are 8 modulo 64, as in an arena after its 8-byte prefix, and the same for both
 * sides. Rounds of both sides alternate, so that changes of the clock rate and other processes affect them
 * alike. Medians are compared. */
#include "plain.h"
#include "core/sandbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAIRS 16
#define SWEEPS 50           /* over all pairs, per round */
#define ROUNDS 201
#define LEVELS_MAX 3

enum { STORING, COUNTING, KERNELS };
enum { WASM, PLAIN, SIDES };

struct level {
    const struct core *core;
    const struct plain *plain;
    double times[KERNELS][SIDES][ROUNDS];       /* ns per pair */
};

static struct level levels[LEVELS_MAX];
static int level_count;

static uint8_t *left, *right, *out;

static void add_level(const struct core *core, const struct plain *plain) {
    levels[level_count].core = core;
    levels[level_count++].plain = plain;
}

static void find_levels(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    add_level(&core_v2, &plain_v2);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) add_level(&core_v3, &plain_v3);
    if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vpopcntdq")
        && __builtin_cpu_supports("avx512bitalg"))
        add_level(&core_v4, &plain_v4);
#elif defined(__aarch64__)
    add_level(&core_neon, &plain_neon);
#endif
}

/* The functions of the sandbox in core-link.h. The kernels never trap, grow or reply. */

worker main_worker;

void sandbox_trap(worker *w, enum trap trap) {
    (void)w;
    fprintf(stderr, "bench: %s\n", trap_text(trap));
    abort();
}

span sandbox_grow(worker *w, uint32_t bytes) {
    (void)bytes;
    sandbox_trap(w, TRAP_GROWTH);
}

uint32_t sandbox_worked(worker *w) {
    (void)w;
    return WORK_BATCH;
}

void sandbox_take_members(worker *w) { (void)w; }

/* One sweep over all pairs. The sum must be equal for both sides, and keeps the compiler from removing the
 * work. */

static uint64_t sweep_core(const struct core *core, int kernel) {
    uint64_t members = 0;
    for (uint32_t at = 0; at < PAIRS * BITSET_BYTES; at += BITSET_BYTES) {
        members += kernel == STORING ? core->intersect(&main_worker, at, at, at)
                                     : core->intersectCardinality(&main_worker, at, at);
    }
    return members;
}

static uint64_t sweep_plain(const struct plain *plain, int kernel) {
    uint64_t members = 0;
    for (uint32_t at = 0; at < PAIRS * BITSET_BYTES; at += BITSET_BYTES) {
        const uint64_t *a = (const uint64_t *)(left + at), *b = (const uint64_t *)(right + at);
        members += kernel == STORING ? plain->intersect(a, b, (uint64_t *)(out + at))
                                     : plain->intersect_cardinality(a, b);
    }
    return members;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t expected;

static double time_round(const struct level *level, int kernel, int side) {
    uint64_t members = 0;
    double start = now();
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        members += side == WASM ? sweep_core(level->core, kernel) : sweep_plain(level->plain, kernel);
    }
    double elapsed = now() - start;
    if (members != expected * SWEEPS) {
        fprintf(stderr, "bench: %s computes a wrong cardinality at %s\n",
                side == WASM ? "the core" : "the plain loop", level->core->level);
        exit(1);
    }
    return elapsed / SWEEPS / PAIRS;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times) {
    qsort(times, ROUNDS, sizeof *times, compare);
    return times[ROUNDS / 2];
}

/* A block of random bytes whose address is `skew` modulo 64. */
static uint8_t *random_block(unsigned skew) {
    uint8_t *block = aligned_alloc(64, PAIRS * BITSET_BYTES + 64);
    if (block == NULL) abort();
    block += skew;
    for (size_t i = 0; i < PAIRS * BITSET_BYTES; i++) block[i] = (uint8_t)(rand() >> 7);
    return block;
}

int main(int argc, char **argv) {
    unsigned skew = argc > 1 ? (unsigned)atoi(argv[1]) % 64 / 8 * 8 : 8;

    left = random_block(skew);
    right = random_block(skew);
    out = random_block(skew);

    span operands[] = {{left, PAIRS * BITSET_BYTES}, {right, PAIRS * BITSET_BYTES}};
    frame f = {.memory = {out, PAIRS * BITSET_BYTES}, .operands = operands, .operand_count = 2};

    find_levels();
    expected = sweep_plain(levels[0].plain, COUNTING);
    for (int i = 0; i < level_count; i++) {
        levels[i].core->enter(&main_worker, &f);
        levels[i].core->showOperands(&main_worker);
    }

    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < level_count; i++)
            for (int kernel = 0; kernel < KERNELS; kernel++)
                for (int side = 0; side < SIDES; side++) {
                    levels[i].times[kernel][side][round] = time_round(&levels[i], kernel, side);
                }

    printf("AND of two 8 KiB bitsets in L2, addresses %u modulo 64, ns per pair, medians of %d rounds\n\n",
           skew, ROUNDS);
    printf("level               core   plain C   ratio\n");
    for (int i = 0; i < level_count; i++)
        for (int kernel = 0; kernel < KERNELS; kernel++) {
            double core = median(levels[i].times[kernel][WASM]),
                   plain = median(levels[i].times[kernel][PLAIN]);
            printf("%-5s %-10s %7.0f %9.0f %7.2f\n", levels[i].core->level,
                   kernel == STORING ? "storing" : "counting", core, plain, core / plain);
        }
    return 0;
}
