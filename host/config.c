#include "config.h"

#include <strings.h>

/* hiredis refuses longer arrays. */
#define REPLY_LIMIT_MOST UINT32_MAX

static const char *const levels[] = {"auto", "v2", "v3", "v4", "neon"};
#define AUTO 0
#define LEVELS ((int)(sizeof levels / sizeof *levels))

static struct settings {
    int level;                  /* index into levels */
    int debug;
    long long reply_limit;
} settings;

static const struct settings defaults = {.level = AUTO, .debug = 0, .reply_limit = 100000000};

const char *wanted_level(void) { return settings.level == AUTO ? NULL : levels[settings.level]; }
int wants_debug(void) { return settings.debug; }
uint64_t reply_limit(void) { return (uint64_t)settings.reply_limit; }

/* --- Module arguments: CPU level, REPLY-LIMIT n, DEBUG ---------------------------------------------------------------- */

static int read_level(RedisModuleCtx *ctx, const char *word) {
    for (int i = 0; i < LEVELS; i++) {
        if (strcasecmp(word, levels[i]) != 0) continue;
        settings.level = i;
        return REDISMODULE_OK;
    }
    RedisModule_Log(ctx, REDISMODULE_LOGLEVEL_WARNING, "unknown CPU level '%s': must be auto, v2, v3, v4 or neon", word);
    return REDISMODULE_ERR;
}

static int read_reply_limit(RedisModuleCtx *ctx, RedisModuleString *number) {
    long long limit;
    if (RedisModule_StringToLongLong(number, &limit) != REDISMODULE_OK || limit < 1 || limit > REPLY_LIMIT_MOST) {
        RedisModule_Log(ctx, REDISMODULE_LOGLEVEL_WARNING, "invalid REPLY-LIMIT '%s': must be a number from 1 to %lld",
                        RedisModule_StringPtrLen(number, NULL), (long long)REPLY_LIMIT_MOST);
        return REDISMODULE_ERR;
    }
    settings.reply_limit = limit;
    return REDISMODULE_OK;
}

static int read_arguments(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    for (int i = 0; i < argc; i++) {
        const char *name = RedisModule_StringPtrLen(argv[i], NULL);
        if (strcasecmp(name, "DEBUG") == 0) {
            settings.debug = 1;
        } else if (strcasecmp(name, "CPU") == 0 && i + 1 < argc) {
            if (read_level(ctx, RedisModule_StringPtrLen(argv[++i], NULL)) != REDISMODULE_OK) return REDISMODULE_ERR;
        } else if (strcasecmp(name, "REPLY-LIMIT") == 0 && i + 1 < argc) {
            if (read_reply_limit(ctx, argv[++i]) != REDISMODULE_OK) return REDISMODULE_ERR;
        } else {
            RedisModule_Log(ctx, REDISMODULE_LOGLEVEL_WARNING, "unknown or incomplete module argument '%s'", name);
            return REDISMODULE_ERR;
        }
    }
    return REDISMODULE_OK;
}

/* --- Configuration parameters ------------------------------------------------------------------------------------------ */

/* The server checks values against the names or the bounds that were registered. It may set a parameter to its default first, so setting
 * one has no other effect than storing the value. */

static int get_int(const char *name, void *setting) {
    (void)name;
    return *(int *)setting;
}

static int set_int(const char *name, int value, void *setting, RedisModuleString **error) {
    (void)name;
    (void)error;
    *(int *)setting = value;
    return REDISMODULE_OK;
}

static long long get_number(const char *name, void *setting) {
    (void)name;
    return *(long long *)setting;
}

static int set_number(const char *name, long long value, void *setting, RedisModuleString **error) {
    (void)name;
    (void)error;
    *(long long *)setting = value;
    return REDISMODULE_OK;
}

/* CONFIG REWRITE keeps the arguments of `loadmodule` and leaves out parameters that have their default. With the arguments as defaults,
 * the file that it writes restores all values. */
static int register_parameters(RedisModuleCtx *ctx) {
    int numbers[LEVELS];
    for (int i = 0; i < LEVELS; i++) numbers[i] = i;
    int done = RedisModule_RegisterEnumConfig(ctx, "cpu", settings.level, REDISMODULE_CONFIG_IMMUTABLE, (const char **)levels, numbers,
                                              LEVELS, get_int, set_int, NULL, &settings.level)
                == REDISMODULE_OK
            && RedisModule_RegisterBoolConfig(ctx, "debug", settings.debug, REDISMODULE_CONFIG_IMMUTABLE, get_int, set_int, NULL,
                                              &settings.debug)
                   == REDISMODULE_OK
            && RedisModule_RegisterNumericConfig(ctx, "reply-limit", settings.reply_limit, REDISMODULE_CONFIG_DEFAULT, 1, REPLY_LIMIT_MOST,
                                                 get_number, set_number, NULL, &settings.reply_limit)
                   == REDISMODULE_OK;
    return done ? RedisModule_LoadConfigs(ctx) : REDISMODULE_ERR;
}

int load_settings(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    settings = defaults;
    if (read_arguments(ctx, argv, argc) != REDISMODULE_OK) return REDISMODULE_ERR;
    return RedisModule_LoadConfigs ? register_parameters(ctx) : REDISMODULE_OK;
}
