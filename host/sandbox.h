/* sandbox.h -- calls into the compiled core, which works on bitmaps.
 *
 * During a call the core can access one arena, the call's operands, and nothing else; any other access ends
 * the call with TRAPPED. Results are in out parameters, which are valid only if the status is OK. */
#ifndef ROAR_SANDBOX_H
#define ROAR_SANDBOX_H

#include <stddef.h>
#include <stdint.h>

#include "bitmap.h"
#include "facts.h"
#include "operands.h"

typedef enum status { OK, TRAPPED, OUT_OF_MEMORY, OUT_OF_TIME, NOT_BRIEF } status;

/* A range of native BITCOUNT and BITPOS: indexes of bytes or bits; negative ones count from the end. */
typedef struct range {
    int64_t start, end;
    enum unit unit;
    uint32_t given;                 /* how many of the two indexes the client gave */
} range;

/* A number of members: 0 to 2^64. */
typedef unsigned __int128 cardinality;
#define TWO_TO_64 ((cardinality)1 << 64)

/* An integer of 1 to 64 bits, as in native BITFIELD. */
typedef struct field {
    uint64_t offset;
    uint32_t width, is_signed;
} field;

/* The outcome of a write to a field: its old value, the reply, whether the new value was written (else there
 * is no reply), and whether the field changed. */
typedef struct outcome {
    int64_t old, reply;
    uint32_t written, changed;
} outcome;

/* One step of a command that reads and writes several fields. */
typedef struct field_step {
    enum { FIELD_GET, FIELD_SET, FIELD_INCRBY } action;
    enum overflow overflow;
    field at;
    int64_t value;
    outcome outcome;
} field_step;

/* Totals over a bitmap's containers of one kind; kinds are in the order of the core's statistics(). */
typedef struct statistics {
    uint64_t containers, members, bytes;
} statistics;
enum { ARRAYS, BITSETS, RUNS, CONTAINER_KINDS };

/* The most operands of one call. */
#define OPERANDS_MAX 65535

/* The bitmaps in memory, and counters since the module was loaded. */
typedef struct census {
    uint64_t bitmaps, bytes;        /* in memory now */
    uint64_t refused;               /* payloads */
    uint64_t traps;
    uint64_t damaged;               /* bitmaps that became damaged */
    uint64_t overdue;               /* questions that were ended because they took too long */
} census;

/* Receives members, mostly in ascending order, a batch at a time. It must not call into the core. */
typedef void member_sink(void *context, const uint64_t *members, size_t count);

/* Chooses the best core for this CPU, or the one named `wanted` unless that is NULL. Returns the name of its
 * level, or NULL if there is none of that name or the CPU does not support it. */
const char *sandbox_choose_level(const char *wanted);

/* The reason for the last trap, in a few words. */
const char *sandbox_last_trap(void);
/* Makes it that of another thread, which shares the question. */
void sandbox_trapped_elsewhere(const char *trap);
census sandbox_census(void);

/* --- How long calls may take --- */

/* Ends calls that work for longer than this with OUT_OF_TIME, unless the context is exempt, which is asked
 * only when the time is up. Successive calls share the time. 0: no limit. The clock starts once a call turns
 * out to be more than a few microseconds of work. */
void sandbox_limit_time(uint64_t milliseconds, int (*is_exempt)(const void *context), const void *context);
/* When a call is too long for the main thread. */
typedef struct brief {
    uint64_t microseconds;          /* of work */
    int reads_much; /* the clock starts at once, and not after the first microseconds of work */
    int lists_much; /* a list of more than MEMBERS_BATCH members is too long in any case */
} brief;
/* Ends calls that exceed the limit with NOT_BRIEF, if may_leave says so, which is called once. Nothing has
 * been passed to a sink then. */
void sandbox_be_brief(const brief *limit, int (*may_leave)(void *context), void *context);
/* For work outside the core, after some microseconds of it each time: OK, or why the command should end. */
status sandbox_check_time(void);
/* Removes both limits. Call it before the context goes away. */
void sandbox_lift_time_limit(void);
/* Ends calls with OUT_OF_TIME once the flag is set, and sets it when the time is up; NULL for no flag. */
void sandbox_watch(_Atomic int *flag);

