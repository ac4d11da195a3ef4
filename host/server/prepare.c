#include "server/prepare.h"

#include "core/sandbox.h"
#include "server/reply.h"

int open_operands(call *c, int at, int end, operands *o) {
    const bitmap *b;

    for (; at < end; at++) {
        if (!open_read(c, at, &b)) return 0;
        operands_add(o, b);
    }
    return 1;
}

int open_existing(call *c, int at, const bitmap **b) {
    if (!open_read(c, at, b)) return 0;
    return *b != NULL || reply_error(c, ERRORMSG_NO_KEY);
}

static int is_exempt(const void *c) { return was_accepted(c); }

void limit_time(const call *c) {
    sandbox_limit_time(c->worker, (uint64_t)c->env->settings->question_ms, is_exempt, c);
}
