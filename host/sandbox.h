/* sandbox.h -- the compiled core that works on bitmaps.
 *
 * A call into the core sees one arena, the operands that were handed over, and nothing else; an access outside of them
 * ends the call with TRAPPED. What a call returns is in its out parameters, and only when its status is OK. */
#ifndef ROAR_SANDBOX_H
#define ROAR_SANDBOX_H

#include <stddef.h>
#include <stdint.h>

#include "bitmap.h"
#include "facts.h"

typedef enum status { OK, TRAPPED, OUT_OF_MEMORY } status;

/* Native's range of BITCOUNT and BITPOS: indexes of bytes or bits, negative ones from the end. */
typedef struct range {
    int64_t start, end;
    enum unit unit;
    uint32_t given;                 /* how many of the two indexes were */
} range;

/* How many: 0 to 2^64. */
typedef unsigned __int128 cardinality;
#define TWO_TO_64 ((cardinality)1 << 64)

/* What becomes of a closed range of offsets. */
enum change { SET, CLEAR, FLIP };

/* Native's integer of 1 to 64 bits. */
typedef struct field {
    uint64_t offset;
    uint32_t width, is_signed;
} field;

/* What became of a field: its value before, what the command replies, whether that did fit (else there is no reply), and
 * whether the field is another now. */
typedef struct outcome {
    int64_t old, reply;
    uint32_t written, changed;
} outcome;

/* Of a bitmap's arrays, bitsets and runs, in the order of the core's statistics(). */
typedef struct statistics {
    uint64_t containers, members, bytes;
} statistics;
enum { ARRAYS, BITSETS, RUNS, CONTAINER_KINDS };

/* The most operands of one call. */
#define OPERANDS_MAX 65535

/* What there is, and what has happened since the module was loaded. */
typedef struct census {
    uint64_t bitmaps, bytes;        /* in the server's memory now */
    uint64_t refused;               /* payloads */
    uint64_t traps;
    uint64_t damaged;               /* bitmaps that a write left so */
} census;

/* Receives members, ascending, a batch at a time. It must not call into the core. */
typedef void member_sink(void *context, const uint64_t *members, size_t count);

/* Chooses the core for this CPU, or the one named by `wanted` unless that is NULL. Returns the chosen level's name,
 * NULL if there is none of that name or the CPU lacks it. */
const char *sandbox_choose_level(const char *wanted);

/* Why the last call was TRAPPED, in a few words. */
const char *sandbox_last_trap(void);
census sandbox_census(void);

/* Reading. The bitmap is left as it was, whatever happens. */
status core_get(const bitmap *b, uint64_t offset, uint32_t *bit);
/* Puts 0 or 1 in the place of each offset. */
status core_get_all(const bitmap *b, uint64_t *offsets, uint32_t count);
status core_cardinality(const bitmap *b, cardinality *members);
/* The least (end 0) or the greatest (end 1) member; *found = 0 if there is none. */
status core_extreme(const bitmap *b, int end, uint32_t *found, uint64_t *member);
/* Members from `low` to `high`, both included. */
status core_count_between(const bitmap *b, uint64_t low, uint64_t high, cardinality *members);
/* The member of that rank, which is less than the cardinality. */
status core_select(const bitmap *b, uint64_t rank, uint64_t *member);
status core_count_range(const bitmap *b, const range *r, uint64_t *members);
/* The first `bit` in the range; *found = 0 if there is none. */
status core_position(const bitmap *b, uint32_t bit, const range *r, uint32_t *found, uint64_t *position);
/* Hands over the first `limit` members from `from` on. */
status core_members(const bitmap *b, uint64_t from, uint64_t limit, member_sink *sink, void *context);
status core_get_field(const bitmap *b, const field *at, int64_t *value);
status core_statistics(const bitmap *b, statistics of[CONTAINER_KINDS]);
/* *fault is what is wrong with the bitmap itself, NULL if nothing is. */
status core_validate(const bitmap *b, const char **fault);
status core_serialized_bytes(const bitmap *b, uint32_t format, uint64_t *bytes);
/* *payload, *length bytes, is the caller's to RedisModule_Free. */
status core_serialize(const bitmap *b, uint32_t format, char **payload, size_t *length);
/* To where there is room for `length` bytes, as many as core_serialized_bytes said. */
status core_serialize_to(const bitmap *b, uint32_t format, char *payload, size_t length);

/* Writing. *b moves when it grows, also in a call that fails in the end. A trap leaves it marked as damaged; a lack of memory
 * leaves the members that it had. */
status core_set(bitmap **b, uint64_t offset, uint32_t value, uint32_t *previous);
/* Offsets that are handed over to be sorted: VALUES_ROOM(count) words, of which the first `count` hold them. Their content is lost. */
#define VALUES_ROOM(count) (2 * (count) + 128)
/* Gives all these offsets the bit and says how many had the other. */
status core_set_all(bitmap **b, uint64_t *offsets, uint32_t count, uint32_t bit, uint64_t *changed);
/* `low` to `high`, both included. */
status core_change_range(bitmap **b, enum change change, uint64_t low, uint64_t high);
/* Makes the field `value`, or adds that to it (`adds`). */
status core_set_field(bitmap **b, const field *at, int adds, int64_t value, enum overflow overflow, outcome *o);
/* Gives back what the bitmap does not use. Never fails: at worst nothing is given back. */
void bitmap_fit(bitmap **b);

/* Building: *result is a new bitmap, tight, when the status is OK.
 * Operands are collected first: clear, then add each; NULL stands for an empty bitmap. */
void operands_clear(void);
void operands_add(const bitmap *b);
/* NOT is core_complement. */
status core_combine(enum operation operation, bitmap **result);
/* Of these offsets, VALUES_ROOM(count) words, at least one. */
status core_collect(uint64_t *offsets, uint32_t count, bitmap **result);
/* Of what core_combine would build, modulo 2^64. */
status core_combine_cardinality(enum operation operation, uint64_t *members);
/* Whether the first two operands have a member in common, and whether the first is a subset of the second. */
status core_intersects(uint32_t *holds);
status core_is_subset(uint32_t *holds);
/* Everything in [0, max(*last, greatest member of b)] that is not in b. `last` may be NULL, b too. */
status core_complement(const bitmap *b, const uint64_t *last, bitmap **result);
/* The same set, each container in its smallest form. */
status core_pack(const bitmap *b, bitmap **result);
/* Part of b: from container *key on, as much as takes about `bytes` in a payload. *key moves on to what is left, *more says
 * whether there is any. */
status core_slice(const bitmap *b, uint64_t *key, uint32_t bytes, bitmap **result, uint32_t *more);
/* *fault is what is wrong with the payload; NULL, and only then *result is set, when it is good. */
status core_deserialize(uint32_t format, const char *payload, size_t length, bitmap **result, const char **fault);

/* In a build for tests, whose core can be made to reach beyond its memory: does so in one of the ways of assembly/trap.ts, reading or
 * writing *b. And lets no arena grow beyond so many bytes. */
extern const int sandbox_can_trap;
status core_trap(bitmap **b, int while_writing, uint32_t way);
void sandbox_limit(uint32_t bytes);

#endif
