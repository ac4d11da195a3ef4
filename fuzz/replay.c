/* replay.c -- main() of a fuzz target without a fuzzer.
 *
 *   replay-<target> <file>...              runs the inputs in the files, each on every CPU level
 *   replay-<target> -random <seconds> <seed> <file>
 *                                          runs random inputs, each on one level; `file` holds the last one
 *
 * Prints the number of inputs at the end; a finding ends the process before. TRANSITIONS=file in the
 * environment: writes there which transitions writes have taken (transitions.h). */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fuzz.h"
#include "transitions.h"

#define RANDOM_BYTES 2048

static uint8_t input[1 << 20];

static int replay(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return 0;
    size_t size = fread(input, 1, sizeof input, file);
    fclose(file);
    for (unsigned level = 0; level < LEVEL_CHOICES - 1; level++) {
        input[0] = (uint8_t)(level << LEVEL_SHIFT | (input[0] & ((1 << LEVEL_SHIFT) - 1)));
        LLVMFuzzerTestOneInput(input, size);
    }
    return 1;
}

/* splitmix64 */
static uint64_t next_random(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static int run_random(time_t seconds, uint64_t seed, const char *path) {
    FILE *file = fopen(path, "wb");
    unsigned long inputs = 0;
    if (file == NULL) return 0;
    printf("seed %llu; an input that fails is in %s\n", (unsigned long long)seed, path);
    fflush(stdout);
    for (time_t end = time(NULL) + seconds; time(NULL) < end; inputs++) {
        for (size_t i = 0; i < RANDOM_BYTES; i += 8) {
            uint64_t bytes = next_random(&seed);
            memcpy(input + i, &bytes, 8);
        }
        rewind(file);
        fwrite(input, 1, RANDOM_BYTES, file);
        fflush(file);
        LLVMFuzzerTestOneInput(input, RANDOM_BYTES);
    }
    fclose(file);
    printf("%lu random inputs\n", inputs);
    return 1;
}

static void write_transitions(void) {
    const char *path = getenv("TRANSITIONS");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file == NULL) return;
    print_transitions(file);
    fclose(file);
}

int main(int argc, char **argv) {
    atexit(write_transitions);
    if (argc == 5 && strcmp(argv[1], "-random") == 0) {
        if (run_random(atol(argv[2]), strtoull(argv[3], NULL, 10), argv[4])) return 0;
        fprintf(stderr, "cannot write %s\n", argv[4]);
        return 1;
    }
    for (int i = 1; i < argc; i++) {
        if (replay(argv[i])) continue;
        fprintf(stderr, "cannot read %s\n", argv[i]);
        return 1;
    }
    printf("%d inputs\n", argc - 1);
    return 0;
}
