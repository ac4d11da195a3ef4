/* many.c -- counts over many bitmaps: how many members each has, and how many it shares with others. */
#include "core/values.h"
#include "server/args.h"
#include "server/expression.h"
#include "server/keys.h"
#include "server/listing.h"
#include "server/prepare.h"

/* Opens the key at `at` for reading, and counts its members. */
static int open_counted(call *c, int at, const bitmap **b, cardinality *members) {
    *members = 0;
    if (!open_read(c, at, b)) return 0;
    return *b == NULL || succeeded(c, core_cardinality(c->worker, *b, members));
}

/* MBITCOUNT key [key ...] -- the number of members of each key. If a key has another type, the whole call
 * fails, so the numbers are collected before the reply begins. */
int mbitcount_command(call *c) {
    const bitmap *b;
    int keys = c->argc - 1, read = 0;

    cardinality *counts = try_alloc((size_t)keys * sizeof *counts);
    if (counts == NULL) return reply_failure(c, OUT_OF_MEMORY);
    while (read < keys && open_counted(c, read + 1, &b, &counts[read])) read++;
    if (read == keys) reply_counts(c, counts, (uint32_t)keys);
    RedisModule_Free(counts);
    return REDISMODULE_OK;
}

/* What FACET and CROSSCARD share: an expression, and lists of keys whose members are counted together. */
typedef struct lists {
    query query;
    operands all; /* the bitmaps that are counted together */
    cardinality *sizes; /* the number of members of each key */
} lists;

/* The number of keys at *at, which errors call `name`, and the keys. Moves *at behind them. */
static int parse_list(call *c, int *at, const char *name, uint32_t *keys) {
    if (*at == c->argc) return reply_error(c, "ERR syntax error: %s is missing", name);
    if (!parse_key_count(c, *at, name, keys)) return 0;
    *at += 1 + (int)*keys;
    return 1;
}

static int begin_lists(call *c, lists *l, size_t keys) {
    l->sizes = try_alloc(keys * sizeof *l->sizes);
    if (l->sizes == NULL) return reply_failure(c, OUT_OF_MEMORY);
    begin_query(c, &l->query);
    operands_begin(&l->all);
    return 1;
}

/* Opens the keys from `at` on, and counts the members of each. */
static int open_list(call *c, int at, uint32_t keys, lists *l, cardinality *sizes) {
    const bitmap *b;
    for (uint32_t i = 0; i < keys; i++) {
        if (!open_counted(c, at + (int)i, &b, &sizes[i])) return 0;
        operands_add(&l->all, b);
    }
    return 1;
}

static int end_lists(lists *l) {
    operands_end(&l->all);
    operands_end(&l->query.operands);
    RedisModule_Free(l->sizes);
    return REDISMODULE_OK;
}

/* --- FACET --------------------------------------------------------------------------------------------- */

typedef struct facets {
    lists lists; /* an expression, the subject with which all facets are compared; then all facets */
    int at; /* of the first facet */
    uint32_t count;
    int is_ranked; /* only the facets with the greatest scores are replied */
    ranking ranking;
    const bitmap *key; /* the subject, if the expression is a single key; otherwise NULL */
    cardinality of_subject; /* its number of members */
} facets;

/* The most decimal places of MIN. */
#define PLACES_MAX 18

/* A number from 0 to 1, such as 0.25. */
static int parse_share(call *c, int at, ranking *r) {
    size_t length;
    const char *text = RedisModule_StringPtrLen(c->argv[at], &length);
    int right = length > 0 && (*text == '0' || *text == '1') && length != 2 && length <= PLACES_MAX + 2;

    r->part = right && *text == '1';
    r->whole = 1;
    right = right && (length == 1 || text[1] == '.');
    for (size_t i = 2; right && i < length; i++) {
        right = text[i] >= '0' && text[i] <= '9';
        r->part = r->part * 10 + (uint64_t)(text[i] - '0');
        r->whole *= 10;
    }
    if (right && r->part <= r->whole) return 1;
    return reply_error(c, "ERR invalid min: must be a number from 0 to 1 with at most %d decimal places",
                       PLACES_MAX);
}

