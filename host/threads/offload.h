/* offload.h -- long calls on threads.
 *
 * A row of the command table may say that its calls can be offloaded. The handler of such a call runs as any
 * other. As soon as the call turns out to be long, before anything has been replied, its handler returns, and
 * run_or_offload hands the call over: each value that it has opened is held, and its client is blocked. A thread
 * then runs the same handler from its beginning, with a worker and an environment of its own (offloaded.h). It
 * replies to a buffer that the server sends when the client is unblocked.
 *
 * To hold a value is to count: see bitmap_hold. A command that is about to change a value that is held
 * copies it first (open_write). */
#pragma once

#include "server/command.h"

/* Runs the handler of a call on the main thread that no setting keeps there. */
void run_or_offload(call *c);
/* Offloads the reply of a write, which lists members of b and takes as long as reading `bytes` bytes. There,
 * `reply` finds b as the value of the command's first key. Returns 0 if the call has to reply itself. */
int offload_reply(call *c, handler *reply, const bitmap *b, uint64_t bytes);

/* For INFO. */
typedef struct offload_report {
    uint64_t done, longest; /* the longest in microseconds */
    uint64_t stayed; /* long, but run on the main thread */
    uint64_t repeated; /* there once more: sources had changed meanwhile */
} offload_report;
offload_report report_offloads(void);
