#include "config.h"

#include <strings.h>

#include "text.h"

/* hiredis refuses longer arrays. */
#define REPLY_LIMIT_MOST UINT32_MAX

/* SCAN must be able to return a member, even to a script. */
#define REPLY_BYTES_LEAST 1024
#define REPLY_BYTES_DEFAULT (256 * 1024 * 1024)

/* The server itself calls a script slow after this time (busy-reply-threshold), and lets other clients end it. */
#define QUESTION_MS_DEFAULT 5000
#define QUESTION_MS_MOST 86400000

static const char *const levels[] = {"auto", "v2", "v3", "v4", "neon"};
#define AUTO 0
#define LEVELS ((int)(sizeof levels / sizeof *levels))

static const char *const replies[] = {"compatible", "strings"};
enum { COMPATIBLE, STRINGS, REPLIES };

static struct settings {
    int level;                  /* index into levels */
    int debug;
    int r64_replies;            /* index into replies */
    long long reply_limit, reply_limit_bytes, question_ms;
} settings;

static const struct settings defaults = {
    .level = AUTO,
    .debug = 0,
    .r64_replies = COMPATIBLE,
    .reply_limit = 100000000,
    .reply_limit_bytes = REPLY_BYTES_DEFAULT,
    .question_ms = QUESTION_MS_DEFAULT,
};

const char *wanted_level(void) { return settings.level == AUTO ? NULL : levels[settings.level]; }
int wants_debug(void) { return settings.debug; }
int wants_strings(void) { return settings.r64_replies == STRINGS; }
uint64_t reply_limit(void) { return (uint64_t)settings.reply_limit; }
uint64_t question_ms(void) { return (uint64_t)settings.question_ms; }
uint64_t reply_limit_bytes(void) { return (uint64_t)settings.reply_limit_bytes; }

/* --- Module arguments: CPU level, REPLY-LIMIT n, REPLY-LIMIT-BYTES n, QUESTION-MS n, R64-REPLIES kind, DEBUG -------------- */

/* An argument's text for the log. */
static const char *shown(RedisModuleString *argument) {
    size_t length;
    const char *text = RedisModule_StringPtrLen(argument, &length);
    return loggable(text, length);
}

/* Looks a word up in the names of a setting. Errors call it `what`, and name the `choices`. */
static int read_word(RedisModuleCtx *ctx, RedisModuleString *word, const char *const *names, int count, int *setting, const char *what,
                     const char *choices) {
    for (int i = 0; i < count; i++) {
        if (strcasecmp(RedisModule_StringPtrLen(word, NULL), names[i]) != 0) continue;
        *setting = i;
        return REDISMODULE_OK;
    }
    RedisModule_Log(ctx, REDISMODULE_LOGLEVEL_WARNING, "unknown %s '%s': must be %s", what, shown(word), choices);
    return REDISMODULE_ERR;
}

static int read_number(RedisModuleCtx *ctx, RedisModuleString *number, long long least, long long most, long long *setting,
                       const char *what) {
    long long value;
    if (RedisModule_StringToLongLong(number, &value) != REDISMODULE_OK || value < least || value > most) {
        RedisModule_Log(ctx, REDISMODULE_LOGLEVEL_WARNING, "invalid %s '%s': must be a number from %lld to %lld", what, shown(number),
                        least, most);
        return REDISMODULE_ERR;
    }
    *setting = value;
    return REDISMODULE_OK;
}

