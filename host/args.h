/* args.h -- what handlers share: parse or reply, open or reply, change and tell, reply.
 *
 * parse_, open_ and the like return 1, or 0 after they have replied with an error: the handler then just leaves. 0 is
 * also what a handler returns, so that it can return reply_error(...). */
#ifndef ROAR_ARGS_H
#define ROAR_ARGS_H

#include "command.h"
#include "sandbox.h"

#define ERRORMSG_NO_KEY "Roaring: key does not exist"

/* --- Arguments: `at` is a position in argv, `name` what the error calls it --- */

int parse_offset(call *c, int at, const char *name, uint64_t *offset);
/* The same for text of any origin, digits only, up to `max`; 0 without a reply when it is none. */
int parse_number(const char *text, size_t length, uint64_t max, uint64_t *value);
/* Two arguments from `at` on: the range from *start to before *end. */
int parse_start_end(call *c, int at, uint64_t *start, uint64_t *end);
int parse_bit(call *c, int at, const char *name, uint32_t *bit);
/* A signed integer as native commands take it. */
int parse_index(call *c, int at, int64_t *index);
/* How many, at most. */
int parse_limit(call *c, int at, uint64_t *limit);
/* BYTE or BIT, in any case. */
int parse_unit(call *c, int at, uint32_t *in_bits);
/* All from `at` on, until free_values. */
int parse_values(call *c, int at, const char *name, uint64_t **values, uint32_t *count);
void free_values(uint64_t *values);
/* Whether the argument is the word, in any case. */
int argument_is(call *c, int at, const char *word);

/* --- Keys --- */

/* *b is NULL when the key is missing. It stays valid until the command writes to that key. */
int open_read(call *c, int at, const bitmap **b);
/* As open_read, and a missing key is an error. */
int open_existing(call *c, int at, const bitmap **b);
/* As open_read, of either family, which becomes the call's. */
int open_either(call *c, int at, const bitmap **b);

/* A key open for writing. Every open that succeeds ends with one of commit, replace and abandon. */
typedef struct slot {
    RedisModuleKey *key;
    RedisModuleString *name;
    bitmap *stored;             /* what the key held when it was opened; NULL when it was missing */
    bitmap *value;              /* what it is to hold */
} slot;

int open_write(call *c, int at, slot *s);
/* As open_write, and makes a missing key's value an empty bitmap with room for `bytes` bytes. */
int open_create(call *c, int at, uint32_t bytes, slot *s);
/* For replacing what is there, whatever its type. */
int open_overwrite(call *c, int at, slot *s);

/* Ends a write to s->value that had the status `done`. With `changed`, or when the key is new, tells watchers, listeners,
 * replicas and the AOF. */
int commit(call *c, slot *s, status done, int changed, const char *event);
/* Makes b the key's value in the place of what s->stored is; else as commit. */
int commit_other(call *c, slot *s, bitmap *b, int changed, const char *event);
/* Makes b the key's value, without a TTL, and tells. */
void replace(call *c, slot *s, bitmap *b, const char *event);
/* Leaves the key as it is. */
void abandon(slot *s);
/* Tells watchers, listeners, replicas and the AOF of a write that none of these made. */
void tell(call *c, RedisModuleString *name, const char *event);

/* --- Replies --- */

/* Replies with the error that a failed call into the core is; 1 if it did not fail. */
int reply_failure(call *c, status s);
static inline int succeeded(call *c, status s) { return s == OK || reply_failure(c, s); }
/* These two return 0. */
int reply_error(call *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
int reply_syntax_error(call *c);
/* These return REDISMODULE_OK. */
int reply_ok(call *c);
/* RESP2's integers end at 2^63 - 1: greater ones are bulk strings. */
int reply_integer(call *c, uint64_t value);
/* Likewise. */
int reply_count(call *c, count members);
#define COUNT_TEXT 24
const char *count_text(count members, char text[COUNT_TEXT]);
/* How many members b has; NULL has none. */
int reply_cardinality(call *c, const bitmap *b);

#endif
