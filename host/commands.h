/* commands.h -- the command table, generated from table/commands.ts. */
#ifndef ROAR_COMMANDS_H
#define ROAR_COMMANDS_H

#include <stddef.h>

#include "server/command.h"

extern const command commands[];
extern const size_t command_count;

#endif
