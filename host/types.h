/* types.h -- the two families of commands, and the data type that each works on. All that tells them apart is a row. */
#ifndef ROAR_TYPES_H
#define ROAR_TYPES_H

#include <stdint.h>

#include "redismodule.h"

typedef struct family {
    const char *prefix;         /* of its commands */
    const char *type_name;      /* of its values in RDB files, nine characters */
    const char *label;          /* of its values in STAT */
    const char *bits;           /* of an offset, for error texts */
    uint64_t last;              /* the greatest offset */
    uint32_t format;            /* of its payloads in RDB files, by the core's number for it */
    uint32_t exported;          /* the format of what EXPORT replies */
    uint32_t imported;          /* of what IMPORT takes: that, and what a rewritten AOF has */
    const char *import;         /* that command's name */
    int lenient;                /* whether its integers may begin with a plus sign or zeros */
    RedisModuleType *type;
} family;

/* The version of both types' payloads in RDB files: there has been no other. */
#define ENCODING_VERSION 1

enum { R, R64, FAMILIES };
extern family families[FAMILIES];

/* Creates both data types; a REDISMODULE_ status. */
int register_types(RedisModuleCtx *ctx);

/* Bitmaps that active defragmentation has moved since the module was loaded. */
uint64_t moved_bitmaps(void);

#endif
