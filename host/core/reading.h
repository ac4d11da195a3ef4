/* reading.h -- calls that read a bitmap, and never change it. In all calls into the core, results are in out
 * parameters, which are valid only if the status is OK. */
#pragma once

#include "core/operands.h"
#include "core/worker.h"

/* A range of native BITCOUNT and BITPOS: indexes of bytes or bits; negative ones count from the end. */
typedef struct range {
    int64_t start, end;
    enum unit unit;
    uint32_t given;                 /* how many of the two indexes the client gave */
} range;

/* Totals over a bitmap's containers of one kind; kinds are in the order of the core's statistics(). */
typedef struct statistics {
    uint64_t containers, members, bytes;
} statistics;
enum { ARRAYS, BITSETS, RUNS, CONTAINER_KINDS };

/* An integer of 1 to 64 bits, as in native BITFIELD. */
typedef struct field {
    uint64_t offset;
    uint32_t width, is_signed;
} field;

status core_get(worker *w, const bitmap *b, uint64_t offset, uint32_t *bit);
/* Replaces each offset by its bit. */
status core_get_all(worker *w, const bitmap *b, uint64_t *offsets, uint32_t count);
status core_cardinality(worker *w, const bitmap *b, cardinality *members);
/* The smallest or the largest member; *found = 0 if the bitmap is empty. */
status core_minimum(worker *w, const bitmap *b, uint32_t *found, uint64_t *member);
status core_maximum(worker *w, const bitmap *b, uint32_t *found, uint64_t *member);
/* The number of members in [low, high]. */
status core_count_between(worker *w, const bitmap *b, uint64_t low, uint64_t high, cardinality *members);
/* The member with this rank, which must be below the cardinality. */
status core_select(worker *w, const bitmap *b, uint64_t rank, uint64_t *member);
status core_count_range(worker *w, const bitmap *b, const range *r, cardinality *members);
/* The first bit in the range that equals `bit`; *found = 0 if there is none. */
status core_position(worker *w, const bitmap *b, uint32_t bit, const range *r, uint32_t *found,
                     uint64_t *position);
/* Passes the first `limit` members from `from` on to the sink. */
status core_members(worker *w, const bitmap *b, uint64_t from, uint64_t limit, member_sink *sink,
                    void *context);
/* Passes the first `limit` runs of members in [low, high] to the sink, each as its first and last member. */
status core_runs(worker *w, const bitmap *b, uint64_t low, uint64_t high, uint64_t limit, member_sink *sink,
                 void *context);
/* How many runs core_runs would pass. */
status core_count_runs(worker *w, const bitmap *b, uint64_t low, uint64_t high, uint64_t limit,
                       uint64_t *runs);
/* Passes the members with these ranks on to the sink, in the order of the ranks, which must be below the
 * cardinality. */
status core_select_all(worker *w, const bitmap *b, uint64_t *ranks, uint32_t count, member_sink *sink,
                       void *context);
status core_get_field(worker *w, const bitmap *b, const field *at, int64_t *value);
status core_statistics(worker *w, const bitmap *b, statistics of[CONTAINER_KINDS]);
/* Checks the inside of the bitmap. *fault says what is wrong; NULL if nothing is. */
status core_validate(worker *w, const bitmap *b, const char **fault);
status core_serialized_bytes(worker *w, const bitmap *b, uint32_t format, uint64_t *bytes);
/* The caller must RedisModule_Free(*payload), which has *length bytes. */
status core_serialize(worker *w, const bitmap *b, uint32_t format, char **payload, size_t *length);
/* Writes to a buffer of `length` bytes, the number from core_serialized_bytes. */
status core_serialize_to(worker *w, const bitmap *b, uint32_t format, char *payload, size_t length);
