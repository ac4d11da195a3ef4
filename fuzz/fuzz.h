/* fuzz.h -- shared by the fuzz targets: a stand-in for the server's allocator, and checks that end the
 * process.
 *
 * A target consists of the module's sandbox and core, a stand-in for the server's allocator (server.c),
 * these checks (check.c), and one LLVMFuzzerTestOneInput. Linked with libFuzzer it searches for findings;
 * linked with replay.c it runs given inputs. Blocks come from malloc and have exactly the size requested, so
 * a sanitizer notices any access beyond them.
 *
 * In all targets, the two highest bits of an input's first byte choose the CPU level. */
#pragma once

#include <stdint.h>
#include <stdlib.h>

#include "core/calls.h"
#include "core/census.h"

#define LEVEL_SHIFT 6
enum { LEVEL_CHOICES = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Chooses the level that the first byte names, or the best one that this CPU supports. */
void choose_level(uint8_t first);

/* Reports a finding and ends the process. */
_Noreturn void finding(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Requires that the call succeeded: a trap is a finding, and so is a lack of memory. */
void must(status s);
#define EXPECT(condition) \
    ((condition) ? (void)0 : finding("%s:%d: expected %s", __FILE__, __LINE__, #condition))

/* Checks the inside of the bitmap, and that its cardinality, minimum, maximum, members and statistics
 * agree. */
void check_sound(const bitmap *b);
/* Checks the count that came with a new bitmap. */
void check_counted(const result *r);
/* Checks that the two have the same members. */
void check_equal(const bitmap *a, const bitmap *b);

/* Serializes b, reads the payload back, and checks that it is valid and serializes to the same bytes again.
 * NULL if the payload would be too long for fuzzing. */
bitmap *reread(const bitmap *b, uint32_t format);
/* Whether the format can represent every member of b. */
int fits(const bitmap *b, uint32_t format);

#define FORMATS (ANY_WIDE + 1)
