#define _GNU_SOURCE
#include "server/config.h"

#include <sched.h>
#include <strings.h>

#include "server/text.h"

/* hiredis refuses longer arrays. */
#define REPLY_LIMIT_MOST UINT32_MAX

/* SCAN must be able to return a member, even to a script. */
#define REPLY_BYTES_LEAST 1024
#define REPLY_BYTES_DEFAULT (256 * 1024 * 1024)

/* The server itself calls a script slow after this time (busy-reply-threshold), and lets other clients end
 * it. */
#define QUESTION_MS_DEFAULT 5000
#define QUESTION_MS_MOST 86400000

/* More threads than processors gain nothing. */
#define THREADS_MOST 64
#define THREADS_DEFAULT_MOST 4

/* Reading this much takes the core 0.03 ms, for bitsets, to 1 ms. Offloading takes 0.02 ms. */
#define THREADS_FROM_BYTES_DEFAULT (1024 * 1024)

static const char *const levels[] = {"auto", "v2", "v3", "v4", "neon"};
#define AUTO 0
#define LEVELS ((int)(sizeof levels / sizeof *levels))

static const char *const replies[] = {"compatible", "strings"};
enum { COMPATIBLE, STRINGS, REPLIES };

settings own_settings;

static const settings defaults = {
    .level = AUTO,
    .debug = 0,
    .r64_replies = COMPATIBLE,
    .reply_limit = 100000000,
    .reply_limit_bytes = REPLY_BYTES_DEFAULT,
    .question_ms = QUESTION_MS_DEFAULT,
    .threads_from_bytes = THREADS_FROM_BYTES_DEFAULT,
};

/* A setting that is one of a few words. */
struct choice {
    const char *argument, *parameter;
    const char *name;               /* in errors about the argument */
    const char *const *words;
    int count;
    const char *listed;             /* the words, in errors */
    unsigned int flags;
    int *value;                     /* index into words */
};

/* A setting that is a number. */
struct number {
    const char *argument, *parameter;
    long long least, most;
    unsigned int flags;
    long long *value;
};

static const struct choice choices[] = {
    {"CPU", "cpu", "CPU level", levels, LEVELS, "auto, v2, v3, v4 or neon", REDISMODULE_CONFIG_IMMUTABLE,
     &own_settings.level},
    {"R64-REPLIES", "r64-replies", "R64-REPLIES", replies, REPLIES, "compatible or strings",
     REDISMODULE_CONFIG_DEFAULT, &own_settings.r64_replies},
};

static const struct number numbers[] = {
    {"REPLY-LIMIT", "reply-limit", 1, REPLY_LIMIT_MOST, REDISMODULE_CONFIG_DEFAULT,
     &own_settings.reply_limit},
    {"REPLY-LIMIT-BYTES", "reply-limit-bytes", REPLY_BYTES_LEAST, INT64_MAX, REDISMODULE_CONFIG_MEMORY,
     &own_settings.reply_limit_bytes},
    {"QUESTION-MS", "question-ms", 0, QUESTION_MS_MOST, REDISMODULE_CONFIG_DEFAULT,
     &own_settings.question_ms},
    {"THREADS", "threads", 0, THREADS_MOST, REDISMODULE_CONFIG_DEFAULT, &own_settings.threads},
    {"THREADS-FROM-BYTES", "threads-from-bytes", 0, INT64_MAX, REDISMODULE_CONFIG_MEMORY,
     &own_settings.threads_from_bytes},
};

enum { CHOICES = sizeof choices / sizeof *choices, NUMBERS = sizeof numbers / sizeof *numbers };

const char *wanted_level(void) { return own_settings.level == AUTO ? NULL : levels[own_settings.level]; }
static cpu_set_t usable;

void use_all_processors(void) {
    if (CPU_COUNT(&usable) > 0) (void)sched_setaffinity(0, sizeof usable, &usable);
}

/* One thread less than the processors that the server may use, as the server itself needs one. */
static long long default_threads(void) {
    CPU_ZERO(&usable);
    if (sched_getaffinity(0, sizeof usable, &usable) != 0) return 0;
    int others = CPU_COUNT(&usable) - 1;
    return others < THREADS_DEFAULT_MOST ? others : THREADS_DEFAULT_MOST;
}

/* --- Module arguments: CPU, REPLY-LIMIT, REPLY-LIMIT-BYTES, QUESTION-MS, R64-REPLIES, THREADS,
 * THREADS-FROM-BYTES, DEBUG --- */

/* An argument's text for the log. */
static const char *shown(RedisModuleString *argument, char buffer[LOGGABLE_BYTES]) {
    size_t length;
    const char *text = RedisModule_StringPtrLen(argument, &length);
    return loggable(text, length, buffer);
}

