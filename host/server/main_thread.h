/* main_thread.h -- the main thread's environment: everything comes from the server. */
#pragma once

#include "server/environment.h"

extern OURS const environment main_thread;

static inline call main_call(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, const family *f,
                             const command *row) {
    return (call){ctx, argv, argc, f, row, &main_worker, &main_thread, NULL, 0, OK};
}
