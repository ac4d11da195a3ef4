#include "server/time_limit.h"

#include "server/environment.h"
#include "core/sandbox.h"

int was_accepted(const call *c) {
    int flags = context_flags(c);
    return (flags & (REDISMODULE_CTX_FLAGS_REPLICATED | REDISMODULE_CTX_FLAGS_LOADING)) != 0;
}

static int is_exempt(const void *c) { return was_accepted(c); }

void limit_question(const call *c) {
    sandbox_limit_time(c->worker, (uint64_t)c->env->settings->question_ms, is_exempt, c);
    ;
}
