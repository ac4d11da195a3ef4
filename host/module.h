/* module.h -- runs commands. */
#pragma once

#include "server/command.h"

/* Runs a call of a command, whose arity has not been checked. */
int run_command(const command *row, const family *f, RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
