/* workspace.h -- the block that results are built in.
 *
 * It is kept for the next one, so that a small result costs one allocation of the right size and a copy, and growing while
 * it is built costs nothing. A large one becomes the result itself. */
#ifndef ROAR_WORKSPACE_H
#define ROAR_WORKSPACE_H

#include "bitmap.h"

/* An empty bitmap to build in, for a result that may well take `expected` bytes; NULL when memory is short. Ends with one
 * of the next two. */
bitmap *workspace_take(uint32_t expected);
/* Nothing has come of it. It may have grown. */
void workspace_put_back(bitmap *b);
/* The bitmap in its first `used` bytes, in a block of that size; NULL when memory is short. */
bitmap *workspace_result(bitmap *b, uint32_t used);

/* Of the block that is kept, all included; 0 if there is none. */
uint64_t workspace_bytes(void);

#endif
