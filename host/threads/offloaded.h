/* offloaded.h -- a call that a thread runs on the values that it opened before. */
#pragma once

#include <stdatomic.h>

#include "server/environment.h"
#include "threads/pool.h"

/* The values that a call has opened, by the position of the key in argv; NULL for a missing key. */
typedef struct snapshot {
    const bitmap **values;
    uint64_t bytes; /* of their arenas */
    const family *family; /* of the command; on a thread, of the value that open_either found */
    int offloads; /* the handler has returned because the call is to be offloaded */
    struct offloaded *offloaded; /* NULL on the main thread */
} snapshot;

/* In `values`: the argument is not a key, or has not been opened. */
#define NOT_OPENED ((const bitmap *)-1)

typedef struct offloaded {
    job job;
    snapshot snapshot;
    RedisModuleBlockedClient *client;
    RedisModuleCtx *ctx; /* for replies to this client */
    const command *row;
    handler *handler;
    RedisModuleString **argv;
    int argc;
    settings settings; /* those at the time of the call */
    uint64_t string_limit;
    uint64_t seed[SEED_WORDS]; /* of random_seed() */
    int stores; /* the main thread is to store the result, or to put what is packed in place */
    result result;
    packing *packed;
    _Atomic int cancelled; /* the client has gone, or the call has failed */
    uint64_t microseconds; /* that the thread took */
    uint64_t saved; /* that the main thread would have taken: also those of threads that helped */
    uint32_t kind; /* kind_of() */
    struct offloaded *older, *newer; /* among those whose clients wait */
} offloaded;

/* Runs the handler from its beginning. */
void run_offloaded(offloaded *o, worker *w);
