/* keys.h -- opens keys, or replies with an error; changes keys, and announces the change. */
#ifndef ROAR_KEYS_H
#define ROAR_KEYS_H

#include "command.h"
#include "sandbox.h"

#define ERRORMSG_NO_KEY "Roaring: key does not exist"

/* *b is NULL if the key is missing. It stays valid until the command writes to that key. */
int open_read(call *c, int at, const bitmap **b);
/* Adds the keys from `at` to end - 1 to the operands. */
int open_operands(call *c, int at, int end, operands *o);
/* Like open_read, but a missing key is an error. */
int open_existing(call *c, int at, const bitmap **b);
/* Like open_read, but accepts either family and makes it the call's family. */
int open_either(call *c, int at, const bitmap **b);

/* A key open for writing. Every open that succeeds ends with one of commit, replace and abandon. */
typedef struct open_key {
    RedisModuleKey *key;
    RedisModuleString *name;
    bitmap *stored;             /* the value when the key was opened; NULL if it was missing */
    bitmap *value;              /* the value to store */
} open_key;

int open_write(call *c, int at, open_key *k);
/* Like open_write. For a missing key, k->value is an empty bitmap with an arena of `bytes` bytes or more. */
int open_create(call *c, int at, uint32_t bytes, open_key *k);
/* Like open_create, for a command that the server runs even above maxmemory. Above it, a missing key is an
 * error, and is not created. */
int open_create_below_maxmemory(call *c, int at, open_key *k);

/* Ends a write to k->value whose status was `done`. If the key is new or `changed` is set, announces the
 * change. */
int commit(call *c, open_key *k, status done, int changed, const char *event);
/* Like commit, but stores b and frees k->value, which may have moved since the key was opened. */
int commit_other(call *c, open_key *k, bitmap *b, int changed, const char *event);
/* Closes the key without changing it. */
void abandon(open_key *k);
/* Announces a change to WATCH, keyspace events, replicas and the AOF. */
void announce(call *c, RedisModuleString *name, const char *event);

/* What a new value may replace. */
enum replaced { BITMAP, ANY_TYPE };

/* Makes b the value of the key at `at`, removes the TTL, and announces the change. Frees b if the key may
 * not be replaced. b must not be read afterwards: a listener to keyspace events may already have changed or
 * deleted it. */
int store(call *c, int at, enum replaced replaced, bitmap *b);
/* Stores r.b like that, and replies r.members. */
int store_and_count(call *c, int at, enum replaced replaced, result r);

#endif
