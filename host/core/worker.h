/* worker.h -- what a thread needs to call the core, and keeps from call to call. Functions that call the
 * core take the worker that they run on. The main thread has one; so have each thread of the pool and each
 * save. */
#pragma once

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include "core/bitmap.h"
#include "core.h"
#include "facts.h"

/* Marks variables of this library, so that code accesses them without the global offset table. */
#define OURS __attribute__((visibility("hidden")))

typedef enum status { OK, TRAPPED, OUT_OF_MEMORY, OUT_OF_TIME, NOT_BRIEF } status;

/* Receives members, mostly in ascending order, a batch at a time. It must not call into the core. */
typedef void member_sink(void *context, const uint64_t *members, size_t count);

/* A list of `count` offsets that the core may sort takes this many words: the offsets, and working space.
 * Calls overwrite both. */
#define VALUES_ROOM(count) (2 * (count) + COUNTERS_BYTES / sizeof(uint64_t))
#define FEW_OFFSETS 512

/* A number of members: 0 to 2^64. */
typedef unsigned __int128 cardinality;
#define TWO_TO_64 ((cardinality)1 << 64)

/* Units of work that a call may do before the clock is read: short calls do less. */
#define FIRST_WORK 128
struct counting;

struct worker {
    struct core core; /* of the chosen level */
    struct state state; /* of the core; not the main thread's */
    /* The call that is running. */
    struct running {
        jmp_buf leave;
        bitmap *growable; /* memory 0 if it may grow; NULL while reading */
        status ended; /* why the last call that did not finish was cut short */
        int builds; /* memory 0 is the workspace */
        int grew; /* memory 0 has grown */
        uint32_t wasteful, used;
        uint64_t first, members; /* of the last segment of a result, as in a segment */
        uint64_t offset; /* the last one that was changed */
        int changes; /* whether the call may change segments: row.h */
        root *row; /* these segments, NULL for a single arena */
        bitmap *alone; /* that arena */
        uint32_t row_at; /* the segment that is memory 0 */
        bitmap *old; /* what `left` shows of a segment that was replaced */
        uint32_t cut_to; /* bytes that memory 0 should be cut to, 0 if it should stay */
        member_sink *sink; /* NULL except in calls that list members */
        void *context;
    } current;
    int in_segment; /* the bitmap that is written is a segment */
    const char *last_trap;
    /* How long calls may take: sandbox.h. */
    struct time_limit {
        uint64_t milliseconds, started; /* 0: no limit; the clock has not started */
        int (*is_exempt)(const void *context);
        const void *context;
    } time_limit;
    _Atomic int *cancelled; /* NULL if nobody can cancel the call */
    struct {
        uint64_t allowed, began; /* microseconds; began is 0 until the clock starts */
        uint32_t done, batch; /* units of work since then; those of the next batch */
        int lists; /* a list of more than a batch is too long */
        int (*may_offload)(void *context); /* NULL if the call need not be brief */
        void *context;
    } brevity;
    uint32_t first_work; /* units of work that a call may do before the clock is read */
    bitmap *kept; /* workspace.h */
    root *closed; /* the segments of a result that are complete; NULL if there is none */
    /* The operands of a call, if any of them has segments: what each of them shows. */
    span *views;
    uint32_t views_room;
    /* The expression that was parsed last, and its tree. Programs repeat expressions, and parsing one takes
     * as long as evaluating it on small bitmaps. */
    struct {
        uint32_t keys;
        uint64_t greatest;
        span text, tree;
    } known;
    /* Counts in all keys, together with other workers; NULL for a worker that counts alone. */
    status (*count_in_parts)(worker *w, struct counting *c, uint64_t *numbers);
    uint64_t from_bytes; /* the least that a part of such a count should read */
    uint64_t helped; /* microseconds that the others took for parts of the call's counts */
    uint64_t members[MEMBERS_BATCH]; /* of a reply; the core writes them */
    uint64_t few[VALUES_ROOM(FEW_OFFSETS)]; /* for short lists of arguments, to spare an allocation */
    uint8_t desk[DESK_BYTES]; /* where the core packs and unpacks names */
};

extern OURS worker main_worker;

/* The most bytes of a segment; set when the module is loaded. With its prefix, a full segment fills a size class. */
#define SEGMENT_BYTES_DEFAULT (256 * 1024 - PREFIX_BYTES)
extern OURS uint32_t segment_bytes;

/* Prepares a worker, with the best core for this CPU, or with the one named `wanted` unless that is NULL.
 * Returns the name of its level, or NULL if there is none of that name or the CPU does not support it. */
const char *worker_begin(worker *w, const char *wanted);
/* Frees what the worker has kept. */
void worker_end(worker *w);
