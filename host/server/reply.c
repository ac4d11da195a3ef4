#include "server/reply.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "server/environment.h"

int reply_failure(call *c, status s) {
    char shown[LOGGABLE_BYTES];
    c->ended = s;
    if (s == NOT_BRIEF) return 0; /* there is no reply: run_or_offload offloads the call */
    if (s == OUT_OF_MEMORY) return reply_error(c, "OOM Roaring: not enough memory for the bitmap");
    if (s == OUT_OF_TIME) {
        return reply_error(c, "ERR Roaring: the question took longer than %lld ms (redis-roar.question-ms)",
                           c->env->settings->question_ms);
    }
    RedisModule_Log(c->ctx, REDISMODULE_LOGLEVEL_WARNING, "trap in %s, key '%s': %s",
                    RedisModule_StringPtrLen(c->argv[0], NULL), loggable(c->argv[c->row->first], shown),
                    sandbox_last_trap(c->worker));
    return reply_error(c, "ERR Roaring: internal error (%s)", sandbox_last_trap(c->worker));
}

int reply_error(call *c, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    /* An argument in the text must not end the reply. */
    for (char *end = text; *(end += strcspn(end, "\r\n")); *end = ' ') {}
    c->env->send_error(c, text);
    return 0;
}

int reply_syntax_error(call *c) { return reply_error(c, ERRORMSG_SYNTAX); }

int reply_ok(call *c) { return RedisModule_ReplyWithSimpleString(c->ctx, "OK"); }

int reply_count(call *c, cardinality number) {
    char text[COUNT_TEXT];
    if (number <= INT64_MAX) return RedisModule_ReplyWithLongLong(c->ctx, (long long)number);
    const char *digits = count_text(number, text);
    return RedisModule_ReplyWithStringBuffer(c->ctx, digits, strlen(digits));
}

int offset_is_string(const call *c, uint64_t offset) {
    return offset > INT64_MAX || (c->family->last > INT64_MAX && c->env->settings->r64_replies);
}

void reply_offsets(call *c, const uint64_t *offsets, size_t count) {
    decimal d = {0};
    size_t length;
    int integers = !offset_is_string(c, offsets[count - 1]), strings = offset_is_string(c, offsets[0]);

    for (size_t i = 0; i < count; i++) {
        if (integers || !(strings || offset_is_string(c, offsets[i]))) {
            RedisModule_ReplyWithLongLong(c->ctx, (long long)offsets[i]);
        } else {
            const char *text = print_offset(&d, offsets[i], &length);
            RedisModule_ReplyWithStringBuffer(c->ctx, text, length);
        }
    }
}

int reply_offset(call *c, uint64_t offset) {
    reply_offsets(c, &offset, 1);
    return REDISMODULE_OK;
}

int reply_cardinality(call *c, const bitmap *b) {
    cardinality members = 0;
    if (b && !succeeded(c, core_cardinality(c->worker, b, &members))) return REDISMODULE_OK;
    return reply_count(c, members);
}

int reply_ratio(call *c, cardinality part, cardinality whole) {
    char text[32];
    cardinality scale = 1;
    int digits = 0, length;

    for (; digits < 9 && part * scale % whole; scale *= 10) digits++;
    if (part * scale % whole) length = snprintf(text, sizeof text, "%.17g", (double)part / (double)whole);
    else if (part == whole || part == 0) length = snprintf(text, sizeof text, "%d", part != 0);
    else length = snprintf(text, sizeof text, "0.%0*llu", digits, (unsigned long long)(part * scale / whole));
    return RedisModule_ReplyWithStringBuffer(c->ctx, text, (size_t)length);
}
