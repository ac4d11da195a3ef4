/* algebra.c -- set operations, and relations between two bitmaps. */
#include <string.h>

#include "server/args.h"
#include "server/keys.h"
#include "server/listing.h"
#include "server/prepare.h"

static int parse_operation(call *c, int at) {
    static const char *const operations[] = {
        [AND] = "AND",     [OR] = "OR",       [XOR] = "XOR", [NOT] = "NOT", [DIFF] = "DIFF",
        [DIFF1] = "DIFF1", [ANDOR] = "ANDOR", [ONE] = "ONE", NULL};
    return parse_word(c, at, operations, ERRORMSG_SYNTAX);
}

/* The keys from `at` to the end. */
static int open_sources(call *c, int at, operands *sources) {
    if (c->argc - at > OPERANDS_MAX) {
        return reply_error(c, "ERR Roaring: too many sources: maximum %d", OPERANDS_MAX);
    }
    return open_operands(c, at, c->argc, sources);
}

/* Combines the keys from `at` to the end. */
static int combine(call *c, enum operation operation, int at, result *r) {
    operands sources;

    operands_begin(&sources);
    int done = open_sources(c, at, &sources) && succeeded(c, core_combine(c->worker, operation, &sources, r));
    operands_end(&sources);
    return done;
}

/* The arguments of NOT: a source, and, if one is `given`, an offset that the result reaches at least. */
typedef struct negation {
    const bitmap *source;
    uint64_t last;
    int given;
} negation;

/* The source is at `at`; the argument `last` may follow. */
static int parse_negation(call *c, int at, negation *n) {
    n->given = c->argc > at + 1;
    if (n->given && !parse_last(c, at + 1, &n->last)) return 0;
    return open_read(c, at, &n->source);
}

/* The offsets that the source at `at` does not have. */
static int complement(call *c, int at, result *r) {
    negation n;
    return parse_negation(c, at, &n)
        && succeeded(c, core_complement(c->worker, n.source, n.given ? &n.last : NULL, r));
}

/* Whether the operation accepts the number of sources from `at` on. DIFF, DIFF1 and ANDOR compare the first
 * one with others. */
static int has_arity(call *c, int operation, int at) {
    const int sources = c->argc - at;
    if (operation == NOT) return sources == 1 || sources == 2;
    return sources >= (operation == DIFF || operation == DIFF1 || operation == ANDOR ? 2 : 1);
}

/* BITOP AND | OR | XOR | DIFF | DIFF1 | ANDOR | ONE dest source [source ...]
 * BITOP NOT dest source [last]
 *
 * Stores the result and replies its cardinality. A missing source is empty. DIFF: members of the first
 * source and of no other; DIFF1: of any other source and not of the first; ANDOR: of the first and of any
 * other; ONE: of exactly one; NOT: offsets up to the source's largest member, or to `last` if that is
 * larger. The destination may be a source, and may hold any type. */
int bitop_command(call *c) {
    result r;

    const int operation = parse_operation(c, 1);
    if (operation < 0) return REDISMODULE_OK;
    if (!has_arity(c, operation, 3)) return RedisModule_WrongArity(c->ctx);
    int done = operation == NOT ? complement(c, 3, &r) : combine(c, (enum operation)operation, 3, &r);
    return done ? store_and_count(c, 2, ANY_TYPE, r) : REDISMODULE_OK;
}

/* Replies a number of members, or `most` if there are more, unless `most` is 0. */
static int reply_at_most(call *c, cardinality members, uint64_t most) {
    return reply_count(c, most && members > most ? most : members);
}

/* Replies the cardinality of NOT: that of the whole range minus that of the source. */
static int reply_complement(call *c, int at, uint64_t most) {
    negation n;
    uint32_t found = 0;
    uint64_t greatest = 0;
    cardinality members = 0;

    if (!parse_negation(c, at, &n)) return REDISMODULE_OK;
    if (n.source && !succeeded(c, core_cardinality(c->worker, n.source, &members))) return REDISMODULE_OK;
    if (n.source && !succeeded(c, core_maximum(c->worker, n.source, &found, &greatest)))
        return REDISMODULE_OK;
    if (n.given && n.last > greatest) greatest = n.last;
    return reply_at_most(c, found || n.given ? (cardinality)greatest + 1 - members : 0, most);
}

/* BITOPCARD op [LIMIT n] source [source ...]
 * BITOPCARD NOT [LIMIT n] source [last]
 *
 * Replies what BITOP would, without storing a result. With a limit other than 0, counting ends there. */
