/* cpu.h -- which of the core's builds this CPU is to run. */
#ifndef ROAR_CPU_H
#define ROAR_CPU_H

#include "core.h"

/* The core for this CPU, or the one named by `wanted` unless that is NULL. NULL if there is none of that name or the CPU
 * lacks it. */
const struct core *choose_core(const char *wanted);

#endif
