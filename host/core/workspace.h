/* workspace.h -- the block in which results are built.
 *
 * The block is kept for the next result, so a small result costs one allocation of the right size and a
 * copy, and need not grow while it is built. A large result takes the block. */
#pragma once

#include "core/worker.h"

/* An empty bitmap to build in; NULL if out of memory. The caller must return it with one of the next two functions;
 * it may have grown. */
bitmap *workspace_take(worker *w);
/* A block to build in after a segment is complete, with room for `held` bytes that stay; NULL if out of memory. */
bitmap *workspace_next(uint64_t held);
/* Discards the content, and the segments that are complete. */
void workspace_put_back(worker *w, bitmap *b);
/* Makes a bitmap of the segments that are complete and the first w->current.used bytes; NULL if out of memory. */
bitmap *workspace_result(worker *w, bitmap *b);

/* Frees the block that is kept. */
void workspace_drop(worker *w);
/* The bytes of the block that is kept, including its prefix; 0 if there is none. */
uint64_t workspace_bytes(const worker *w);