int bitopcard_command(call *c) {
    operands sources;
    cardinality members;
    uint64_t most = 0;

    const int operation = parse_operation(c, 1);
    if (operation < 0) return REDISMODULE_OK;
    int at = argument_is(c, 2, "LIMIT") ? 4 : 2;
    if (!has_arity(c, operation, at)) return RedisModule_WrongArity(c->ctx);
    if (at > 2 && !parse_limit(c, 3, &most)) return REDISMODULE_OK;
    if (operation == NOT) return reply_complement(c, at, most);
    limit_time(c);
    operands_begin(&sources);
    int done = open_sources(c, at, &sources) && !offloads_listing(c, 0)
            && succeeded(c, core_combine_cardinality(c->worker, (enum operation)operation, &sources, most,
                                                     &members));
    operands_end(&sources);
    return done ? reply_count(c, members) : REDISMODULE_OK;
}

/* A list of two, which needs no operands_end. */
static void operands_of_two(operands *o, const bitmap *a, const bitmap *b) {
    operands_begin(o);
    operands_add(o, a);
    operands_add(o, b);
}

/* DIFF dest key1 key2 -- stores the members of key1 that are not in key2. */
int diff_command(call *c) {
    const bitmap *there, *from, *less;
    operands sources;
    result r;

    if (!open_read(c, 1, &there)) return REDISMODULE_OK;
    if (!open_existing(c, 2, &from) || !open_existing(c, 3, &less)) return REDISMODULE_OK;
    operands_of_two(&sources, from, less);
    if (!succeeded(c, core_combine(c->worker, DIFF, &sources, &r)) || !store(c, 1, BITMAP, r.b))
        return REDISMODULE_OK;
    return reply_ok(c);
}

/* Two bitmaps and their cardinalities. */
typedef struct pair {
    const bitmap *first, *second;
    cardinality of_first, of_second;
} pair;

/* The bitmaps in argv[1] and argv[2], which must exist. */
static int open_pair(call *c, pair *p) {
    limit_time(c);
    if (!open_existing(c, 1, &p->first) || !open_existing(c, 2, &p->second)) return 0;
    if (offloads_listing(c, 0)) return 0;
    return succeeded(c, core_cardinality(c->worker, p->first, &p->of_first))
        && succeeded(c, core_cardinality(c->worker, p->second, &p->of_second));
}

/* CONTAINS key1 key2 [ALL | ALL_STRICT | EQ] -- whether the two intersect. With ALL, whether key2 is a
 * subset of key1; with ALL_STRICT, a proper subset; with EQ, whether the two are equal. Modes are upper case
 * only, as in the C module. */
int contains_command(call *c) {
    static const char *const modes[] = {"ALL", "ALL_STRICT", "EQ"};
    enum { ALL, ALL_STRICT, EQ, NONE } mode = c->argc > 3 ? ALL : NONE;
    const char *word = c->argc > 3 ? RedisModule_StringPtrLen(c->argv[3], NULL) : NULL;
    uint32_t holds = 0;
    pair p;

    if (c->argc > 4) return RedisModule_WrongArity(c->ctx);
    while (mode < NONE && strcmp(word, modes[mode])) mode++;
    if (word && mode == NONE) return reply_error(c, "ERR invalid mode argument: %s", word);
    if (!open_pair(c, &p)) return REDISMODULE_OK;
    if (mode == EQ && p.of_first != p.of_second) return reply_integer(c, 0);
    if (mode == ALL_STRICT && p.of_first <= p.of_second) return reply_integer(c, 0);
    status done = mode == NONE ? core_intersects(c->worker, p.second, p.first, &holds)
                               : core_is_subset(c->worker, p.second, p.first, &holds);
    return succeeded(c, done) ? reply_integer(c, holds) : REDISMODULE_OK;
}

/* JACCARD key1 key2 -- the size of the intersection divided by that of the union; -1 if both are empty. */
int jaccard_command(call *c) {
    pair p;
    operands both;
    cardinality common;

    if (!open_pair(c, &p)) return REDISMODULE_OK;
    cardinality total = p.of_first + p.of_second;
    if (total == 0) return RedisModule_ReplyWithStringBuffer(c->ctx, "-1", 2);
    operands_of_two(&both, p.second, p.first);
    if (!succeeded(c, core_combine_cardinality(c->worker, AND, &both, 0, &common))) return REDISMODULE_OK;
    return reply_ratio(c, common, total - common);
}
