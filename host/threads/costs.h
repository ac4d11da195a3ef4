/* costs.h -- what threads save and cost the main thread, and which calls are likely to be long. */
#pragma once

#include <stdint.h>

#include "server/command.h"

/* Microseconds. */
uint64_t now(void);

/* Adds the time that a thread has saved the main thread; negative if it has cost time. */
void account(int64_t microseconds);
/* Subtracts the time of copying retained blocks since the last call of this function. */
void account_for_copies(void);
/* Whether threads have cost more than they saved. Calls then get more time on the main thread. */
int is_overdrawn(void);

/* The microseconds that a call with this many arguments may take on the main thread. */
uint64_t brief_time(int arguments);

/* The number of the kind of a call that reads `bytes` bytes. Calls of a kind are likely to take equally
 * long. */
uint32_t kind_of(const call *c, uint64_t bytes);
/* Whether the next call of the kind should be offloaded at once; note_offloaded says that it was. */
int is_long(uint32_t kind);
void note_offloaded(uint32_t kind);
/* A call of the kind has turned out to be long on the main thread. */
void learn_long(uint32_t kind);
/* Learns from the time that a call took on a thread. */
void learn_time(uint32_t kind, int arguments, uint64_t microseconds);
