/* names.h -- calls into the core for dictionaries, names and their ids. A dictionary's blocks are those of bitmaps
 * (core/bitmap.h), with other content; so are its root and segments. All but names_chunk and names_load_check are for
 * the main thread, or for a child of the process. */
#pragma once

#include "core/operands.h"
#include "core/worker.h"

/* The key of the hashes, which is the same for all dictionaries. To be set before anything else. */
void names_seed(const uint64_t seed[2]);

/* Replaces ids[i] by the id of name i, or NO_ID. */
status names_find(worker *w, const bitmap *b, const operands *names, uint64_t *ids);
/* Gives ids to names that have none, and sets `ids` to those of all. *added is how many are new. If there are not
 * enough ids, *added is UINT32_MAX, and nothing has changed. */
status names_add(worker *w, bitmap **b, const operands *names, uint64_t *ids, uint32_t *added);
/* Removes names; *removed is how many there were. Overwrites `ids`, as many words as names. */
status names_remove(worker *w, bitmap **b, const operands *names, uint64_t *ids, uint32_t *removed);
/* The least id in [*id, last] that has a name; NO_ID if there is none. The name is valid until the next call. */
status names_next(worker *w, const bitmap *b, uint64_t *id, uint64_t last, span *name);
status names_count(worker *w, const bitmap *b, uint64_t *names);

/* Payloads: chunk i of a dictionary, which the caller must RedisModule_Free; NULL if segment i has none. */
status names_chunk(worker *w, const bitmap *b, uint32_t i, char **payload, size_t *length);
/* Adds the names of a chunk: all or none. *fault says what is wrong with it; NULL if nothing is. */
status names_load(worker *w, bitmap **b, const char *payload, size_t length, const char **fault);
/* Checks the inside of a dictionary. */
status names_validate(worker *w, const bitmap *b, const char **fault);
