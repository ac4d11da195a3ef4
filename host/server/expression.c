#include "server/expression.h"

#include "server/args.h"
#include "server/prepare.h"

int keys_fit(call *c, uint64_t keys) {
    if (keys < OPERANDS_MAX) return 1;
    return reply_error(c, "ERR Roaring: too many keys: maximum %d", OPERANDS_MAX - 1);
}

int parse_key_count(call *c, int at, const char *name, uint32_t *keys) {
    size_t length;
    uint64_t count;
    const char *text = RedisModule_StringPtrLen(c->argv[at], &length);

    if (!parse_number(text, length, UINT32_MAX, &count) || count == 0) {
        return reply_error(c, "ERR %s should be greater than 0", name);
    }
    if (count > (uint64_t)(c->argc - at - 1)) {
        return reply_error(c, "ERR Number of keys can't be greater than number of args");
    }
    *keys = (uint32_t)count;
    return keys_fit(c, count);
}

int parse_expression(call *c, int at, query *q) {
    size_t length;
    query_mistake m;
    const char *text = RedisModule_StringPtrLen(c->argv[at], &length);

    if (!succeeded(c, core_parse_query(c->worker, q, text, length, &m))) return 0;
    if (m.number == MISTAKE_NONE) return 1;
    if (m.number != MISTAKE_UNNAMED_KEY) {
        return reply_error(c, "ERR Roaring: query: %s at character %u", mistake_text(m.number), m.place);
    }
    return reply_error(c, "ERR Roaring: query: key %llu (#%llu) is not used", (unsigned long long)m.key,
                       (unsigned long long)m.key);
}

void begin_query(const call *c, query *q) {
    q->greatest = c->family->last;
    operands_begin(&q->operands);
}

int open_query(call *c, query *q, int at) {
    if (!open_operands(c, at, at + (int)q->keys, &q->operands)) return 0;
    query_add_tree(q);
    return 1;
}
