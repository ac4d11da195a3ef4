/* row.h -- calls that change several segments of a bitmap, or of a dictionary, in any order. The core chooses
 * them by imports (core.c), which call these functions. */
#pragma once

#include "core/operands.h"
#include "core/worker.h"

/* To be entered with IN_CORE, and ended by end_changing, which sets *b and marks it as damaged after a trap. */
frame begin_changing(worker *w, bitmap *b);
status end_changing(worker *w, status s, bitmap **b);

/* --- Called by core.c: see `segments` in assembly/env/memory.ts. They end the call by _longjmp if out of memory. --- */

span row_change(worker *w, uint64_t key);
span row_renew(worker *w, uint32_t bytes, uint64_t key, uint32_t more);
span row_remove(worker *w);
void row_note(worker *w, uint64_t members);
span row_cut(worker *w, uint32_t bytes);
/* What `left` shows after row_renew. */
span row_old(worker *w);
