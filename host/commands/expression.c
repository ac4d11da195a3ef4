/* expression.c -- queries: expressions over any number of bitmaps. */
#include "server/args.h"
#include "server/expression.h"
#include "server/keys.h"
#include "server/listing.h"
#include "server/serialized.h"
#include "server/prepare.h"

/* What QUERY replies. */
typedef struct answer_form {
    enum { CARD, MEMBERS, EXPORT } form;
    uint64_t from;              /* of MEMBERS */
    uint64_t limit;             /* of MEMBERS, and of CARD, where 0 is none */
} answer_form;

/* [LIMIT n] at `at`. */
static int parse_most(call *c, int at, answer_form *asked) {
    asked->limit = 0;
    if (at == c->argc) return 1;
    if (at + 2 != c->argc || !argument_is(c, at, "LIMIT")) return reply_syntax_error(c);
    return parse_limit(c, at + 1, &asked->limit);
}

/* [FROM offset] [LIMIT n] from `at` on, in either order. */
static int parse_page(call *c, int at, answer_form *asked) {
    int has_from = 0, has_limit = 0;

    for (; at + 1 < c->argc; at += 2) {
        if (!has_from && argument_is(c, at, "FROM")) {
            has_from = 1;
            if (!parse_offset(c, at + 1, "offset", &asked->from)) return 0;
        } else if (!has_limit && argument_is(c, at, "LIMIT")) {
            has_limit = 1;
            if (!parse_limit(c, at + 1, &asked->limit)) return 0;
        } else return reply_syntax_error(c);
    }
    return at == c->argc || reply_syntax_error(c);
}

/* The words after the keys, from `at` on. */
static int parse_form(call *c, int at, answer_form *asked) {
    *asked = (answer_form){CARD, 0, at < c->argc ? UINT64_MAX : 0};
    if (at == c->argc) return 1;
    if (argument_is(c, at, "MEMBERS")) asked->form = MEMBERS;
    else if (argument_is(c, at, "EXPORT")) asked->form = EXPORT;
    else if (!argument_is(c, at, "CARD")) {
        return reply_error(
            c, "ERR syntax error: more keys than numkeys, or a word other than CARD, MEMBERS and EXPORT");
    }
    if (asked->form == CARD) return parse_most(c, at + 1, asked);
    return asked->form == MEMBERS ? parse_page(c, at + 1, asked) : at + 1 == c->argc || reply_syntax_error(c);
}

static int reply_query_cardinality(call *c, const query *q, uint64_t most) {
    cardinality members;
    if (!succeeded(c, core_query_cardinality(c->worker, q, 0, most, &members))) return REDISMODULE_OK;
    return reply_count(c, members);
}

static int reply_query_payload(call *c, const query *q) {
    result r;

    if (!succeeded(c, core_query(c->worker, q, &r))) return REDISMODULE_OK;
    reply_serialized(c, r.b, c->family->exported);
    bitmap_free(r.b);
    return REDISMODULE_OK;
}

static int answer(call *c, const query *q, const answer_form *asked) {
    limit_time(c);
    if (offloads_listing(c, asked->form == MEMBERS ? asked->limit : 0)) return REDISMODULE_OK;
    if (asked->form == MEMBERS) return reply_query_members(c, q, asked->from, asked->limit);
    if (asked->form == CARD) return reply_query_cardinality(c, q, asked->limit);
    return reply_query_payload(c, q);
}

/* QUERY expression numkeys key [key ...] [CARD [LIMIT n] | MEMBERS [FROM offset] [LIMIT n] | EXPORT] -- the
 * number of members of the expression, its members, or a payload of them. */
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

/* QUERYSTORE dest expression numkeys key [key ...] -- stores the members of the expression, and replies how
 * many there are. */
int querystore_command(call *c) {
    query q;
    result r;

    if (!parse_key_count(c, 3, "numkeys", &q.keys)) return REDISMODULE_OK;
    if (c->argc != 4 + (int)q.keys) return reply_error(c, "ERR syntax error: more keys than numkeys");
    begin_query(c, &q);
    limit_time(c);
    int done = parse_expression(c, 2, &q) && open_query(c, &q, 4) && !offloads_listing(c, 0)
            && succeeded(c, core_query(c->worker, &q, &r));
    operands_end(&q.operands);
    return done ? store_and_count(c, 1, ANY_TYPE, r) : REDISMODULE_OK;
}