/* [BY measure] [TOP k] [MIN n] from `at` on, in any order. */
static int parse_ranking(call *c, int at, facets *f) {
    static const char *const measures[] = {
        [BY_CARD] = "CARD", [BY_JACCARD] = "JACCARD", [BY_OVERLAP] = "OVERLAP", NULL};
    int by = 0, top = 0, min = 0, measure = BY_CARD;
    ranking *r = &f->ranking;

    for (; at < c->argc; at += 2) {
        int *word = argument_is(c, at, "BY") ? &by : argument_is(c, at, "TOP") ? &top : &min;
        if (word == &min && !argument_is(c, at, "MIN")) {
            return reply_error(
                c, "ERR syntax error: more keys than numfacets, or a word other than BY, TOP and MIN");
        }
        if (*word || at + 1 == c->argc) return reply_syntax_error(c);
        *word = at + 1;
    }
    f->is_ranked = top || min;
    if (by && (measure = parse_word(c, by, measures, ERRORMSG_SYNTAX)) < 0) return 0;
    *r = (ranking){.by = (enum measure)measure, .top = UINT64_MAX};
    if (top && !parse_limit(c, top, &r->top)) return 0;
    if (min && !(r->by == BY_CARD ? parse_limit(c, min, &r->part) : parse_share(c, min, r))) return 0;
    if (top && r->part == 0) *r = (ranking){r->by, 1, 0, r->top}; /* 1 / 2^64, the least score above 0 */
    return 1;
}

static int parse_facets(call *c, facets *f) {
    int at = 2;
    uint32_t *subject = &f->lists.query.keys;
    if (!parse_list(c, &at, "numkeys", subject) || !parse_list(c, &at, "numfacets", &f->count)) return 0;
    if (!keys_fit(c, *subject + f->count)) return 0;
    f->at = at - (int)f->count;
    return parse_ranking(c, at, f);
}

/* Whether the expression is a single key. Then the key's value is the subject, without a copy. */
static int is_single_key(const call *c, const query *q) {
    size_t length;
    const char *text = RedisModule_StringPtrLen(c->argv[1], &length);
    return q->keys == 1 && length == 2 && text[0] == '#' && text[1] == '1';
}

/* Opens the keys of the subject. */
static int open_subject(call *c, facets *f) {
    f->key = NULL;
    if (!is_single_key(c, &f->lists.query)) return open_query(c, &f->lists.query, 3);
    c->takes_integers = 1;
    const int opened = open_read(c, 3, &f->key);
    c->takes_integers = 0;
    if (!opened) return 0;
    if (f->key == NULL) f->key = bitmap_empty();
    if (!has_values(span_of(f->key))) return 1;
    f->key = NULL;
    return open_query(c, &f->lists.query, 3);
}

/* The first operand is kept free for the subject, which is evaluated later. */
static int open_facets(call *c, facets *f) {
    operands_add(&f->lists.all, NULL);
    return open_list(c, f->at, f->count, &f->lists, f->lists.sizes);
}

/* If the subject has all 2^64 offsets, it shares all members of a facet. This is the only case in which the
 * core, which counts modulo 2^64, cannot count. */
static int reply_score(call *c, const facets *f, uint32_t facet, uint64_t counted) {
    const cardinality a = f->of_subject, b = f->lists.sizes[facet], shared = a == TWO_TO_64 ? b : counted;

    if (f->ranking.by == BY_CARD) return reply_count(c, shared);
    const cardinality whole = f->ranking.by == BY_JACCARD ? a + b - shared : a < b ? a : b;
    if (whole == 0) return RedisModule_ReplyWithStringBuffer(c->ctx, "-1", 2);
    return reply_ratio(c, shared, whole);
}

