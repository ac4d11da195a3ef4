/* prepare.h -- what handlers do before they call the core: open the keys that they read, and limit the time. */
#pragma once

#include "server/environment.h"

/* Adds the keys from `at` to end - 1 to the operands. */
int open_operands(call *c, int at, int end, operands *o);
#define ERRORMSG_NO_KEY "Roaring: key does not exist"
/* Like open_read, but a missing key is an error. */
int open_existing(call *c, int at, const bitmap **b);
/* From here on, the call may take as long as the setting question-ms allows. */
void limit_time(const call *c);
