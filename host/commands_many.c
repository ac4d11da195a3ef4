/* commands_many.c -- one question asked of many bitmaps. */
#include "args.h"
#include "expression.h"
#include "keys.h"
#include "listing.h"
#include "ranking.h"

#include <string.h>

/* MBITCOUNT key [key ...] -- the number of members of each key. A key of another type refuses the whole call,
 * so the numbers are collected before the reply begins. */
int mbitcount_command(call *c) {
    const bitmap *b;
    int keys = c->argc - 1, read = 0;

    cardinality *counts = RedisModule_Alloc((size_t)keys * sizeof *counts);
    for (; read < keys; read++) {
        counts[read] = 0;
        if (!open_read(c, read + 1, &b)) break;
        if (b && !succeeded(c, core_cardinality(b, &counts[read]))) break;
    }
    if (read == keys) reply_counts(c, counts, (uint32_t)keys);
    RedisModule_Free(counts);
    return REDISMODULE_OK;
}

/* --- FACET --------------------------------------------------------------------------------------------- */

/* At most this many keys in all. */
#define KEYS_MAX (OPERANDS_MAX - 1)

typedef struct facets {
    query one; /* what all facets are compared with */
    int at; /* of the first facet */
    int is_ranked; /* replies the greatest */
    ranking ranking;
    const bitmap *key; /* the one, if the expression is a single key; otherwise NULL */
    operands all; /* the one, and the facets */
    const bitmap **bitmaps;
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
static int parse_share(call *c, int at, score *least) {
    size_t length;
    const char *text = RedisModule_StringPtrLen(c->argv[at], &length);
    int right = length > 0 && (*text == '0' || *text == '1') && length != 2 && length <= PLACES_MAX + 2;

    *least = (score){right && *text == '1', 1};
    right = right && (length == 1 || text[1] == '.');
    for (size_t i = 2; right && i < length; i++) {
        right = text[i] >= '0' && text[i] <= '9';
        *least = (score){least->part * 10 + (cardinality)(text[i] - '0'), least->whole * 10};
    }
    if (right && least->part <= least->whole) return 1;
    return reply_error(c, "ERR invalid min: must be a number from 0 to 1 with at most %d decimal places",
                       PLACES_MAX);
}

static int parse_least(call *c, int at, ranking *r) {
    uint64_t members;

    if (r->by != BY_CARD) return parse_share(c, at, &r->least);
    if (!parse_limit(c, at, &members)) return 0;
    r->least = (score){members, 1};
    return 1;
}

/* [BY measure] [TOP k] [MIN n] from `at` on, in any order. */
static int parse_ranking(call *c, int at, facets *f) {
    int by = 0, top = 0, min = 0;

    f->ranking = (ranking){.by = BY_CARD, .least = {0, 1}, .top = UINT64_MAX, .facets = f->ranking.facets};
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
    f->ranking.above_zero = top > 0;
    if (by && !parse_measure(c, by, &f->ranking.by)) return 0;
    if (top && !parse_limit(c, top, &f->ranking.top)) return 0;
    return !min || parse_least(c, min, &f->ranking);
}

static int parse_facets(call *c, facets *f) {
    if (!parse_key_count(c, 2, "numkeys", &f->one.keys)) return 0;
    int at = 3 + (int)f->one.keys;
    if (at == c->argc) return reply_error(c, "ERR syntax error: numfacets is missing");
    if (!parse_key_count(c, at, "numfacets", &f->ranking.facets)) return 0;
    if (f->one.keys + f->ranking.facets > KEYS_MAX) {
        return reply_error(c, "ERR Roaring: too many keys: maximum %d", KEYS_MAX);
    }
    f->at = at + 1;
    return parse_ranking(c, f->at + (int)f->ranking.facets, f);
}

/* Whether the expression is a single key, which is then the one, without a copy. */
static int is_one_key(const call *c, const query *q) {
    size_t length;
    const char *text = RedisModule_StringPtrLen(c->argv[1], &length);
    return q->keys == 1 && length == 2 && text[0] == '#' && text[1] == '1';
}

/* Opens the keys of the one. */
static int open_one(call *c, facets *f) {
    f->key = NULL;
    if (!is_one_key(c, &f->one)) return open_query(c, &f->one, 3);
    if (!open_read(c, 3, &f->key)) return 0;
    if (f->key == NULL) f->key = bitmap_empty();
    return 1;
}

/* Opens the keys of the facets, behind the place of the one, which is evaluated later. */
static int open_facets(call *c, facets *f) {
    operands_add(&f->all, NULL);
    for (uint32_t i = 0; i < f->ranking.facets; i++) {
        if (!open_read(c, f->at + (int)i, &f->bitmaps[i])) return 0;
        operands_add(&f->all, f->bitmaps[i]);
    }
    return 1;
}

static status sizes_of(const facets *f, cardinality *sizes) {
    status done = OK;
    for (uint32_t i = 0; done == OK && i < f->ranking.facets; i++) {
        sizes[i] = 0;
        if (f->bitmaps[i]) done = core_cardinality(f->bitmaps[i], &sizes[i]);
    }
    return done;
}

/* What all offsets share with a facet is the facet itself. The core counts modulo 2^64, so this is the only
 * case that it could not count. */
static int is_everything(const facets *f) { return f->ranking.of_one == TWO_TO_64; }

static status count_share(void *context, uint32_t facet, uint64_t need, cardinality *shared) {
    const facets *f = context;
    uint64_t members = 0;

    if (is_everything(f)) {
        *shared = f->ranking.sizes[facet];
        return OK;
    }
    status done = core_share_at_least(&f->all, facet + 1, need, &members);
    *shared = members;
    return done;
}

static int reply_score(call *c, enum measure by, score s) {
    if (by == BY_CARD) return reply_count(c, s.part);
    if (s.whole == 0) return RedisModule_ReplyWithStringBuffer(c->ctx, "-1", 2);
    return reply_ratio(c, s.part, s.whole);
}

static int reply_ranking(call *c, const facets *f) {
    const ranking *r = &f->ranking;
    cardinality bytes = 0;
    size_t length;

    for (uint32_t i = 0; i < r->count; i++) {
        RedisModule_StringPtrLen(c->argv[f->at + (int)r->best[i].facet], &length);
        bytes += length + 2 * RATIO_BYTES;
    }
    if (!list_in_limits(c, r->count, bytes)) return REDISMODULE_OK;
    RedisModule_ReplyWithArray(c->ctx, r->count);
    for (uint32_t i = 0; i < r->count; i++) {
        const char *key = RedisModule_StringPtrLen(c->argv[f->at + (int)r->best[i].facet], &length);
        RedisModule_ReplyWithArray(c->ctx, 2);
        RedisModule_ReplyWithStringBuffer(c->ctx, key, length);
        reply_score(c, r->by, r->best[i].score);
    }
    return REDISMODULE_OK;
}

static int reply_greatest(call *c, facets *f) {
    ranking *r = &f->ranking;
    r->best = try_alloc(r->facets * sizeof *r->best);
    if (r->best == NULL) return reply_failure(c, OUT_OF_MEMORY);
    if (succeeded(c, rank_facets(r, count_share, f))) reply_ranking(c, f);
    RedisModule_Free(r->best);
    return REDISMODULE_OK;
}

static int reply_all_scores(call *c, const facets *f, const uint64_t *shared) {
    const ranking *r = &f->ranking;

    if (!list_in_limits(c, r->facets, (cardinality)r->facets * RATIO_BYTES)) return REDISMODULE_OK;
    RedisModule_ReplyWithArray(c->ctx, r->facets);
    for (uint32_t i = 0; i < r->facets; i++) {
        const cardinality both = is_everything(f) ? r->sizes[i] : shared[i];
        reply_score(c, r->by, score_of(r->by, both, r->of_one, r->sizes[i]));
    }
    return REDISMODULE_OK;
}

static int reply_each(call *c, const facets *f) {
    uint64_t *shared = try_alloc(f->ranking.facets * sizeof *shared);
    if (shared == NULL) return reply_failure(c, OUT_OF_MEMORY);
    if (is_everything(f) || succeeded(c, core_share_all(&f->all, shared))) reply_all_scores(c, f, shared);
    RedisModule_Free(shared);
    return REDISMODULE_OK;
}

/* Compares the facets with b. */
static int compare(call *c, facets *f, const bitmap *b) {
    cardinality *sizes = try_alloc(f->ranking.facets * sizeof *sizes);
    if (sizes == NULL) return reply_failure(c, OUT_OF_MEMORY);
    f->all.list[0] = span_of(b);
    f->ranking.sizes = sizes;
    if (succeeded(c, core_cardinality(b, &f->ranking.of_one)) && succeeded(c, sizes_of(f, sizes))) {
        if (f->is_ranked) reply_greatest(c, f);
        else reply_each(c, f);
    }
    RedisModule_Free(sizes);
    return REDISMODULE_OK;
}

/* Evaluates the expression, once for all facets. */
static int answer(call *c, facets *f) {
    result one;

    limit_question(c);
    if (leaves(c, 0)) return REDISMODULE_OK;
    if (f->key) return compare(c, f, f->key);
    if (!succeeded(c, core_query(&f->one, &one))) return REDISMODULE_OK;
    compare(c, f, one.b);
    bitmap_free(one.b);
    return REDISMODULE_OK;
}

/* FACET expression numkeys key [key ...] numfacets key [key ...] [BY CARD | JACCARD | OVERLAP] [TOP k]
 * [MIN n] -- for each facet how many members it shares with the expression, or how alike the two are; with
 * TOP or MIN the greatest ones with their names. */
int facet_command(call *c) {
    facets f;

    if (!parse_facets(c, &f)) return REDISMODULE_OK;
    f.bitmaps = RedisModule_Alloc(f.ranking.facets * sizeof *f.bitmaps);
    begin_query(c, &f.one);
    operands_begin(&f.all);
    if (parse_expression(c, 1, &f.one) && open_one(c, &f) && open_facets(c, &f)) answer(c, &f);
    operands_end(&f.all);
    operands_end(&f.one.operands);
    RedisModule_Free(f.bitmaps);
    return REDISMODULE_OK;
}

/* --- CROSSCARD ----------------------------------------------------------------------------------------- */

typedef struct table {
    uint32_t rows, columns;
    int rows_at, columns_at, within_at; /* within_at: of the expression; 0 if there is none */
    query within;
    operands all; /* rows, columns, and what the members must be in */
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

/* What has all 2^64 offsets: the core counts modulo 2^64, and so counts 0 where only these meet. */
typedef struct everything {
    char *keys; /* whether the row or column does */
    int limit;
} everything;

/* Opens the keys from `at` on; is_all says which have all offsets. */
static int open_side(call *c, int at, uint32_t count, operands *all, char *is_all) {
    const bitmap *b;
    cardinality members = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (!open_read(c, at + (int)i, &b)) return 0;
        operands_add(all, b);
        if (c->family->last < UINT64_MAX || b == NULL) continue;
        if (!succeeded(c, core_cardinality(b, &members))) return 0;
        is_all[i] = members == TWO_TO_64;
    }
    return 1;
}

static int open_table(call *c, table *t, everything *e) {
    if (t->within_at && !parse_expression(c, t->within_at, &t->within)) return 0;
    if (!open_side(c, t->rows_at, t->rows, &t->all, e->keys)) return 0;
    if (!open_side(c, t->columns_at, t->columns, &t->all, e->keys + t->rows)) return 0;
    return !t->within_at || open_query(c, &t->within, t->within_at + 2);
}

/* Evaluates what limits the table, once, and counts. */
static status count_table(table *t, uint64_t *cells, everything *e) {
    result limit = {.b = NULL};

    e->limit = 1;
    if (t->within_at) {
        status done = core_query(&t->within, &limit);
        if (done != OK) return done;
        operands_add(&t->all, limit.b);
        e->limit = limit.members == TWO_TO_64;
    }
    status done = core_cross(&t->all, t->rows, t->columns, cells);
    bitmap_free(limit.b);
    return done;
}

static cardinality cell_of(const table *t, const uint64_t *cells, const everything *e, uint32_t row,
                           uint32_t column) {
    const uint64_t modulo = cells[(size_t)row * t->columns + column];
    return modulo == 0 && e->limit && e->keys[row] && e->keys[t->rows + column] ? TWO_TO_64 : modulo;
}

static int reply_table(call *c, const table *t, const uint64_t *cells, const everything *e) {
    cardinality bytes = 0;

    for (uint32_t row = 0; row < t->rows; row++) {
        for (uint32_t i = 0; i < t->columns; i++) bytes += count_bytes(cell_of(t, cells, e, row, i));
        if (!succeeded(c, sandbox_check_time())) return REDISMODULE_OK;
    }
    if (!list_in_limits(c, (cardinality)t->rows * t->columns, bytes)) return REDISMODULE_OK;
    RedisModule_ReplyWithArray(c->ctx, t->rows);
    for (uint32_t row = 0; row < t->rows; row++) {
        RedisModule_ReplyWithArray(c->ctx, t->columns);
        for (uint32_t i = 0; i < t->columns; i++) reply_count(c, cell_of(t, cells, e, row, i));
    }
    return REDISMODULE_OK;
}

static int tabulate(call *c, table *t, everything *e) {
    limit_question(c);
    const uint64_t count = (uint64_t)t->rows * t->columns;
    if (leaves_for(c, count * LISTED_BYTES) || leaves(c, 0)) return REDISMODULE_OK;
    uint64_t *cells = try_alloc(count * sizeof *cells);
    if (cells == NULL) return reply_failure(c, OUT_OF_MEMORY);
    if (succeeded(c, count_table(t, cells, e))) reply_table(c, t, cells, e);
    RedisModule_Free(cells);
    return REDISMODULE_OK;
}

/* CROSSCARD numrows key [key ...] numcols key [key ...] [WITHIN expression numkeys key [key ...]] -- for each
 * row an array of how many members it shares with each column, of those that the expression has. */
int crosscard_command(call *c) {
    table t;
    everything e;

    if (!parse_table(c, &t)) return REDISMODULE_OK;
    e.keys = RedisModule_Alloc((size_t)t.rows + t.columns);
    memset(e.keys, 0, (size_t)t.rows + t.columns);
    begin_query(c, &t.within);
    operands_begin(&t.all);
    if (open_table(c, &t, &e)) tabulate(c, &t, &e);
    operands_end(&t.all);
    operands_end(&t.within.operands);
    RedisModule_Free(e.keys);
    return REDISMODULE_OK;
}
