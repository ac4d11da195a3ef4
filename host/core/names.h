/* names.h -- calls into the core for dictionaries: names and their ids. A dictionary's blocks, root and segments are those
 * of bitmaps (core/bitmap.h), with other content. Names that calls find are on the worker's desk. */
#pragma once

#include "core/operands.h"
#include "core/worker.h"

/* The key of the hashes, which is the same for all dictionaries. To be set before anything else. */
void names_seed(const uint64_t seed[2]);

/* Names, behind an operand that the calls set, and a word for each: the id, or NO_ID. */
typedef struct naming {
    operands names;
    uint64_t *ids;
    uint32_t changed; /* names that were added or removed */
    uint64_t next; /* the first id that names_add could give */
} naming;

status names_find(worker *w, const bitmap *b, naming *n);
/* Gives ids to names that have none: all or none. If there are not enough ids, changed becomes NO_ID. */
status names_add(worker *w, bitmap **b, naming *n);
/* Undoes names_add, also its use of ids. Takes no memory. */
status names_take_back(worker *w, bitmap **b, naming *n);
/* Removes names: all that are there or none. */
status names_remove(worker *w, bitmap **b, naming *n);
/* The least id from *id on that has a name; NO_ID if there is none. The name is valid until the next call. */
status names_next(worker *w, const bitmap *b, uint64_t *id, span *name);
/* Passes the name of each id, which has no bytes if there is none, to the sink until that returns 0. It must not call into
 * the core. */
typedef int name_sink(void *context, uint64_t id, span name);
status names_of(worker *w, const bitmap *b, uint64_t *ids, uint32_t count, name_sink *sink, void *context);
/* The core is asked for so many names at a time, which takes up to a tenth of a millisecond. */
#define NAMES_BATCH 256
status names_count(worker *w, const bitmap *b, uint64_t *names);

/* Payloads: that of segment i, which the caller must RedisModule_Free; NULL if it has none. */
status names_chunk(worker *w, const bitmap *b, uint32_t i, char **payload, size_t *length);
/* Adds the names of a chunk: all or none. *fault says what is wrong with it; NULL if nothing is. */
status names_load(worker *w, bitmap **b, const char *payload, size_t length, const char **fault);
status names_validate(worker *w, const bitmap *b, const char **fault);
