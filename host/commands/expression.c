/* expression.c -- queries: expressions over any number of bitmaps. */
#include "server/args.h"
#include "server/expression.h"
#include "server/keys.h"
#include "server/listing.h"
#include "server/serialized.h"
#include "server/prepare.h"

#include <inttypes.h>

/* What QUERY replies. */
typedef struct answer_form {
    enum { CARD, MEMBERS, EXPORT } form;
    page page;                  /* of MEMBERS, and of CARD */
} answer_form;

/* [LIMIT n] at `at`; 0 is no limit. */
static int parse_most(call *c, int at, page *p) {
    if (!parse_page(c, at, 0, p)) return 0;
    if (p->limit == 0) p->limit = UINT64_MAX;
    return 1;
}

/* The words after the keys, from `at` on. */
static int parse_form(call *c, int at, answer_form *asked) {
    *asked = (answer_form){CARD, {0, UINT64_MAX, 0}};
    if (at == c->argc) return 1;
    if (argument_is(c, at, "MEMBERS")) asked->form = MEMBERS;
    else if (argument_is(c, at, "EXPORT")) asked->form = EXPORT;
    else if (!argument_is(c, at, "CARD")) {
        return reply_error(
            c, "ERR syntax error: more keys than numkeys, or a word other than CARD, MEMBERS and EXPORT");
    }
    if (asked->form == CARD) return parse_most(c, at + 1, &asked->page);
    if (asked->form == MEMBERS) return parse_page(c, at + 1, PAGE_REV | PAGE_FROM, &asked->page);
    return at + 1 == c->argc || reply_syntax_error(c);
}

static int reply_query_cardinality(call *c, const query *q, const page *p) {
    cardinality members;
    if (!succeeded(c, core_query_cardinality(c->worker, q, p, &members))) return REDISMODULE_OK;
    return reply_count(c, members);
}

static int reply_query_payload(call *c, const query *q) {
    result r;

    if (!succeeded(c, core_query(c->worker, q, 0, 0, &r))) return REDISMODULE_OK;
    reply_serialized(c, r.b, c->family->exported);
    bitmap_free(r.b);
    return REDISMODULE_OK;
}

static int answer(call *c, const query *q, const answer_form *asked) {
    query made;

    limit_time(c);
    if (offloads_listing(c, asked->form == MEMBERS ? asked->page.limit : 0)) return REDISMODULE_OK;
    q = resolve_page(c, q, &asked->page, &made);
    if (q && asked->form == MEMBERS) reply_query_members(c, q, &asked->page);
    else if (q && asked->form == CARD) reply_query_cardinality(c, q, &asked->page);
    else if (q) reply_query_payload(c, q);
    operands_end(&made.operands);
    return REDISMODULE_OK;
}

/* QUERY expression numkeys key [key ...] [CARD [LIMIT n] | MEMBERS [REV] [FROM offset] [LIMIT n] | EXPORT] --
 * the number of members of the expression, its members, or a payload of them. */
int query_command(call *c) {
    query q;
    answer_form asked;

    if (!parse_key_count(c, 2, "numkeys", &q.keys) || !parse_form(c, 3 + (int)q.keys, &asked))
        return REDISMODULE_OK;
    begin_query(c, &q);
    if (parse_expression(c, 1, &q) && open_query(c, &q, 3)) answer(c, &q, &asked);
    operands_end(&q.operands);
    return REDISMODULE_OK;
}

/* --- QUERYSTORE ---------------------------------------------------------------------------------------- */

/* What is stored: the first `limit` members from `from` on, each moved up by `distance`. */
typedef struct part {
    uint64_t from;
    cardinality limit;
    __int128 distance;
} part;

/* A distance between two offsets, which may be negative. */
static int parse_distance(call *c, int at, __int128 *distance) {
    size_t length;
    const char *text = RedisModule_StringPtrLen(c->argv[at], &length);
    const size_t sign = length > 0 && *text == '-';
    const uint64_t last = c->family->last;
    uint64_t by;

    if (!parse_number(text + sign, length - sign, last, &by)) {
        return reply_error(c, "ERR invalid offset: must be an integer between -%" PRIu64 " and %" PRIu64,
                           last, last);
    }
    *distance = sign ? -(__int128)by : by;
    return 1;
}

