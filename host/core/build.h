/* build.h -- parts of calls that build in the workspace, for the files that have such calls. */
#pragma once

#include "core/building.h"
#include "core/guard.h"
#include "core/workspace.h"

/* Prepares a call that builds in the workspace, and sees these operands. Returns 0 if out of memory. */
int start_building(worker *w, frame *f, const span *shown, uint32_t count);
/* Ends a call that built no bitmap; returns s. */
status discard(worker *w, status s);
/* Ends a call that built a bitmap, in segments if it is large, unless s says that it did not. */
status built(worker *w, status s, bitmap **b);
/* Counts a single number. The core counts whole containers, so it may exceed c->most. */
status count_members(worker *w, counting *c, cardinality *members);
