/* row.h -- calls that change several segments of a dictionary, in any order. The core chooses them by imports
 * (showing.h), which call these functions. Memory 0 is the host's, until the core chooses a segment. */
#pragma once

#include "core/operands.h"
#include "core/worker.h"

/* To be entered with IN_CORE, and ended by end_changing, which sets *b and marks it as damaged after a trap. The first
 * operand becomes b. */
frame begin_changing(worker *w, bitmap *b, span memory, operands *o);
status end_changing(worker *w, status s, bitmap **b);

/* --- Called by core.c: see `segments` in assembly/env/memory.ts. They end the call by _longjmp if out of memory, and
 * return what is memory 0 then. --- */

span row_change(worker *w, uint64_t key);
span row_leave(worker *w);
span row_renew(worker *w, uint32_t bytes, uint64_t key, uint32_t more);
span row_remove(worker *w);
span row_cut(worker *w, uint32_t bytes);
void row_note(worker *w, uint64_t members);
/* Operand 0, and what `left` shows after row_renew. */
span row_operand(worker *w);
span row_old(worker *w);
