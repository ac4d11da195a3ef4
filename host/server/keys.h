/* keys.h -- opens keys for writing, or replies with an error; changes keys, and announces the change. */
#pragma once

#include "server/environment.h"
#include "server/reply.h"

#define ERRORMSG_DAMAGED \
    "ERR Roaring: this bitmap is damaged because a write to it failed; it can only be deleted"

/* The bitmap in an open key, NULL if the key is missing or holds a value of another type. */
static inline bitmap *bitmap_in(const call *c, RedisModuleKey *key) {
    const RedisModuleType *type = RedisModule_ModuleTypeGetType(key);
    const int right = type == c->family->type || (c->takes_integers && type == families[RI].type);
    return right ? RedisModule_ModuleTypeGetValue(key) : NULL;
}

/* These reply an error if the bitmap is damaged, or if the key, in which b was found, holds another type. */
static inline int is_sound(call *c, const bitmap *b) {
    return b == NULL || !is_damaged(b) || reply_error(c, ERRORMSG_DAMAGED);
}

static inline int is_right(call *c, RedisModuleKey *key, const bitmap *b) {
    if (b || RedisModule_KeyType(key) == REDISMODULE_KEYTYPE_EMPTY) return is_sound(c, b);
    return reply_error(c, REDISMODULE_ERRORMSG_WRONGTYPE);
}

/* The key at `at`, open for writing; NULL after an error reply if a thread of the server is saving it. */
RedisModuleKey *open_writable(call *c, int at);

/* A key open for writing. Every open that succeeds ends with one of commit, replace and abandon. */
typedef struct open_key {
    RedisModuleKey *key;
    RedisModuleString *name;
    bitmap *stored; /* the value when the key was opened; NULL if it was missing */
    bitmap *value; /* the value to store */
    uint64_t bytes; /* of the key's value, as they have been counted */
} open_key;

/* To replace the value, or to change it with the functions of core/writing.h: another thread may be reading
 * it. */
int open_write(call *c, int at, open_key *k);
/* Like open_write. For a missing key, k->value is an empty bitmap. */
int open_create(call *c, int at, open_key *k);
/* Like open_create, for a command that the server runs even above maxmemory. Above it, a missing key is an
 * error, and is not created. */
int open_create_below_maxmemory(call *c, int at, open_key *k);

/* Ends a write to k->value whose status was `done`. If the key is new or `changed` is set, announces the
 * change. */
int commit(call *c, open_key *k, status done, int changed, const char *event);
/* Like commit, but announces nothing. */
int commit_silently(call *c, open_key *k, status done);
/* Deletes a key that has nothing left, closes it, and announces that. */
void delete_key(call *c, RedisModuleString *name, RedisModuleKey *key, const char *event);
/* Closes the key without changing it. */
void abandon(open_key *k);
/* Announces a change to WATCH and keyspace events. The caller propagates it to replicas and the AOF. */
void announce_here(call *c, RedisModuleString *name, const char *event);
/* Announces a change to all of them. The command is propagated as it is. */
void announce(call *c, RedisModuleString *name, const char *event);

/* Makes b the value of the key at `at`, removes the TTL, and announces the change. Frees b if the key may
 * not be replaced. b must not be read afterwards: a listener to keyspace events may already have changed or
 * deleted it. */
int store(call *c, int at, enum replaced replaced, bitmap *b);
