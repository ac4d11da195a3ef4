/* commands.h -- the command table, generated from table/commands.ts. */
#pragma once

#include <stddef.h>

#include "server/command.h"

extern const command commands[];
extern const size_t command_count;