static int read_choice(RedisModuleCtx *ctx, RedisModuleString *word, const struct choice *setting) {
    char text[LOGGABLE_BYTES];
    for (int i = 0; i < setting->count; i++) {
        if (strcasecmp(RedisModule_StringPtrLen(word, NULL), setting->words[i]) != 0) continue;
        *setting->value = i;
        return REDISMODULE_OK;
    }
    RedisModule_Log(ctx, REDISMODULE_LOGLEVEL_WARNING, "unknown %s '%s': must be %s", setting->name,
                    shown(word, text), setting->listed);
    return REDISMODULE_ERR;
}

static int read_number(RedisModuleCtx *ctx, RedisModuleString *digits, const struct number *setting) {
    char text[LOGGABLE_BYTES];
    long long value;
    int parsed = RedisModule_StringToLongLong(digits, &value);
    if (parsed == REDISMODULE_OK && value >= setting->least && value <= setting->most) {
        *setting->value = value;
        return REDISMODULE_OK;
    }
    RedisModule_Log(ctx, REDISMODULE_LOGLEVEL_WARNING, "invalid %s '%s': must be a number from %lld to %lld",
                    setting->argument, shown(digits, text), setting->least, setting->most);
    return REDISMODULE_ERR;
}

/* Reads the argument's value, which follows it unless it is the last one. */
static int read_argument(RedisModuleCtx *ctx, RedisModuleString *argument, RedisModuleString *value) {
    char text[LOGGABLE_BYTES];
    const char *name = RedisModule_StringPtrLen(argument, NULL);
    for (int i = 0; value && i < CHOICES; i++) {
        if (strcasecmp(name, choices[i].argument) == 0) return read_choice(ctx, value, &choices[i]);
    }
    for (int i = 0; value && i < NUMBERS; i++) {
        if (strcasecmp(name, numbers[i].argument) == 0) return read_number(ctx, value, &numbers[i]);
    }
    RedisModule_Log(ctx, REDISMODULE_LOGLEVEL_WARNING, "unknown or incomplete module argument '%s'",
                    shown(argument, text));
    return REDISMODULE_ERR;
}

static int read_arguments(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    for (int i = 0; i < argc; i++) {
        if (strcasecmp(RedisModule_StringPtrLen(argv[i], NULL), "DEBUG") == 0) own_settings.debug = 1;
        else if (read_argument(ctx, argv[i], i + 1 < argc ? argv[i + 1] : NULL) == REDISMODULE_OK) i++;
        else return REDISMODULE_ERR;
    }
    return REDISMODULE_OK;
}

/* --- Configuration parameters -------------------------------------------------------------------------- */

/* The server checks values against the names or the bounds that were registered. It may set a parameter to
 * its default first, so setting one has no other effect than storing the value. */

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

static int register_choice(RedisModuleCtx *ctx, const struct choice *s) {
    int indexes[LEVELS];        /* no setting has more words */
    for (int i = 0; i < s->count; i++) indexes[i] = i;
    return RedisModule_RegisterEnumConfig(ctx, s->parameter, *s->value, s->flags, (const char **)s->words,
                                          indexes, s->count, get_int, set_int, NULL, s->value);
}

static int register_number(RedisModuleCtx *ctx, const struct number *s) {
    return RedisModule_RegisterNumericConfig(ctx, s->parameter, *s->value, s->flags, s->least, s->most,
                                             get_number, set_number, NULL, s->value);
}

static int register_debug(RedisModuleCtx *ctx) {
    return RedisModule_RegisterBoolConfig(ctx, "debug", own_settings.debug, REDISMODULE_CONFIG_IMMUTABLE,
                                          get_int, set_int, NULL, &own_settings.debug);
}

/* CONFIG REWRITE keeps the arguments of `loadmodule` and leaves out parameters that have their default. With
 * the arguments as defaults, the file that it writes restores all values. */
static int register_parameters(RedisModuleCtx *ctx) {
    for (int i = 0; i < CHOICES; i++) {
        if (register_choice(ctx, &choices[i]) != REDISMODULE_OK) return REDISMODULE_ERR;
    }
    for (int i = 0; i < NUMBERS; i++) {
        if (register_number(ctx, &numbers[i]) != REDISMODULE_OK) return REDISMODULE_ERR;
    }
    return register_debug(ctx) == REDISMODULE_OK ? RedisModule_LoadConfigs(ctx) : REDISMODULE_ERR;
}

int load_settings(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    own_settings = defaults;
    own_settings.threads = default_threads();
    if (read_arguments(ctx, argv, argc) != REDISMODULE_OK) return REDISMODULE_ERR;
    return RedisModule_LoadConfigs ? register_parameters(ctx) : REDISMODULE_OK;
}
