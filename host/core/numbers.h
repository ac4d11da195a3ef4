/* numbers.h -- lists of numbers from the core, which the caller gets as a whole. */
#pragma once

#include "core/worker.h"

typedef struct numbers {
    uint64_t *list; /* which the caller must RedisModule_Free */
    size_t count, room;
    int failed; /* out of memory */
} numbers;

/* A member_sink that appends to a list, and replies nothing: the call may still be offloaded. */
void take_numbers(void *context, const uint64_t *more, size_t count);
