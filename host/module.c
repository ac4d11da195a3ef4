/* module.c -- loads the module: API functions, settings, CPU level, data types, commands, INFO. */
#include "module.h"

#include <stdio.h>

#include "server/args.h"
#include "core/calls.h"
#include "core/census.h"
#include "core/names.h"
#include "server/config.h"
#include "facts.h"
#include "handlers.h"
#include "server/keys.h"
#include "server/main_thread.h"
#include "server/names.h"
#include "threads/offload.h"
#include "threads/pool.h"
#include "server/reply.h"
#include "server/prepare.h"
#include "texts.h"
#include "server/types.h"

#define MODULE_NAME "redis-roar"

#define OPTIONS                                                                            \
    (REDISMODULE_OPTIONS_HANDLE_IO_ERRORS | REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED \
     | REDISMODULE_OPTIONS_HANDLE_REPL_ASYNC_LOAD)

/* Options that only Valkey has. Valkey offers each API function under a second name, too, which Redis does
 * not know. That function returns the options of this version of Valkey. Atomic slot migration moves keys as
 * a rewritten AOF does, by rewrite() in server/types.c. A save without fork calls save_bitmap() on a thread,
 * and the server then does not open keys for writing that the thread reads (open_writable). */
static int valkey_options(RedisModuleCtx *ctx) {
    int (*all)(void) = NULL;
    if (api_getter(ctx)("ValkeyModule_GetModuleOptionsAll", &all) != REDISMODULE_OK) return 0;
    return all() & (VALKEYMODULE_OPTIONS_HANDLE_ATOMIC_SLOT_MIGRATION | VALKEYMODULE_OPTIONS_HANDLE_FORKLESS);
}

/* The name of the core's CPU level. */
static const char *level;

static int choose_level(RedisModuleCtx *ctx) {
    const char *wanted = wanted_level();
    level = worker_begin(&main_worker, wanted);
    if (level == NULL) {
        RedisModule_Log(ctx, REDISMODULE_LOGLEVEL_WARNING, "CPU level %s is not supported by this CPU",
                        wanted ? wanted : "v2");
        return REDISMODULE_ERR;
    }
    RedisModule_Log(ctx, REDISMODULE_LOGLEVEL_NOTICE, "core built for CPU level %s", level);
    return REDISMODULE_OK;
}

void report_keys(call *c, int at, int last, uint64_t flags) {
    for (; at <= last && at < c->argc; at++) {
        if (RedisModule_KeyAtPosWithFlags) RedisModule_KeyAtPosWithFlags(c->ctx, at, (int)flags);
        else RedisModule_KeyAtPos(c->ctx, at);
    }
}

int report_numbered(call *c, int at, uint64_t flags) {
    uint64_t count = 0;
    size_t length;
    const char *text = at <= c->argc ? RedisModule_StringPtrLen(c->argv[at - 1], &length) : NULL;
    if (!text || !parse_number(text, length, (uint64_t)c->argc, &count) || count == 0) return 0;
    report_keys(c, at, at + (int)count - 1, flags);
    return at + (int)count - 1;
}

int word_at(call *c, int at, const char *word) { return at < c->argc && argument_is(c, at, word); }

/* Checks the arity, because servers before 7.0 do not know it. */
int run_command(const command *row, const family *f, RedisModuleCtx *ctx, RedisModuleString **argv,
                int argc) {
    call c = main_call(ctx, argv, argc, f, row);
    if (row->keys && RedisModule_IsKeysPositionRequest(ctx)) return row->keys(&c);
    int arity = row->info->arity;
    if (arity < 0 ? argc < -arity : argc != arity) return RedisModule_WrongArity(ctx);
    if (row->may_offload && own_settings.threads) run_or_offload(&c);
    else row->handler(&c);
    sandbox_lift_time_limit(&main_worker);
    return REDISMODULE_OK;
}

/* Categories need Redis 7.2, and one of the module's own 7.4. */
static int register_command(RedisModuleCtx *ctx, const command *row, const char *prefix,
                            RedisModuleCmdFunc entry, int own_category) {
    char name[32], categories[64];

    snprintf(name, sizeof name, "%s%s", prefix, row->name);
    int made = RedisModule_CreateCommand(ctx, name, entry, row->flags, row->first, row->last, row->step);
    if (made != REDISMODULE_OK) return REDISMODULE_ERR;
    RedisModuleCommand *created = RedisModule_GetCommand ? RedisModule_GetCommand(ctx, name) : NULL;
    if (created && RedisModule_SetCommandInfo
        && RedisModule_SetCommandInfo(created, row->info) != REDISMODULE_OK) {
        return REDISMODULE_ERR;
    }
    if (created && RedisModule_SetCommandACLCategories) {
        snprintf(categories, sizeof categories, "%s%s", row->categories, own_category ? " roaring" : "");
        return RedisModule_SetCommandACLCategories(created, categories);
    }
    return REDISMODULE_OK;
}

