/* families.h -- the two families of commands, and that of integers, rows of table/families.ts. Everything that distinguishes them is
 * in one struct. */
#pragma once

#include "core/bitmap.h"
#include "api/redismodule.h"
#include "family-rows.h"

typedef struct family {
    const char *prefix; /* of its commands */
    const char *type_name; /* in RDB files, nine characters */
    const char *label; /* in the replies of STAT */
    const char *bits; /* the width of an offset, for error texts */
    uint64_t last; /* the largest offset */
    uint32_t format; /* enum format of payloads in RDB files */
    uint32_t exported; /* of the replies of EXPORT */
    uint32_t imported; /* of the payloads of IMPORT, and of a rewritten AOF */
    const char *import; /* that command's name */
    int lenient; /* whether integers may begin with a plus sign or zeros */
    RedisModuleType *type;
    _Atomic uint64_t keys, bytes; /* of the values of keys; the lazy-free thread counts, too */
} family;

extern family families[TYPES];

/* Adds to the family's number of keys, and to the bytes of their values. */
void count_values(const family *f, uint64_t keys, uint64_t bytes);