/* [OFFSET n] [FROM offset] [LIMIT n] from `at` on, in any order. */
static int parse_part(call *c, int at, part *p) {
    static const char *const words[] = {"OFFSET", "FROM", "LIMIT"};
    int seen = 0;
    uint64_t limit;

    for (; at < c->argc; at += 2) {
        int word = 0;
        while (word < 3 && !argument_is(c, at, words[word])) word++;
        if (word == 3) return reply_error(c, "ERR syntax error: more keys than numkeys");
        if (at + 1 == c->argc || seen & 1 << word) return reply_syntax_error(c);
        seen |= 1 << word;
        if (word == 0 && !parse_distance(c, at + 1, &p->distance)) return 0;
        if (word == 1 && !parse_offset(c, at + 1, "offset", &p->from)) return 0;
        if (word == 2 && !parse_limit(c, at + 1, &limit)) return 0;
        if (word == 2) p->limit = limit;
    }
    return 1;
}

/* Leaves the first `limit` members of a result. */
static int limit_members(call *c, result *r, cardinality limit) {
    uint64_t beyond;
    result cut;

    if (r->members <= limit) return 1;
    status done = core_select(c->worker, r->b, (uint64_t)limit, &beyond);
    const stretch rest = {CLEAR, beyond, c->family->last};
    if (done == OK) done = core_changed(c->worker, r->b, &rest, &cut);
    if (!succeeded(c, done)) return 0;
    bitmap_free(r->b);
    *r = cut;
    return 1;
}

/* Moves all members of a result. */
static int move_members(call *c, result *r, __int128 distance) {
    uint32_t found;
    uint64_t least, greatest;
    bitmap *moved;

    if (distance == 0 || r->members == 0) return 1;
    status done = core_minimum(c->worker, r->b, &found, &least);
    if (done == OK) done = core_maximum(c->worker, r->b, &found, &greatest);
    if (done == OK && (least + distance < 0 || greatest + distance > c->family->last)) {
        return reply_error(c, "ERR Roaring: a member would be moved out of the range of offsets");
    }
    if (done == OK) done = core_shift(c->worker, r->b, distance, &moved);
    if (!succeeded(c, done)) return 0;
    bitmap_free(r->b);
    r->b = moved;
    return 1;
}

/* QUERYSTORE dest expression numkeys key [key ...] [OFFSET n] [FROM offset] [LIMIT n] -- stores the members of
 * the expression, at most n from an offset on, each moved by OFFSET, and replies how many there are. */
int querystore_command(call *c) {
    query q, made;
    const query *asked;
    result r;
    part p = {.limit = TWO_TO_64};

    if (!parse_key_count(c, 3, "numkeys", &q.keys) || !parse_part(c, 4 + (int)q.keys, &p))
        return REDISMODULE_OK;
    const uint64_t most = p.limit == TWO_TO_64 ? 0 : p.limit ? (uint64_t)p.limit : 1;
    const page wanted = {p.from, most ? most : UINT64_MAX, 0};
    begin_query(c, &q);
    operands_begin(&made.operands);
    limit_time(c);
    int done = parse_expression(c, 2, &q) && open_query(c, &q, 4) && !offloads_listing(c, 0)
            && (asked = resolve_page(c, &q, &wanted, &made))
            && succeeded(c, core_query(c->worker, asked, p.from, most, &r));
    operands_end(&made.operands);
    operands_end(&q.operands);
    if (!done) return REDISMODULE_OK;
    if (limit_members(c, &r, p.limit) && move_members(c, &r, p.distance)) {
        return store_and_count(c, 1, ANY_TYPE, r);
    }
    bitmap_free(r.b);
    return REDISMODULE_OK;
}
