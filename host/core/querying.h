/* querying.h -- calls that parse an expression, and evaluate it. */
#pragma once

#include "core/building.h"

/* The first mistake in an expression: a number of enum mistake, the place counted from 1, and for
 * MISTAKE_UNNAMED_KEY the key. */
typedef struct query_mistake {
    uint32_t number, place;
    uint64_t key;
} query_mistake;

/* A query: an expression over `keys` keys of a family whose largest offset is `greatest`. Its operands are
 * the keys, followed by the expression's tree. */
typedef struct query {
    uint32_t keys;
    uint64_t greatest;
    uint64_t first, last; /* what comparisons find, and what is counted, is right from `first` to `last` */
    span tree;
    operands operands;
    int compares; /* whether the expression may have comparisons */
} query;

/* Parses the text of an expression over q->keys keys and sets q->tree, which is valid until the next call.
 * m->number is MISTAKE_NONE if there is no mistake. */
status core_parse_query(worker *w, query *q, const char *text, size_t length, query_mistake *m);
/* Adds the tree to the operands, which are all keys of the query. */
static inline void query_add_tree(query *q) { operands_add_span(&q->operands, q->tree); }
/* The members from `from` on: all, or if `most` is not 0, the first `most` and perhaps some more. */
status core_query(worker *w, const query *q, uint64_t from, uint64_t most, result *r);
/* The first `limit` members from `from` on; if `down` is set, from `from` on downwards. UINT64_MAX is no
 * limit. */
typedef struct page {
    uint64_t from, limit;
    int down;
} page;

/* The number of members of the page, up to the query's last offset, or down to its first one. */
status core_query_cardinality(worker *w, const query *q, const page *p, cardinality *members);
/* Passes the members of the page to the sink. */
status core_query_members(worker *w, const query *q, const page *p, member_sink *sink, void *context);