/* Replies the names and scores of `count` facets, whose numbers are in `order`. */
static int reply_ranking(call *c, const facets *f, const uint64_t *shared, const uint64_t *order,
                         uint32_t count) {
    cardinality bytes = 0;
    size_t length;

    for (uint32_t i = 0; i < count; i++) {
        RedisModule_StringPtrLen(c->argv[f->at + (int)order[i]], &length);
        bytes += length + 2 * RATIO_BYTES;
    }
    if (!list_in_limits(c, count, bytes)) return REDISMODULE_OK;
    RedisModule_ReplyWithArray(c->ctx, count);
    for (uint32_t i = 0; i < count; i++) {
        const char *key = RedisModule_StringPtrLen(c->argv[f->at + (int)order[i]], &length);
        RedisModule_ReplyWithArray(c->ctx, 2);
        RedisModule_ReplyWithStringBuffer(c->ctx, key, length);
        reply_score(c, f, (uint32_t)order[i], shared[order[i]]);
    }
    return REDISMODULE_OK;
}

static int reply_all_scores(call *c, const facets *f, const uint64_t *shared) {
    if (!list_in_limits(c, f->count, (cardinality)f->count * RATIO_BYTES)) return REDISMODULE_OK;
    RedisModule_ReplyWithArray(c->ctx, f->count);
    for (uint32_t i = 0; i < f->count; i++) reply_score(c, f, i, shared[i]);
    return REDISMODULE_OK;
}

/* Compares the facets with b. */
static int compare(call *c, facets *f, const bitmap *b) {
    uint32_t found;
    uint64_t *shared = try_alloc(2 * f->count * sizeof *shared);

    if (shared == NULL) return reply_failure(c, OUT_OF_MEMORY);
    f->lists.all.list[0] = span_of(b);
    status done = core_cardinality(c->worker, b, &f->of_subject);
    if (done == OK && f->is_ranked) done = core_rank(c->worker, &f->lists.all, &f->ranking, shared, &found);
    else if (done == OK && f->of_subject < TWO_TO_64) done = core_share_all(c->worker, &f->lists.all, shared);
    if (succeeded(c, done)) {
        if (f->is_ranked) reply_ranking(c, f, shared, shared + f->count, found);
        else reply_all_scores(c, f, shared);
    }
    RedisModule_Free(shared);
    return REDISMODULE_OK;
}

/* Evaluates the expression, once for all facets. */
static int answer(call *c, facets *f) {
    result subject;

    limit_time(c);
    if (offloads_listing(c, 0)) return REDISMODULE_OK;
    if (f->key) return compare(c, f, f->key);
    if (!resolve_query(c, &f->lists.query)) return REDISMODULE_OK;
    if (!succeeded(c, core_query(c->worker, &f->lists.query, 0, 0, &subject))) return REDISMODULE_OK;
    compare(c, f, subject.b);
    bitmap_free(subject.b);
    return REDISMODULE_OK;
}

/* FACET expression numkeys key [key ...] numfacets key [key ...] [BY CARD | JACCARD | OVERLAP] [TOP k]
 * [MIN n] -- for each facet, how many members it shares with the expression, or how similar the two are. With
 * TOP or MIN, the names and scores of the best facets. */
int facet_command(call *c) {
    facets f;

    if (!parse_facets(c, &f) || !begin_lists(c, &f.lists, f.count)) return REDISMODULE_OK;
    if (parse_expression(c, 1, &f.lists.query) && open_subject(c, &f) && open_facets(c, &f)) answer(c, &f);
    return end_lists(&f.lists);
}

/* --- CROSSCARD ----------------------------------------------------------------------------------------- */

typedef struct table {
    lists lists; /* the expression of WITHIN; then rows, columns, and the bitmap of WITHIN */
    uint32_t rows, columns;
    int columns_at, within_at; /* within_at: of the expression; 0 if there is none */
    /* The number of members of the bitmap of WITHIN. The core counts modulo 2^64, so it counts 0 where only
     * bitmaps meet that have all 2^64 offsets. */
    cardinality limit;
} table;

#define ROWS_AT 2

/* [WITHIN expression numkeys key [key ...]] at `at`. */
static int parse_within(call *c, int at, table *t) {
    t->within_at = 0;
    t->lists.query.keys = 0;
    if (at == c->argc) return 1;
    if (!argument_is(c, at, "WITHIN")) {
        return reply_error(c, "ERR syntax error: more keys than numcols, or a word other than WITHIN");
    }
    t->within_at = at + 1;
    if (at + 2 >= c->argc) return reply_syntax_error(c);
    at += 2;
    if (!parse_list(c, &at, "numkeys", &t->lists.query.keys)) return 0;
    return at == c->argc || reply_error(c, "ERR syntax error: more keys than numkeys");
}

