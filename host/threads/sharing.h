/* sharing.h -- a long count that several threads share. */
#pragma once

#include "core/counting.h"

/* Counts in all keys, together with threads that are idle: a worker's count_in_parts. */
status count_in_parts(worker *w, counting *c, uint64_t *numbers);