/* Reads the argument's value, which follows it unless it is the last one. */
static int read_argument(RedisModuleCtx *ctx, RedisModuleString *argument, RedisModuleString *value) {
    const char *name = RedisModule_StringPtrLen(argument, NULL);
    if (value && strcasecmp(name, "CPU") == 0) {
        return read_word(ctx, value, levels, LEVELS, &settings.level, "CPU level", "auto, v2, v3, v4 or neon");
    }
    if (value && strcasecmp(name, "REPLY-LIMIT") == 0) {
        return read_number(ctx, value, 1, REPLY_LIMIT_MOST, &settings.reply_limit, "REPLY-LIMIT");
    }
    if (value && strcasecmp(name, "REPLY-LIMIT-BYTES") == 0) {
        return read_number(ctx, value, REPLY_BYTES_LEAST, INT64_MAX, &settings.reply_limit_bytes, "REPLY-LIMIT-BYTES");
    }
    if (value && strcasecmp(name, "QUESTION-MS") == 0) {
        return read_number(ctx, value, 0, QUESTION_MS_MOST, &settings.question_ms, "QUESTION-MS");
    }
    if (value && strcasecmp(name, "R64-REPLIES") == 0) {
        return read_word(ctx, value, replies, REPLIES, &settings.r64_replies, "R64-REPLIES", "compatible or strings");
    }
    RedisModule_Log(ctx, REDISMODULE_LOGLEVEL_WARNING, "unknown or incomplete module argument '%s'", shown(argument));
    return REDISMODULE_ERR;
}

static int read_arguments(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    for (int i = 0; i < argc; i++) {
        if (strcasecmp(RedisModule_StringPtrLen(argv[i], NULL), "DEBUG") == 0) settings.debug = 1;
        else if (read_argument(ctx, argv[i], i + 1 < argc ? argv[i + 1] : NULL) == REDISMODULE_OK) i++;
        else return REDISMODULE_ERR;
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

static int register_choice(RedisModuleCtx *ctx, const char *name, const char *const *names, int count, unsigned int flags, int *setting) {
    int numbers[LEVELS];        /* as many as any setting has names */
    for (int i = 0; i < count; i++) numbers[i] = i;
    return RedisModule_RegisterEnumConfig(ctx, name, *setting, flags, (const char **)names, numbers, count, get_int, set_int, NULL,
                                          setting);
}

static int register_number(RedisModuleCtx *ctx, const char *name, unsigned int flags, long long least, long long most, long long *setting) {
    return RedisModule_RegisterNumericConfig(ctx, name, *setting, flags, least, most, get_number, set_number, NULL, setting);
}

/* CONFIG REWRITE keeps the arguments of `loadmodule` and leaves out parameters that have their default. With the arguments as defaults,
 * the file that it writes restores all values. */
static int register_parameters(RedisModuleCtx *ctx) {
    enum { FIXED = REDISMODULE_CONFIG_IMMUTABLE, VARIABLE = REDISMODULE_CONFIG_DEFAULT, BYTES = REDISMODULE_CONFIG_MEMORY };
    struct settings *s = &settings;

    if (register_choice(ctx, "cpu", levels, LEVELS, FIXED, &s->level) != REDISMODULE_OK
        || RedisModule_RegisterBoolConfig(ctx, "debug", s->debug, FIXED, get_int, set_int, NULL, &s->debug) != REDISMODULE_OK
        || register_number(ctx, "reply-limit", VARIABLE, 1, REPLY_LIMIT_MOST, &s->reply_limit) != REDISMODULE_OK
        || register_number(ctx, "reply-limit-bytes", BYTES, REPLY_BYTES_LEAST, INT64_MAX, &s->reply_limit_bytes) != REDISMODULE_OK
        || register_number(ctx, "question-ms", VARIABLE, 0, QUESTION_MS_MOST, &s->question_ms) != REDISMODULE_OK
        || register_choice(ctx, "r64-replies", replies, REPLIES, VARIABLE, &s->r64_replies) != REDISMODULE_OK) {
        return REDISMODULE_ERR;
    }
    return RedisModule_LoadConfigs(ctx);
}

int load_settings(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    settings = defaults;
    if (read_arguments(ctx, argv, argc) != REDISMODULE_OK) return REDISMODULE_ERR;
    return RedisModule_LoadConfigs ? register_parameters(ctx) : REDISMODULE_OK;
}
