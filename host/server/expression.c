#include "server/expression.h"

#include <string.h>

#include "core/values.h"
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
    q->compares = memchr(text, '<', length) || memchr(text, '>', length) || memchr(text, '=', length);
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
    c->takes_integers = 1;
    const int opened = open_operands(c, at, at + (int)q->keys, &q->operands);
    c->takes_integers = 0;
    if (!opened) return 0;
    query_add_tree(q);
    return 1;
}

/* --- Integers --- */

/* Checks that a compared key has values, or is missing. */
static int check_compared(call *c, const query *q, uint64_t key, uint64_t place) {
    const span s = q->operands.list[key - 1];
    if (has_values(s) || s.base == arena(bitmap_empty())) return 1;
    return reply_error(c, "ERR Roaring: query: #%llu has no values at character %llu",
                       (unsigned long long)key, (unsigned long long)place);
}

/* Makes operands of all comparisons. */
static int make_operands(call *c, query *q, const comparison *all, size_t count) {
    operands *o = &q->operands;
    o->owned = try_alloc((count + 1) * sizeof *o->owned);
    if (o->owned == NULL) return reply_failure(c, OUT_OF_MEMORY);
    memset(o->owned, 0, (count + 1) * sizeof *o->owned);
    o->count--; /* the tree */
    for (size_t i = 0; i < count; i++) {
        const comparison *one = &all[i];
        if (!check_compared(c, q, one->key, one->place)) return 0;
        if (one->other && !check_compared(c, q, one->other, one->place)) return 0;
        /* Each may be too short to read the clock. */
        if (!succeeded(c, core_compare(c->worker, q, one, &o->owned[i]))
            || !succeeded(c, sandbox_check_time(c->worker)))
            return 0;
        if (one->operand <= o->count) o->list[one->operand - 1] = span_of(o->owned[i]);
        else operands_add(o, o->owned[i]);
    }
    q->keys = o->count;
    query_add_tree(q);
    return 1;
}

int resolve_query(call *c, query *q) {
    numbers all = {0};
    int any = q->compares;
    for (uint32_t i = 0; !any && i < q->keys; i++) any = has_values(q->operands.list[i]);
    if (!any) return 1;
    int right = succeeded(c, core_comparisons(c->worker, q, &all));
    const size_t count = all.count * sizeof *all.list / sizeof(comparison);
    right = right && keys_fit(c, q->keys + count) && make_operands(c, q, (const comparison *)all.list, count);
    RedisModule_Free(all.list);
    return right;
}
