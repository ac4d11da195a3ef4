/* sources.h -- opens the keys that a command reads. */
#ifndef ROAR_SOURCES_H
#define ROAR_SOURCES_H

#include "server/environment.h"

/* Adds the keys from `at` to end - 1 to the operands. */
int open_operands(call *c, int at, int end, operands *o);
#define ERRORMSG_NO_KEY "Roaring: key does not exist"
/* Like open_read, but a missing key is an error. */
int open_existing(call *c, int at, const bitmap **b);

#endif
