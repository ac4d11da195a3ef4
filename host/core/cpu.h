/* cpu.h -- chooses the build of the core for this CPU. */
#pragma once

#include "core.h"

/* The best core that this CPU supports, or the one named `wanted` unless that is NULL. NULL if there is none
 * of that name, or the CPU does not support it. Of the two
 * builds of each level, threads other than the main one need theirs. */
const struct core *choose_core(const char *wanted, int on_threads);