static int parse_table(call *c, table *t) {
    int at = ROWS_AT - 1;
    if (!parse_list(c, &at, "numrows", &t->rows) || !parse_list(c, &at, "numcols", &t->columns)) return 0;
    t->columns_at = at - (int)t->columns;
    if (!parse_within(c, at, t)) return 0;
    if (!keys_fit(c, (uint64_t)t->rows + t->columns + t->lists.query.keys)) return 0;
    /* The shortest reply that the table can have. */
    const cardinality cells = (cardinality)t->rows * t->columns;
    return list_in_limits(c, cells, cells * (sizeof ":0\r\n" - 1));
}

static int open_table(call *c, table *t) {
    lists *l = &t->lists;
    if (t->within_at && !parse_expression(c, t->within_at, &l->query)) return 0;
    if (!open_list(c, ROWS_AT, t->rows, l, l->sizes)) return 0;
    if (!open_list(c, t->columns_at, t->columns, l, l->sizes + t->rows)) return 0;
    return !t->within_at || open_query(c, &l->query, t->within_at + 2);
}

/* Evaluates the expression of WITHIN, once, and counts. */
static status count_table(worker *w, table *t, uint64_t *cells) {
    result limit = {.b = NULL, .members = TWO_TO_64};
    status done = t->within_at ? core_query(w, &t->lists.query, 0, 0, &limit) : OK;

    if (done != OK) return done;
    if (limit.b) operands_add(&t->lists.all, limit.b);
    t->limit = limit.members;
    done = core_cross(w, &t->lists.all, t->rows, t->columns, cells);
    bitmap_free(limit.b);
    return done;
}

static cardinality cell_of(const table *t, const uint64_t *cells, uint32_t row, uint32_t column) {
    const cardinality *sizes = t->lists.sizes, most = TWO_TO_64;
    const int all = sizes[row] == most && sizes[t->rows + column] == most && t->limit == most;
    return all ? most : cells[(size_t)row * t->columns + column];
}

static int reply_table(call *c, const table *t, const uint64_t *cells) {
    cardinality bytes = 0;

    for (uint32_t row = 0; row < t->rows; row++) {
        for (uint32_t i = 0; i < t->columns; i++) bytes += count_bytes(cell_of(t, cells, row, i));
        if (!succeeded(c, sandbox_check_time(c->worker))) return REDISMODULE_OK;
    }
    if (!list_in_limits(c, (cardinality)t->rows * t->columns, bytes)) return REDISMODULE_OK;
    RedisModule_ReplyWithArray(c->ctx, t->rows);
    for (uint32_t row = 0; row < t->rows; row++) {
        RedisModule_ReplyWithArray(c->ctx, t->columns);
        for (uint32_t i = 0; i < t->columns; i++) reply_count(c, cell_of(t, cells, row, i));
    }
    return REDISMODULE_OK;
}

static int tabulate(call *c, table *t) {
    limit_time(c);
    const uint64_t count = (uint64_t)t->rows * t->columns;
    if (offloads(c, count * LISTED_BYTES) || offloads_listing(c, 0)) return REDISMODULE_OK;
    if (t->within_at && !resolve_query(c, &t->lists.query)) return REDISMODULE_OK;
    uint64_t *cells = try_alloc(count * sizeof *cells);
    if (cells == NULL) return reply_failure(c, OUT_OF_MEMORY);
    if (succeeded(c, count_table(c->worker, t, cells))) reply_table(c, t, cells);
    RedisModule_Free(cells);
    return REDISMODULE_OK;
}

/* CROSSCARD numrows key [key ...] numcols key [key ...] [WITHIN expression numkeys key [key ...]] -- for each
 * row, an array with the number of members that it shares with each column. WITHIN counts only members of the
 * expression. */
int crosscard_command(call *c) {
    table t;

    if (!parse_table(c, &t) || !begin_lists(c, &t.lists, (size_t)t.rows + t.columns)) return REDISMODULE_OK;
    if (open_table(c, &t)) tabulate(c, &t);
    return end_lists(&t.lists);
}
