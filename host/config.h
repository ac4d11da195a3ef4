/* config.h -- settings: configuration parameters, on servers from 7.0 on, and module arguments. */
#ifndef ROAR_CONFIG_H
#define ROAR_CONFIG_H

#include "redismodule.h"

/* Reads the module's arguments and registers the parameters redis-roar.*, whose defaults are the arguments.
 * Creates nothing else: Redis 7.2 and 7.4 and Valkey crash if a module with data types fails to load in
 * MODULE LOADEX. An error has been logged. */
int load_settings(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

/* The wanted CPU level; NULL for the best that this CPU supports. */
const char *wanted_level(void);
/* Whether to register R.DEBUG. */
int wants_debug(void);
/* The most members in one reply, and the most bytes. */
uint64_t reply_limit(void);
uint64_t reply_limit_bytes(void);
/* The most milliseconds that a question may take; 0 for no limit. */
uint64_t question_ms(void);
/* How many threads may answer questions; 0 for none. */
uint32_t threads(void);
/* Lets the calling thread run on all processors that the server could use when the module was loaded: the main
 * thread may have been bound to one since (server_cpulist). */
void use_all_processors(void);
/* How much such a question has to read or to reply. */
uint64_t threads_from_bytes(void);
/* Whether 64-bit offsets in replies are always bulk strings. */
int wants_strings(void);

#endif
