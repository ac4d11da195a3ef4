/* many.c -- counts over many bitmaps: how many members each has, and how many it shares with others. */
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

/* --- FACET --------------------------------------------------------------------------------------------- */

/* At most this many keys in all. */
#define KEYS_MAX (OPERANDS_MAX - 1)

typedef struct facets {
    query subject; /* the bitmap with which all facets are compared */
    int at; /* of the first facet */
    uint32_t count;
    int is_ranked; /* only the facets with the greatest scores are replied */
    ranking ranking;
    const bitmap *key; /* the subject, if the expression is a single key; otherwise NULL */
    operands all; /* the subject, and the facets */
    cardinality of_subject, *sizes; /* numbers of members: the subject's, and each facet's */
} facets;

static int parse_measure(call *c, int at, enum measure *by) {
    static const char *const names[] = {"CARD", "JACCARD", "OVERLAP"};
    for (int i = 0; i < 3; i++) {
        if (!argument_is(c, at, names[i])) continue;
        *by = (enum measure)i;
        return 1;
    }
    return reply_syntax_error(c);
}

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
    int by = 0, top = 0, min = 0;
    ranking *r = &f->ranking;

    *r = (ranking){.by = BY_CARD, .top = UINT64_MAX};
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
    if (by && !parse_measure(c, by, &r->by)) return 0;
    if (top && !parse_limit(c, top, &r->top)) return 0;
    if (min && !(r->by == BY_CARD ? parse_limit(c, min, &r->part) : parse_share(c, min, r))) return 0;
    if (top && r->part == 0) *r = (ranking){r->by, 1, 0, r->top}; /* 1 / 2^64, the least score above 0 */
    return 1;
}

static int parse_facets(call *c, facets *f) {
    if (!parse_key_count(c, 2, "numkeys", &f->subject.keys)) return 0;
    int at = 3 + (int)f->subject.keys;
    if (at == c->argc) return reply_error(c, "ERR syntax error: numfacets is missing");
    if (!parse_key_count(c, at, "numfacets", &f->count)) return 0;
    if (f->subject.keys + f->count > KEYS_MAX) {
        return reply_error(c, "ERR Roaring: too many keys: maximum %d", KEYS_MAX);
    }
    f->at = at + 1;
    return parse_ranking(c, f->at + (int)f->count, f);
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
    if (!is_single_key(c, &f->subject)) return open_query(c, &f->subject, 3);
    if (!open_read(c, 3, &f->key)) return 0;
    if (f->key == NULL) f->key = bitmap_empty();
    return 1;
}

/* Opens the keys of the facets. The first operand is kept free for the subject, which is evaluated later. */
static int open_facets(call *c, facets *f) {
    const bitmap *b;
    operands_add(&f->all, NULL);
    for (uint32_t i = 0; i < f->count; i++) {
        if (!open_counted(c, f->at + (int)i, &b, &f->sizes[i])) return 0;
        operands_add(&f->all, b);
    }
    return 1;
}

/* If the subject has all 2^64 offsets, it shares all members of a facet. This is the only case in which the
 * core, which counts modulo 2^64, cannot count. */
static int reply_score(call *c, const facets *f, uint32_t facet, uint64_t counted) {
    const cardinality a = f->of_subject, b = f->sizes[facet], shared = a == TWO_TO_64 ? b : counted;

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
    f->all.list[0] = span_of(b);
    status done = core_cardinality(c->worker, b, &f->of_subject);
    if (done == OK && f->is_ranked) done = core_rank(c->worker, &f->all, &f->ranking, shared, &found);
    else if (done == OK && f->of_subject < TWO_TO_64) done = core_share_all(c->worker, &f->all, shared);
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
    if (!succeeded(c, core_query(c->worker, &f->subject, 0, 0, &subject))) return REDISMODULE_OK;
    compare(c, f, subject.b);
    bitmap_free(subject.b);
    return REDISMODULE_OK;
}

/* FACET expression numkeys key [key ...] numfacets key [key ...] [BY CARD | JACCARD | OVERLAP] [TOP k]
 * [MIN n] -- for each facet, how many members it shares with the expression, or how similar the two are. With
 * TOP or MIN, the names and scores of the best facets. */
int facet_command(call *c) {
    facets f;

    if (!parse_facets(c, &f)) return REDISMODULE_OK;
    f.sizes = try_alloc(f.count * sizeof *f.sizes);
    if (f.sizes == NULL) return reply_failure(c, OUT_OF_MEMORY);
    begin_query(c, &f.subject);
    operands_begin(&f.all);
    if (parse_expression(c, 1, &f.subject) && open_subject(c, &f) && open_facets(c, &f)) answer(c, &f);
    operands_end(&f.all);
    operands_end(&f.subject.operands);
    RedisModule_Free(f.sizes);
    return REDISMODULE_OK;
}

