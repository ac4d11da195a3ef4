/* text.h -- numbers and names as text. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "api/redismodule.h"
#include "core/worker.h"

#define COUNT_TEXT 24
const char *count_text(cardinality members, char text[COUNT_TEXT]);

/* The digits of an offset. Offsets between the same multiples of 10,000 share all digits but the last four,
 * so printing the next one takes two loads from a table. Initialize to zeros. */
#define DIGITS_MAX 20
typedef struct decimal {
    uint64_t base;              /* the multiple of 10,000 whose digits are in text */
    size_t leading;             /* zeros before its first digit, or DIGITS_MAX - 4 if there is none */
    char text[DIGITS_MAX];      /* padded with leading zeros */
} decimal;

/* Returns the offset's digits, which are in d until the next call. */
const char *print_offset(decimal *d, uint64_t offset, size_t *length);
/* How many digits print_offset returns. */
size_t digits_of(uint64_t offset);

/* What a client sent, made safe for a line of the log: at most 128 bytes of it, unprintable ones and ' and \
 * escaped. Returns `text`. */
#define LOGGABLE_BYTES (128 * sizeof "\\x00" + sizeof "...")
const char *loggable(const RedisModuleString *sent, char text[LOGGABLE_BYTES]);
