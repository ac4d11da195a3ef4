/* context.h -- what the commands that only read ask the server for. The main thread gets it from the server
 * (context.c), a thread from the snapshot that it answers from (snapshot.c). */
#ifndef ROAR_CONTEXT_H
#define ROAR_CONTEXT_H

#include "command.h"
#include "sandbox.h"

#define SEED_WORDS 4

/* *b is NULL if the key is missing. It stays valid until the command writes to that key. Returns 0 after an
 * error reply, as all functions do that open keys. */
int open_read(call *c, int at, const bitmap **b);
/* Like open_read, but accepts either family and makes it the call's family. */
int open_either(call *c, int at, const bitmap **b);
/* Adds the keys from `at` to end - 1 to the operands. */
int open_operands(call *c, int at, int end, operands *o);
#define ERRORMSG_NO_KEY "Roaring: key does not exist"
/* Like open_read, but a missing key is an error. */
int open_existing(call *c, int at, const bitmap **b);

/* REDISMODULE_CTX_FLAGS. */
int context_flags(const call *c);
/* The longest string that clients can receive and the server can hold. */
uint64_t string_limit(const call *c);
void send_error(const call *c, const char *text);
/* Four random words that no client can guess. */
void random_seed(const call *c, uint64_t seed[SEED_WORDS]);

/* --- Long questions: see questions.h. On a thread, these do nothing --- */

/* Whether the call, which has opened all its keys and is going to list up to `listed` members, has gone to a
 * thread. The handler then returns at once. If not, the call may still go, if it turns out to be long before
 * it replies anything: its status is then NOT_BRIEF. */
int leaves(call *c, uint64_t listed);
/* Listing a member takes about as long as reading this many bytes of bitmaps. */
#define LISTED_BYTES 64
/* Whether a call that is certainly going to read or reply this many bytes has gone to a thread. */
int leaves_for(call *c, uint64_t bytes);
/* Hands the call over, which ended with NOT_BRIEF. */
void leave_now(call *c);

#endif
