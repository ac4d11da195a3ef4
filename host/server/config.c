#define _GNU_SOURCE
#include "server/config.h"

#include <sched.h>
#include <strings.h>

#include "server/text.h"

/* The default of the setting threads is no more than this. */
#define THREADS_DEFAULT_MOST 4

settings own_settings;

/* A setting that is a number from `least` to `most`, or one of a few words: then it is the word's index. The
 * log calls a wrong module argument by `refusal`, and says what is `allowed`. */
struct setting {
    const char *argument, *parameter;
    unsigned int flags;
    long long *value;
    const char *const *words; /* NULL for a number */
    long long least, most;
    const char *refusal, *allowed;
};

static const struct setting rows[SETTINGS] = SETTING_ROWS;

/* The first word is "auto". */
const char *wanted_level(void) { return own_settings.cpu ? rows[SETTING_CPU].words[own_settings.cpu] : NULL; }

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

/* --- Module arguments ---------------------------------------------------------------------------------- */

/* A number, or the index of a word; -1 if the text is neither. */
static long long value_of(RedisModuleString *text, const struct setting *s) {
    long long value = -1;
    if (!s->words && RedisModule_StringToLongLong(text, &value) != REDISMODULE_OK) return -1;
    for (long long i = 0; s->words && i <= s->most; i++) {
        if (strcasecmp(RedisModule_StringPtrLen(text, NULL), s->words[i]) == 0) value = i;
    }
    return value;
}

static int read_value(RedisModuleCtx *ctx, RedisModuleString *text, const struct setting *s) {
    char buffer[LOGGABLE_BYTES];
    *s->value = value_of(text, s);
    if (*s->value >= s->least && *s->value <= s->most) return REDISMODULE_OK;
    RedisModule_Log(ctx, REDISMODULE_LOGLEVEL_WARNING, "%s '%s': must be %s", s->refusal,
                    loggable(text, buffer), s->allowed);
    return REDISMODULE_ERR;
}

/* Reads the argument's value, which follows it unless it is the last one. */
static int read_argument(RedisModuleCtx *ctx, RedisModuleString *argument, RedisModuleString *value) {
    char text[LOGGABLE_BYTES];
    const char *name = RedisModule_StringPtrLen(argument, NULL);
    for (int i = 0; value && i < SETTINGS; i++) {
        if (strcasecmp(name, rows[i].argument) == 0) return read_value(ctx, value, &rows[i]);
    }
    RedisModule_Log(ctx, REDISMODULE_LOGLEVEL_WARNING, "unknown or incomplete module argument '%s'",
                    loggable(argument, text));
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
    return (int)*(long long *)setting;
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

static int set_int(const char *name, int value, void *setting, RedisModuleString **error) {
    return set_number(name, value, setting, error);
}

static int register_setting(RedisModuleCtx *ctx, const struct setting *s) {
    int indexes[WORDS_MOST];
    for (int i = 0; i < WORDS_MOST; i++) indexes[i] = i;
    if (s->words) {
        return RedisModule_RegisterEnumConfig(ctx, s->parameter, (int)*s->value, s->flags,
                                              (const char **)s->words, indexes, (int)s->most + 1, get_int,
                                              set_int, NULL, s->value);
    }
    return RedisModule_RegisterNumericConfig(ctx, s->parameter, *s->value, s->flags, s->least, s->most,
                                             get_number, set_number, NULL, s->value);
}

static int register_debug(RedisModuleCtx *ctx) {
    long long *debug = &own_settings.debug;
    return RedisModule_RegisterBoolConfig(ctx, "debug", (int)*debug, REDISMODULE_CONFIG_IMMUTABLE, get_int,
                                          set_int, NULL, debug);
}

/* CONFIG REWRITE keeps the arguments of `loadmodule` and leaves out parameters that have their default. With
 * the arguments as defaults, the file that it writes restores all values. */
static int register_parameters(RedisModuleCtx *ctx) {
    for (int i = 0; i < SETTINGS; i++) {
        if (register_setting(ctx, &rows[i]) != REDISMODULE_OK) return REDISMODULE_ERR;
    }
    return register_debug(ctx) == REDISMODULE_OK ? RedisModule_LoadConfigs(ctx) : REDISMODULE_ERR;
}

int load_settings(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    own_settings = (settings)SETTING_DEFAULTS;
    own_settings.threads = default_threads();
    if (read_arguments(ctx, argv, argc) != REDISMODULE_OK) return REDISMODULE_ERR;
    if (RedisModule_LoadConfigs && register_parameters(ctx) != REDISMODULE_OK) return REDISMODULE_ERR;
    segment_bytes = (uint32_t)own_settings.segment_bytes;
    return REDISMODULE_OK;
}
