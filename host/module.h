/* module.h -- what the generated functions of commands call. */
#pragma once

#include "server/command.h"

/* Runs a call of a command, whose arity has not been checked. */
int run_command(const command *row, const family *f, RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

/* --- The keys of a call, which the server needs for routing and authorization ---
 *
 * Nothing about the call has been checked: it may lack arguments, even those that the arity requires. */

/* Reports the keys from `at` to `last`, as far as there are arguments. */
void report_keys(call *c, int at, int last, uint64_t flags);
/* Reports the keys from `at` on, whose number stands before them. Returns the position of the last one; 0 if
 * that is not known. */
int report_numbered(call *c, int at, uint64_t flags);
/* Whether there is such an argument, and it is the word. */
int word_at(call *c, int at, const char *word);