static int register_commands(RedisModuleCtx *ctx) {
    int own_category =
        RedisModule_AddACLCategory && RedisModule_AddACLCategory(ctx, "roaring") == REDISMODULE_OK;
    for (const command_table *t = command_tables; t->rows; t++) {
        for (const command *row = t->rows; row < t->rows + t->count; row++) {
            if (register_command(ctx, row, t->family->prefix, row->entries[t->entry], own_category)
                == REDISMODULE_OK)
                continue;
            RedisModule_Log(ctx, REDISMODULE_LOGLEVEL_WARNING, "command %s%s could not be registered",
                            t->family->prefix, row->name);
            return REDISMODULE_ERR;
        }
    }
    return REDISMODULE_OK;
}

/* INFO has the sections of table/texts.ts, which are called redis-roar_bitmaps and so on. */
static void inform(RedisModuleInfoCtx *ctx, int for_crash_report) {
    (void)for_crash_report;
    const census now = sandbox_census();
    const pool_report pool = report_pool();
    const offload_report offloads = report_offloads();
    const copying copies = bitmap_copying();
    ADD_INFORMATION(ctx);
}

/* R.DEBUG VALIDATE key -- checks the inside of a bitmap of either family, of integers, or of a dictionary; replies OK or what is
 * wrong. Only if the setting debug is on. */
static int debug_command(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    static const command row = {.first = 2};
    call c = main_call(ctx, argv, argc, &families[R], &row);
    const bitmap *b;
    const char *fault;

    if (argc != 3) return RedisModule_WrongArity(ctx);
    if (!argument_is(&c, 1, "VALIDATE")) return reply_syntax_error(&c);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[2], REDISMODULE_READ);
    const int names = key && RedisModule_ModuleTypeGetType(key) == dictionaries.type;
    RedisModule_CloseKey(key);
    c.takes_integers = 1;
    if (names) c.family = &dictionaries;
    if (!(names ? open_read : open_either)(&c, 2, &b)) return REDISMODULE_OK;
    if (b == NULL) return reply_error(&c, ERRORMSG_NO_KEY);
    if (!succeeded(&c, (names ? names_validate : core_validate)(&main_worker, b, &fault)))
        return REDISMODULE_OK;
    return fault ? RedisModule_ReplyWithSimpleString(ctx, fault) : reply_ok(&c);
}

/* Commands of the test build only, in test/support/trial.c. */
#pragma weak register_trial
int register_trial(RedisModuleCtx *ctx);

__attribute__((visibility("default"))) int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv,
                                                              int argc) {
    const char *missing = fetch_api(ctx);
    if (missing) {
        if (RedisModule_Log) {
            RedisModule_Log(ctx, REDISMODULE_LOGLEVEL_WARNING, "this server is too old: no %s", missing);
        }
        return REDISMODULE_ERR;
    }
    if (RedisModule_IsModuleNameBusy && RedisModule_IsModuleNameBusy(MODULE_NAME)) return REDISMODULE_ERR;
    RedisModule_SetModuleAttribs(ctx, MODULE_NAME, MODULE_VERSION, REDISMODULE_APIVER_1);
    RedisModule_SetModuleOptions(ctx, OPTIONS | valkey_options(ctx));
    if (load_settings(ctx, argv, argc) != REDISMODULE_OK || choose_level(ctx) != REDISMODULE_OK
        || register_types(ctx) != REDISMODULE_OK || register_names(ctx) != REDISMODULE_OK) {
        return REDISMODULE_ERR;
    }
    if (own_settings.debug
        && RedisModule_CreateCommand(ctx, "R.DEBUG", debug_command, "readonly", 2, 2, 1) != REDISMODULE_OK) {
        return REDISMODULE_ERR;
    }
    if (RedisModule_RegisterInfoFunc(ctx, inform) != REDISMODULE_OK) return REDISMODULE_ERR;
    if (register_trial && register_trial(ctx) != REDISMODULE_OK) return REDISMODULE_ERR;
    return register_commands(ctx);
}
