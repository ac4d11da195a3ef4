#include "reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Most bytes of a key's name in a log line. */
#define LOGGED_NAME 128

int reply_failure(call *c, status s) {
    size_t length = 0;
    if (s == OUT_OF_MEMORY) return reply_error(c, "OOM Roaring: not enough memory for the bitmap");
    const char *key = RedisModule_StringPtrLen(c->argv[c->row->first], &length);
    RedisModule_Log(c->ctx, REDISMODULE_LOGLEVEL_WARNING, "trap in %s, key '%.*s': %s", RedisModule_StringPtrLen(c->argv[0], NULL),
                    (int)(length < LOGGED_NAME ? length : LOGGED_NAME), key, sandbox_last_trap());
    return reply_error(c, "ERR Roaring: internal error (%s)", sandbox_last_trap());
}

int reply_error(call *c, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *end = text; *(end += strcspn(end, "\r\n")); *end = ' ') {}    /* an argument in the text must not end the reply */
    RedisModule_ReplyWithError(c->ctx, text);
    return 0;
}

int reply_syntax_error(call *c) { return reply_error(c, "ERR syntax error"); }

int reply_ok(call *c) { return RedisModule_ReplyWithSimpleString(c->ctx, "OK"); }

int reply_integer(call *c, uint64_t value) {
    char text[24];
    if (value <= INT64_MAX) return RedisModule_ReplyWithLongLong(c->ctx, (long long)value);
    int length = snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return RedisModule_ReplyWithStringBuffer(c->ctx, text, (size_t)length);
}

const char *count_text(cardinality members, char text[COUNT_TEXT]) {
    if (members == TWO_TO_64) return "18446744073709551616";
    char *at = text + COUNT_TEXT - 1;
    uint64_t rest = (uint64_t)members;
    *at = '\0';
    do *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    return at;
}

int reply_count(call *c, cardinality members) {
    char text[COUNT_TEXT];
    if (members <= UINT64_MAX) return reply_integer(c, (uint64_t)members);
    const char *digits = count_text(members, text);
    return RedisModule_ReplyWithStringBuffer(c->ctx, digits, strlen(digits));
}

int reply_cardinality(call *c, const bitmap *b) {
    cardinality members = 0;
    if (b && !succeeded(c, core_cardinality(b, &members))) return REDISMODULE_OK;
    return reply_count(c, members);
}
