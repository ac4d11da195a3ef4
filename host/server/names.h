/* names.h -- the data type of RN.* commands. Calls of these have it as their family. */
#pragma once

#include "core/names.h"
#include "server/command.h"

extern family dictionaries;

#define ERRORMSG_NO_IDS "ERR Roaring: the dictionary has no ids left"

int register_names(RedisModuleCtx *ctx);

/* Reads the names of a call from `at` on, to be ended unless it returns 0 after an error reply. */
int begin_naming(call *c, int at, naming *n);
void end_naming(naming *n);
