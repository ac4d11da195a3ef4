/* keys.h -- keys: open or reply with an error; change, and tell of it. */
#ifndef ROAR_KEYS_H
#define ROAR_KEYS_H

#include "command.h"
#include "sandbox.h"

#define ERRORMSG_NO_KEY "Roaring: key does not exist"

/* *b is NULL when the key is missing. It stays valid until the command writes to that key. */
int open_read(call *c, int at, const bitmap **b);
/* As open_read, and a missing key is an error. */
int open_existing(call *c, int at, const bitmap **b);
/* As open_read, of either family, which becomes the call's. */
int open_either(call *c, int at, const bitmap **b);

/* A key open for writing. Every open that succeeds ends with one of commit, replace and abandon. */
typedef struct open_key {
    RedisModuleKey *key;
    RedisModuleString *name;
    bitmap *stored;             /* what the key held when it was opened; NULL when it was missing */
    bitmap *value;              /* what it is to hold */
} open_key;

int open_write(call *c, int at, open_key *k);
/* As open_write, and makes a missing key's value an empty bitmap with room for `bytes` bytes. */
int open_create(call *c, int at, uint32_t bytes, open_key *k);
/* For replacing what is there, whatever its type. */
int open_overwrite(call *c, int at, open_key *k);

/* Ends a write to k->value that had the status `done`. With `changed`, or when the key is new, tells watchers, listeners,
 * replicas and the AOF. */
int commit(call *c, open_key *k, status done, int changed, const char *event);
/* Makes b the key's value in the place of what k->stored is; else as commit. */
int commit_other(call *c, open_key *k, bitmap *b, int changed, const char *event);
/* Makes b the key's value, without a TTL, and tells. */
void replace(call *c, open_key *k, bitmap *b, const char *event);
/* Leaves the key as it is. */
void abandon(open_key *k);
/* Tells watchers, listeners, replicas and the AOF of a write that none of these made. */
void tell(call *c, RedisModuleString *name, const char *event);

#endif
