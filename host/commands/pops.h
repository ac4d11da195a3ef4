/* pops.h -- what all commands that take members out of a bitmap begin with. */
#pragma once

#include "server/keys.h"

/* Opens the bitmap of the call `POP... key [count]`, and sets how many members are to be taken, and how many there are.
 * If none is to be taken, replies, closes the key, and returns 0. */
int begin_pop(call *c, open_key *k, uint64_t *count, cardinality *members);
