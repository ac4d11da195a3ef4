/* config.h -- settings: configuration parameters, on servers from 7.0 on, and module arguments. All are rows
 * of table/settings.ts. */
#pragma once

#include "api/redismodule.h"
#include "core/worker.h"
#include "settings.h"

/* Reads the module's arguments and registers the parameters redis-roar.*, whose defaults are the arguments.
 * Creates nothing else: Redis 7.2 and 7.4 and Valkey crash if a module with data types fails to load in
 * MODULE LOADEX. An error has been logged. */
int load_settings(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

/* As they are now. Only the main thread may read them; an offloaded call has a copy. */
extern OURS settings own_settings;

/* The wanted CPU level; NULL for the best that this CPU supports. It does not change, so any thread may call
 * this. */
const char *wanted_level(void);
/* Lets the calling thread run on all processors that the server could use when the module was loaded: the main
 * thread may have been bound to one since (server_cpulist). */
void use_all_processors(void);
