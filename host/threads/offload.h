/* offload.h -- long calls on threads.
 *
 * A row of the command table may allow its calls to be offloaded. The handler of such a call runs like any
 * other. As soon as the call turns out to be long, before anything has been replied, its handler returns, and
 * run_or_offload retains each value that it has opened, blocks its client, and queues the call. A thread then
 * runs the same handler from its beginning, with its own worker and environment (offloaded.h). It replies to
 * a buffer that the server sends when the client is unblocked.
 *
 * To retain a value is to count a reference: see bitmap_retain. A command that is about to change a retained
 * value copies it first (core/writing.h). */
#pragma once

#include "server/command.h"

/* Runs the handler of a call on the main thread, and offloads the call if it is long. The caller has checked
 * that the settings allow that. */
void run_or_offload(call *c);
/* Replies an array of all `count` members of b, which a write has removed, on a thread if the list is long. */
void reply_removed(call *c, const bitmap *b, uint64_t count, int is_descending);

/* For INFO. */
typedef struct offload_report {
    uint64_t done, longest; /* the longest in microseconds */
    uint64_t stayed; /* long, but run on the main thread */
    uint64_t repeated; /* run again on the main thread, because sources had changed */
} offload_report;
offload_report report_offloads(void);
