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

/* --- Comparisons --- */

/* The comparisons of a query. */
typedef struct compared {
    comparison *list;
    size_t count;
    int failed; /* out of memory */
} compared;

static void take_comparisons(void *context, const uint64_t *numbers, size_t count) {
    compared *all = context;
    const size_t more = count / COMPARISON_NUMBERS;
    comparison *list = all->failed ? NULL : try_alloc((all->count + more) * sizeof *list);
    all->failed = list == NULL;
    if (all->failed) return;
    if (all->count > 0) memcpy(list, all->list, all->count * sizeof *list);
    memcpy(list + all->count, numbers, more * sizeof *list);
    RedisModule_Free(all->list);
    all->list = list;
    all->count += more;
}

/* Checks that a compared key has values, or is missing. */
static int check_compared(call *c, const query *q, uint64_t key, const comparison *how) {
    const span s = q->operands.list[key - 1];
    if (has_values(s) || s.base == arena(bitmap_empty())) return 1;
    return reply_error(c, "ERR Roaring: query: #%llu has no values at character %llu",
                       (unsigned long long)key, (unsigned long long)how->place);
}

/* Makes the operand `i` of o the ids for which the comparison holds, or adds it. */
static int make_operand(call *c, const comparison *how, const span *of, query *q, uint32_t i) {
    operands *o = &q->operands;
    const span *other = how->other ? &of[how->other - 1] : NULL;
    uint32_t owned = 0;
    while (o->owned[owned]) owned++;
    if (!succeeded(c, core_compare(c->worker, how, of[how->key - 1], other, q->greatest, &o->owned[owned])))
        return 0;
    if (i < o->count) o->list[i] = span_of(o->owned[owned]);
    else operands_add(o, o->owned[owned]);
    return 1;
}

/* Whether the key is an operand of the expression. */
static int is_used(const compared *all, uint64_t key) {
    for (size_t i = 0; i < all->count; i++) {
        if (all->list[i].key == key) return all->list[i].uses_key != 0;
        if (all->list[i].other == key) return all->list[i].uses_other != 0;
    }
    return 1;
}

static int make_operands(call *c, query *q, const compared *all, const span *of) {
    operands *o = &q->operands;
    int right = 1;
    o->count--; /* the tree */
    for (uint32_t i = 0; right && i < q->keys; i++) {
        const comparison any = {.key = i + 1, .how = EQUAL_VALUES, .low = INT64_MIN, .high = INT64_MAX};
        if (!has_values(of[i])) continue;
        if (is_used(all, i + 1)) right = make_operand(c, &any, of, q, i);
        else o->list[i] = span_of(bitmap_empty());
    }
    for (size_t i = 0; right && i < all->count; i++) right = make_operand(c, &all->list[i], of, q, o->count);
    q->keys += (uint32_t)all->count;
    query_add_tree(q);
    return right;
}

static int resolve(call *c, query *q, const compared *all) {
    operands *o = &q->operands;
    int right = 1;
    for (size_t i = 0; right && i < all->count; i++) {
        const comparison *how = &all->list[i];
        right = check_compared(c, q, how->key, how) && (!how->other || check_compared(c, q, how->other, how));
    }
    if (!right || !keys_fit(c, q->keys + all->count)) return 0;
    const size_t made = q->keys + all->count + 1;
    span *of = try_alloc(q->keys * sizeof *of);
    o->owned = try_alloc(made * sizeof *o->owned);
    if (o->owned) memset(o->owned, 0, made * sizeof *o->owned);
    if (of) memcpy(of, o->list, q->keys * sizeof *of);
    right = of && o->owned ? make_operands(c, q, all, of) : reply_failure(c, OUT_OF_MEMORY);
    RedisModule_Free(of);
    return right;
}

int resolve_query(call *c, query *q) {
    compared all = {.count = 0};
    int any = q->compares;
    for (uint32_t i = 0; !any && i < q->keys; i++) any = has_values(q->operands.list[i]);
    if (!any) return 1;
    status s = q->compares ? core_comparisons(c->worker, q, take_comparisons, &all) : OK;
    const int right = succeeded(c, s == OK && all.failed ? OUT_OF_MEMORY : s) && resolve(c, q, &all);
    RedisModule_Free(all.list);
    return right;
}
