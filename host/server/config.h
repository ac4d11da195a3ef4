/* config.h -- settings: configuration parameters, on servers from 7.0 on, and module arguments. */
#pragma once

#include "api/redismodule.h"
#include "core/worker.h"

/* Reads the module's arguments and registers the parameters redis-roar.*, whose defaults are the arguments.
 * Creates nothing else: Redis 7.2 and 7.4 and Valkey crash if a module with data types fails to load in
 * MODULE LOADEX. An error has been logged. */
int load_settings(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

/* Indexes of enumerated settings are those of their words in config.c. */
typedef struct settings {
    int level;
    int debug;                  /* whether to register R.DEBUG */
    int r64_replies;            /* 1: 64-bit offsets in replies are always bulk strings */
    long long reply_limit;      /* the most members in one reply, */
    long long reply_limit_bytes; /* and the most bytes */
    long long question_ms;      /* the most milliseconds that a query may take; 0 for no limit */
    long long threads;          /* how many threads may evaluate queries; 0 for none */
    long long threads_from_bytes; /* how many bytes such a query reads or replies at least */
} settings;

/* As they are now. Only the main thread may read them; an offloaded call has a copy. */
extern OURS settings own_settings;

/* The wanted CPU level; NULL for the best that this CPU supports. It does not change, so any thread may call
 * this. */
const char *wanted_level(void);
/* Lets the calling thread run on all processors that the server could use when the module was loaded: the main
 * thread may have been bound to one since (server_cpulist). */
void use_all_processors(void);
