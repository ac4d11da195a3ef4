/* names.h -- the data type of RN.* commands. Calls of these have it as their family. */
#pragma once

#include "server/families.h"

extern family dictionaries;

int register_names(RedisModuleCtx *ctx);
