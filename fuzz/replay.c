/* replay.c -- main() of a fuzz target without a fuzzer: runs the inputs in the given files, each on every CPU level.
 *
 * Prints the number of inputs at the end; a finding ends the process before. */
#include <stdio.h>

#include "fuzz.h"

static int replay(const char *path) {
    static uint8_t input[1 << 20];
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

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (replay(argv[i])) continue;
        fprintf(stderr, "cannot read %s\n", argv[i]);
        return 1;
    }
    printf("%d inputs\n", argc - 1);
    return 0;
}
