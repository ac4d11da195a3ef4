/* fuzz.h -- what the fuzz targets share: a server's memory for the sandbox, and checks that end the process.
 *
 * A target is the sandbox and the core as the module has them, a stand-in for the server (server.c), and one
 * LLVMFuzzerTestOneInput. Linked with libFuzzer it looks for findings, linked with replay.c it runs the inputs it is given.
 * Blocks are malloc's, as large as was asked for: a sanitizer sees whatever reaches beyond one.
 *
 * The two highest bits of an input's first byte choose the CPU level, in all targets. */
#ifndef ROAR_FUZZ_H
#define ROAR_FUZZ_H

#include <stdint.h>
#include <stdlib.h>

#include "sandbox.h"

#define LEVEL_SHIFT 6
enum { LEVEL_CHOICES = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Chooses the level that the first byte names, or the best that this CPU has. */
void choose_level(uint8_t first);

/* Ends the process. */
_Noreturn void finding(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The call must have done its work: a trap is a finding, and so is want of memory. */
void must(status s);
#define EXPECT(condition) ((condition) ? (void)0 : finding("%s:%d: not so: %s", __FILE__, __LINE__, #condition))

/* That no invariant is broken, and that how many, which first, which last and what it is made of agree. */
void check_sound(const bitmap *b);
/* That the two have the same members. */
void check_equal(const bitmap *a, const bitmap *b);

/* What is read back from b's payload of that format, which must be good and must serialise to the same bytes again. NULL
 * when the payload would be longer than a fuzzer has patience for. */
bitmap *reread(const bitmap *b, uint32_t format);
/* Whether that format can hold every member of b. */
int fits(const bitmap *b, uint32_t format);

#define FORMATS (CHARACTERS + 1)

#endif
