/* querying.c -- calls that parse an expression, and evaluate it. */
#include <string.h>

#include "core/querying.h"
#include "core/guard.h"
#include "api/redismodule.h"

static span copy_span(span old, const void *from, size_t bytes) {
    span s = {.base = RedisModule_Realloc(old.base, bytes + 1), .size = (uint32_t)bytes};
    memcpy(s.base, from, bytes);
    return s;
}

static int is_known(worker *w, const query *q, const char *text, size_t length) {
    return q->keys == w->known.keys && q->greatest == w->known.greatest && length == w->known.text.size
        && memcmp(text, w->known.text.base, length) == 0;
}

/* Keeps the tree, of `bytes` bytes, that the core has made in the workspace. */
static void keep_tree(worker *w, query *q, const char *text, size_t length, uint32_t bytes) {
    w->known.keys = q->keys;
    w->known.greatest = q->greatest;
    w->known.text = copy_span(w->known.text, text, length);
    w->known.tree = q->tree = copy_span(w->known.tree, arena(w->current.growable), bytes);
}

/* A function of its own, so that _longjmp leaves the variables of its caller alone. */
static status parse_in(worker *w, const frame *f, const query *q, uint64_t *parsed) {
    return IN_CORE(w, f, *parsed = w->core.parseQuery(w, q->keys, q->greatest));
}

status core_parse_query(worker *w, query *q, const char *text, size_t length, query_mistake *m) {
    frame f;
    uint64_t parsed = 0;
    const span shown = {.base = (uint8_t *)text, .size = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX};

    *m = (query_mistake){.number = MISTAKE_NONE};
    if (is_known(w, q, text, length)) {
        q->tree = w->known.tree;
        return OK;
    }
    if (!start_building(w, &f, &shown, 1)) return OUT_OF_MEMORY;
    status s = parse_in(w, &f, q, &parsed);
    uint32_t number = (uint32_t)parsed, place_or_bytes = (uint32_t)(parsed >> 32);
    if (s == OK && number != MISTAKE_NONE) *m = (query_mistake){number, place_or_bytes, w->members[0]};
    if (s == OK && number == MISTAKE_NONE) keep_tree(w, q, text, length, place_or_bytes);
    return discard_built(w, s);
}

static int start_query(worker *w, frame *f, const query *q) {
    return start_building(w, f, q->operands.list, q->operands.count);
}

status core_query(worker *w, const query *q, uint64_t from, uint64_t most, result *r) {
    frame f;
    if (!start_query(w, &f, q)) return OUT_OF_MEMORY;
    return built(w, COUNTING_IN(w, &f, w->core.query(w, q->keys, q->greatest, from, most), r->members),
                 &r->b);
}

status core_query_members(worker *w, const query *q, const page *p, member_sink *sink, void *context) {
    frame f;
    if (!start_query(w, &f, q)) return OUT_OF_MEMORY;
    w->current.sink = sink;
    w->current.context = context;
    uint64_t (*list)(worker *w, uint32_t keys, uint64_t greatest, uint64_t from, uint64_t limit) =
        p->down ? w->core.queryMembersDown : w->core.queryMembers;
    status s = IN_CORE(w, &f, list(w, q->keys, q->greatest, p->from, p->limit));
    w->current.sink = NULL;
    if (s == OK && w->core.collected(w)) sink(context, w->members, w->core.collected(w));
    return discard_built(w, s);
}

static void count_queried(worker *w, const counting *c, key_range keys, uint64_t *number) {
    uint64_t from = keys.first << 16;
    if (from < c->from) from = c->from;
    if (keys.last > c->to >> 16) keys.last = c->to >> 16;
    *number = from >> 16 > keys.last
                ? 0
                : w->core.queryCardinality(w, c->bitmaps, c->greatest, from, c->most, keys.last);
}

/* Counts from c->from on, up to the end of the container of c->to. */
static status count_from(worker *w, counting *c, uint64_t from, uint64_t most, cardinality *members) {
    c->from = from;
    c->most = most;
    return count_members(w, c, members);
}

/* Downwards, what the last container has above p->from is counted, too, and subtracted. */
status core_query_cardinality(worker *w, const query *q, const page *p, cardinality *members) {
    const uint64_t above = ~p->from & UINT16_MAX;
    counting c = {
        .call = count_queried, .cut = core_cuts, .operands = &q->operands, .bitmaps = q->keys, .numbers = 1};
    cardinality more = 0;
    c.greatest = q->greatest;
    c.to = p->down ? p->from : q->last;
    if (!p->down) return count_from(w, &c, p->from, p->limit == UINT64_MAX ? 0 : p->limit, members);
    status s = count_from(w, &c, q->first, p->limit > UINT64_MAX - above ? 0 : p->limit + above, members);
    if (s == OK && above) s = count_from(w, &c, p->from + 1, 0, &more);
    *members -= more;
    if (*members > p->limit) *members = p->limit;
    return s;
}
