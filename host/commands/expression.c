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

    if (!succeeded(c, core_query(c->worker, q, &r))) return REDISMODULE_OK;
    reply_serialized(c, r.b, c->family->exported);
    bitmap_free(r.b);
    return REDISMODULE_OK;
}

static int answer(call *c, const query *q, const answer_form *asked) {
    limit_time(c);
    if (offloads_listing(c, asked->form == MEMBERS ? asked->page.limit : 0)) return REDISMODULE_OK;
    if (asked->form == MEMBERS) return reply_query_members(c, q, &asked->page);
    if (asked->form == CARD) return reply_query_cardinality(c, q, &asked->page);
    return reply_query_payload(c, q);
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
