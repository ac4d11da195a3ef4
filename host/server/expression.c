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
    q->greatest = q->last = c->family->last;
    q->first = 0;
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
static int make_operands(call *c, query *q, const comparisons *all, size_t count) {
    operands *o = &q->operands;
    uint32_t more = 0;
    o->owned = try_alloc((count + 1) * sizeof *o->owned);
    if (o->owned == NULL) return reply_failure(c, OUT_OF_MEMORY);
    memset(o->owned, 0, (count + 1) * sizeof *o->owned);
    o->count--; /* the tree */
    for (size_t i = 0; i < count; i++) {
        const comparison *one = &all->list[i];
        if (!check_compared(c, q, one->key, one->place)) return 0;
        if (one->other && !check_compared(c, q, one->other, one->place)) return 0;
        /* Each may be too short to read the clock. */
        if (!succeeded(c, core_compare(c->worker, q, all, i, &o->owned[i], &more))
            || !succeeded(c, sandbox_check_time(c->worker)))
            return 0;
        if (one->operand <= o->count) o->list[one->operand - 1] = span_of(o->owned[i]);
        else operands_add(o, o->owned[i]);
    }
    q->keys = o->count;
    query_add_tree(q);
    if (!(more & 1)) q->first = 0;
    if (!(more & 2)) q->last = q->greatest;
    return 1;
}

static int has_integers(const query *q) {
    int any = q->compares;
    for (uint32_t i = 0; !any && i < q->keys; i++) any = has_values(q->operands.list[i]);
    return any;
}

int resolve_query(call *c, query *q) {
    numbers all = {0};
    if (!has_integers(q)) return 1;
    int right = succeeded(c, core_comparisons(c->worker, q, &all));
    const size_t count = all.count * sizeof *all.list / sizeof(comparison);
    right =
        right && keys_fit(c, q->keys + count) && make_operands(c, q, (const comparisons *)all.list, count);
    RedisModule_Free(all.list);
    return right;
}

/* Ids that are compared at first, a power of two. */
#define FIRST_REACH (UINT64_C(1) << 17)

static void copy_query(const query *q, query *copy, const page *p, uint64_t reach) {
    *copy = *q;
    operands_begin(&copy->operands);
    for (uint32_t i = 0; i < q->operands.count; i++) operands_add_span(&copy->operands, q->operands.list[i]);
    const uint64_t last = p->from | (reach - 1);
    copy->first = p->down ? p->from & ~(reach - 1) : p->from;
    copy->last = p->down ? p->from : last < q->last ? last : q->last;
}

/* Compares more and more ids, as a page has few members: sixteen times as many until there are enough. */
const query *resolve_page(call *c, const query *q, const page *p, query *made) {
    cardinality members;
    operands_begin(&made->operands);
    if (!has_integers(q)) return q;
    for (uint64_t reach = p->limit == UINT64_MAX ? 0 : FIRST_REACH;; reach *= 16) {
        copy_query(q, made, p, reach);
        if (!resolve_query(c, made)) return NULL;
        if (p->down ? made->first == 0 : made->last == q->last) return made;
        if (!succeeded(c, core_query_cardinality(c->worker, made, p, &members))) return NULL;
        if (members >= p->limit) return made;
        operands_end(&made->operands);
    }
}
