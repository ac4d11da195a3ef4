/* questions.h -- long questions on threads, answered from a snapshot.
 *
 * A row of the command table may say that its calls can go to a thread. The handler of such a call runs as
 * any other. As soon as the call turns out to be long, before anything has been replied, it is handed over:
 * each value that it has opened is held, its client is blocked, and the handler returns as it does after an
 * error reply. A thread then runs the same handler from its beginning. It opens the values held instead of
 * keys, calls a core of its own (per-thread.h), and replies to a buffer that the server sends when the client
 * is unblocked.
 *
 * To hold a value is to count: see bitmap_hold. A command that is about to change a value that is held
 * copies it first (open_write). */
#ifndef ROAR_QUESTIONS_H
#define ROAR_QUESTIONS_H

#include <stdatomic.h>

#include "command.h"
#include "context.h"
#include "sandbox.h"

/* The values that a call has opened, by the place of the key in argv: NULL for a missing key. */
typedef struct snapshot {
    const bitmap **values;
    uint64_t bytes;                 /* of their arenas */
    int stays;                      /* the call was to leave, but had to stay */
    const family *family;           /* of the command */
    struct question *question;      /* NULL on the main thread */
} snapshot;

extern const bitmap *const not_opened;

typedef struct question {
    snapshot snapshot;
    RedisModuleBlockedClient *client;
    RedisModuleCtx *ctx;            /* for replies to this client */
    const command *row;
    const family *found;            /* by open_either */
    RedisModuleString **argv;
    int argc;
    /* Settings as they were. */
    uint64_t reply_limit, reply_limit_bytes, question_ms, string_limit, from_bytes;
    int strings;
    uint64_t seed[SEED_WORDS];      /* of random_seed() */
    int stores;                     /* the main thread is to store the result */
    result result;
    _Atomic int cancelled;          /* the client has gone, or the answer has failed */
    uint64_t microseconds;          /* that the answer took */
    uint32_t kind;                  /* of questions that are likely to take as long */
    struct question *next;          /* in the queue */
    struct question *older, *newer; /* among those that are not done */
} question;

/* --- The main thread --- */

/* Runs the handler of a call that may leave, and that no setting keeps on the main thread. */
void run_or_leave(call *c);
/* Adds a value to the snapshot of the call. */
static inline void note_opened(call *c, int at, const bitmap *b) {
    c->snapshot->values[at] = b;
    if (b) c->snapshot->bytes += arena_bytes(b);
}
/* Whether the reply of a write, which lists members of b and takes as long as reading `bytes` bytes, has gone to
 * a thread: there, the command's handler finds b as the value of its first key. */
int leaves_with(call *c, const bitmap *b, uint64_t bytes);

/* For INFO. */
typedef struct questions_report {
    uint64_t running, waiting, done, longest; /* the longest in microseconds */
    uint64_t copied, copied_bytes;
    uint64_t stayed; /* long, but answered on the main thread */
    uint64_t repeated; /* there once more: sources had changed meanwhile */
    uint64_t helping, shared; /* threads that help; questions that some helped with */
} questions_report;
questions_report report_questions(void);

/* For tests: whether questions that have been handed over wait, or parts of them. */
enum held { GO, HOLD_QUESTIONS, HOLD_PARTS };
void questions_hold(enum held held);

/* --- Any thread but the main one --- */

/* Work in parts, which the thread that answers a question shares with others. */
typedef struct shared {
    void (*help)(struct shared *s); /* takes parts until none is left; in the second build */
    uint32_t parts, taken;
    uint32_t helpers; /* threads in help() */
    int helped; /* there has been one */
    struct shared *next; /* among those that have parts left */
} shared;

/* Threads that would help. */
uint32_t idle_threads(void);
void begin_sharing(shared *s);
/* Returns 0 if no part is left. */
int take_part(shared *s, uint32_t *part);
/* Leaves no part. */
void stop_sharing(shared *s);
/* Waits until nobody helps any more. No part may be left. */
void end_sharing(shared *s);

/* --- The same, in the second build --- */

/* Once for each thread. */
void start_answering(void);
void answer_question(question *q);
uint64_t asked_from_bytes(void);

#endif