/* --- CROSSCARD ----------------------------------------------------------------------------------------- */

typedef struct table {
    uint32_t rows, columns;
    int rows_at, columns_at, within_at; /* within_at: of the expression; 0 if there is none */
    query within;
    operands all; /* rows, columns, and the bitmap of WITHIN */
    /* Whether each row, each column, and the bitmap of WITHIN has all 2^64 offsets. The core counts modulo
     * 2^64, so it counts 0 where only such bitmaps meet. */
    char *have_all;
    int limit_has_all;
} table;

/* [WITHIN expression numkeys key [key ...]] at `at`. */
static int parse_within(call *c, int at, table *t) {
    t->within_at = 0;
    t->within.keys = 0;
    if (at == c->argc) return 1;
    if (!argument_is(c, at, "WITHIN")) {
        return reply_error(c, "ERR syntax error: more keys than numcols, or a word other than WITHIN");
    }
    t->within_at = at + 1;
    if (at + 2 >= c->argc) return reply_syntax_error(c);
    if (!parse_key_count(c, at + 2, "numkeys", &t->within.keys)) return 0;
    return at + 3 + (int)t->within.keys == c->argc
        || reply_error(c, "ERR syntax error: more keys than numkeys");
}

static int parse_table(call *c, table *t) {
    if (!parse_key_count(c, 1, "numrows", &t->rows)) return 0;
    t->rows_at = 2;
    int at = t->rows_at + (int)t->rows;
    if (at == c->argc) return reply_error(c, "ERR syntax error: numcols is missing");
    if (!parse_key_count(c, at, "numcols", &t->columns)) return 0;
    t->columns_at = at + 1;
    if (!parse_within(c, t->columns_at + (int)t->columns, t)) return 0;
    if ((uint64_t)t->rows + t->columns + t->within.keys > KEYS_MAX) {
        return reply_error(c, "ERR Roaring: too many keys: maximum %d", KEYS_MAX);
    }
    /* The shortest reply that the table can have. */
    const cardinality cells = (cardinality)t->rows * t->columns;
    return list_in_limits(c, cells, cells * (sizeof ":0\r\n" - 1));
}

/* Opens the keys from `at` on. */
static int open_side(call *c, int at, uint32_t count, operands *all, char *have_all) {
    const bitmap *b;
    cardinality members;

    for (uint32_t i = 0; i < count; i++) {
        if (!open_counted(c, at + (int)i, &b, &members)) return 0;
        operands_add(all, b);
        have_all[i] = members == TWO_TO_64;
    }
    return 1;
}

static int open_table(call *c, table *t) {
    if (t->within_at && !parse_expression(c, t->within_at, &t->within)) return 0;
    if (!open_side(c, t->rows_at, t->rows, &t->all, t->have_all)) return 0;
    if (!open_side(c, t->columns_at, t->columns, &t->all, t->have_all + t->rows)) return 0;
    return !t->within_at || open_query(c, &t->within, t->within_at + 2);
}

/* Evaluates the expression of WITHIN, once, and counts. */
static status count_table(worker *w, table *t, uint64_t *cells) {
    result limit = {.b = NULL};

    t->limit_has_all = 1;
    if (t->within_at) {
        status done = core_query(w, &t->within, 0, 0, &limit);
        if (done != OK) return done;
        operands_add(&t->all, limit.b);
        t->limit_has_all = limit.members == TWO_TO_64;
    }
    status done = core_cross(w, &t->all, t->rows, t->columns, cells);
    bitmap_free(limit.b);
    return done;
}

static cardinality cell_of(const table *t, const uint64_t *cells, uint32_t row, uint32_t column) {
    const int all = t->limit_has_all && t->have_all[row] && t->have_all[t->rows + column];
    return all ? TWO_TO_64 : cells[(size_t)row * t->columns + column];
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

    if (!parse_table(c, &t)) return REDISMODULE_OK;
    t.have_all = try_alloc((size_t)t.rows + t.columns);
    if (t.have_all == NULL) return reply_failure(c, OUT_OF_MEMORY);
    begin_query(c, &t.within);
    operands_begin(&t.all);
    if (open_table(c, &t)) tabulate(c, &t);
    operands_end(&t.all);
    operands_end(&t.within.operands);
    RedisModule_Free(t.have_all);
    return REDISMODULE_OK;
}
