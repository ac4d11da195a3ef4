/* pool.h -- threads that run jobs, and share parts of long ones. */
#pragma once

#include "core/worker.h"

/* --- The main thread --- */

typedef struct job {
    /* Must call job_is_done before it reports that the job has ended. */
    void (*run)(struct job *j, worker *w);
    struct job *next; /* in the queue */
} job;

/* Starts threads when they are first needed, up to `most`; they never end. Returns 0 if there is none. */
int has_threads(uint32_t most);
void enqueue(job *j);
/* Whether the queue is so long that nothing should be added. */
int is_queue_full(void);

/* For INFO. */
typedef struct pool_report {
    uint64_t running, waiting; /* jobs */
    uint64_t helping, shared; /* threads that help; jobs with which some helped */
} pool_report;
pool_report report_pool(void);

/* For tests: jobs that have been enqueued wait, or parts of them do, until GO. */
enum held { GO, HOLD_JOBS, HOLD_PARTS };
void pool_hold(enum held held);

/* --- Threads of the pool --- */

/* The thread counts as idle from here on. */
void job_is_done(void);

/* Work in parts, which the thread that runs a job shares with others. */
typedef struct shared {
    void (*help)(struct shared *s, worker *w); /* takes parts until none is left */
    uint32_t parts, taken;
    uint32_t helpers; /* threads in help() */
    int helped; /* there has been such a thread */
    struct shared *next; /* the next one with parts left */
} shared;

/* How many threads could help now. */
uint32_t idle_threads(void);
void begin_sharing(shared *s);
/* Returns 0 if no part is left. */
int take_part(shared *s, uint32_t *part);
/* Discards the parts that nobody has taken. */
void stop_sharing(shared *s);
/* Waits until nobody helps any more. No part may be left. */
void end_sharing(shared *s);
