/* environment.h -- what a handler needs from the thread that it runs on. On the main thread, keys are the
 * server's (main_thread.h); a call that has been offloaded finds the bitmaps that it opened before
 * (threads/offloaded.h). */
#pragma once

#include "server/command.h"
#include "server/config.h"
#include "core/calls.h"
#include "core/packing.h"

#define SEED_WORDS 4

/* What a new value may replace. */
enum replaced { BITMAP, ANY_TYPE };

typedef struct environment {
    const settings *settings;
    int (*open_read)(call *c, int at, const bitmap **b);
    int (*open_either)(call *c, int at, const bitmap **b);
    int (*context_flags)(const call *c);
    uint64_t (*string_limit)(const call *c);
    void (*send_error)(const call *c, const char *text);
    void (*random_seed)(const call *c, uint64_t seed[SEED_WORDS]);
    int (*store_and_count)(call *c, int at, enum replaced replaced, result r);
    int (*put_packed)(call *c, packing *p);
    /* NULL where calls are not offloaded. */
    int (*offloads_listing)(call *c, uint64_t listed);
    int (*offloads)(call *c, uint64_t bytes);
} environment;

/* *b is NULL if the key is missing. It stays valid until the command writes to that key. Returns 0 after an
 * error reply, as all functions do that open keys. */
static inline int open_read(call *c, int at, const bitmap **b) { return c->env->open_read(c, at, b); }
/* Like open_read, but accepts either family and makes it the call's family. */
static inline int open_either(call *c, int at, const bitmap **b) { return c->env->open_either(c, at, b); }

/* The flags of the context, REDISMODULE_CTX_FLAGS_*. */
static inline int context_flags(const call *c) { return c->env->context_flags(c); }
/* Whether the command comes from the primary or from an AOF. It was accepted there, so limits of this node do
 * not apply, not even to a script in an AOF, which may write the replies that it reads. */
static inline int was_accepted(const call *c) {
    return (context_flags(c) & (REDISMODULE_CTX_FLAGS_REPLICATED | REDISMODULE_CTX_FLAGS_LOADING)) != 0;
}
/* The longest string that clients can receive and the server can hold. */
static inline uint64_t string_limit(const call *c) { return c->env->string_limit(c); }
/* Four random words that no client can guess. */
static inline void random_seed(const call *c, uint64_t seed[SEED_WORDS]) { c->env->random_seed(c, seed); }
/* Makes r.b the value of the key at `at`, as store() does, and replies r.members. */
static inline int store_and_count(call *c, int at, enum replaced replaced, result r) {
    return c->env->store_and_count(c, at, replaced, r);
}

/* Puts what is packed in place in the key at 1, silently, since no member changes, and replies. Frees p. */
static inline int put_packed(call *c, packing *p) { return c->env->put_packed(c, p); }

/* --- Long calls: see threads/offload.h --- */

/* Whether the call, which has opened all its keys and is going to list up to `listed` members, is to be
 * offloaded. The handler then returns at once, without a reply. If not, the call may still be offloaded if it
 * turns out to be long before it replies anything: its status is then NOT_BRIEF. */
static inline int offloads_listing(call *c, uint64_t listed) {
    return c->env->offloads_listing && c->env->offloads_listing(c, listed);
}
/* Listing a member takes about as long as reading this many bytes of bitmaps. */
#define LISTED_BYTES 64
/* Whether a call that is certainly going to read or reply this many bytes is to be offloaded. */
static inline int offloads(call *c, uint64_t bytes) { return c->env->offloads && c->env->offloads(c, bytes); }
