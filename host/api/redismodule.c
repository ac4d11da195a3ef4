#include "api/redismodule.h"

#define DEFINE(result, name, parameters) result(*RedisModule_##name) parameters;
REDIS_API(DEFINE, DEFINE)
#undef DEFINE

/* The getter is the first field of every context. */
get_api *api_getter(RedisModuleCtx *ctx) { return *(get_api **)ctx; }

const char *fetch_api(RedisModuleCtx *ctx) {
    get_api *get = api_getter(ctx);
    const char *missing = NULL;
#define NEED(result, name, parameters) \
    if (get("RedisModule_" #name, &RedisModule_##name) != REDISMODULE_OK) missing = #name;
#define WANT(result, name, parameters) (void)get("RedisModule_" #name, &RedisModule_##name);
    REDIS_API(NEED, WANT)
#undef NEED
#undef WANT
    return missing;
}