/* For threads that share a question. The clock starts when the limits are lent. */
typedef struct limits {
    struct time_limit {
        uint64_t milliseconds, started; /* 0: no limit; the clock has not started */
        int (*is_exempt)(const void *context);
        const void *context;
    } time;
    _Atomic int *cancelled;
} limits;
void sandbox_lend_limits(limits *l);
void sandbox_borrow_limits(const limits *l);
void sandbox_return_limits(void);

/* --- Reading: never changes the bitmap --- */

status core_get(const bitmap *b, uint64_t offset, uint32_t *bit);
/* Replaces each offset by its bit. */
status core_get_all(const bitmap *b, uint64_t *offsets, uint32_t count);
status core_cardinality(const bitmap *b, cardinality *members);
/* The smallest or the largest member; *found = 0 if the bitmap is empty. */
status core_minimum(const bitmap *b, uint32_t *found, uint64_t *member);
status core_maximum(const bitmap *b, uint32_t *found, uint64_t *member);
/* The number of members in [low, high]. */
status core_count_between(const bitmap *b, uint64_t low, uint64_t high, cardinality *members);
/* The member with this rank, which must be below the cardinality. */
status core_select(const bitmap *b, uint64_t rank, uint64_t *member);
status core_count_range(const bitmap *b, const range *r, cardinality *members);
/* The first bit in the range that equals `bit`; *found = 0 if there is none. */
status core_position(const bitmap *b, uint32_t bit, const range *r, uint32_t *found, uint64_t *position);
/* Passes the first `limit` members from `from` on to the sink. */
status core_members(const bitmap *b, uint64_t from, uint64_t limit, member_sink *sink, void *context);
/* Passes the members with these ranks on to the sink, in the order of the ranks, which must be below the
 * cardinality. */
status core_select_all(const bitmap *b, uint64_t *ranks, uint32_t count, member_sink *sink, void *context);
status core_get_field(const bitmap *b, const field *at, int64_t *value);
status core_statistics(const bitmap *b, statistics of[CONTAINER_KINDS]);
/* Checks the inside of the bitmap. *fault says what is wrong; NULL if nothing is. */
status core_validate(const bitmap *b, const char **fault);
status core_serialized_bytes(const bitmap *b, uint32_t format, uint64_t *bytes);
/* The caller must RedisModule_Free(*payload), which has *length bytes. */
status core_serialize(const bitmap *b, uint32_t format, char **payload, size_t *length);
/* Writes to a buffer of `length` bytes, the number from core_serialized_bytes. */
status core_serialize_to(const bitmap *b, uint32_t format, char *payload, size_t length);

/* Sorts offsets in ascending order: VALUES_ROOM(count) words. */
status sort_offsets(uint64_t *offsets, uint32_t count);

/* --- Writing: *b moves when it grows, even if the call fails ---
 *
 * A trap marks the bitmap as damaged. If out of memory, its members stay as they were. Of a shared bitmap *b
 * becomes a copy, unless the write changes nothing. core_write_field copies it in any case. */

status core_set(bitmap **b, uint64_t offset, uint32_t value, uint32_t *previous);
/* A list of `count` offsets that the core may sort takes this many words: the offsets, and working space.
 * Calls overwrite both. */
#define VALUES_ROOM(count) (2 * (count) + COUNTERS_BYTES / sizeof(uint64_t))
/* Sets or clears the bits at all these offsets; *changed is the number of bits that changed. */
status core_set_all(bitmap **b, uint64_t *offsets, uint32_t count, uint64_t *changed);
status core_clear_all(bitmap **b, uint64_t *offsets, uint32_t count, uint64_t *changed);
/* How many members a bitmap had before a change, and has after it. */
typedef struct cardinalities {
    cardinality before, after;
} cardinalities;
/* A change of all offsets in [low, high]. */
typedef struct stretch {
    enum change change;
    uint64_t low, high;
} stretch;
/* Makes the change: in place, or, where that is quicker, by replacing *b. */
status core_change_range(bitmap **b, const stretch *r, cardinalities *members);
/* Adds the members of `more` in one of these two ways. */
status core_merge(bitmap **b, const bitmap *more, cardinalities *members);
/* Makes a step that writes, and sets its outcome. */
status core_write_field(bitmap **b, field_step *step);
/* Runs the steps one after the other; either all of their writes are made or none. Sets each step's
 * outcome.written and outcome.reply. *changed is the number of words of 64 bits that changed. */
status core_change_fields(bitmap **b, field_step *steps, uint32_t count, uint32_t *changed);
/* Frees the unused end of the block, if possible. */
void bitmap_fit(bitmap **b);

