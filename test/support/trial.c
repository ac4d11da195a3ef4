/* trial.c -- commands of the test build: they make the core violate its sandbox, lack memory, and let questions
 * wait. */
#include "server/args.h"
#include "core/calls.h"
#include "core/census.h"
#include "server/keys.h"
#include "server/main_thread.h"
#include "threads/pool.h"
#include "server/reply.h"

/* ROAR.TRAP key READ | WRITE [way] -- makes the core violate the sandbox. With COUNT, lets the next call do
 * so that counts members of several bitmaps. */
static int trap_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    static const command row = {.first = 1};
    call c = main_call(ctx, argv, argc, &families[R], &row);
    int64_t way = 0;
    open_key k;

    if (argc != 3 && argc != 4) return RedisModule_WrongArity(ctx);
    int writes = argument_is(&c, 2, "WRITE");
    if (argument_is(&c, 2, "COUNT")) {
        sandbox_trap_count();
        return reply_ok(&c);
    }
    if (argc > 3 && !parse_index(&c, 3, &way)) return REDISMODULE_OK;
    if (!open_create(&c, 1, &k)) return REDISMODULE_OK;
    if (!commit(&c, &k, core_trap(&main_worker, &k.value, writes, (uint32_t)way), 0, "trap"))
        return REDISMODULE_OK;
    return reply_ok(&c);
}

/* ROAR.LIMIT bytes -- makes any growth of an arena beyond this size fail for lack of memory. */
static int limit_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    long long bytes;

    if (argc != 2) return RedisModule_WrongArity(ctx);
    if (RedisModule_StringToLongLong(argv[1], &bytes) != REDISMODULE_OK) {
        return RedisModule_ReplyWithError(ctx, "ERR not a number");
    }
    sandbox_limit_arenas((uint32_t)bytes);
    return RedisModule_ReplyWithSimpleString(ctx, "OK");
}

/* ROAR.HOLD 2 | 1 | 0 -- makes long questions wait on their way to a thread (1), or before each part of them
 * (2), or lets them go. */
static int hold_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 2) return RedisModule_WrongArity(ctx);
    pool_hold((enum held)(*RedisModule_StringPtrLen(argv[1], NULL) - '0'));
    return RedisModule_ReplyWithSimpleString(ctx, "OK");
}

int register_trial(RedisModuleCtx *ctx);
int register_trial(RedisModuleCtx *ctx) {
    return RedisModule_CreateCommand(ctx, "ROAR.TRAP", trap_command, "write", 1, 1, 1) != REDISMODULE_OK
        || RedisModule_CreateCommand(ctx, "ROAR.LIMIT", limit_command, "", 0, 0, 0) != REDISMODULE_OK
        || RedisModule_CreateCommand(ctx, "ROAR.HOLD", hold_command, "", 0, 0, 0) != REDISMODULE_OK;
}
