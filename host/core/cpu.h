/* cpu.h -- chooses the build of the core for this CPU. */
#pragma once

#include "core.h"

/* The best core that this CPU supports, or the one named `wanted` unless that is NULL. NULL if there is none
 * of that name, or the CPU does not support it. Each level has two builds: one for the main thread, and one
 * for other threads (`on_threads`). */
const struct core *choose_core(const char *wanted, int on_threads);