/* --- Building: the result is a new bitmap without unused space --- */

/* A new bitmap, which the caller owns, and its number of members, which the core counted while it built
 * it. */
typedef struct result {
    bitmap *b;
    cardinality members;
} result;

/* NOT is core_complement. */
status core_combine(enum operation operation, const operands *sources, result *r);
/* A bitmap of these offsets: VALUES_ROOM(count) words, count > 0. */
status core_collect(uint64_t *offsets, uint32_t count, bitmap **collected);
/* The cardinality of what core_combine would build; `most` if there are more, unless `most` is 0. */
status core_combine_cardinality(enum operation operation, const operands *sources, uint64_t most,
                                cardinality *members);
/* How many members the first operand shares with each of the others, modulo 2^64. */
status core_share_all(const operands *o, uint64_t *shared);
/* Of bitmaps that are compared with one, the `top` ones with the greatest scores, which are at least
 * part / whole; a whole of 0 is 2^64. */
typedef struct ranking {
    enum measure by;
    uint64_t part, whole, top;
} ranking;

/* Compares the first operand with the others, the facets, and sets *found. `numbers` has two for each facet:
 * the first ones become how many members the facets found share with the operand, modulo 2^64, and the others
 * the facets found, the greatest first, counted from 0. */
status core_rank(const operands *o, const ranking *r, uint64_t *numbers, uint32_t *found);
/* How many members each row shares with each column, modulo 2^64, row by row: of the members of the last
 * operand if there is one behind the rows and columns. */
status core_cross(const operands *o, uint32_t rows, uint32_t columns, uint64_t *cells);
/* Whether the two have a member in common. */
status core_intersects(const bitmap *a, const bitmap *b, uint32_t *holds);
/* Whether all members of `part` are members of `whole`. */
status core_is_subset(const bitmap *part, const bitmap *whole, uint32_t *holds);
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
    span tree;
    operands operands;
} query;

/* Parses the text of an expression over q->keys keys and sets q->tree, which is valid until the next call.
 * m->number is MISTAKE_NONE if there is no mistake. */
status core_parse_query(query *q, const char *text, size_t length, query_mistake *m);
/* Adds the tree to the operands, which are all keys of the query. */
static inline void query_add_tree(query *q) { operands_add_span(&q->operands, q->tree); }
status core_query(const query *q, result *r);
/* The number of members from `from` on; `most` if there are more, unless `most` is 0. */
status core_query_cardinality(const query *q, uint64_t from, uint64_t most, cardinality *members);
/* Passes the first `limit` members from `from` on to the sink. */
status core_query_members(const query *q, uint64_t from, uint64_t limit, member_sink *sink, void *context);
/* All offsets in [0, max(*last, largest member of b)] that are not in b. `last` and b may be NULL. */
status core_complement(const bitmap *b, const uint64_t *last, result *r);
/* A bitmap that differs from b by a change. `expected` is an estimate of its bytes. */
status core_changed(const bitmap *b, const stretch *r, uint64_t expected, result *changed);
/* The same members, with each container in its smallest form. */
status core_pack(const bitmap *b, bitmap **packed);
/* Part of b: containers from *key on, up to about `bytes` bytes of payload. Sets *key to the next container,
 * and *more to whether there is one. */
status core_slice(const bitmap *b, uint64_t *key, uint32_t bytes, bitmap **part, uint32_t *more);
/* A payload to read. Of the format BITS, bit 0 becomes member `first`, and the last byte may have bits beyond
 * 2^64 - 1, which must be clear; for other formats `first` is 0. */
typedef struct encoded {
    uint32_t format;
    const char *bytes;
    size_t length;
    uint64_t first;
} encoded;

/* *fault says what is wrong with the payload. If it is valid, *fault is NULL and *r is set. */
status core_deserialize(const encoded *p, result *r, const char **fault);

/* --- Tests --- */

/* Only the test build can trap on request: makes the core violate the sandbox while it reads or writes *b,
 * in one of the ways of assembly/trap.ts. */
status core_trap(bitmap **b, int while_writing, uint32_t way);
/* Makes the next count trap, on whatever thread it runs. */
void sandbox_trap_count(void);
/* Makes arenas fail to grow beyond `bytes`. */
void sandbox_limit_arenas(uint32_t bytes);

#endif
