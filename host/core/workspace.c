#include "core/workspace.h"

#include <string.h>

/* Choices of the host. A result that probably takes more than COPIED_MAX bytes is built in a block of its
 * own, because copying it out of the kept block would cost more. KEPT_MAX is enough for a sum of weights,
 * whose tally takes 256 KiB. */
#define COPIED_MAX (128 * 1024)
#define KEPT_MAX (512 * 1024)
#define FIRST (16 * 1024)

/* Overestimating costs nothing: pages that the result does not need are never touched, and the rest of the
 * block is freed. Underestimating costs copies. */
bitmap *workspace_take(worker *w, uint32_t expected) {
    bitmap *made = expected > COPIED_MAX ? bitmap_create(expected) : NULL;
    w->is_result = made != NULL;
    if (made) return made;
    bitmap *b = w->kept ? w->kept : bitmap_create(FIRST);
    w->kept = NULL;
    if (b) bitmap_reset(b);
    return b;
}

void workspace_put_back(worker *w, bitmap *b) {
    if (w->kept || arena_bytes(b) > KEPT_MAX) bitmap_free(b);
    else w->kept = b;
}

bitmap *workspace_result(worker *w, bitmap *b, uint32_t used) {
    if (w->is_result || used > COPIED_MAX) return bitmap_shrink(b, used);
    bitmap *result = bitmap_create(used);
    if (result) memcpy(arena(result), arena(b), used);
    workspace_put_back(w, b);
    return result;
}

void workspace_drop(worker *w) {
    bitmap_free(w->kept);
    w->kept = NULL;
}

uint64_t workspace_bytes(const worker *w) { return w->kept ? bitmap_bytes(w->kept) : 0; }
