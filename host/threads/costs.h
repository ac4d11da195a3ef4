/* costs.h -- what threads save and cost the main thread, and which calls are likely to be long. */
#pragma once

#include <stdint.h>

#include "server/command.h"

/* Microseconds. */
uint64_t now(void);

/* Adds what a thread has saved the main thread, or, negative, what it has cost it. */
void account(int64_t microseconds);
/* Counts the copies of blocks that threads held, since the last time. */
void account_for_copies(void);
/* Whether threads have cost more than they saved. Calls then get more time on the main thread. */
int is_overdrawn(void);

/* The microseconds that a call with so many arguments may take on the main thread. */
uint64_t brief_time(int arguments);

/* What is likely to take as long, for a call that reads `bytes` bytes. */
uint32_t kind_of(const call *c, uint64_t bytes);
/* Whether the next call of the kind should be offloaded at once; note_offloaded says that it was. */
int is_long(uint32_t kind);
void note_offloaded(uint32_t kind);
/* A call of the kind has turned out to be long on the main thread. */
void learn_long(uint32_t kind);
/* From what a call took on a thread. */
void learn_time(uint32_t kind, int arguments, uint64_t microseconds);
